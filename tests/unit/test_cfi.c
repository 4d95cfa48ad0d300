/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit test of agent/unwind/cfi.c and cfi_row.c: each call frame instruction, and the rule it leads
 * to.
 */
#include "agent/unwind/cfi.h"

#include "tests/unit/cfi_image.h"

static void test_advance(void **state)
{
	struct image im;
	uint8_t set_loc[9] = { 0x01 };
	uint64_t loc = CODE + 0x90000;

	(void)state;
	image_init(&im);
	add_cie(&im, "", BYTES(), BYTES(CALL));
	fde_begin(&im, CODE, CODE_BYTES, 8);
	put(&im, BYTES(AT(3), 0x0e, 16, 0x02, 0x80, 0x0e, 24, 0x03, 0, 0x80, 0x0e, 32, 0x04, 0, 0,
		       1, 0, 0x0e, 40, 0x1d, 0, 0, 1, 0, 0, 0, 0, 0, 0x0e, 48));
	memcpy(set_loc + 1, &loc, 8);
	put(&im, set_loc, 9);
	put(&im, BYTES(0x0e, 56));
	entry_end(&im);

	expect(&im, 0, CFI_SP, 0, 8);
	expect(&im, 2, CFI_SP, 0, 8);
	expect(&im, 3, CFI_SP, 0, 16);
	expect(&im, 0x82, CFI_SP, 0, 16);
	expect(&im, 0x83, CFI_SP, 0, 24);
	expect(&im, 0x8082, CFI_SP, 0, 24);
	expect(&im, 0x8083, CFI_SP, 0, 32);
	expect(&im, 0x18082, CFI_SP, 0, 32);
	expect(&im, 0x18083, CFI_SP, 0, 40);
	expect(&im, 0x28083, CFI_SP, 0, 48);
	expect(&im, 0x8ffff, CFI_SP, 0, 48);
	expect(&im, 0x90000, CFI_SP, 0, 56);
	expect(&im, CODE_BYTES - 1, CFI_SP, 0, 56);
	expect(&im, CODE_BYTES, CFI_NONE, 0, 0);
	expect(&im, (uint64_t)-1, CFI_NONE, 0, 0);
}

static void test_cfa(void **state)
{
	struct image im;

	(void)state;
	image_plain(&im, BYTES(AT(1), 0x0c, 6, 16, AT(1), 0x0d, 7, AT(1), 0x0e, 0x90, 1, AT(1),
			       0x12, 6, 0x7e, AT(1), 0x13, 0x7d, AT(1), 0x0c, 10, 0, AT(1), 0x0f, 2,
			       0x77, 8, AT(1), 0x0e, 16));
	expect(&im, 1, CFI_FP, 0, 16);
	expect(&im, 2, CFI_SP, 0, 16);
	expect(&im, 3, CFI_SP, 0, 144);
	expect(&im, 4, CFI_FP, 0, 16);
	expect(&im, 5, CFI_FP, 0, 24);
	expect(&im, 6, CFI_SLOW, 0, 0);
	assert_int_equal(step(&im, 6, 1).r[ARCH_DWARF_SP], 0xa000);
	expect(&im, 7, CFI_SLOW, 0, 0);
	assert_int_equal(step(&im, 7, 1).r[ARCH_DWARF_SP], STACK + 8);
	expect(&im, 8, CFI_NONE, 0, 0);		/* offset without a register */
	step(&im, 8, -1);

	image_plain(&im, BYTES(0x0c, 8, 8));
	step(&im, 0, -1);			/* r8 is not known */
	image_plain(&im, BYTES(0x0c, 17, 8));
	expect(&im, 0, CFI_NONE, 0, 0);
	image_plain(&im, BYTES(0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f));
	expect(&im, 0, CFI_NONE, 0, 0);

	image_init(&im);
	add_cie(&im, "", BYTES(), BYTES(0x90, 1));
	fde_begin(&im, CODE, CODE_BYTES, 8);
	entry_end(&im);
	expect(&im, 0, CFI_NONE, 0, 0);		/* no CFA at all */
}

