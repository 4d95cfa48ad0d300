/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit test of the symbolizer on files that are damaged or made to keep it busy.
 * Also of src/symbol/dwarfinfo.c, dwarfunit.c, object.c, symtab.c.
 */
#include "src/symbol/symbol.h"

#include <time.h>

#include "tests/unit/unit.h"
#include "tests/unit/symbol_fixture.h"

static const struct symbolizer_options none = { .full = true, .debug_dirs = "/nonexistent" };

/*
 * Flip bytes in a file with everything in it: nothing may crash or hang, every lookup must give a
 * frame.
 */
static void test_damaged(void **state)
{
	struct symbol_frame f[SYMBOL_FRAMES_MAX];
	uint64_t pc;
	uint8_t *good, *bad;
	size_t size;
	unsigned seed = 1;

	(void)state;
	fixture_run("cc -g -O2 chain.c -o chain && cp chain whole");
	pc = fixture_address("whole", "pc_inner");
	good = fixture_read("whole", &size);
	bad = malloc(size);
	for (int round = 0; round < 400; round++) {
		size_t kept = round % 4 == 3 ? (size_t)rand_r(&seed) % size : size;
		struct symbolizer *sym;

		memcpy(bad, good, size);
		for (int i = 0; i < 1 << (round % 10); i++)
			bad[((unsigned)rand_r(&seed) << 8 ^ (unsigned)rand_r(&seed)) % size] =
				(uint8_t)rand_r(&seed);
		fixture_write("chain", bad, kept);
		sym = fixture_symbolizer(&none, "chain", NULL, 0);
		for (uint64_t address = pc - 64; address < pc + 64; address += 3)
			assert_true(symbol_lookup(sym, 0, address, f, SYMBOL_FRAMES_MAX) >= 1);
		symbolizer_free(sym);
	}
	free(good);
	free(bad);
}

/*
 * Sixty namespaces, each with the next one as its first child and as its sibling, too: 2^60 ways to
 * the function behind them, unless a walk goes only forward.
 */
static const char tangled[] =
	".section .debug_abbrev,\"\",@progbits\n"
	".uleb128 1,0x11\n.byte 1\n.uleb128 0x11,1,0x12,7,0,0\n" /* compile unit: low_pc, high_pc */
	".uleb128 2,0x39\n.byte 1\n.uleb128 0x01,0x13,0,0\n" /* namespace: sibling */
	/* subprogram: name, low_pc, high_pc */
	".uleb128 3,0x2e\n.byte 0\n.uleb128 0x03,8,0x11,1,0x12,7,0,0\n.byte 0\n"
	".section .debug_info,\"\",@progbits\n"
	"begin: .long end - start\nstart: .value 4\n.long .debug_abbrev\n.byte 8\n"
	".uleb128 1\n.quad code\n.quad 64\n"
	".rept 60\n.uleb128 2\n.long . + 4 - begin\n.endr\n"
	".uleb128 3\n.string \"behind\"\n.quad code\n.quad 64\n"
	".skip 61, 0\nend:\n"
	".text\n.globl main\n.type main,@function\nmain: code: .skip 64, 0x90\n.size main, . - "
	"main\n"
	".section .note.GNU-stack,\"\",@progbits\n";

static void test_tangled_siblings(void **state)
{
	struct symbol_frame f[8];
	struct symbolizer *sym;
	clock_t start = clock();

	(void)state;
	fixture_write("tangled.s", tangled, strlen(tangled));
	fixture_run("cc tangled.s -o tangled");
	sym = fixture_symbolizer(&none, "tangled", NULL, 0);
	assert_int_equal(symbol_lookup(sym, 0, fixture_address("tangled", "main") + 5, f, 8), 1);
	assert_string_equal(strrchr(f[0].function, ':') + 1, "behind");
	assert_int_equal(f[0].offset, 5);
	symbolizer_free(sym);
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tangled_siblings),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests_name("symbol_damaged", tests, fixture_chain, NULL);
}
