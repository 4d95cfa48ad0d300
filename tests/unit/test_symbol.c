/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit test of the symbolizer: functions, lines and inlined frames of programs compiled here, to
 * the number. Also of src/symbol/symbolizer.c, answers.c, dwarfinfo.c, dwarfunit.c, object.c.
 */
#include "src/symbol/symbol.h"

#include "tests/unit/unit.h"
#include "tests/unit/symbol_fixture.h"

static const struct symbolizer_options full = { .full = true, .debug_dirs = "/nonexistent" };
static const struct symbolizer_options quick = { .debug_dirs = "/nonexistent" };

static void check_chain(struct symbolizer *sym, const char *name, uint64_t bias, const char *source)
{
	uint64_t pc = fixture_address(name, "pc_inner"), outer = fixture_address(name, "outer");
	struct symbol_frame f[8];

	assert_int_equal(symbol_lookup(sym, 0, pc + bias, f, 8), 3);
	fixture_expect(&f[0], "inner", source, 3, true);
	fixture_expect(&f[1], "middle", source, 9, true);
	fixture_expect(&f[2], "outer", source, 14, false);
	assert_int_equal(f[0].offset, 0);
	assert_int_equal(f[2].offset, pc - outer);
	assert_true(f[0].named && f[1].named && f[2].named);
	assert_string_equal(f[2].linkage, "outer");
	pc = fixture_address(name, "pc_hidden");
	assert_int_equal(symbol_lookup(sym, 0, pc + bias, f, 8), 1);
	fixture_expect(&f[0], "hidden", source, 19, false);
	assert_int_equal(f[0].offset, pc - fixture_address(name, "hidden"));
}

/* Compile, and find the whole chain at a bias. */
static void chain_of(const char *flags, uint64_t bias)
{
	struct symbolizer *sym;

	fixture_run("cc %s chain.c -o chain", flags);
	sym = fixture_symbolizer(&full, "chain", "chain", bias);
	check_chain(sym, "chain", bias, "chain.c");
	assert_int_equal(symbolizer_module(sym, 0).state, SYMBOL_FILE_OK);
	assert_int_equal(symbolizer_module(sym, 0).quality, SYMBOL_DWARF);
	assert_string_equal(symbolizer_module(sym, 0).source, fixture_path("chain"));
	symbolizer_free(sym);
}

static void test_pie(void **state)
{
	(void)state;
	chain_of("-g -O2", 0x555555554000);
}

static void test_dwarf4(void **state)
{
	(void)state;
	chain_of("-gdwarf-4 -O2", 0x555555554000);
}

static void test_dwarf5_without_optimization(void **state)
{
	(void)state;
	chain_of("-gdwarf-5 -O0", 0x10000);
}

static void test_compressed_dwarf(void **state)
{
	(void)state;
	chain_of("-g -O2 -gz=zlib", 0x555555554000);
}

static void test_no_pie(void **state)
{
	(void)state;
	chain_of("-g -O2 -no-pie", 0);
	assert_true(fixture_address("chain", "outer") >= 0x400000);
}

static void test_prelinked_library(void **state)
{
	(void)state;
	chain_of("-g -O2 -fPIC -shared -Wl,-Ttext-segment=0x3a0000000", 0x7f0000000000);
	assert_true(fixture_address("chain", "outer") >= 0x3a0000000);
}

/*
 * A large function that the linker drops keeps its DWARF, at address 0: it must not cover the code
 * that is there.
 */
static void test_dropped_functions(void **state)
{
	static const char dropped[] =
		"void dropped(void) { __asm__ volatile(\".skip 65536, 0x90\"); }\n";
	struct symbolizer *sym;
	struct symbol_frame f[8];

	(void)state;
	chain_of("-g -O2 -ffunction-sections -Wl,--gc-sections", 0x555555554000);
	fixture_write("dropped.c", dropped, strlen(dropped));
	fixture_run("cc -g -O2 -ffunction-sections -Wl,--gc-sections chain.c dropped.c -o chain");
	sym = fixture_symbolizer(&full, "chain", "chain", 0);
	check_chain(sym, "chain", 0, "chain.c");
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("chain", "_start"), f, 8), 1);
	fixture_expect(&f[0], "_start", NULL, 0, false);
	symbolizer_free(sym);
}

