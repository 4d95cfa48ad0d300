/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit test of the symbolizer on files that somebody changes or has made to take time and memory.
 */
#include "src/symbol/symbol.h"

#include <elf.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tests/unit/symbol_fixture.h"

static const struct symbolizer_options none = { .full = true, .debug_dirs = "/nonexistent" };

static int lookup(struct symbolizer *sym, const char *label, struct symbol_frame *f)
{
	return symbol_lookup(sym, 0, fixture_address("whole", label), f, 8);
}

/*
 * A file is cut short between two lookups in it, as when it is built anew: fewer names, and no
 * SIGBUS.
 */
static void test_truncated_meanwhile(void **state)
{
	struct symbol_frame f[8];
	struct symbolizer *sym;

	(void)state;
	fixture_run("cc -g -O2 -c chain.c && cc -g chain.o -o chain && cp chain whole");
	for (int kept = 0; kept < 20000; kept += 1000) {
		fixture_run("cat whole >chain");
		sym = fixture_symbolizer(&none, "chain", "whole", 0);
		if (kept % 2000)
			assert_int_equal(lookup(sym, "pc_inner", f), 3);
		else
			assert_int_equal(symbolizer_module(sym, 0).quality, SYMBOL_DWARF);
		assert_int_equal(truncate(fixture_path("chain"), kept), 0);
		for (uint64_t pc = fixture_address("whole", "pc_hidden") - 64, i = 0; i < 64; i++)
			assert_true(symbol_lookup(sym, 0, pc + 2 * i, f, 8) >= 1);
		symbolizer_free(sym);
	}
}

/* A debug link to a file of 200 GiB, nearly all of it a hole: its checksum is not taken. */
static void test_huge_debug_link(void **state)
{
	struct symbol_frame f[8];
	struct symbolizer *sym;

	(void)state;
	fixture_run("cc -g -O2 -Wl,--build-id=none chain.c -o chain && cp chain whole && objcopy "
		    "--only-keep-debug chain chain.debug && "
		    "strip chain && objcopy --add-gnu-debuglink=chain.debug chain && truncate -s "
		    "200G chain.debug");
	sym = fixture_symbolizer(&none, "chain", NULL, 0);
	assert_int_equal(lookup(sym, "pc_hidden", f), 1);
	assert_false(f[0].named);
	symbolizer_free(sym);
	fixture_run("rm chain.debug");
}

static bool after_some(void *left)
{
	return --*(int *)left < 0;
}

/*
 * Asked to stop in the middle of a checksum of 3 GiB. What is found out then is not kept: it is
 * less than there is.
 */
static void test_stopped_checksum(void **state)
{
	int left = 100;
	const struct symbolizer_options stopped = { .full = true,
						    .debug_dirs = "/nonexistent",
						    .stop = { after_some, &left } };
	struct symbol_frame f[8];
	struct symbolizer *sym;

	(void)state;
	fixture_run("cc -g -O2 -Wl,--build-id=none chain.c -o chain && cp chain whole && objcopy "
		    "--only-keep-debug chain chain.debug && "
		    "cp chain.debug good && truncate -s 3G chain.debug && strip chain && objcopy "
		    "--add-gnu-debuglink=good chain && "
		    "sed -i s/good/link/ chain && mv chain.debug link");
	sym = fixture_symbolizer(&stopped, "chain", NULL, 0);
	assert_int_equal(lookup(sym, "pc_inner", f), 1);
	assert_false(f[0].named);
	assert_in_range(-left, 1, 10);
	fixture_run("mv good link");
	left = 1000;
	assert_int_equal(lookup(sym, "pc_inner", f), 3);
	symbolizer_free(sym);
	fixture_run("rm link");
}

/* Set a field of the section `name` of a file. */
static void set_section(const char *file, const char *name, uint64_t size, uint64_t unfolded)
{
	size_t bytes;
	uint8_t *image = fixture_read(file, &bytes);
	Elf64_Ehdr *eh = (void *)image;
	Elf64_Shdr *sh = (void *)(image + eh->e_shoff);
	const char *names = (const char *)image + sh[eh->e_shstrndx].sh_offset;
	bool found = false;

	for (unsigned i = 0; i < eh->e_shnum; i++) {
		if (strcmp(names + sh[i].sh_name, name) != 0)
			continue;
		found = true;
		if (size)
			sh[i].sh_size = size;
		if (unfolded)
			((Elf64_Chdr *)(image + sh[i].sh_offset))->ch_size = unfolded;
	}
	assert_true(found);
	fixture_write(file, image, bytes);
	free(image);
}

