/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit test of agent/unwind/cfi_expr.c: each operation of the DWARF stack machine, and what it
 * refuses.
 */
#include "agent/unwind/cfi_expr.h"

#include "tests/unit/unit.h"

#define MINUS_1		0xffffffffffffffffull
#define MIN		0x8000000000000000ull

/* Only addresses from 0x1000 to 0x2000 can be read; the word at a is a * 0x0101010101010101. */
static int read_word(void *ctx, uint64_t addr, uint64_t *val)
{
	(void)ctx;
	*val = addr * 0x0101010101010101ull;
	return addr >= 0x1000 && addr < 0x2000 ? 0 : -1;
}

/* Evaluate with rsp (7) = 0x1000 and rax (0) = 5 known, 77 on the stack. */
static int eval(const uint8_t *ops, size_t n, uint64_t *val)
{
	struct cfi_regs regs = { .r = { [0] = 5, [7] = 0x1000 }, .known = 1u << 0 | 1u << 7 };
	struct cfi_expr_env env = { .regs = &regs, .read = read_word };
	struct cursor c = { .at = (uintptr_t)ops, .end = (uintptr_t)ops + n };
	uint64_t initial = 77;

	return cfi_expr_eval(c, &env, &initial, val);
}

struct expr_case {
	uint8_t n, ops[32];
	uint64_t val;
};

