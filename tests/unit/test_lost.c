/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/view/lost.c: what has no stack, why, and in which words. */
#include "tests/unit/unit.h"

#include "include/pmm/ledger.h"
#include "src/view/lost.h"

#define MIB	(1ull << 20)

static struct heap_site nothing;

static struct heap heap(void)
{
	nothing = (struct heap_site){ .allocs = 2000, .live_bytes = 3 * 1024 };
	return (struct heap){ .mode = HEAP_EXACT,
			      .allocs = 8000,
			      .sites = &nothing,
			      .nr_sites = 10,
			      .ledger_bytes = 90 * MIB,
			      .ledger_limit_bytes = 800 * MIB,
			      .dropped = { [PMM_DROP_SITE_FULL] = 2000 } };
}

static void says(const struct heap *h, const char *text)
{
	struct str s = STR_INIT;

	str_add(&s, "so: ");
	lost_stacks_text(h, &s);
	assert_string_equal(str_text(&s), text);
	str_fini(&s);
}

static void what_is_lost(void **state)
{
	struct heap h = heap();

	(void)state;
	assert_true(lost_any(&h));
	assert_int_equal(lost_stacks(&h), 2000);
	h.dropped[PMM_DROP_SITE_FULL] = 0;
	assert_false(lost_any(&h));
	/* site 0 has some, but not for want of room */
	assert_int_equal(lost_stacks(&h), 0);
	h.dropped[PMM_DROP_BLOCK_FULL] = 1;
	assert_true(lost_any(&h));
	assert_int_equal(lost_stacks(&h), 0);
}

static void why_there_was_no_room(void **state)
{
	struct heap h = heap();

	(void)state;
	says(&h, "so: 2,000 of 8,000 allocations (3.00 KiB live) could not be charged to a stack: "
		 "there was no memory left for the ledger");
	/* seven eighths, less the 2 MiB that the last piece may have needed */
	h.ledger_bytes = 698 * MIB;
	says(&h, "so: 2,000 of 8,000 allocations (3.00 KiB live) could not be charged to a stack: "
		 "the ledger was at its limit of 800 MiB; raise "
		 "--ledger-limit");
	h.ledger_bytes--;
	says(&h, "so: 2,000 of 8,000 allocations (3.00 KiB live) could not be charged to a stack: "
		 "there was no memory left for the ledger");
	h.nr_map_sites = PMM_MAX_SITES - 10;
	says(&h, "so: 2,000 of 8,000 allocations (3.00 KiB live) could not be charged to a stack: "
		 "the ledger has room for 16,777,215 stacks");
	h.nr_map_sites--;
	says(&h, "so: 2,000 of 8,000 allocations (3.00 KiB live) could not be charged to a stack: "
		 "there was no memory left for the ledger");
	h.off_reason = PMM_OFF_NO_GROWTH;
	says(&h, "so: 2,000 of 8,000 allocations (3.00 KiB live) could not be charged to a stack: "
		 "the ledger could not grow any more");
}

static void other_events_are_named(void **state)
{
	struct heap h = heap();

	(void)state;
	h.off_reason = PMM_OFF_NO_GROWTH;
	h.dropped[PMM_DROP_SITE_FULL] = 2001;
	says(&h, "so: 2,000 of 8,000 allocations (3.00 KiB live) could not be charged to a stack: "
		 "the ledger could not grow any more (nor could 1 release or "
		 "other event)");
	h.dropped[PMM_DROP_SITE_FULL] = 2005;
	says(&h, "so: 2,000 of 8,000 allocations (3.00 KiB live) could not be charged to a stack: "
		 "the ledger could not grow any more (nor could 5 releases or "
		 "other events)");
	nothing.allocs = 1;
	h.allocs = 1;
	/* events are not samples: nothing can be said of the others */
	h.mode = HEAP_SAMPLED;
	says(&h, "so: about 1 of 1 allocation (3.00 KiB live) could not be charged to a stack: the "
		 "ledger could not grow any more");
	nothing.allocs = 0;
	says(&h, "so: 2,005 events could not be charged to a stack: the ledger could not grow any "
		 "more");
	h.dropped[PMM_DROP_SITE_FULL] = 1;
	says(&h, "so: 1 event could not be charged to a stack: the ledger could not grow any more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_lost),
		cmocka_unit_test(why_there_was_no_room),
		cmocka_unit_test(other_events_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