static void expect_symbols_only(const struct symbolizer_options *opt, uint64_t bytes)
{
	struct symbolizer *sym = fixture_symbolizer(opt, "chain", "whole", 0);
	struct symbol_module_info info;
	struct symbol_frame f[8];

	assert_int_equal(lookup(sym, "pc_inner", f), 1);
	fixture_expect(&f[0], "outer", NULL, 0, false);
	info = symbolizer_module_seen(sym, 0);
	assert_int_equal(info.quality, SYMBOL_SYMTAB);
	assert_string_equal(info.too_large, fixture_path("chain"));
	if (bytes)
		assert_int_equal(info.too_large_bytes, bytes);
	symbolizer_free(sym);
}

/*
 * Debug information that states an absurd size, also where the file is that large, or that unfolds
 * to one: names come from the symbols.
 */
static void test_absurd_sizes(void **state)
{
	(void)state;
	fixture_run("cc -g -O2 chain.c many.c -o chain && cp chain whole");
	set_section("chain", ".debug_info", 150ull << 30, 0);
	fixture_run("truncate -s 200G chain");
	expect_symbols_only(&none, 0);
	fixture_run("objcopy --compress-debug-sections=zlib whole chain");
	set_section("chain", ".debug_info", 0, 100u << 20);
	expect_symbols_only(&none, UINT64_MAX);
}

/* 96 MiB of zeros in 100 KiB are not unfolded. */
static void test_bomb(void **state)
{
	static const char zeros[] = ".section .debug_more,\"\",@progbits\n.skip 100663296, "
				    "0\n.section .note.GNU-stack,\"\",@progbits\n";
	struct rusage before, after;

	(void)state;
	fixture_write("zeros.s", zeros, strlen(zeros));
	for (int form = 0; form < 2; form++) {
		fixture_run("cc -g -O2 chain.c zeros.s -o whole && objcopy "
			    "--compress-debug-sections=%s whole chain && cp chain whole",
			    form ? "zlib-gnu" : "zlib");
		getrusage(RUSAGE_SELF, &before);
		expect_symbols_only(&none, UINT64_MAX);
		getrusage(RUSAGE_SELF, &after);
		assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 32 << 10);
	}
}

/* Honest compression is read in all forms there are; so is what fits the limit, exactly. */
static void test_honest(void **state)
{
	static const char *const forms[] = { "none", "zlib", "zlib-gnu", "zstd" };
	struct symbol_frame f[8];

	(void)state;
	for (unsigned i = 0; i < NR(forms); i++) {
		struct symbolizer_options narrow = none;
		struct symbolizer *sym;

		fixture_run(
			"cc -g -O2 chain.c many.c -o whole && { objcopy "
			"--compress-debug-sections=%s whole chain 2>errors || cp whole chain; }",
			forms[i]);
		if (!strncmp(forms[i], "zlib", 4))
			fixture_run("readelf -St chain | grep -q '%s'",
				    forms[i][4] ? "zdebug_info" : "COMPRESSED");
		sym = fixture_symbolizer(&none, "chain", "whole", 0);
		if (!strcmp(forms[i], "zstd") && lookup(sym, "pc_inner", f) == 1) {
			symbolizer_free(sym);	/* this libelf does not know it */
			continue;
		}
		assert_int_equal(lookup(sym, "pc_inner", f), 3);
		fixture_expect(&f[0], "inner", "chain.c", 3, true);
		assert_null(symbolizer_module_seen(sym, 0).too_large);
		symbolizer_free(sym);
		narrow.max_bytes = 1;
		expect_symbols_only(&narrow, 0);
	}
}

