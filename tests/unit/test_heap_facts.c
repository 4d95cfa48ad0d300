/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/view/heap_facts.c: what a process did with its heap, line by line. */
#include "tests/unit/unit.h"

#include "src/view/heap_facts.h"

#define KIB	1024ull
#define MIB	(1ull << 20)
#define MS	1000000ull
#define SECOND	(1000 * MS)

static struct heap_site mapped[2];
static struct heap_node nodes[2] = { [1] = { .module = 1 } };
static struct heap_module modules[2] = { { .path = "" }, { .path = "/lib/libjemalloc.so.2" } };

/* 1,000 allocations of 100 KiB in two seconds, one of four at once freed. */
static struct heap heap(void)
{
	mapped[0] = (struct heap_site){ .live_bytes = 3 * (int64_t)MIB, .live_blocks = 2 };
	mapped[1] = (struct heap_site){ .live_bytes = -4096, .live_blocks = -1 };
	return (struct heap){ .mode = HEAP_EXACT,
			      .end = HEAP_EXITED,
			      .tick_ns = 10 * MS,
			      .attach_ns = SECOND,
			      .taken_ns = 3 * SECOND,
			      .allocs = 1000,
			      .frees = 900,
			      .temporary = 250,
			      .bytes_in = 100 * KIB,
			      .live_bytes = 5 * KIB,
			      .live_blocks = 100,
			      .peak_bytes = 7 * KIB,
			      .peak_ns = 2 * SECOND,
			      .min_size_bytes = 16,
			      .warn_size_bytes = MIB,
			      .map_sites = mapped,
			      .nodes = nodes,
			      .modules = modules,
			      .exe = "",
			      .allocator.path = "" };
}

/* The lines "NAME: TEXT|" of facts. */
static void are(struct table *t, const char *lines)
{
	char got[1000] = "";
	size_t n = 0;

	assert_non_null(t);
	assert_false(t->failed);
	for (size_t i = 0; i < t->rows.nr; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s: %s|",
				      t->cells.v[i * t->nr_columns + FACT_NAME].text,
				      t->cells.v[i * t->nr_columns + FACT_TEXT].text);
	table_free(t);
	assert_string_equal(got, lines);
}

static void calls_are(const struct heap *h, bool brief, const char *line)
{
	struct table *t = facts_new(NULL);

	heap_facts_calls(t, h, brief);
	are(t, line);
}

static void calls(void **state)
{
	struct heap h = heap();

	(void)state;
	calls_are(&h, false, "calls: 1,000 allocations of 100 KiB (500/s), 900 frees; 25.0% "
			     "temporary, mean 102 B|");
	calls_are(&h, true, "calls: 1,000 allocations of 100 KiB, 900 frees; 25.0% temporary|");
	h.mode = HEAP_SAMPLED;
	calls_are(&h, true,
		  "calls: about 1,000 allocations of 100 KiB, 900 frees; 25.0% temporary|");
	calls_are(&h, false, "calls: about 1,000 allocations of 100 KiB (500/s), 900 frees; 25.0% "
			     "temporary, mean 102 B|");
	h.mode = HEAP_EXACT;
	h.taken_ns = h.attach_ns + h.tick_ns;	/* too short for a rate */
	calls_are(&h, false,
		  "calls: 1,000 allocations of 100 KiB, 900 frees; 25.0% temporary, mean 102 B|");
	h.taken_ns++;
	calls_are(&h, false, "calls: 1,000 allocations of 100 KiB (100k/s), 900 frees; 25.0% "
			     "temporary, mean 102 B|");
	h.allocs = 0;
	calls_are(&h, false, "calls: no allocations, 900 frees|");
	h.mode = HEAP_SAMPLED;
	h.frees = 1;
	calls_are(&h, true, "calls: no allocation was in the sample, 1 free|");
}

static void summary(void **state)
{
	struct heap h = heap();

	(void)state;
	are(heap_facts_summary(&h),
	    "peak: 7.00 KiB after 1.00 s|live at end: 5.00 KiB in 100 blocks|"
	    "calls: 1,000 allocations of 100 KiB, 900 frees; 25.0% temporary|");
	h.mode = HEAP_SAMPLED;
	h.failed = 1;
	h.huge = 2;
	h.skipped_allocs = 3;
	h.skipped_bytes = 30;
	are(heap_facts_summary(&h),
	    "peak: about 7.00 KiB after 1.00 s|live at end: about 5.00 KiB in 100 blocks|"
	    "calls: about 1,000 allocations of 100 KiB, 900 frees; 25.0% temporary|"
	    "failed: 1 request answered with NULL|huge: 2 requests of at least 1.00 MiB|"
	    "skipped: 3 blocks (30 B) below 16 B|");
}