static void test_saved_rbp(void **state)
{
	struct image im;

	(void)state;
	image_plain(&im, BYTES(0x86, 2, AT(1), 0x05, 6, 3, AT(1), 0x11, 6, 0x7f, AT(1), 0x2f, 6, 5,
			       AT(1), 0xc6, AT(1), 0x86, 4, AT(1), 0x06, 6, AT(1), 0x86, 4, AT(1),
			       0x08, 6, AT(1), 0x86, 0));
	expect(&im, 0, CFI_SP, -2, 8);
	expect(&im, 1, CFI_SP, -3, 8);
	expect(&im, 2, CFI_SP, 1, 8);
	expect(&im, 3, CFI_SP, 5, 8);
	expect(&im, 4, CFI_SP, 0, 8);
	expect(&im, 5, CFI_SP, -4, 8);
	expect(&im, 6, CFI_SP, 0, 8);
	expect(&im, 7, CFI_SP, -4, 8);
	expect(&im, 8, CFI_SP, 0, 8);
	expect(&im, 9, CFI_SLOW, 0, 0);		/* saved at the CFA itself: 0 means unchanged */
	assert_int_equal(step(&im, 9, 1).r[ARCH_DWARF_FP], STACK + 8 + 1);

	image_plain(&im, BYTES(0x86, 0x80, 0x80, 2, AT(1), 0x11, 6, 0x80, 0x80, 2));
	expect(&im, 0, CFI_SP, -32768, 8);
	expect(&im, 1, CFI_SP, -32768, 8);
	image_plain(&im, BYTES(0x86, 0x81, 0x80, 2));
	expect(&im, 0, CFI_SLOW, 0, 0);		/* farther than a rule can say */

	image_init(&im);
	add_cie(&im, "", BYTES(), BYTES(0x0c, 7, 8, 0x90, 2));
	im.b[10] = 4;				/* code alignment 4, data alignment -4 */
	im.b[11] = 0x7c;
	fde_begin(&im, CODE, CODE_BYTES, 8);
	put(&im, BYTES(0x86, 3, AT(2), 0x86, 4));
	entry_end(&im);
	expect(&im, 0, CFI_SLOW, 0, 0);		/* not a whole number of words */
	expect(&im, 7, CFI_SLOW, 0, 0);
	expect(&im, 8, CFI_SP, -2, 8);
}

/* Every rule a register can have, told by what becomes of rbx (0x3000) and rbp. */
static void test_register_rules(void **state)
{
	struct image im;
	struct cfi_regs r;

	(void)state;
	image_plain(&im,
		    BYTES(0x83, 2, AT(1), 0x14, 3, 2, AT(1), 0x15, 3, 0x7e, AT(1), 0x10, 3, 2, 0x23,
			  16, AT(1), 0x16, 3, 2, 0x23, 16, AT(1), 0x09, 3, 12, AT(1), 0x07, 3,
			  AT(1), 0x08, 3, AT(1), 0xc3, AT(1), 0x09, 3, 8, 0xa0 - 0x20 + 20, 1));
	assert_int_equal(step(&im, 0, 1).r[3], STACK - 8 + 1);
	assert_int_equal(step(&im, 1, 1).r[3], STACK - 8);
	assert_int_equal(step(&im, 2, 1).r[3], STACK + 24);
	assert_int_equal(step(&im, 3, 1).r[3], STACK + 24 + 1);
	assert_int_equal(step(&im, 4, 1).r[3], STACK + 24);
	assert_int_equal(step(&im, 5, 1).r[3], 0xc000);
	assert_int_equal(step(&im, 6, 1).known & 1u << 3, 0);
	assert_int_equal(step(&im, 7, 1).r[3], 0x3000);
	assert_int_equal(step(&im, 8, 1).r[3], 0x3000);
	/* r8 is not known; xmm3 is nobody's business */
	assert_int_equal(step(&im, 9, 1).known & 1u << 3, 0);

	r = step(&im, 7, 1);
	assert_int_equal(r.known, 1u << 3 | 1u << 6 | 1u << 7 | 0xfu << 12 | 1u << 16);
	assert_int_equal(r.r[ARCH_DWARF_SP], STACK + 8);
	assert_int_equal(r.r[ARCH_DWARF_RA], STACK + 1);
	assert_int_equal(r.r[ARCH_DWARF_FP], STACK + 0x100);
	expect(&im, 1, CFI_SP, 0, 8);			/* rbx does not matter to the simple rule */

	image_plain(&im, BYTES(0x14, 6, 2, AT(1), 0x07, 6, AT(1), 0x09, 6, 12, AT(1), 0x10, 6, 2,
			       0x23, 16, AT(1), 0xc6, 0x07, 7, AT(1), 0x14, 7, 0, AT(1), 0x14, 7, 1,
			       AT(1), 0x09, 6, 17));
	expect(&im, 0, CFI_SLOW, 0, 0);
	expect(&im, 1, CFI_SLOW, 0, 0);
	expect(&im, 2, CFI_SLOW, 0, 0);
	expect(&im, 3, CFI_SLOW, 0, 0);
	step(&im, 4, -1);				/* rsp lost */
	expect(&im, 5, CFI_SP, 0, 8);
	expect(&im, 6, CFI_SLOW, 0, 0);
	assert_int_equal(step(&im, 6, 1).r[ARCH_DWARF_SP], STACK);
	expect(&im, 7, CFI_NONE, 0, 0);			/* in a vector register */
}

