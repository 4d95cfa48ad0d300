/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmod/pmm_log.c: entries, figures, cursors and limits, request by request. */
#include "tests/unit/kmod_log_host.h"

static void test_requests_are_checked(void **state)
{
	static const struct {
		struct pmm_log_request r;
		int result;
	} rows[] = {
		{ { .kind = PMM_KMOD_MALLOC, .pointer = 1 }, 0 },
		{ { .kind = PMM_KMOD_MUNMAP, .pointer = 1 }, 0 },
		{ { .kind = PMM_KMOD_NR_KINDS, .pointer = 1 }, -EINVAL },
		{ { .kind = 0, .pointer = 1 }, -EINVAL },
		{ { .kind = 0xffff, .pointer = 1 }, -EINVAL },
		{ { .kind = PMM_KMOD_MALLOC }, -EINVAL },
		{ { .kind = PMM_KMOD_FREE }, -EINVAL },
		{ { .kind = PMM_KMOD_MALLOC, .pointer = 1, .prev = 2 }, -EINVAL },
		{ { .kind = PMM_KMOD_REALLOC, .pointer = 1, .prev = 2 }, 0 },
		{ { .kind = PMM_KMOD_REALLOC, .pointer = 1, .flags = PMM_KMOD_PREV_GONE }, 0 },
		{ { .kind = PMM_KMOD_REALLOC, .pointer = 1, .flags = 3 }, -EINVAL },
		{ { .kind = PMM_KMOD_MALLOC, .pointer = 1, .flags = PMM_KMOD_PREV_GONE }, -EINVAL },
	};

	(void)state;
	for (unsigned i = 0; i < NR(rows); i++)
		assert_int_equal(pmm_log_check(&rows[i].r), rows[i].result);
}

static void test_entries_come_and_go(void **state)
{
	struct pmm_log_request r = { .pointer = 0x40,
				     .bytes = 7,
				     .prev = 0x10,
				     .caller = 0x99,
				     .time_ns = 12,
				     .tid = 5,
				     .kind = PMM_KMOD_REALLOC };
	struct pmm_log_cursor c = { 0 };
	struct pmm_log_entry *entry;
	u64 seen[64];

	(void)state;
	enter(PMM_KMOD_MALLOC, 0x10, 100, 0);
	enter(PMM_KMOD_CALLOC, 0x20, 200, 0);
	enter(PMM_KMOD_ALIGNED, 0x30, 300, 0);
	assert_int_equal(the_log.entries, 3);
	assert_int_equal(the_log.bytes, 600);
	enter(PMM_KMOD_FREE, 0x20, 0, 0);
	pmm_log_enter(&the_log, &r);
	assert_int_equal(the_log.entries, 2);
	assert_int_equal(the_log.bytes, 307);
	assert_int_equal(pointers(seen), 2);
	assert_int_equal(seen[0], 0x30);
	assert_int_equal(seen[1], 0x40);
	assert_int_equal(the_log.counts.allocations, 4);
	assert_int_equal(the_log.counts.frees, 2);
	check_sum();

	pmm_cursor_begin(&c, &the_log);
	pmm_cursor_pass(&c, pmm_cursor_look(&c, &the_log));
	entry = pmm_cursor_look(&c, &the_log);
	assert_int_equal(entry->bytes, 7);
	assert_int_equal(entry->prev, 0x10);
	assert_int_equal(entry->caller, 0x99);
	assert_int_equal(entry->time_ns, 12);
	assert_int_equal(entry->tid, 5);
	assert_int_equal(entry->kind, PMM_KMOD_REALLOC);
	assert_null(entry->site);
	pmm_cursor_end(&c);
	pmm_cursor_end(&c);
}

static void test_realloc_of_what_is_gone(void **state)
{
	struct pmm_log_request r = { .pointer = 0x20,
				     .bytes = 5,
				     .prev = 0x10,
				     .kind = PMM_KMOD_REALLOC,
				     .flags = PMM_KMOD_PREV_GONE };

	(void)state;
	enter(PMM_KMOD_MALLOC, 0x10, 1, 0);
	enter(PMM_KMOD_FREE, 0x10, 0, 0);
	enter(PMM_KMOD_MALLOC, 0x10, 2, 0);	/* another thread's */
	pmm_log_enter(&the_log, &r);
	assert_int_equal(the_log.entries, 2);
	assert_int_equal(the_log.bytes, 7);
	assert_int_equal(the_log.nr_wrong, 0);
	r.flags = 0;
	r.pointer = 0x30;
	r.prev = 0x70;
	pmm_log_enter(&the_log, &r);		/* of what nobody knows: the new one counts */
	assert_int_equal(the_log.entries, 3);
	assert_int_equal(the_log.counts.foreign_frees, 1);
	check_sum();
}