/* What mappings hold is a line of its own where it is more than what is live. */
static void mappings(void **state)
{
	struct heap h = heap();

	(void)state;
	are(heap_facts_summary_mapped(&h), "");
	h.nr_map_sites = 2;
	are(heap_facts_summary_mapped(&h),
	    "mapped: 3.00 MiB of address space in 2 mappings by mmap, beside the heap|");
	h.live_bytes = 3 * MIB - 1;
	are(heap_facts_summary_mapped(&h),
	    "mapped: 3.00 MiB of address space in 2 mappings by mmap, beside the heap|");
	/* of them by the allocator's own code */
	mapped[1] = (struct heap_site){ .node = 1, .live_bytes = 2 * MIB, .live_blocks = 1 };
	h.allocator.path = "/lib/libjemalloc.so.2";
	are(heap_facts_summary_mapped(&h), "mapped: 5.00 MiB of address space in 3 mappings by "
					   "mmap, 2.00 MiB by the allocator itself|");
	mapped[0].node = 1;
	are(heap_facts_summary_mapped(&h), "mapped: 5.00 MiB of address space in 3 mappings by "
					   "mmap, all by the allocator itself|");
	h = heap();
	h.nr_map_sites = 2;
	h.live_bytes = 3 * MIB;
	are(heap_facts_summary_mapped(&h), "");
	are(heap_facts_summary(&h),
	    "peak: 7.00 KiB after 1.00 s|live at end: 3.00 MiB in 100 blocks|"
	    "calls: 1,000 allocations of 100 KiB, 900 frees; 25.0% temporary|");
}

/* Resident memory, and in a second line what of it is known. */
static void resident(void **state)
{
	struct heap_point points[2] = { { .time_ns = 2 * SECOND, .rss_bytes = 20 * KIB },
					{ .time_ns = 3 * SECOND, .rss_bytes = 20 * KIB } };
	struct heap h = heap();

	(void)state;
	h.points = points;
	h.nr_points = 2;
	h.ledger_bytes = 4 * KIB;
	are(heap_facts_summary_mapped(&h),
	    "RSS: 20.0 KiB when last seen|: 5.00 KiB live heap, 4.00 KiB pmm's ledger, 11.0 KiB "
	    "other: what the allocator keeps free, mappings, libraries, stacks|");
	h.mode = HEAP_SAMPLED;
	h.end = HEAP_RUNNING;
	h.live_bytes = 21 * KIB;
	are(heap_facts_summary_mapped(&h),
	    "RSS: 20.0 KiB now|: less than the live heap: about 1.00 KiB of it or more was never "
	    "touched, or is swapped out|");
}

/* What is swapped out, and what others have, too, is said where there is something. */
static void swapped_and_shared(void **state)
{
	static const char rss[] = "RSS: 20.0 KiB when last seen|: 5.00 KiB live heap, 0 B pmm's "
				  "ledger, 15.0 KiB other: what the allocator keeps free, mappings, "
				  "libraries, stacks|";
	struct heap_point point = { .time_ns = 2 * SECOND, .rss_bytes = 20 * KIB };
	struct heap_usage_point usage[] = {
		{ .time_ns = 2 * SECOND, .known = HEAP_USAGE_SIZES, .swap_bytes = 9 * KIB },
		{ .time_ns = 3 * SECOND, .known = HEAP_USAGE_SIZES | HEAP_USAGE_PSS,
		  .anon_bytes = 30 * MIB, .file_bytes = 8 * MIB, .swap_bytes = 3 * KIB,
		  .pss_bytes = 28 * MIB },
		{ .time_ns = 4 * SECOND, .known = HEAP_USAGE_TIMES },
	};
	struct heap h = heap();
	char text[500];

	(void)state;
	h.points = &point;
	h.nr_points = 1;
	h.usage_points = usage;
	h.nr_usage_points = 3;
	snprintf(text, sizeof(text),
		 "%sswapped: 3.00 KiB when last seen, at most 9.00 KiB after 1.00 s|"
		 "PSS: 28.0 MiB; 10.0 MiB of what is resident count for other processes, which "
		 "have it, too|", rss);
	are(heap_facts_summary_mapped(&h), text);
	usage[0].swap_bytes = 0;
	usage[1].pss_bytes = 57 * MIB / 2;	/* three quarters */
	snprintf(text, sizeof(text), "%sswapped: 3.00 KiB when last seen|", rss);
	are(heap_facts_summary_mapped(&h), text);
	usage[1].swap_bytes = 0;
	usage[1].anon_bytes = usage[1].file_bytes;	/* half of it, and not much */
	usage[1].pss_bytes = usage[1].file_bytes + 1;
	are(heap_facts_summary_mapped(&h), rss);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls),
		cmocka_unit_test(summary),
		cmocka_unit_test(mappings),
		cmocka_unit_test(resident),
		cmocka_unit_test(swapped_and_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