static void test_return_address(void **state)
{
	struct image im;

	(void)state;
	image_plain(&im, BYTES(0x07, 16, AT(1), 0x90, 2, AT(1), 0x09, 16, 2, AT(1), 0x08, 16, AT(1),
			       0x16, 16, 1, 0x30, AT(1), 0x09, 16, 8));
	expect(&im, 0, CFI_END, 0, 0);
	step(&im, 0, 0);
	expect(&im, 1, CFI_SLOW, 0, 0);
	assert_int_equal(step(&im, 1, 1).r[ARCH_DWARF_RA], STACK - 8 + 1);
	expect(&im, 2, CFI_SLOW, 0, 0);
	assert_int_equal(step(&im, 2, 1).r[ARCH_DWARF_RA], 0x2000);
	step(&im, 3, -1);
	assert_int_equal(step(&im, 4, 1).r[ARCH_DWARF_RA], 0);
	step(&im, 5, -1);			/* r8 is not known */
}

static void test_states(void **state)
{
	struct image im;
	uint8_t deep[64];
	size_t k;

	(void)state;
	image_plain(&im, BYTES(0x0e, 16, AT(1), 0x0a, 0x0e, 24, AT(1), 0x0a, 0x86, 2, 0x0e, 32,
			       AT(1), 0x0b, AT(1), 0x0b, AT(1), 0x0a, 0x0d, 6, 0x02, 1, 0x0b, 0x0a,
			       AT(1), 0x0b, AT(1), 0x0b));
	expect(&im, 0, CFI_SP, 0, 16);
	expect(&im, 1, CFI_SP, 0, 24);
	expect(&im, 2, CFI_SP, -2, 32);
	expect(&im, 3, CFI_SP, 0, 24);
	expect(&im, 4, CFI_SP, 0, 16);
	expect(&im, 5, CFI_FP, 0, 16);
	expect(&im, 6, CFI_SP, 0, 16);
	expect(&im, 7, CFI_SP, 0, 16);
	expect(&im, 8, CFI_NONE, 0, 0);		/* nothing to restore */

	for (k = 0; k < sizeof(deep); k++)
		deep[k] = 0x0a;
	image_plain(&im, deep, 8);
	expect(&im, 0, CFI_SP, 0, 8);
	image_plain(&im, deep, 9);
	expect(&im, 0, CFI_NONE, 0, 0);
	memset(deep + 32, 0x0b, 32);		/* closed again: may nest as deep as it likes */
	image_plain(&im, deep, 64);
	expect(&im, 0, CFI_SP, 0, 8);
}

static void test_odd_instructions(void **state)
{
	struct image im;

	(void)state;
	image_plain(&im, BYTES(0x00, 0x2e, 0x80, 1, 0x0e, 16, AT(1), 0x0e, 24, AT(1), 0x2d));
	expect(&im, 0, CFI_SP, 0, 16);
	expect(&im, 1, CFI_SP, 0, 24);
	expect(&im, 2, CFI_NONE, 0, 0);
	image_plain(&im, BYTES(0x3f));
	expect(&im, 0, CFI_NONE, 0, 0);
	image_plain(&im, BYTES(0x0f, 0x7f, 0x77, 8));	/* block longer than the entry */
	expect(&im, 0, CFI_NONE, 0, 0);

	image_init(&im);
	add_cie(&im, "", BYTES(), BYTES(CALL, 0xc6));	/* a CIE has nothing to restore */
	fde_begin(&im, CODE, CODE_BYTES, 8);
	entry_end(&im);
	expect(&im, 0, CFI_NONE, 0, 0);
}

