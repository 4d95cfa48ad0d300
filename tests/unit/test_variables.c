/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address -> variable, offset in a type -> field and the type behind it; with DWARF 4 and 5, debug
 * information apart, symbols only, nothing at all; in damaged files. Also of src/symbol/datatab.c,
 * dwarfvars.c, dwarftype.c.
 * Also of dwarflocal.c.
 */
#include "src/symbol/variables.h"

#include <time.h>

#include "tests/unit/unit.h"
#include "tests/unit/symbol_fixture.h"

static const struct symbolizer_options full = { .full = true, .debug_dirs = "/nonexistent" };

static const char source[] =
	"struct far; struct leaf { long key; void *any; struct leaf *next; };\n"
	"union either { long number; struct leaf *leaf; };\n"
	"typedef struct leaf *leaf_p;\n"
	"struct outer {\n"
	"	int count;\n"
	"	struct { const leaf_p *const volatile first, *second; } pair[3];\n"
	"	union either either;\n"
	"	struct far *far;\n"
	"	leaf_p grid[2][4];\n"
	"};\n"
	"struct outer outer __attribute__((aligned(64)));\n"
	"static __attribute__((used)) struct leaf *hidden[5];\n"
	"__thread struct leaf *own, *own_too;\n"
	"struct leaf *use(void) { static struct leaf *kept; kept = hidden[1]; return kept; }\n"
	"struct leaf *use_too(void) { static long pad; static struct leaf *kept; pad++; return "
	"kept; }\n"
	"int main(void) { return !use() + !use_too() + !own + !own_too; }\n";

/* What is only declared above. */
static const char elsewhere[] =
	"struct leaf; struct far { struct leaf *in_far; long more; }; struct far one_far;\n";

static int build(void **state)
{
	(void)state;
	fixture_write("vars.c", source, strlen(source));
	fixture_write("far.c", elsewhere, strlen(elsewhere));
	return 0;
}

static void expect(struct symbolizer *sym, const char *file, const char *symbol, uint64_t offset,
		   const char *name, uint64_t start)
{
	struct symbol_variable v;

	assert_true(symbol_variable(sym, 0, fixture_address(file, symbol) + offset, &v));
	assert_string_equal(v.name, name);
	assert_int_equal(fixture_address(file, symbol) + offset - v.start, start);
}

/* The pointer at an offset of a variable: its path, and the name of the type it leads to. */
static void expect_field(struct symbolizer *sym, const struct symbol_type *type, uint64_t offset,
			 const char *path, const char *leads_to)
{
	struct str s = STR_INIT, t = STR_INIT;
	struct symbol_type to;
	uint64_t rest;

	assert_true(symbol_type_pointer(sym, type, offset, &s, &to, &rest));
	assert_string_equal(str_text(&s), path);
	symbol_type_name(sym, &to, &t);
	assert_string_equal(str_text(&t), leads_to);
	str_fini(&s);
	str_fini(&t);
}

static void no_field(struct symbolizer *sym, const struct symbol_type *type, uint64_t offset)
{
	struct str s = STR_INIT;
	struct symbol_type to;
	uint64_t rest;

	assert_false(symbol_type_pointer(sym, type, offset, &s, &to, &rest));
	str_fini(&s);
}

static void check_all(const char *file)
{
	struct symbolizer *sym = fixture_symbolizer(&full, file, NULL, 0);
	struct symbol_type far, leaf;
	struct symbol_variable v;
	struct str s = STR_INIT;
	uint64_t rest;

	expect(sym, "whole", "outer", 8, "outer", 8);
	assert_true(symbol_variable(sym, 0, fixture_address("whole", "outer"), &v));
	assert_string_equal(strrchr(v.file, '/') ? strrchr(v.file, '/') + 1 : v.file, "vars.c");
	assert_int_equal(v.line, 11);
	expect_field(sym, &v.type, 8, ".pair[0].first", "struct leaf *");
	expect_field(sym, &v.type, 8 + 3 * 8, ".pair[1].second", "struct leaf *");
	expect_field(sym, &v.type, 56, ".either.leaf", "struct leaf");
	expect_field(sym, &v.type, 64, ".far", "struct far");
	expect_field(sym, &v.type, 72 + 6 * 8, ".grid[1][2]", "struct leaf");
	no_field(sym, &v.type, 0);
	no_field(sym, &v.type, 9);
	no_field(sym, &v.type, 1000);
	assert_true(symbol_type_pointer(sym, &v.type, 64, &s, &far, &rest));
	expect_field(sym, &far, 0, ".in_far", "struct leaf");	/* defined in another unit */
	assert_int_equal(symbol_type_bytes(sym, &far), 16);
	assert_true(symbol_type_pointer(sym, &v.type, 56, &s, &leaf, &rest));
	expect_field(sym, &leaf, 8, ".any", "");
	expect_field(sym, &leaf, 16, ".next", "struct leaf");
	assert_true(symbol_variable(sym, 0, fixture_address("whole", "hidden") + 16, &v));
	assert_string_equal(v.name, "hidden");
	assert_true(symbol_thread_variable(sym, 0, 0, &v));
	assert_true(!strcmp(v.name, "own") || !strcmp(v.name, "own_too"));
	str_fini(&s);
	symbolizer_free(sym);
}

