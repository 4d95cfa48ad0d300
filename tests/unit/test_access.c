/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions access as many bytes as the processor's manual says; what is no instruction accesses
 * none.
 */
#include "src/proc/access.h"
#include "tests/unit/unit.h"

static void test_sizes(void **state)
{
	static const struct {
		uint8_t code[16];
		unsigned bytes;
	} cases[] = {
		{ { 0xc6, 0x00, 0x01 }, 1 },				/* mov byte [rax], 1 */
		{ { 0x66, 0x89, 0x08 }, 2 },				/* mov [rax], cx */
		{ { 0x89, 0x08 }, 4 },					/* mov [rax], ecx */
		{ { 0x48, 0x8b, 0x08 }, 8 },				/* mov rcx, [rax] */
		{ { 0x0f, 0xb6, 0x00 }, 1 },				/* movzx eax, byte [rax] */
		{ { 0x0f, 0x11, 0x00 }, 16 },				/* movups [rax], xmm0 */
		{ { 0xc5, 0xfd, 0x7f, 0x00 }, 32 },			/* vmovdqa [rax], ymm0 */
		{ { 0x62, 0xf1, 0x7d, 0x48, 0x7f, 0x00 }, 64 },		/* vmovdqa32 [rax], zmm0 */
		{ { 0xf3, 0xa4 }, 1 },					/* rep movsb */
		{ { 0xf3, 0x48, 0xab }, 8 },				/* rep stosq */
		{ { 0x48, 0x8d, 0x00 }, 0 },				/* lea rax, [rax] */
		{ { 0x90 }, 0 },					/* nop */
		{ { 0x06 }, 0 },					/* none */
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++)
		assert_int_equal(access_bytes(cases[i].code, sizeof(cases[i].code)),
				 cases[i].bytes);
	assert_int_equal(access_bytes(cases[3].code, 2), 0);	/* cut off */
	assert_int_equal(access_bytes(cases[3].code, 0), 0);
}

/*
 * An address is told where its upper bits are not all the same; registers are numbered as the
 * processor does.
 */
static void test_odd_addresses(void **state)
{
	/* mov rcx, [rdi + 8] */
	static const uint8_t load[] = { 0x48, 0x8b, 0x4f, 0x08 };
	/* mov [r15 + r12 * 8], eax */
	static const uint8_t store[] = { 0x43, 0x89, 0x04, 0xe7 };
	/* rep movsb: [rdi], [rsi] */
	static const uint8_t copy[] = { 0xf3, 0xa4 };
	/* mov rax, fs:[rdi] */
	static const uint8_t local[] = { 0x64, 0x48, 0x8b, 0x07 };
	uint64_t regs[ACCESS_NR_REGS] = { 0 }, address;
	bool writes;

	(void)state;
	assert_false(access_odd_address(load, sizeof(load), regs, &address, &writes));
	regs[7] = 0x4141414141414141;
	assert_true(access_odd_address(load, sizeof(load), regs, &address, &writes));
	assert_int_equal(address, 0x4141414141414149);
	assert_false(writes);
	assert_false(access_odd_address(local, sizeof(local), regs, &address, &writes));
	assert_true(access_odd_address(copy, sizeof(copy), regs, &address, &writes));
	assert_int_equal(address, 0x4141414141414141);
	assert_true(writes);
	regs[7] = 0x1000;
	regs[6] = 1ull << 47;
	assert_true(access_odd_address(copy, sizeof(copy), regs, &address, &writes));
	assert_int_equal(address, 1ull << 47);
	assert_false(writes);
	regs[6] = ~0ull << 47;		/* the kernel's half: it exists */
	assert_false(access_odd_address(copy, sizeof(copy), regs, &address, &writes));
	regs[15] = 0x8000000000000000;
	regs[12] = 4;
	assert_true(access_odd_address(store, sizeof(store), regs, &address, &writes));
	assert_int_equal(address, 0x8000000000000020);
	assert_true(writes);
	assert_false(access_odd_address(store, 1, regs, &address, &writes));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sizes),
					    cmocka_unit_test(test_odd_addresses) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
