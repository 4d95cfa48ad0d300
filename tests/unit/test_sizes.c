/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of sizes: columns, classes, totals.
 */
#include "tests/unit/recipe_heap.h"

#include "include/pmm/ledger.h"
#include "src/analyze/sizes.h"

static void entries_fall_into_columns(void **state)
{
	struct heap *h = recipe_heap("site a kind=malloc allocs=3 size=16\n"
				     "site b kind=calloc allocs=4 frees=1 size=16\n"
				     "site c kind=realloc allocs=5 size=17\n"
				     "site d kind=reallocarray allocs=6 size=256\n"
				     "site e kind=posix_memalign allocs=1 size=256\n"
				     "site f kind=aligned_alloc allocs=1 size=256\n"
				     "site g kind=memalign allocs=1 size=256\n"
				     "site h kind=valloc allocs=1 size=256\n"
				     "site i kind=pvalloc allocs=1 size=256\n"
				     "site j kind=new allocs=7 size=65537\n"
				     "site k kind=new[]-aligned allocs=8 frees=2 size=65537\n"
				     "site l kind=other allocs=9 size=65536\n");
	struct sizes s;

	(void)state;
	sizes_sum(h, &s);
	assert_int_equal(s.row[0].calls[SIZE_MALLOC], 3);
	assert_int_equal(s.row[0].calls[SIZE_CALLOC], 4);
	assert_int_equal(s.row[0].frees, 1);
	assert_int_equal(s.row[1].calls[SIZE_REALLOC], 11);
	assert_int_equal(s.row[1].calls[SIZE_ALIGNED], 5);
	assert_int_equal(s.row[5].calls[SIZE_OTHER], 9);
	assert_int_equal(s.row[6].calls[SIZE_NEW], 15);
	assert_int_equal(s.row[6].all_calls, 15);
	assert_int_equal(s.row[6].in_use_bytes, 13 * 65537);
	assert_int_equal(s.total.all_calls, 3 + 4 + 11 + 5 + 9 + 15);
	assert_int_equal(s.total.frees, 3);
	assert_int_equal(s.total.bytes_in, 7 * 16 + 5 * 17 + 11 * 256 + 9 * 65536 + 15 * 65537);
	assert_int_equal(s.total.bytes_out, 16 + 2 * 65537);
	assert_int_equal(s.total.in_use_bytes, s.total.bytes_in - s.total.bytes_out);
	heap_free(h);
}

static void classes_have_their_limits(void **state)
{
	const uint64_t max[] = { 16, 256, 1024, 4096, 16384, 65536, UINT64_MAX };
	struct heap *h = recipe_heap("totals untracked-frees=12\nsite a size=1 failed=3\n");
	struct sizes s;

	(void)state;
	sizes_sum(h, &s);
	for (unsigned i = 0; i < HEAP_NR_CLASSES; i++) {
		assert_int_equal(s.row[i].max_bytes, max[i]);
		assert_int_equal(heap_class_of(max[i]), i);
	}
	assert_int_equal(s.untracked_frees, 12);
	assert_int_equal(s.total.failed, 3);
	heap_free(h);
}

static void more_freed_than_made_is_nothing_in_use(void **state)
{
	struct heap *h = recipe_heap("site a size=1\n");
	struct sizes s;

	(void)state;
	h->class[0].bytes_out = 100;
	sizes_sum(h, &s);
	assert_int_equal(s.row[0].in_use_bytes, 0);
	heap_free(h);
}

static void entries_have_names(void **state)
{
	(void)state;
	assert_string_equal(kind_name(PMM_KIND_MALLOC), "malloc");
	assert_string_equal(kind_name(PMM_KIND_NEW_ARRAY), "new[]");
	assert_string_equal(kind_name(PMM_KIND_MMAP), "mmap");
	assert_string_equal(kind_name(200), "?");
	for (unsigned k = 1; k < PMM_NR_KINDS; k++)
		assert_string_not_equal(kind_name(k), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_fall_into_columns),
		cmocka_unit_test(classes_have_their_limits),
		cmocka_unit_test(more_freed_than_made_is_nothing_in_use),
		cmocka_unit_test(entries_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
