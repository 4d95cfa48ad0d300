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

static void expect(unsigned drop, uint64_t count, bool confined, const char *wanted)
{
	struct heap h = { .nr_threads = PMM_MAX_CTX };
	struct str s = STR_INIT;

	h.dropped[drop] = count;
	h.off_reason = confined ? PMM_OFF_NO_GROWTH : PMM_OFF_NONE;
	lost_drop_text(&h, drop, &s);
	assert_string_equal(str_text(&s), wanted);
	str_fini(&s);
}

static void drops_agree_with_their_number(void **state)
{
	(void)state;
	expect(PMM_DROP_BLOCK_FULL, 1, false,
	       "1 block was not recorded: the ledger reached its limit (--ledger-limit)");
	expect(PMM_DROP_BLOCK_FULL, 1200, false,
	       "1,200 blocks were not recorded: the ledger reached its limit (--ledger-limit)");
	expect(PMM_DROP_BLOCK_FULL, 1, true,
	       "1 block was not recorded: the ledger could not grow any more");
	expect(PMM_DROP_BLOCK_FULL, 2, true,
	       "2 blocks were not recorded: the ledger could not grow any more");
	expect(PMM_DROP_CTX_FULL, 1, false, "1 event was not recorded: too many threads at a time");
	expect(PMM_DROP_CTX_FULL, 3, false,
	       "3 events were not recorded: too many threads at a time");
	expect(PMM_DROP_NESTED, 1, false,
	       "1 event was not recorded: signal handlers nested too deep");
	expect(PMM_DROP_NESTED, 2, false,
	       "2 events were not recorded: signal handlers nested too deep");
	expect(PMM_DROP_MODULE_FULL, 1, false,
	       "1 library was not recorded: its frames have no names");
	expect(PMM_DROP_MODULE_FULL, 2, false,
	       "2 libraries were not recorded: their frames have no names");
	expect(PMM_DROP_ADDRESS, 1, false,
	       "1 block was not recorded: its address is outside the usual range");
	expect(PMM_DROP_ADDRESS, 7, false,
	       "7 blocks were not recorded: their addresses are outside the usual range");
}

/* Fewer threads than there may be had no context for want of room. */
static void threads_without_room_are_not_too_many(void **state)
{
	struct heap h = { .nr_threads = 2, .ledger_bytes = 1 << 20, .ledger_limit_bytes = 1 << 20 };
	struct str s = STR_INIT;

	(void)state;
	h.dropped[PMM_DROP_CTX_FULL] = 2000;
	lost_drop_text(&h, PMM_DROP_CTX_FULL, &s);
	assert_string_equal(str_text(&s), "2,000 events were not recorded, of threads that the "
					  "ledger had no room for: the ledger was at its limit of "
					  "1.00 MiB; raise --ledger-limit");
	str_clear(&s);
	h.dropped[PMM_DROP_CTX_FULL] = 1;
	h.ledger_limit_bytes = 1ull << 30;
	lost_drop_text(&h, PMM_DROP_CTX_FULL, &s);
	assert_string_equal(str_text(&s), "1 event was not recorded, of a thread that the ledger "
					  "had no room for: there was no memory left for the "
					  "ledger");
	str_fini(&s);
}

static void drops_have_codes(void **state)
{
	static const char *const code[PMM_NR_DROPS] = {
		[PMM_DROP_BLOCK_FULL] = "blocks_dropped", [PMM_DROP_SITE_FULL] = "stacks_dropped",
		[PMM_DROP_CTX_FULL] = "threads_dropped",  [PMM_DROP_NESTED] = "nested_dropped",
		[PMM_DROP_MODULE_FULL] = "modules_dropped",
		[PMM_DROP_ADDRESS] = "addresses_dropped",
	};

	(void)state;
	for (unsigned i = 0; i < PMM_NR_DROPS; i++)
		assert_string_equal(lost_drop_code(i), code[i]);
}

static void expect_off(int reason, uint64_t allocs, const char *code, const char *wanted)
{
	struct heap h = { .off_reason = reason, .allocs = allocs };
	struct str s = STR_INIT;
	const char *got = lost_off_text(&h, &s);

	if (code)
		assert_string_equal(got, code);
	else
		assert_null(got);
	assert_string_equal(str_text(&s), wanted);
	str_fini(&s);
}

