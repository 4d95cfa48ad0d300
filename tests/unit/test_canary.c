/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * include/pmm/check.h: canary tells its block, and nothing else does.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "include/pmm/check.h"

static uint64_t random_word(void)
{
	return (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();
}

static void test_canary_tells_its_block(void **state)
{
	(void)state;
	srandom(3);
	for (int i = 0; i < 100000; i++) {
		uint64_t secret = random_word(), block = random_word() & 0x7ffffffffff0,
			 size = random_word() & 0xffffff;
		uint64_t at = (block + size + 15) & ~15ull;

		assert_int_equal(pmm_canary_of(secret, pmm_canary(secret, block), at), block);
		assert_int_equal(pmm_canary_of(secret, pmm_canary(secret, block), at + 16), block);
		assert_int_equal(pmm_canary_of(secret, pmm_canary(secret, block), block - 16), 0);
		assert_int_equal(
			pmm_canary_of(secret, pmm_canary(secret, block), at + (1ull << 41)), 0);
		assert_int_equal(pmm_canary_of(secret + 2, pmm_canary(secret, block), at), 0);
	}
}

static void test_other_words_tell_none(void **state)
{
	(void)state;
	srandom(4);
	for (int i = 0; i < 100000; i++) {
		uint64_t secret = random_word(), at = random_word() & 0x7ffffffffff0;

		assert_int_equal(pmm_canary_of(secret, random_word(), at), 0);
		assert_int_equal(pmm_canary_of(secret, at + (uint64_t)random() % 4096, at), 0);
		assert_int_equal(pmm_canary_of(secret, (uint64_t)random() % 4096, at), 0);
		assert_int_equal(pmm_canary_of(secret, 0, at), 0);
		assert_int_equal(pmm_canary_of(secret, PMM_POISON_BYTE * 0x0101010101010101ull, at),
				 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canary_tells_its_block),
		cmocka_unit_test(test_other_words_tell_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
