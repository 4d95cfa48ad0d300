/*
 * agent/block.c: blocks and mappings by address, neighbours in one granule, the limit.
 */
#include "tests/unit/agent_host.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HEAP 0x555555600000ull

static void test_add_and_del(void **state)
{
	struct block_info b;

	(void)state;
	agent_host_init(16 << 20);
	assert_false(block_del(HEAP + 16, &b));
	assert_true(block_add(HEAP + 16, 123456789012, 0xabcdef, PMM_KIND_CALLOC, 77, 4000000000u));
	assert_false(block_del(HEAP, &b));			/* same granule, other address */
	assert_true(block_del(HEAP + 16, &b));
	assert_int_equal(b.size, 123456789012);
	assert_int_equal(b.site, 0xabcdef);
	assert_int_equal(b.kind, PMM_KIND_CALLOC);
	assert_int_equal(b.birth_tick, 4000000000u);
	assert_false(block_del(HEAP + 16, &b));
	agent_host_fini();
}

static void test_every_granule_of_64_mib(void **state)
{
	struct block_info b;

	(void)state;
	agent_host_init(64 << 20);
	for (uint64_t i = 0; i < 1 << 21; i++)
		assert_true(block_add(HEAP + 32 * i, i + 1, i & 0xffffff, PMM_KIND_MALLOC, 0, 0));
	for (uint64_t i = 0; i < 1 << 21; i++) {
		assert_true(block_del(HEAP + 32 * i, &b));
		assert_int_equal(b.size, i + 1);
	}
	/* half a byte of table for a byte of heap, and little else */
	assert_in_range(A.ledger->arena_used - PMM_ARENA_OFF, 32 << 20, (32 << 20) + (80 << 10));
	agent_host_fini();
}

static void test_dense_neighbours(void **state)
{
	struct block_info b;

	(void)state;
	agent_host_init(16 << 20);
	A.dense = true;
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(block_add(HEAP + 8 * i, i + 1, 1, PMM_KIND_MALLOC, 0, 0));
	for (uint64_t i = 0; i < 1000; i += 2) {
		assert_true(block_del(HEAP + 8 * i, &b));
		assert_int_equal(b.size, i + 1);
	}
	for (uint64_t i = 0; i < 1000; i += 2)			/* into granules that others hold or left */
		assert_true(block_add(HEAP + 8 * i, 5000 + i, 2, PMM_KIND_MALLOC, 0, 0));
	for (uint64_t i = 0; i < 1000; i++) {
		assert_true(block_del(HEAP + 8 * i, &b));
		assert_int_equal(b.size, i % 2 ? i + 1 : 5000 + i);
	}
	for (uint64_t i = 0; i < 1000; i++)
		assert_false(block_del(HEAP + 8 * i, &b));
	agent_host_fini();
}

static void test_rename(void **state)
{
	struct block_info b;
	uint64_t size;

	(void)state;
	agent_host_init(16 << 20);
	assert_int_equal(block_rename(HEAP, PMM_KIND_NEW, &size), PMM_KIND_NONE);
	block_add(HEAP, 99, 3, PMM_KIND_ALIGNED_ALLOC, 1, 2);
	assert_int_equal(block_rename(HEAP, PMM_KIND_NEW_ALIGNED, &size), PMM_KIND_ALIGNED_ALLOC);
	assert_int_equal(size, 99);
	assert_true(block_del(HEAP, &b));
	assert_int_equal(b.kind, PMM_KIND_NEW_ALIGNED);
	assert_int_equal(b.site, 3);
	agent_host_fini();
}

static void test_the_limit_is_counted(void **state)
{
	unsigned kept = 0;

	(void)state;
	agent_host_init(256 << 10);
	for (uint64_t i = 0; i < 100; i++)			/* each in a leaf of its own */
		kept += block_add(HEAP + 8192 * i, 1000, 1, PMM_KIND_MALLOC, 0, 0);
	assert_int_equal(kept, 55);				/* 256 KiB less the 32 KiB mid with its header, in pages */
	assert_int_equal(A.ledger->dropped[PMM_DROP_BLOCK_FULL], 45);
	assert_int_equal(A.ledger->dropped_bytes, 45000);
	agent_host_fini();
}

static void test_addresses_beyond_the_tables(void **state)
{
	struct block_info b;

	(void)state;
	agent_host_init(16 << 20);
	assert_false(block_add(1ull << 47, 1, 1, PMM_KIND_MALLOC, 0, 0));
	assert_int_equal(A.ledger->dropped[PMM_DROP_ADDRESS], 1);
	assert_false(block_del(1ull << 47, &b));
	assert_true(block_add((1ull << 47) - 32, 1, 1, PMM_KIND_MALLOC, 0, 0));
	assert_true(block_del((1ull << 47) - 32, &b));
	agent_host_fini();
}

static void test_mappings_are_found_from_inside(void **state)
{
	const uint64_t map = 0x7f0000000000ull;
	struct block_info b;
	uint64_t at = 0;

	(void)state;
	agent_host_init(16 << 20);
	assert_true(block_add_map(map, 3 << 20, 1, 0, 0));
	assert_true(block_add_map(map + (8 << 20), 4096, 2, 0, 0));
	assert_false(block_take_map(map + (4 << 20), 0, true, &at, &b));	/* in the gap */
	assert_true(block_take_map(map + (2 << 20), 0, true, &at, &b));
	assert_int_equal(at, map);
	assert_int_equal(b.size, 3 << 20);
	assert_false(block_take_map(map, map + (8 << 20), false, &at, &b));
	assert_true(block_take_map(map, map + (16 << 20), false, &at, &b));
	assert_int_equal(at, map + (8 << 20));
	agent_host_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_and_del),
		cmocka_unit_test(test_every_granule_of_64_mib),
		cmocka_unit_test(test_dense_neighbours),
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_the_limit_is_counted),
		cmocka_unit_test(test_addresses_beyond_the_tables),
		cmocka_unit_test(test_mappings_are_found_from_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