/* gcc's prologue that realigns the stack, -mstackrealign; gcc/config/i386/i386.c */
static void test_realigned(void **state)
{
	struct image im;

	(void)state;
	image_plain(&im, BYTES(0x0c, 10, 0, AT(4), 0x10, 6, 2, 0x76, 0, AT(4), 0x0f, 3, 0x76, 0x78,
			       0x06, AT(4), 0x10, 6, 2, 0x76, 8));
	expect(&im, 0, CFI_SLOW, 0, 0);
	expect(&im, 4, CFI_SLOW, 0, 0);
	expect(&im, 8, CFI_FP_DEREF, 0, -8);
	assert_int_equal(step(&im, 8, 1).r[ARCH_DWARF_SP], STACK + 0x100 - 8 + 1);
	assert_int_equal(step(&im, 8, 1).r[ARCH_DWARF_FP], STACK + 0x100 + 1);
	expect(&im, 12, CFI_SLOW, 0, 0);	/* rbp not where rbp points */

	image_plain(&im, BYTES(0x10, 6, 2, 0x76, 0, 0x0f, 5, 0x76, 0x78, 0x06, 0x23, 8, AT(1), 0x0f,
			       8, 0x76, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0x06));
	expect(&im, 0, CFI_SLOW, 0, 0);		/* goes on after deref */
	expect(&im, 1, CFI_SLOW, 0, 0);		/* offset beyond 32 bits */
}

/* glibc's __restore_rt, sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c */
static void test_sigframe(void **state)
{
	struct image im;
	struct cfi_regs r;

	(void)state;
	image_init(&im);
	add_cie(&im, "zRS", BYTES(0x00), BYTES(0));
	fde_begin(&im, CODE, CODE_BYTES, 8);
	put(&im, BYTES(0, 0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10, 7, 3, 0x77,
		       0xa0, 1, 0x10, 16, 3, 0x77, 0xa8, 1, 0x10, 8, 2, 0x77, 0x28));
	put(&im, BYTES(AT(1), 0x0c, 7, 8, 0x90, 1));
	entry_end(&im);

	expect(&im, 0, CFI_SIGFRAME, 0, 0);
	r = step(&im, 0, 2);
	assert_int_equal(r.r[ARCH_DWARF_RA], STACK + 168 + 1);
	assert_int_equal(r.r[ARCH_DWARF_SP], STACK + 160 + 1);
	assert_int_equal(r.r[ARCH_DWARF_FP], STACK + 120 + 1);
	assert_int_equal(r.r[8], STACK + 40 + 1);
	assert_true(r.known & 1u << 8);
	expect(&im, 1, CFI_SLOW, 0, 0);		/* some other signal frame */
	step(&im, 1, 2);
	im.b[im.entry + 47] = 0xb0;	/* rip elsewhere: not the kernel's frame */
	expect(&im, 0, CFI_SLOW, 0, 0);
	assert_int_equal(step(&im, 0, 2).r[ARCH_DWARF_RA], STACK + 176 + 1);
}

/* A function that begins behind a gap, one directly behind another, and the last one. */
static void test_begins_behind(void **state)
{
	const uint64_t start[] = { 0, 0x110, 0x200 }, end[] = { 0x100, 0x200, 0x300 };
	struct image im;

	(void)state;
	image_init(&im);
	add_cie(&im, "", BYTES(), BYTES(CALL));
	for (unsigned k = 0; k < 3; k++) {
		fde_begin(&im, CODE + start[k], end[k] - start[k], 8);
		entry_end(&im);
	}
	for (uint64_t off = 0; off < 0x310; off++)
		assert_int_equal(cfi_begins_behind(&im.m, CODE + off), off == 0x10f);
	assert_true(cfi_begins_behind(&im.m, CODE - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_advance),
		cmocka_unit_test(test_cfa),
		cmocka_unit_test(test_saved_rbp),
		cmocka_unit_test(test_register_rules),
		cmocka_unit_test(test_return_address),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_odd_instructions),
		cmocka_unit_test(test_realigned),
		cmocka_unit_test(test_sigframe),
		cmocka_unit_test(test_begins_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