/* A function inside a function has its DIE there, too: only the second, deep walk finds it. */
static void test_nested_function(void **state)
{
	static const char nested[] =
		"int main(int argc, char **argv)\n"
		"{\n"
		"	__attribute__((noinline)) int within(int n)\n"
		"	{\n"
		"		__asm__ volatile(\".globl pc_within\\npc_within: nop\");\n"
		"		return argc + n;\n"
		"	}\n"
		"	(void)argv;\n"
		"	return within(1);\n"
		"}\n";
	struct symbolizer *sym;
	struct symbol_frame f[8];

	(void)state;
	fixture_write("nested.c", nested, strlen(nested));
	if (system("cc --version | grep -qi 'free software foundation'")) {
		print_message("cc is not gcc, which has nested functions\n");
		skip();
	}
	fixture_run("cc -g -O0 nested.c -o nested");
	sym = fixture_symbolizer(&full, "nested", "nested", 0);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("nested", "pc_within"), f, 8), 1);
	fixture_expect(&f[0], "within", "nested.c", 5, false);
	symbolizer_free(sym);
}

static void test_without_aranges(void **state)
{
	(void)state;
	chain_of("-g -O2", 0);
	fixture_run(
		"objcopy --remove-section .debug_aranges chain chain.bare && mv chain.bare chain");
	struct symbolizer *sym = fixture_symbolizer(&full, "chain", "chain", 0x1000);

	check_chain(sym, "chain", 0x1000, "chain.c");
	symbolizer_free(sym);
}

static void test_link_time_optimization(void **state)
{
	(void)state;
	fixture_write("chain.c", fixture_c, strlen(fixture_c));
	chain_of("-g -O2 -flto", 0x555555554000);
}

static void test_few_frames(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[3];
	uint64_t pc;

	(void)state;
	fixture_run("cc -g -O2 chain.c -o chain");
	pc = fixture_address("chain", "pc_inner");
	sym = fixture_symbolizer(&full, "chain", "chain", 0);
	assert_int_equal(symbol_lookup(sym, 0, pc, f, 0), 0);
	assert_int_equal(symbol_lookup(sym, 0, pc, f, 1), 1);
	fixture_expect(&f[0], "outer", "chain.c", 14, false);
	assert_int_equal(symbol_lookup(sym, 0, pc, f, 2), 2);
	fixture_expect(&f[0], "inner", "chain.c", 3, true);
	fixture_expect(&f[1], "outer", "chain.c", 14, false);
	symbolizer_free(sym);
}

static void test_quick(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[8];
	uint64_t pc;

	(void)state;
	fixture_run("cc -g -O2 chain.c -o chain");
	sym = fixture_symbolizer(&quick, "chain", "chain", 0x1000);
	pc = fixture_address("chain", "pc_inner");
	assert_int_equal(symbol_lookup(sym, 0, pc + 0x1000, f, 8), 1);
	fixture_expect(&f[0], "outer", NULL, 0, false);
	assert_int_equal(f[0].offset, pc - fixture_address("chain", "outer"));
	assert_int_equal(symbolizer_module(sym, 0).quality, SYMBOL_SYMTAB);
	symbolizer_free(sym);
}

static void test_symtab_only(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[8];

	(void)state;
	fixture_run("cc -g -O2 chain.c -o chain && cp chain whole && strip --strip-debug chain");
	sym = fixture_symbolizer(&full, "chain", "chain", 0);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_inner"), f, 8), 1);
	fixture_expect(&f[0], "outer", NULL, 0, false);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_hidden"), f, 8), 1);
	fixture_expect(&f[0], "hidden", NULL, 0, false);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("whole", "pc_bare") + 1, f, 8), 1);
	fixture_expect(&f[0], "pc_bare", NULL, 0, false);
	assert_int_equal(f[0].offset, 1);
	assert_int_equal(symbolizer_module(sym, 0).quality, SYMBOL_SYMTAB);
	assert_string_equal(symbolizer_module(sym, 0).source, fixture_path("chain"));
	symbolizer_free(sym);
}