static void test_wrong_frees(void **state)
{
	(void)state;
	enter(PMM_KMOD_FREE, 0x50, 0, 0);
	assert_int_equal(the_log.counts.foreign_frees, 1);
	enter(PMM_KMOD_MALLOC, 0x10, 1, 0);
	enter(PMM_KMOD_FREE, 0x10, 0, 0);
	enter(PMM_KMOD_FREE, 0x10, 0, 0);
	assert_int_equal(the_log.counts.double_frees, 1);
	assert_true(the_log.wrong[1].twice);
	assert_false(the_log.wrong[0].twice);
	enter(PMM_KMOD_MALLOC, 0x10, 1, 0);
	enter(PMM_KMOD_FREE, 0x10, 0, 0);
	assert_int_equal(the_log.counts.double_frees, 1);
	enter(PMM_KMOD_MALLOC, 0x10, 1, 0);
	the_log.wrong[0] = the_log.wrong[1] = (struct pmm_log_wrong){ 0 };
	for (u64 i = 0; i < 10; i++) {
		struct pmm_log_request r = { .pointer = 0x1000 + i,
					     .caller = 40 + i,
					     .time_ns = 70 + i,
					     .kind = PMM_KMOD_FREE };

		pmm_log_enter(&the_log, &r);
	}
	assert_int_equal(the_log.nr_wrong, 12);
	assert_int_equal(the_log.counts.foreign_frees, 11);
	for (u64 i = 2; i < 10; i++) {
		const struct pmm_log_wrong *w = &the_log.wrong[(i + 2) % PMM_LOG_NR_WRONG];

		assert_int_equal(w->pointer, 0x1000 + i);
		assert_int_equal(w->caller, 40 + i);
		assert_int_equal(w->time_ns, 70 + i);
		assert_null(w->site);
	}
	check_sum();
}

/* A pointer that was freed, handed out again without a record of it being freed, is no double. */
static void test_freed_and_given_again(void **state)
{
	(void)state;
	enter(PMM_KMOD_MALLOC, 0x10, 1, 0);
	enter(PMM_KMOD_FREE, 0x10, 0, 0);
	limits.entries_per_process = 0;
	enter(PMM_KMOD_MALLOC, 0x10, 1, 0);
	enter(PMM_KMOD_FREE, 0x10, 0, 0);
	assert_int_equal(the_log.counts.double_frees, 0);
	assert_int_equal(the_log.counts.foreign_frees, 1);
	assert_int_equal(the_log.counts.over_limit, 1);
	check_sum();
}

static void test_mappings(void **state)
{
	u64 seen[64];

	(void)state;
	enter(PMM_KMOD_MMAP, 0x10000, 0x4000, 0);
	enter(PMM_KMOD_MUNMAP, 0x10000, 0x1000, 0);
	assert_int_equal(pointers(seen), 1);
	assert_int_equal(seen[0], 0x11000);
	assert_int_equal(the_log.bytes, 0x3000);
	enter(PMM_KMOD_MUNMAP, 0x13000, 0x1000, 0);	/* its end */
	assert_int_equal(the_log.counts.foreign_frees, 1);
	enter(PMM_KMOD_MMAP, 0x12000, 0x800, 0);	/* inside: who logs that is mistaken */
	enter(PMM_KMOD_MUNMAP, 0x11000, 0x1000, 0);
	assert_int_equal(the_log.counts.replaced, 1);
	assert_int_equal(pointers(seen), 1);
	assert_int_equal(seen[0], 0x12000);
	assert_int_equal(the_log.bytes, 0x2000);
	enter(PMM_KMOD_MUNMAP, 0x12000, 0x2000, 0);
	assert_int_equal(the_log.entries, 0);
	assert_int_equal(the_log.counts.frees, 1);
	enter(PMM_KMOD_MMAP, 0x10000, 100, 0);
	enter(PMM_KMOD_MUNMAP, 0x10000, 0x1000, 0);	/* rounded up */
	enter(PMM_KMOD_MMAP, 0x10000, 100, 0);
	enter(PMM_KMOD_MUNMAP, 0x10000, 0, 0);
	assert_int_equal(the_log.counts.frees, 3);
	enter(PMM_KMOD_MALLOC, 0x10000, 100, 0);
	enter(PMM_KMOD_MUNMAP, 0x10000, 100, 0);
	assert_int_equal(the_log.counts.foreign_frees, 2);
	assert_int_equal(the_log.entries, 1);
	check_sum();
}

