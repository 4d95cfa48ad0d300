/* Instructions access as many bytes as the processor's manual says; what is no instruction accesses none. */
#include "src/target/access.h"
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
		assert_int_equal(access_bytes(cases[i].code, sizeof(cases[i].code)), cases[i].bytes);
	assert_int_equal(access_bytes(cases[3].code, 2), 0);	/* cut off */
	assert_int_equal(access_bytes(cases[3].code, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sizes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