/* A function of C in namespaces has no other name than DWARF gives it, scopes and all. */
static void test_scopes(void **state)
{
	static const char text[] =
		"namespace one { namespace two { extern \"C\" __attribute__((noinline)) int "
		"inside(int x) { return x * 3; } } }\n"
		"extern \"C\" __attribute__((noinline)) int outside(int x) { return x * 5; }\n"
		"int main(int argc, char **) { return one::two::inside(argc) + outside(argc); }\n";
	struct symbolizer *sym;
	struct symbol_frame f[8];

	(void)state;
	fixture_write("scopes.cc", text, strlen(text));
	fixture_run("c++ -g -O0 scopes.cc -o chain");
	sym = fixture_symbolizer(&full, "chain", "chain", 0);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("chain", "inside"), f, 8), 1);
	fixture_expect(&f[0], "one::two::inside", "scopes.cc", 1, false);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("chain", "outside"), f, 8), 1);
	fixture_expect(&f[0], "outside", "scopes.cc", 2, false);
	symbolizer_free(sym);
}

/* Names have their versions in a table of symbols, and none where they are shown. */
static void test_versions(void **state)
{
	static const char text[] =
		"__asm__(\".text\\n.globl one_impl\\n.type one_impl, @function\\none_impl: "
		"nop\\nret\\n.size one_impl, . - one_impl\\n"
		".symver one_impl, one@V1, remove\\n"
		".globl two_impl\\n.type two_impl, @function\\ntwo_impl: nop\\nret\\n.size "
		"two_impl, . - two_impl\\n"
		".symver two_impl, two@@V2, remove\\n\");\n";
	static const char map[] = "V1 { global: one; }; V2 { global: two; local: *; };\n";
	struct symbolizer *sym;
	struct symbol_frame f[8];

	(void)state;
	fixture_write("versions.c", text, strlen(text));
	fixture_write("versions.map", map, strlen(map));
	fixture_run("cc -O2 -shared -fPIC versions.c -Wl,--version-script=versions.map -o chain && "
		    "readelf -sW chain | grep -q one@V1");
	sym = fixture_symbolizer(&full, "chain", "chain", 0);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("chain", "one@V1") + 1, f, 8), 1);
	fixture_expect(&f[0], "one", NULL, 0, false);
	assert_string_equal(f[0].linkage, "one");
	assert_int_equal(f[0].offset, 1);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("chain", "two@@V2"), f, 8), 1);
	fixture_expect(&f[0], "two", NULL, 0, false);
	symbolizer_free(sym);
}

static void test_dynsym_only(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[8];
	uint64_t pc;
	char text[64];

	(void)state;
	fixture_run("cc -O2 -fPIC -shared chain.c -o whole && cp whole chain && strip chain");
	sym = fixture_symbolizer(&full, "chain", "chain", 0x7f0000000000);
	pc = fixture_address("whole", "pc_inner");
	assert_int_equal(symbol_lookup(sym, 0, pc + 0x7f0000000000, f, 8), 1);
	fixture_expect(&f[0], "outer", NULL, 0, false);
	pc = fixture_address("whole", "pc_hidden");
	snprintf(text, sizeof(text), "chain+0x%llx", (unsigned long long)pc);
	assert_int_equal(symbol_lookup(sym, 0, pc + 0x7f0000000000, f, 8), 1);
	fixture_expect(&f[0], text, NULL, 0, false);
	assert_false(f[0].named);
	assert_null(f[0].linkage);
	assert_int_equal(f[0].offset, pc);
	assert_int_equal(symbolizer_module(sym, 0).quality, SYMBOL_DYNSYM);
	symbolizer_free(sym);
}

static void test_fully_stripped(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[8];
	uint64_t pc;
	char text[64], id_text[129] = "";
	uint8_t id[64];
	size_t len;

	(void)state;
	fixture_run("cc -O2 chain.c -o whole && cp whole chain && strip chain");
	sym = fixture_symbolizer(&full, "chain", "chain", 0x555555554000);
	pc = fixture_address("whole", "pc_inner");
	snprintf(text, sizeof(text), "chain+0x%llx", (unsigned long long)pc);
	assert_int_equal(symbol_lookup(sym, 0, pc + 0x555555554000, f, 8), 1);
	fixture_expect(&f[0], text, NULL, 0, false);
	assert_false(f[0].named);
	len = fixture_build_id("chain", id);
	assert_int_equal(len, 20);
	for (size_t i = 0; i < len; i++)
		sprintf(id_text + 2 * i, "%02x", id[i]);
	assert_string_equal(symbolizer_module(sym, 0).build_id, id_text);
	symbolizer_free(sym);
}