static const struct expr_case good[] = {
	{ 0, { 0 }, 77 },
	{ 1, { 0x30 }, 0 }, { 1, { 0x4f }, 31 },
	{ 9, { 0x03, 1, 2, 3, 4, 5, 6, 7, 8 }, 0x0807060504030201 },
	{ 2, { 0x08, 0xff }, 255 }, { 2, { 0x09, 0xff }, MINUS_1 },
	{ 3, { 0x0a, 0xfe, 0xff }, 0xfffe }, { 3, { 0x0b, 0xfe, 0xff }, MINUS_1 - 1 },
	{ 5, { 0x0c, 0, 0, 0, 0x80 }, 0x80000000 },
	{ 5, { 0x0d, 0, 0, 0, 0x80 }, 0xffffffff80000000 },
	{ 9, { 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80 }, MIN },
	{ 9, { 0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80 }, MIN + 1 },
	{ 3, { 0x10, 0x80, 1 }, 128 }, { 2, { 0x11, 0x7f }, MINUS_1 },
	{ 11, { 0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 }, MINUS_1 },
	{ 11, { 0x11, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f }, MIN },
	{ 2, { 0x70, 3 }, 8 }, { 3, { 0x77, 0x80, 0x7f }, 0x1000 - 128 },
	{ 3, { 0x92, 7, 8 }, 0x1008 },
	{ 3, { 0x77, 1, 0x06 }, 0x1001 * 0x0101010101010101ull },
	{ 4, { 0x77, 1, 0x94, 2 }, 0x1101 },
	{ 4, { 0x77, 1, 0x94, 8 }, 0x1001 * 0x0101010101010101ull },
	{ 3, { 0x33, 0x12, 0x22 }, 6 },				/* dup plus */
	{ 3, { 0x33, 0x34, 0x13 }, 3 },				/* drop */
	{ 3, { 0x33, 0x34, 0x14 }, 3 },				/* over */
	{ 5, { 0x33, 0x34, 0x35, 0x15, 2 }, 3 }, { 4, { 0x33, 0x34, 0x15, 0 }, 4 },	/* pick */
	{ 4, { 0x33, 0x34, 0x16, 0x1c }, 1 },			/* 4 3 minus */
	{ 4, { 0x31, 0x32, 0x33, 0x17 }, 2 },			/* rot: 3 1 2 */
	{ 6, { 0x31, 0x32, 0x33, 0x17, 0x13, 0x1c }, 2 },	/* 3 - 1 */
	{ 2, { 0x33, 0x19 }, 3 }, { 3, { 0x09, 0xfd, 0x19 }, 3 },	/* abs */
	{ 3, { 0x3c, 0x3a, 0x1a }, 8 },				/* and */
	/* div is signed */
	{ 3, { 0x3c, 0x35, 0x1b }, 2 }, { 4, { 0x09, 0xf4, 0x35, 0x1b }, MINUS_1 - 1 },
	{ 12, { 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b }, MIN },
	{ 3, { 0x3c, 0x35, 0x1d }, 2 }, { 3, { 0x3c, 0x35, 0x1e }, 60 },	/* mod, mul */
	{ 2, { 0x31, 0x1f }, MINUS_1 }, { 2, { 0x31, 0x20 }, MINUS_1 - 1 },	/* neg, not */
	{ 3, { 0x3c, 0x3a, 0x21 }, 14 }, { 3, { 0x3c, 0x3a, 0x22 }, 22 },
	{ 4, { 0x33, 0x23, 0x80, 1 }, 131 },
	{ 3, { 0x33, 0x34, 0x24 }, 48 }, { 4, { 0x33, 0x08, 64, 0x24 }, 0 },	/* shl */
	{ 4, { 0x09, 0x80, 0x31, 0x25 }, 0x7fffffffffffffc0 },
	{ 5, { 0x09, 0x80, 0x08, 64, 0x25 }, 0 },
	{ 4, { 0x09, 0x80, 0x31, 0x26 }, 0xffffffffffffffc0 },
	{ 5, { 0x09, 0x80, 0x08, 64, 0x26 }, MINUS_1 },
	{ 3, { 0x3c, 0x3a, 0x27 }, 6 },				/* xor */
	/* ge, gt are signed */
	{ 4, { 0x09, 0xff, 0x31, 0x2a }, 0 }, { 4, { 0x09, 0xff, 0x31, 0x2b }, 0 },
	{ 4, { 0x09, 0xff, 0x31, 0x2c }, 1 }, { 4, { 0x09, 0xff, 0x31, 0x2d }, 1 },
	{ 3, { 0x33, 0x33, 0x2a }, 1 }, { 3, { 0x33, 0x33, 0x2b }, 0 },
	{ 3, { 0x33, 0x33, 0x2c }, 1 },
	{ 3, { 0x33, 0x33, 0x2d }, 0 }, { 3, { 0x33, 0x33, 0x29 }, 1 },
	{ 3, { 0x33, 0x33, 0x2e }, 0 },
	{ 3, { 0x33, 0x34, 0x29 }, 0 }, { 3, { 0x33, 0x34, 0x2e }, 1 },
	{ 6, { 0x33, 0x2f, 1, 0, 0x34, 0x96 }, 3 },		/* skip, nop */
	/* bra */
	{ 6, { 0x33, 0x31, 0x28, 1, 0, 0x34 }, 3 }, { 6, { 0x33, 0x30, 0x28, 1, 0, 0x34 }, 4 },
	{ 8, { 0x34, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff, 0x96 }, 0 },	/* count down to 0 */
	/* binutils' expression for .plt: rsp + 8 + ((rip & 15) >= 11) * 8, with rax for rip */
	{ 11, { 0x77, 8, 0x70, 6, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, 0x1010 },
};

static const struct expr_case bad[] = {
	{ 2, { 0x13, 0x13 }, 0 }, { 1, { 0x13 }, 0 },		/* empty */
	{ 1, { 0x22 }, 0 }, { 1, { 0x16 }, 0 }, { 2, { 0x33, 0x17 }, 0 }, { 2, { 0x13, 0x12 }, 0 },
	{ 2, { 0x13, 0x19 }, 0 }, { 2, { 0x13, 0x06 }, 0 }, { 4, { 0x13, 0x28, 0, 0 }, 0 },
	{ 2, { 0x14, 0x30 }, 0 }, { 3, { 0x33, 0x15, 2 }, 0 },
	{ 3, { 0x33, 0x30, 0x1b }, 0 }, { 3, { 0x33, 0x30, 0x1d }, 0 },	/* by zero */
	/* registers that are not known */
	{ 2, { 0x71, 0 }, 0 }, { 2, { 0x8f, 0 }, 0 }, { 3, { 0x92, 17, 0 }, 0 },
	{ 2, { 0x30, 0x06 }, 0 }, { 4, { 0x77, 1, 0x94, 9 }, 0 }, { 4, { 0x77, 1, 0x94, 0 }, 0 },
	/* for ever, outside */
	{ 3, { 0x2f, 0xfd, 0xff }, 0 }, { 3, { 0x2f, 1, 0 }, 0 }, { 3, { 0x2f, 0xfc, 0xff }, 0 },
	/* too deep */
	{ 17, { 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31, 0x31,
		0x31, 0x31, 0x31 }, 0 },
	{ 1, { 0x50 }, 0 }, { 1, { 0x97 }, 0 }, { 1, { 0x9c }, 0 }, { 1, { 0xff }, 0 },
	{ 1, { 0x00 }, 0 },
	/* cut short */
	{ 4, { 0x03, 1, 2, 3 }, 0 }, { 2, { 0x10, 0x80 }, 0 }, { 1, { 0x08 }, 0 },
	{ 1, { 0x77 }, 0 },
};

static void test_good(void **state)
{
	uint64_t val;
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
		val = 0x5555;
		if (eval(good[k].ops, good[k].n, &val) || val != good[k].val)
			fail_msg("good[%zu]: 0x%lx, not 0x%lx", k, (unsigned long)val,
				 (unsigned long)good[k].val);
	}
}

static void test_bad(void **state)
{
	uint64_t val;
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
		if (!eval(bad[k].ops, bad[k].n, &val))
			fail_msg("bad[%zu] gives 0x%lx", k, (unsigned long)val);
}

static void test_no_initial(void **state)
{
	struct cfi_regs regs = { .known = 0 };
	struct cfi_expr_env env = { .regs = &regs, .read = read_word };
	struct cursor c = { 0 };
	uint64_t val;

	(void)state;
	assert_int_equal(cfi_expr_eval(c, &env, NULL, &val), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_no_initial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