static void dwarf_of_each_kind(void **state)
{
	static const char *const how[] = { "-gdwarf-5 -O0", "-gdwarf-4 -O2",
					   "-gdwarf-5 -O2 -fPIE -pie" };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		fixture_run("cc %s vars.c far.c -o whole", how[i]);
		check_all("whole");
	}
}

static void static_variables_of_functions(void **state)
{
	struct symbolizer *sym;
	struct symbol_variable v;
	uint64_t low, high;

	(void)state;
	fixture_run("cc -g -O0 vars.c far.c -o whole && nm whole | awk '$3 ~ /^kept\\./ { print $1 "
		    "}' | sort >kept");
	sym = fixture_symbolizer(&full, "whole", NULL, 0);
	{
		size_t size;
		char *text = fixture_read("kept", &size);

		assert_true(size >= 34);
		low = strtoull(text, NULL, 16);
		high = strtoull(text + 17, NULL, 16);
		free(text);
	}
	assert_true(symbol_variable(sym, 0, low, &v));
	assert_string_equal(v.name, "kept");
	assert_non_null(v.function);
	assert_int_equal(v.start, low);
	assert_true(symbol_variable(sym, 0, high, &v));
	assert_string_equal(v.name, "kept");
	symbolizer_free(sym);
}

static void symbols_only(void **state)
{
	struct symbolizer *sym;
	struct symbol_variable v;

	(void)state;
	fixture_run("cc -O2 vars.c far.c -o whole");
	sym = fixture_symbolizer(&full, "whole", NULL, 0);
	expect(sym, "whole", "outer", 72, "outer", 72);
	assert_true(symbol_variable(sym, 0, fixture_address("whole", "outer"), &v));
	assert_int_equal(v.type.object, 0);
	assert_int_equal(v.end - v.start, 136);
	symbolizer_free(sym);
}

static void stripped(void **state)
{
	struct symbolizer *sym;
	struct symbol_variable v;
	uint64_t outer;

	(void)state;
	fixture_run("cc -O2 vars.c far.c -o whole && strip -o bare whole");
	outer = fixture_address("whole", "outer");
	sym = fixture_symbolizer(&full, "bare", NULL, 0);
	assert_true(symbol_variable(sym, 0, outer, &v));
	assert_null(v.name);
	assert_string_equal(v.section, ".bss");
	assert_true(v.start <= outer && v.end > outer);
	assert_true(symbol_thread_variable(sym, 0, 8, &v));
	assert_string_equal(v.section, ".tbss");
	assert_false(symbol_variable(sym, 0, 0x123456789000, &v));
	assert_false(symbol_variable(sym, 7, outer, &v));
	symbolizer_free(sym);
}

static void apart(void **state)
{
	(void)state;
	fixture_run("cc -g -O2 vars.c far.c -o whole && objcopy --only-keep-debug whole away.debug "
		    "&& strip -o away whole && "
		    "objcopy --add-gnu-debuglink=away.debug away");
	check_all("away");
}

/* Flip bytes: nothing may crash or hang. */
static void damaged(void **state)
{
	uint8_t *good, *bad;
	size_t size;
	unsigned seed = 7;
	uint64_t outer;

	(void)state;
	fixture_run("cc -g -O0 vars.c far.c -o whole && cp whole broken");
	outer = fixture_address("whole", "outer");
	good = fixture_read("whole", &size);
	bad = malloc(size);
	for (int round = 0; round < 300; round++) {
		struct symbolizer *sym;

		memcpy(bad, good, size);
		for (int i = 0; i < 1 << (round % 10); i++)
			bad[((unsigned)rand_r(&seed) << 8 ^ (unsigned)rand_r(&seed)) % size] =
				(uint8_t)rand_r(&seed);
		fixture_write("broken", bad, round % 4 == 3 ? (size_t)rand_r(&seed) % size : size);
		sym = fixture_symbolizer(&full, "broken", NULL, 0);
		for (uint64_t at = outer - 64; at < outer + 200; at += 8) {
			struct str s = STR_INIT;
			struct symbol_variable v;
			struct symbol_type type, to;
			uint64_t rest;

			symbol_thread_variable(sym, 0, at - outer, &v);
			if (!symbol_variable(sym, 0, at, &v))
				continue;
			type = v.type;
			for (unsigned depth = 0;
			     depth < 8 && symbol_type_pointer(sym, &type, depth ? 0 : at - v.start,
							      &s, &to, &rest);
			     depth++) {
				symbol_type_name(sym, &to, &s);
				symbol_type_bytes(sym, &to);
				type = to;
			}
			str_fini(&s);
		}
		symbolizer_free(sym);
	}
	free(good);
	free(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dwarf_of_each_kind),
		cmocka_unit_test(static_variables_of_functions),
		cmocka_unit_test(symbols_only),
		cmocka_unit_test(stripped),
		cmocka_unit_test(apart),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests_name("variables", tests, build, NULL);
}