static void the_end_of_tracking_has_one_sentence(void **state)
{
	(void)state;
	expect_off(PMM_OFF_NONE, 1, NULL, "");
	expect_off(PMM_OFF_INTERNAL, 1, "tracking_stopped",
		   "tracking stopped early (an internal error); what came after is missing");
	expect_off(PMM_OFF_MONITOR_GONE, 1, "tracking_stopped",
		   "tracking stopped early (pmm has ended or was stopped for too long); what came "
		   "after is missing");
	expect_off(PMM_OFF_CONFINED, 1, "tracking_stopped",
		   "tracking stopped early (the program put itself under seccomp); what came after "
		   "is missing");
	expect_off(12345, 1, "tracking_stopped",
		   "tracking stopped early; what came after is missing");
	expect_off(PMM_OFF_OWN_ALLOCATOR, 0, "own_allocator",
		   "the program has its own malloc, which precedes pmm's: its heap is not "
		   "recorded");
	expect_off(PMM_OFF_OWN_ALLOCATOR, 1, NULL, "");
	expect_off(PMM_OFF_NO_GROWTH, 1, "confined",
		   "the ledger could not grow any more: the program put itself under seccomp, and "
		   "its filter does not simply allow mprotect and madvise");
}

static void expect_kernel(struct heap *h, enum lost_kernel what, uint64_t nr, const char *code,
			  const char *text)
{
	struct str s = STR_INIT;

	assert_int_equal(lost_kernel(h, what), nr);
	assert_string_equal(lost_kernel_code(what), code);
	lost_kernel_text(h, what, &s);
	assert_string_equal(str_text(&s), text);
	str_fini(&s);
}

static void kernel_events_that_are_missing_are_counted(void **state)
{
	struct heap_kernel_kind kinds[] = { { .kind = 6, .lost = 2, .dropped = 1 },
					    { .kind = 7, .lost = 1000 } };
	char why[] = "no rights";
	struct heap h = { .kernel_kinds = kinds,
			  .nr_kernel_kinds = 2,
			  .kernel = { .unseen_classes = 1ull << 40 | 3,
				      .unseen = why,
				      .rows_lost = 1,
				      .bins_lost = 30 } };

	(void)state;
	expect_kernel(&h, LOST_KERNEL_UNSEEN, 3, "kernel_events_not_seen",
		      "kernel events that were not seen, or in part: mmap, brk, others (no "
		      "rights)");
	expect_kernel(&h, LOST_KERNEL_RING, 1002, "kernel_events_lost",
		      "1,002 kernel events were lost: pmm did not read the ring in time, and it "
		      "was full");
	expect_kernel(&h, LOST_KERNEL_TABLE, 1, "kernel_events_dropped",
		      "1 kernel event was lost: a table was full, or a program interrupted itself");
	expect_kernel(&h, LOST_KERNEL_ROWS, 1, "kernel_rows_full",
		      "1 kernel event is in no table by line or stack: they are full");
	expect_kernel(&h, LOST_KERNEL_BINS, 30, "kernel_bins_full",
		      "30 kernel events are not on the time line, which is full");
	h.kernel.unseen_classes = 1ull << 40;
	why[0] = '\0';
	expect_kernel(&h, LOST_KERNEL_UNSEEN, 1, "kernel_events_not_seen",
		      "kernel events that were not seen, or in part: others");
	h = (struct heap){ 0 };
	for (enum lost_kernel i = 0; i < LOST_KERNEL_NR; i++)
		assert_int_equal(lost_kernel(&h, i), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_lost),
		cmocka_unit_test(why_there_was_no_room),
		cmocka_unit_test(other_events_are_named),
		cmocka_unit_test(drops_agree_with_their_number),
		cmocka_unit_test(threads_without_room_are_not_too_many),
		cmocka_unit_test(drops_have_codes),
		cmocka_unit_test(the_end_of_tracking_has_one_sentence),
		cmocka_unit_test(kernel_events_that_are_missing_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