/* The files that are open at a time share the limit: what comes later has symbols only. */
static void test_limit_is_shared(void **state)
{
	struct symbolizer_options opt = none;
	struct symbol_frame f[8];
	struct symbolizer *sym;
	uint64_t pc, bytes;

	(void)state;
	fixture_run("cc -g -O2 -Wl,--build-id=0x11 chain.c -o chain && cp chain whole && cc -g -O2 "
		    "-Wl,--build-id=0x22 chain.c -o other");
	pc = fixture_address("whole", "pc_inner");
	opt.max_bytes = 1;
	sym = fixture_symbolizer(&opt, "chain", "whole", 0);
	symbol_lookup(sym, 0, pc, f, 8);
	bytes = symbolizer_module_seen(sym, 0).too_large_bytes;
	symbolizer_free(sym);
	for (unsigned more = 0; more < 2; more++) {
		const struct symbol_module other = { .path = fixture_path("other") };

		opt.max_bytes = 2 * bytes - !more;
		sym = fixture_symbolizer(&opt, "chain", "whole", 0);
		assert_int_equal(symbolizer_add(sym, &other), 1);
		assert_int_equal(symbol_lookup(sym, 0, pc, f, 8), 3);
		assert_int_equal(symbol_lookup(sym, 1, pc, f, 8), more ? 3 : 1);
		assert_int_equal(symbolizer_module_seen(sym, 1).too_large_bytes,
				 more ? 0 : 2 * bytes);
		fixture_close_files(sym);
		/* there is room again */
		symbol_lookup(sym, 1, fixture_address("whole", "pc_hidden"), f, 8);
		fixture_expect(&f[0], "hidden", "chain.c", 19, false);
		symbolizer_free(sym);
	}
}

/* A line program of 9 MiB, each byte a row of its own: not decoded, which would take 600 MB. */
static void test_long_line_program(void **state)
{
	static const char source[] =
		".section .debug_abbrev,\"\",@progbits\n"
		".uleb128 1,0x11\n.byte 0\n.uleb128 0x11,1,0x12,7,0x10,0x17,0,0\n.byte 0\n"
		".section .debug_info,\"\",@progbits\n.long end - start\nstart: .value 4\n.long "
		".debug_abbrev\n.byte 8\n"
		".uleb128 1\n.quad main\n.quad 64\n.long lines\nend:\n"
		".section .debug_line,\"\",@progbits\nlines: .long lend - lstart\nlstart: .value "
		"3\n.long lhead - lin\nlin: .byte 1,1,-5,14,2,0\n"
		".byte 0\n.asciz \"/x/long.c\"\n.uleb128 0,0,0\n.byte 0\nlhead: .byte 0,9,2\n.quad "
		"main\n.byte 7\n.skip %u, 21\n.byte 0,1,1\nlend:\n"
		".text\n.globl main\n.type main,@function\nmain: .skip 64, 0x90\n.size main, . - "
		"main\n.section .note.GNU-stack,\"\",@progbits\n";
	struct symbol_frame f[8];

	(void)state;
	for (int large = 0; large < 2; large++) {
		struct symbolizer *sym;
		char text[sizeof(source) + 20];

		snprintf(text, sizeof(text), source, large ? 9u << 20 : 10u);
		fixture_write("long.s", text, strlen(text));
		fixture_run("cc long.s -o chain && cp chain whole");
		sym = fixture_symbolizer(&none, "chain", "whole", 0);
		assert_int_equal(lookup(sym, "main", f), 1);
		fixture_expect(&f[0], "main", large ? NULL : "long.c", large ? 0 : 1, false);
		symbolizer_free(sym);
	}
}

/* Enough debug information for compression to pay. */
static int set_up(void **state)
{
	char text[60000] = "";
	size_t n = 0;

	for (int i = 0; i < 500; i++)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n,
			"int function_%d(int argument_%d) { return argument_%d * %d; }\n", i, i, i,
			i);
	fixture_chain(state);
	fixture_write("many.c", text, n);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated_meanwhile),
		cmocka_unit_test(test_huge_debug_link),
		cmocka_unit_test(test_stopped_checksum),
		cmocka_unit_test(test_absurd_sizes),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_honest),
		cmocka_unit_test(test_limit_is_shared),
		cmocka_unit_test(test_long_line_program),
	};

	return cmocka_run_group_tests_name("symbol_hostile", tests, set_up, NULL);
}
