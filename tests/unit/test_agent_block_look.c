/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent/block_look.c: which block or mapping an address is in. */
#include "tests/unit/block_made.h"

static void test_mappings_are_found_from_inside(void **state)
{
	const uint64_t map = 0x7f0000000000ull;
	struct block_info b;
	uint64_t at = 0;

	(void)state;
	start(16 << 20);
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

/* Of random mappings and gaps, of a page to 64 GiB: what reaches to an address and nothing else. */
static void test_what_reaches_to_an_address(void **state)
{
	uint64_t begins[200], bytes[200], next = 0x100000000000ull, at;
	const unsigned nr = sizeof(bytes) / sizeof(bytes[0]);
	struct block_info b;

	(void)state;
	start(16 << 20);
	srandom(11);
	for (unsigned i = 0; i < nr; i++) {
		begins[i] = next + (random() % 3 ? 0 : PMM_PAGE << random() % 25);
		bytes[i] = PMM_PAGE << random() % 25;
		next = begins[i] + bytes[i];
	}
	for (unsigned log2 = 0; log2 <= 24; log2++) {	/* the longest comes last */
		for (unsigned i = 0; i < nr; i++)
			if (bytes[i] == PMM_PAGE << log2)
				assert_true(block_add_map(begins[i], bytes[i], i, 0, 0));
		for (unsigned i = 0; i < nr; i++) {
			bool there = bytes[i] <= PMM_PAGE << log2 && bytes[i] > PMM_PAGE;

			for (unsigned first = 0; first < 2; first++) {
				uint64_t from = first ? begins[i] + PMM_PAGE
						      : begins[i] + bytes[i] - PMM_PAGE;

				assert_int_equal(block_take_map(from, 0, true, &at, &b), there);
				if (!there)
					continue;
				assert_int_equal(at, begins[i]);
				assert_int_equal(b.site, i);
				assert_true(block_add_map(at, b.size, i, 0, 0));
			}
			/* behind it, where nothing is */
			if (i + 1 < nr && begins[i + 1] > begins[i] + bytes[i])
				assert_false(block_take_map(begins[i] + bytes[i], 0, true, &at,
							    &b));
		}
	}
	agent_host_fini();
}

/* block_span() says of any address what block_below() says, whichever leaves there are. */
static void test_span_is_below(void **state)
{
	uint64_t at = HEAP + 40000;

	(void)state;
	start(16 << 20);
	srandom(7);
	for (int i = 0; i < 400; i++) {
		uint64_t size = (uint64_t)random() % (i % 7 ? 100 : 30000);

		assert_true(add(at, size, 1));
		at += (size + 48 + (uint64_t)random() % 40 * 16) & ~15ull;
	}
	for (int i = 0; i < 20000; i++) {
		uint64_t address = HEAP + (uint64_t)random() % (at - HEAP + 40000),
			 reach = 1ull << random() % 17, start, size, below;
		const uint64_t *words = block_span(address, reach, &start, &size);
		struct block_info b;
		/* of a block further away than that, but in the same granule, either may be said */
		bool exact = block_below(address, reach, &below, &b);

		if (!exact && words)
			assert_in_range(address - start, reach, reach + 32);
		if (!exact)
			continue;
		assert_non_null(words);
		assert_int_equal(start, below);
		assert_int_equal(size, b.size);
		assert_true(block_there(words, start, &size));
		assert_false(block_there(words, start + 8, &size));
	}
	agent_host_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_span_is_below),
		cmocka_unit_test(test_mappings_are_found_from_inside),
		cmocka_unit_test(test_what_reaches_to_an_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