/* What is left of it would lie beyond the end of addresses: all of it goes. */
static void test_mapping_at_the_end(void **state)
{
	u64 seen[64];

	(void)state;
	enter(PMM_KMOD_MMAP, -0x1000ull, 0x5000, 0);
	enter(PMM_KMOD_MUNMAP, -0x1000ull, 0xfff, 0);
	assert_int_equal(pointers(seen), 1);
	assert_true(seen[0] == ~0ull);
	assert_int_equal(the_log.bytes, 0x4001);
	enter(PMM_KMOD_MUNMAP, ~0ull, 1, 0);
	assert_int_equal(the_log.entries, 0);
	assert_int_equal(the_log.bytes, 0);
	enter(PMM_KMOD_MALLOC, 1, ~0ull, 0);
	enter(PMM_KMOD_MALLOC, 2, ~0ull, 0);
	enter(PMM_KMOD_FREE, 1, 0, 0);
	enter(PMM_KMOD_FREE, 2, 0, 0);
	assert_int_equal(the_log.bytes, 0);
	check_sum();
}

static void test_limits(void **state)
{
	struct pmm_log other;
	struct pmm_log_request r = { .pointer = 9, .bytes = 1, .kind = PMM_KMOD_MALLOC };

	(void)state;
	limits.entries_per_process = 3;
	limits.entries_in_all = 4;
	pmm_log_init(&other, &limits, 7);
	for (u64 i = 1; i <= 5; i++)
		enter(PMM_KMOD_MALLOC, i, 1, 0);
	assert_int_equal(the_log.entries, 3);
	assert_int_equal(the_log.counts.over_limit, 2);
	pmm_log_enter(&other, &r);
	r.pointer = 10;
	pmm_log_enter(&other, &r);
	assert_int_equal(other.entries, 1);
	assert_int_equal(other.counts.over_limit, 1);
	assert_int_equal(atomic_long_read(&limits.entries), 4);
	enter(PMM_KMOD_MALLOC, 3, 8, 0);	/* the place of its own predecessor is free */
	assert_int_equal(the_log.entries, 3);
	assert_int_equal(the_log.bytes, 10);
	enter(PMM_KMOD_FREE, 3, 0, 0);
	pmm_log_enter(&other, &r);
	assert_int_equal(other.entries, 2);
	pmm_log_clear(&other);
	check_sum();
}

static void test_emptied_and_cleared(void **state)
{
	u64 seen[64];
	struct pmm_log_cursor c = { 0 };
	struct pmm_site *site = pmm_sites_add(&the_log.sites, "f", "a.c", 3);
	struct pmm_log_request r = { .site = site, .pointer = 1, .kind = PMM_KMOD_FREE };

	(void)state;
	pmm_log_enter(&the_log, &r);
	assert_ptr_equal(the_log.wrong[0].site, site);
	for (u64 i = 1; i <= 100; i++)
		enter(PMM_KMOD_MALLOC, i, 1, 0);
	enter(PMM_KMOD_FREE, 1, 0, 0);
	pmm_cursor_begin(&c, &the_log);
	pmm_log_empty(&the_log);
	assert_int_equal(the_log.entries, 0);
	assert_int_equal(the_log.bytes, 0);
	assert_int_equal(the_log.nr_wrong, 0);
	assert_null(the_log.buckets);
	assert_null(the_log.wrong[0].site);
	assert_ptr_equal(pmm_sites_at(&the_log.sites, 1), site);
	assert_null(pmm_cursor_look(&c, &the_log));
	enter(PMM_KMOD_FREE, 1, 0, 0);		/* what was freed before is not known any more */
	assert_int_equal(the_log.counts.foreign_frees, 1);
	assert_int_equal(the_log.counts.double_frees, 0);
	enter(PMM_KMOD_MALLOC, 77, 1, 0);
	assert_int_equal(pmm_cursor_look(&c, &the_log)->pointer, 77);
	assert_int_equal(the_log.bits, 6);
	pmm_log_clear(&the_log);
	assert_null(pmm_sites_at(&the_log.sites, 1));
	assert_int_equal(the_log.counts.allocations, 0);
	assert_int_equal(pointers(seen), 0);
	pmm_cursor_end(&c);
}

