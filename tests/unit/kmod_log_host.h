/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One log, entered into request by request, for tests of kmod/pmm_log.c. */
#ifndef TESTS_UNIT_KMOD_LOG_HOST_H
#define TESTS_UNIT_KMOD_LOG_HOST_H

#include "kmod/pmm_log.h"
#include "tests/unit/kmod_sum.h"
#include "tests/unit/unit.h"

#define SEED	0x0123456789abcdefull

static struct pmm_log_limits limits;
static struct pmm_log the_log;

static inline int setup(void **state)
{
	(void)state;
	limits = (struct pmm_log_limits){ .entries_per_process = 1u << 24,
					  .entries_in_all = 1u << 24 };
	pmm_os_allocs_left = -1;
	pmm_log_init(&the_log, &limits, SEED);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	pmm_log_clear(&the_log);
	return atomic_long_read(&limits.entries) != 0;
}

static inline void enter(unsigned kind, u64 pointer, u64 bytes, u64 prev)
{
	struct pmm_log_request r = { .pointer = pointer,
				     .bytes = bytes,
				     .prev = prev,
				     .kind = (u16)kind };

	assert_int_equal(pmm_log_check(&r), 0);
	pmm_log_enter(&the_log, &r);
}

static inline void check_sum(void)
{
	assert_true(kmod_adds_up(&the_log));
	assert_int_equal(atomic_long_read(&limits.entries), the_log.entries);
}

/* The entries' pointers, oldest first, at most 64; how many there are. */
static inline unsigned pointers(u64 *out)
{
	struct pmm_log_cursor c = { 0 };
	struct pmm_log_entry *entry;
	unsigned n = 0;

	pmm_cursor_begin(&c, &the_log);
	while ((entry = pmm_cursor_look(&c, &the_log))) {
		if (n < 64)
			out[n] = entry->pointer;
		n++;
		pmm_cursor_pass(&c, entry);
	}
	pmm_cursor_end(&c);
	return n;
}

/* Chains of the hash table: the longest, and entries squared summed: what a look-up visits. */
static inline unsigned longest_chain(double *per_find)
{
	unsigned longest = 0;
	double visits = 0;

	for (size_t i = 0; i < 1ull << the_log.bits; i++) {
		struct pmm_log_entry *entry;
		unsigned n = 0;

		hlist_for_each_entry(entry, &the_log.buckets[i], node)
			n++;
		longest = n > longest ? n : longest;
		visits += n * (n + 1) / 2.0;
	}
	*per_find = visits / (double)the_log.entries;
	return longest;
}

static inline void fill_to(u64 n, u64 step, unsigned shift)
{
	for (u64 i = the_log.entries + 1; i <= n; i++)
		enter(PMM_KMOD_MALLOC, (i * step) << shift, 16, 0);
	assert_int_equal(the_log.entries, n);
}

#endif