static void test_cplusplus(void **state)
{
	struct symbolizer *sym;
	struct symbol_frame f[8];

	(void)state;
	fixture_write("names.cc", fixture_cc, strlen(fixture_cc));
	fixture_run("c++ -g -O2 names.cc -o names");
	sym = fixture_symbolizer(&full, "names", "names", 0);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("names", "pc_ring"), f, 8), 1);
	assert_non_null(strstr(f[0].function, "shop::(anonymous namespace)::till::ring(int)"));
	assert_non_null(strstr(f[0].linkage, "_ZN4shop12_GLOBAL__N_14till4ringEi"));
	assert_int_equal(f[0].line, 5);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("names", "pc_take"), f, 8), 2);
	fixture_expect(&f[0], "shop::shelf<long>::take(long)", "names.cc", 13, true);
	assert_string_equal(f[0].linkage, "_ZN4shop5shelfIlE4takeEl");
	fixture_expect(&f[1], "shop::sell(long)", "names.cc", 25, false);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("names", "pc_lambda"), f, 8), 1);
	assert_string_equal(f[0].function,
			    "shop::sell(long)::{lambda(long)#1}::operator()(long) const");
	assert_int_equal(f[0].line, 22);
	symbolizer_free(sym);
}

static void test_unknown(void **state)
{
	struct symbolizer *sym = symbolizer_new(NULL);
	struct symbol_frame f[2];

	(void)state;
	assert_int_equal(symbolizer_add(sym, &(struct symbol_module){ .path = "" }), 0);
	assert_int_equal(symbolizer_add(sym, &(struct symbol_module){ .path = fixture_path("chain"),
								      .bias = 0x1000,
								      .start = 0x2000,
								      .end = 0x3000 }),
			 1);
	/* no module, outside of its range, no such index */
	for (uint32_t module = 0; module < 3; module++) {
		assert_int_equal(symbol_lookup(sym, module, 0x7fff12345678, f, 2), 1);
		fixture_expect(&f[0], "0x7fff12345678", NULL, 0, false);
		assert_false(f[0].named);
	}
	assert_int_equal(symbolizer_module(sym, 0).state, SYMBOL_FILE_GONE);
	assert_int_equal(symbolizer_module(sym, 99).state, SYMBOL_FILE_GONE);
	symbolizer_free(sym);
}

/* Answers outlive the files they came from, and a library mapped twice is one file. */
static void test_trim(void **state)
{
	struct symbol_frame f[8], g[8];
	struct symbolizer *sym;
	uint64_t pc;
	uint8_t id[64];

	(void)state;
	fixture_run("cc -g -O2 chain.c -o chain && cp chain whole");
	pc = fixture_address("whole", "pc_inner");
	sym = fixture_symbolizer(&full, "chain", "chain", 0x1000);
	assert_int_equal(
		symbolizer_add(
			sym, &(struct symbol_module){ .path = fixture_path("chain"),
						      .build_id = id,
						      .build_id_len = fixture_build_id("chain", id),
						      .bias = 0x900000 }),
		1);
	assert_int_equal(symbol_lookup(sym, 0, pc + 0x1000, f, 8), 3);
	fixture_close_files(sym);
	fixture_run("rm chain");
	assert_int_equal(symbol_lookup(sym, 0, pc + 0x1000, g, 8), 3);
	fixture_expect(&g[0], "inner", "chain.c", 3, true);
	assert_int_equal(symbol_lookup(sym, 1, pc + 0x900000, g, 8), 3);
	assert_ptr_equal(f[0].function, g[0].function);
	symbolizer_free(sym);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pie),
		cmocka_unit_test(test_dwarf4),
		cmocka_unit_test(test_dwarf5_without_optimization),
		cmocka_unit_test(test_compressed_dwarf),
		cmocka_unit_test(test_no_pie),
		cmocka_unit_test(test_prelinked_library),
		cmocka_unit_test(test_dropped_functions),
		cmocka_unit_test(test_nested_function),
		cmocka_unit_test(test_without_aranges),
		cmocka_unit_test(test_link_time_optimization),
		cmocka_unit_test(test_few_frames),
		cmocka_unit_test(test_quick),
		cmocka_unit_test(test_symtab_only),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_dynsym_only),
		cmocka_unit_test(test_fully_stripped),
		cmocka_unit_test(test_cplusplus),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_trim),
	};

	return cmocka_run_group_tests_name("symbol", tests, fixture_chain, NULL);
}