/* A look-up visits as many entries in a log of a million as in one of a thousand. */
static void test_table_grows(void **state)
{
	static const u64 sizes[] = { 1000, 100000, 1000000 };
	static const u32 bits[] = { 10, 17, 20 };
	double per_find;

	(void)state;
	for (unsigned i = 0; i < NR(sizes); i++) {
		fill_to(sizes[i], 48, 0);
		assert_int_equal(the_log.bits, bits[i]);
		assert_in_range(longest_chain(&per_find), 1, 12);
		assert_true(per_find > 1.2 && per_find < 1.6);
	}
	for (u64 i = 1; i <= 1000000; i++)
		enter(PMM_KMOD_FREE, i * 48, 0, 0);
	assert_int_equal(the_log.entries, 0);
	assert_int_equal(the_log.counts.frees, 1000000);
	assert_int_equal(the_log.nr_wrong, 0);
	check_sum();
}

/* Pointers that differ in their upper bits only do not share chains. */
static void test_high_pointers(void **state)
{
	double per_find;

	(void)state;
	fill_to(4000, 1, 52);
	assert_int_equal(the_log.bits, 12);
	assert_in_range(longest_chain(&per_find), 1, 9);
	assert_true(per_find < 1.7);
}

static void test_seed_matters(void **state)
{
	unsigned same = 0;

	(void)state;
	for (u64 i = 1; i <= 4096; i++)
		same += pmm_os_hash(i, 1) >> 26 == pmm_os_hash(i, 2) >> 26;
	assert_in_range(same, 20, 130);
	assert_int_not_equal(pmm_os_hash(1, 1ull << 63), pmm_os_hash(1, 0));
}

/* Bytes of all that was requested, of what was freed and of what is lost, and the peaks. */
static void test_bytes(void **state)
{
	const struct pmm_log_counts *c = &the_log.counts;

	(void)state;
	enter(PMM_KMOD_MALLOC, 0x10, 100, 0);
	enter(PMM_KMOD_MALLOC, 0x20, 1000, 0);
	enter(PMM_KMOD_FREE, 0x20, 0, 0);
	enter(PMM_KMOD_REALLOC, 0x30, 300, 0x10);
	assert_int_equal(c->allocated_bytes, 1400);
	assert_int_equal(c->freed_bytes, 1100);
	assert_int_equal(c->peak_bytes, 1100);
	assert_int_equal(c->peak_entries, 2);
	enter(PMM_KMOD_MALLOC, 0x30, 7, 0);		/* replaced */
	assert_int_equal(c->lost_bytes, 300);
	limits.entries_per_process = 1;
	enter(PMM_KMOD_MALLOC, 0x40, 50000, 0);		/* over the limit */
	assert_int_equal(c->allocated_bytes, 51407);
	assert_int_equal(c->lost_bytes, 50300);
	limits.entries_per_process = 1000;
	enter(PMM_KMOD_MMAP, 0x10000, 0x3000, 0);
	enter(PMM_KMOD_MUNMAP, 0x10000, 0x1000, 0);	/* a part of it */
	assert_int_equal(c->freed_bytes, 1100 + 0x1000);
	enter(PMM_KMOD_MUNMAP, 0x11000, 0x2000, 0);
	assert_int_equal(c->freed_bytes, 1100 + 0x3000);
	enter(PMM_KMOD_FREE, 0x99, 0, 0);		/* foreign: of nothing */
	assert_int_equal(c->freed_bytes, 1100 + 0x3000);
	assert_int_equal(c->allocated_bytes, 51407 + 0x3000);
	assert_int_equal(c->lost_bytes, 50300);
	assert_int_equal(c->peak_bytes, 7 + 0x3000);
	assert_int_equal(c->peak_entries, 2);
	assert_int_equal(the_log.bytes, 7);
	check_sum();
	pmm_log_empty(&the_log);
	assert_int_equal(c->peak_bytes + c->peak_entries + c->allocated_bytes + c->freed_bytes, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_requests_are_checked),
	cmocka_unit_test_setup_teardown(test_entries_come_and_go, setup, teardown),
	cmocka_unit_test_setup_teardown(test_realloc_of_what_is_gone, setup, teardown),
	cmocka_unit_test_setup_teardown(test_wrong_frees, setup, teardown),
	cmocka_unit_test_setup_teardown(test_freed_and_given_again, setup, teardown),
	cmocka_unit_test_setup_teardown(test_mappings, setup, teardown),
	cmocka_unit_test_setup_teardown(test_mapping_at_the_end, setup, teardown),
	cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
	cmocka_unit_test_setup_teardown(test_emptied_and_cleared, setup, teardown),
	cmocka_unit_test_setup_teardown(test_table_grows, setup, teardown),
	cmocka_unit_test_setup_teardown(test_high_pointers, setup, teardown),
	cmocka_unit_test_setup_teardown(test_seed_matters, setup, teardown),
	cmocka_unit_test_setup_teardown(test_bytes, setup, teardown),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
