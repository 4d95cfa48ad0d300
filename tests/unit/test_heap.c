/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap snapshot: size classes, an empty one, and each rule that heap_check() keeps.
 * Also of src/model/heap_check.c.
 */
#include "tests/unit/unit.h"

#include "include/pmm/ledger.h"
#include "tests/fake/fake.h"
#include "src/model/heap.h"

static const char sound_recipe[] =
	"module /lib/a.so build-id=0102\n"
	"site main>read>line size=40 allocs=5 frees=2\n"
	"site main>write size=100 allocs=2\n"
	"site main>map kind=mmap size=8K allocs=2\n"
	"point 1s live=10\npoint 2s live=20\n"
	"site-point 1s main>write live=10\nsite-point 2s main>write live=20\n"
	"usage-point 1s threads=1 pss=1\nusage-point 2s swap=1\nmark 1s name=a\nmark 2s\n"
	"check light\nfinding type=overrun site=main>write thread=main block=100 "
	"block-size=10\nfinding type=size by=function\n"
	"search copy\nleak main>write possible\nleak main>read>line definite blocks=2 held=2 "
	"chained=2\n";

static struct heap *sound(void)
{
	struct heap *h = NULL;

	assert_int_equal(fake_make(sound_recipe, &h, NULL), 0);
	return h;
}

/* heap_check() must refuse `h` with this sentence; releases it. */
static void expect_why(struct heap *h, const char *expected)
{
	char why[200];

	assert_int_equal(heap_check(h, why, sizeof(why)), -EBADMSG);
	assert_string_equal(why, expected);
	assert_int_equal(heap_check(h, NULL, 0), -EBADMSG);
	heap_free(h);
}

/* A sound heap with one thing changed. */
#define EXPECT_WHY(change, expected)                                                               \
	do {                                                                                       \
		struct heap *h = sound();                                                          \
		change;                                                                            \
		expect_why(h, expected);                                                           \
	} while (0)

static void sizes_fall_into_classes(void **state)
{
	static const uint64_t last[] = {16, 256, 1024, 4096, 16384, 65536};

	(void)state;
	assert_int_equal(heap_class_of(0), 0);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(heap_class_of(last[i]), i);
		assert_int_equal(heap_class_of(last[i] + 1), i + 1);
	}
	assert_int_equal(heap_class_of(UINT64_MAX), 6);
}

static void a_new_heap_is_empty_and_sound(void **state)
{
	struct heap *h = heap_new();
	char why[100] = "x";

	(void)state;
	assert_int_equal(heap_check(h, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	assert_string_equal(h->comm, "");
	assert_string_equal(h->modules[0].path, "");
	assert_int_equal(h->nr_sites, 1);
	assert_int_equal(h->nr_map_sites, 1);
	assert_int_equal(h->nr_threads, 0);
	heap_free(h);
	heap_free(NULL);
}

static void indices_out_of_range_are_found(void **state)
{
	(void)state;
	EXPECT_WHY(h->nodes[2].parent = 2, "node 2 comes before its parent 2");
	EXPECT_WHY(h->nodes[1].module = h->nr_modules, "node 1 names module 7");
	EXPECT_WHY(h->nodes[1].pc = 2, "node 1 is a mark inside a module");
	EXPECT_WHY(h->nodes[0].pc = 2, "node 0 is not the root");
	EXPECT_WHY(h->sites[2].node = h->nr_nodes, "site 2 names node 6");
	EXPECT_WHY(h->map_sites[1].node = h->nr_nodes, "mapping site 1 names node 6");
	EXPECT_WHY(h->blocks[4].site = h->nr_sites, "block 4 names site 3");
	EXPECT_WHY(h->blocks[0].thread = 1, "block 0 names thread 1");
	EXPECT_WHY(h->blocks[0].kind = 0, "block 0 is of kind 0");
	EXPECT_WHY(h->blocks[0].kind = PMM_NR_KINDS, "block 0 is of kind 16");
	EXPECT_WHY(h->maps[1].site = h->nr_map_sites, "mapping 1 names site 2");
	EXPECT_WHY(h->site_points[1].site = h->nr_sites, "site point 1 names site 3");
	EXPECT_WHY(h->modules[1].build_id_len = 33, "module 1 has a build id of 33 bytes");
	EXPECT_WHY(h->modules[1].end = h->modules[1].start - 1, "module 1 ends before it starts");
	EXPECT_WHY(h->end = HEAP_REPLACED + 1, "unknown kind of end 5");
	EXPECT_WHY(h->mode = 2, "unknown mode 2");
	EXPECT_WHY(h->nr_sites = 0, "a table lacks its first entry");
	EXPECT_WHY(h->usage.why = HEAP_NR_USAGE_WHYS,
		   "unknown reason 5 or 0 for missing figures of the kernel's");
	EXPECT_WHY(h->usage.pss_why = 9,
		   "unknown reason 0 or 9 for missing figures of the kernel's");
}

static void what_is_out_of_order_is_found(void **state)
{
	(void)state;
	EXPECT_WHY(h->blocks[1].address = h->blocks[0].address, "block 1 is out of order");
	EXPECT_WHY(h->maps[1].address = 0, "mapping 1 is out of order");
	EXPECT_WHY(h->points[1].time_ns = 5, "point 1 of the time series is out of order");
	EXPECT_WHY(h->site_points[1].time_ns = 5, "site point 1 is out of order");
	EXPECT_WHY(h->usage_points[1].time_ns = 5,
		   "point 1 of the kernel's figures is out of order");
	EXPECT_WHY(h->marks[1].time_ns = h->marks[1].last_ns = 5, "mark 1 is out of order");
}

/* What is not known is 0, a mark is of something, and a series that is not there is empty. */
static void what_contradicts_itself_over_time_is_found(void **state)
{
	static const char odd[] = "point 0 of the kernel's figures has what is not known";

	(void)state;
	EXPECT_WHY(h->usage_points[0].known = 0, odd);
	EXPECT_WHY(h->usage_points[0].known |= HEAP_USAGE_ALL + 1, odd);
	EXPECT_WHY(h->usage_points[0].swap_bytes = 1, odd);
	EXPECT_WHY(h->usage_points[0].known = HEAP_USAGE_PSS, odd);
	EXPECT_WHY(h->usage_points[0].known = HEAP_USAGE_TIMES, odd);
	EXPECT_WHY(h->usage.sampled = false, "figures of the kernel's that were not looked for");
	EXPECT_WHY(free(h->usage_points); h->usage_points = NULL, "a table is missing");
	EXPECT_WHY(h->marks[0].count = 0, "mark 0 contradicts itself");
	EXPECT_WHY(h->marks[1].last_ns--, "mark 1 contradicts itself");
	EXPECT_WHY(memset(h->marks[0].name, 'x', sizeof(h->marks[0].name)),
		   "mark 0 has a name without end");
	EXPECT_WHY(h->marks[0].name[0] = '\x80', "a mark's name is not UTF-8");
}

static void set_comm(struct heap *h, const char *format, int bytes, const char *text)
{
	free(h->comm);
	assert_true(asprintf(&h->comm, format, bytes, text) > 0);
}

static void texts_are_utf8(void **state)
{
	/* of each row of the table of well-formed sequences */
	static const char *const first_and_last[] = {
		"\xc2\x80",	    "\xdf\xbf",		"\xe0\xa0\x80",	    "\xe0\xbf\xbf",
		"\xe1\x80\x80",	    "\xec\xbf\xbf",	"\xed\x80\x80",	    "\xed\x9f\xbf",
		"\xee\x80\x80",	    "\xef\xbf\xbf",	"\xf0\x90\x80\x80", "\xf0\xbf\xbf\xbf",
		"\xf1\x80\x80\x80", "\xf3\xbf\xbf\xbf", "\xf4\x80\x80\x80", "\xf4\x8f\xbf\xbf",
	};

	(void)state;
	EXPECT_WHY(memset(h->threads[0].name, 'x', sizeof(h->threads[0].name)),
		   "thread 0 has a name without end");
	EXPECT_WHY(memcpy(h->comm, "\xc0\x80", 2), "the command's name is not UTF-8");
	EXPECT_WHY(memcpy(h->comm, "\xed\xa0\x80", 3), "the command's name is not UTF-8");
	EXPECT_WHY(memcpy(h->comm, "\xf4\x90\x80\x80", 4), "the command's name is not UTF-8");
	EXPECT_WHY(memcpy(h->comm, "fak\xe2", 4), "the command's name is not UTF-8");
	EXPECT_WHY(h->modules[1].path[0] = (char)0xff, "a module's path is not UTF-8");
	EXPECT_WHY(memcpy(h->comm, "\xe0\x9f\xbf", 4), "the command's name is not UTF-8");
	EXPECT_WHY(memcpy(h->comm, "\xf0\x8f\xbf\xbf", 4), "the command's name is not UTF-8");
	EXPECT_WHY(memcpy(h->comm, "\x80", 2), "the command's name is not UTF-8");
	for (size_t i = 0; i < NR(first_and_last); i++) {
		struct heap *h = sound();
		size_t n = strlen(first_and_last[i]);

		set_comm(h, "%.*sx", 4, first_and_last[i]);
		assert_int_equal(heap_check(h, NULL, 0), 0);
		heap_free(h);
		for (size_t k = 1; k < n; k++) {	/* cut short, whatever follows */
			h = sound();
			set_comm(h, "%.*sxyz", (int)k, first_and_last[i]);
			expect_why(h, "the command's name is not UTF-8");
		}
	}
}

static void sums_must_agree_when_all_was_seen(void **state)
{
	struct heap *h = sound();

	(void)state;
	assert_int_equal(heap_check(h, NULL, 0), 0);
	h->allocs++;
	h->drift_blocks = 1;
	assert_int_equal(heap_check(h, NULL, 0), 0);
	h->drift_blocks = 0;
	h->dropped[PMM_DROP_NESTED] = 1;
	assert_int_equal(heap_check(h, NULL, 0), 0);
	h->dropped[PMM_DROP_NESTED] = 0;
	expect_why(h, "allocations: the sites add up to 7, the total is 8");
}

static void each_sum_is_looked_at(void **state)
{
	(void)state;
	EXPECT_WHY(h->sites[1].frees--, "frees: the sites add up to 1, the total is 2");
	EXPECT_WHY(h->bytes_in = 1, "bytes allocated: the sites add up to 400, the total is 1");
	EXPECT_WHY(h->bytes_out = 1, "bytes freed: the sites add up to 80, the total is 1");
	EXPECT_WHY(h->live_bytes = 1, "live bytes: the sites add up to 320, the total is 1");
	EXPECT_WHY(h->live_blocks = 1, "live blocks: the sites add up to 5, the total is 1");
}

static void figures_have_their_rules(void **state)
{
	static const char contradiction[] =
		"what is known of the allocator's figures contradicts itself";

	(void)state;
	EXPECT_WHY(h->allocator.why = HEAP_NR_FIGURES, contradiction);
	EXPECT_WHY((h->allocator.valid = true, h->allocator.why = HEAP_FIGURES_OTHER),
		   contradiction);
	EXPECT_WHY((h->allocator.valid = false, h->allocator.why = HEAP_FIGURES_MANY),
		   contradiction);
}

static void leaks_have_their_rules(void **state)
{
	(void)state;
	EXPECT_WHY(h->search.how = 5, "unknown kind of search 5");
	EXPECT_WHY(h->search.how = HEAP_SEARCH_NONE, "leaks without a search");
	EXPECT_WHY(h->leaks[1].class = 4, "leak 1 is of class 4");
	EXPECT_WHY(h->leaks[0].site = h->nr_sites, "leak 0 names site 3");
	EXPECT_WHY(h->leaks[0].holder_site = h->nr_sites, "leak 0 is held by site 3");
	EXPECT_WHY(h->leaks[0].class = 3, "leak 1 is out of order");
	EXPECT_WHY(h->leaks[1] = h->leaks[0], "leak 1 is out of order");
	EXPECT_WHY(h->leaks[0].blocks = 0, "leak 0 contradicts itself");
	EXPECT_WHY(h->leaks[1].held_blocks = 3, "leak 1 contradicts itself");
	EXPECT_WHY(h->leaks[1].chained_blocks = 3, "leak 1 contradicts itself");
	EXPECT_WHY(h->leaks[1].oldest_ns = h->leaks[1].newest_ns + 1, "leak 1 contradicts itself");
	EXPECT_WHY((free(h->leaks), h->leaks = NULL), "a table is missing");
}

static void findings_have_their_rules(void **state)
{
	(void)state;
	EXPECT_WHY(h->check.level = 4, "unknown level 4 or mechanism 1 of checking");
	EXPECT_WHY(h->check.mechanism = 3, "unknown level 1 or mechanism 3 of checking");
	EXPECT_WHY(h->findings[0].type = 0, "finding 0 is of type 0 by 0");
	EXPECT_WHY(h->findings[1].by = 7, "finding 1 is of type 9 by 7");
	EXPECT_WHY(h->findings[0].access = 4, "finding 0 says what there is not");
	EXPECT_WHY(h->findings[0].place = 10, "finding 0 says what there is not");
	EXPECT_WHY(h->findings[0].release = 11, "finding 0 says what there is not");
	EXPECT_WHY(h->findings[0].kind = 16, "finding 0 says what there is not");
	EXPECT_WHY(h->findings[0].nr_code = 17, "finding 0 has too many bytes");
	EXPECT_WHY(h->findings[0].nr_bytes = 17, "finding 0 has too many bytes");
	EXPECT_WHY(memset(h->findings[0].function, 'a', 17), "finding 0 has a name without end");
	EXPECT_WHY(h->findings[0].function[0] = (char)0xff, "a function's name is not UTF-8");
	EXPECT_WHY((free(h->findings[1].text), h->findings[1].text = NULL),
		   "a finding's text is missing");
	EXPECT_WHY(h->death.signal = 65, "the end by signal 65 makes no sense");
	EXPECT_WHY(h->death.fault = 65, "the end by signal 0 makes no sense");
	EXPECT_WHY(h->death.map_access = 16, "the end by signal 0 makes no sense");
	EXPECT_WHY(h->death.map_start = 1, "the end by signal 0 makes no sense");
	EXPECT_WHY(h->findings[0].site = h->nr_sites, "finding 0 names site 3");
	EXPECT_WHY(h->findings[1].alloc_site = h->nr_sites, "finding 1 names site 3");
	EXPECT_WHY(h->findings[0].free_site = h->nr_sites, "finding 0 names site 3");
	EXPECT_WHY(h->findings[0].thread = 1, "finding 0 names thread 1");
	EXPECT_WHY(h->findings[1].alloc_thread = 1, "finding 1 names thread 1");
	EXPECT_WHY(h->findings[1].free_thread = 1, "finding 1 names thread 1");
	EXPECT_WHY(h->findings[1].number = 0, "finding 1 is out of order");
	EXPECT_WHY(h->findings[0].count = 0, "finding 0 contradicts itself");
	EXPECT_WHY(h->findings[0].last_ns = 0, "finding 0 contradicts itself");
	EXPECT_WHY(h->findings[0].block_bytes = UINT64_MAX, "finding 0 contradicts itself");
	EXPECT_WHY((free(h->findings[0].text), free(h->findings[1].text), free(h->findings),
		    h->findings = NULL),
		   "a table is missing");
}

static struct heap *traced(void)
{
	struct heap *h = NULL;
	struct err e = { 0 };

	if (fake_make("site main>a size=40 allocs=5\nsite m kind=mmap size=8K\n"
		      "kernel classes=faults,mmap unseen=mmap complete=3 stacks=4\n"
		      "event fault main>a>memset of=block site=main>a area=heap write events=9 "
		      "records=3 failed=2 took=4s longest=2s first=1s last=2s\n"
		      "event fault main of=mapping site=m\nevent mmap m\n"
		      "kernel-bin 1s mmap\nkernel-bin 1s fault events=9\nkernel-bin 2s fault\n",
		      &h, &e))
		fail_msg("%s", e.text);
	return h;
}

/* A traced heap with one thing changed. */
#define EXPECT_TRACED_WHY(change, expected)                                                        \
	do {                                                                                       \
		struct heap *h = traced();                                                         \
		change;                                                                            \
		expect_why(h, expected);                                                           \
	} while (0)

static void kernel_events_have_their_rules(void **state)
{
	static const char not_traced[] = "events of the kernel that were not looked for";
	static const char contradiction[] =
		"what was seen of the kernel's events contradicts itself";

	(void)state;
	EXPECT_WHY(h->kernel.sample = 1, not_traced);
	EXPECT_WHY(h->kernel.classes = 1, not_traced);
	EXPECT_WHY(h->kernel.bin_ns = 1, not_traced);
	EXPECT_WHY(h->kernel.faults_counted = true, not_traced);
	EXPECT_TRACED_WHY(h->kernel.traced = false, not_traced);
	EXPECT_TRACED_WHY((free(h->kernel.unseen), h->kernel.unseen = NULL),
			  "why events were not seen is missing");
	EXPECT_TRACED_WHY(h->kernel.unseen_classes = 3, contradiction);
	EXPECT_TRACED_WHY(h->kernel.complete_stacks = 5, contradiction);
	EXPECT_TRACED_WHY(h->kernel.faults = 1, contradiction);
	EXPECT_TRACED_WHY(h->kernel.major_faults = 1, contradiction);
	EXPECT_TRACED_WHY(h->nr_kernel_rows = HEAP_KERNEL_MAX_ROWS + 1,
			  "too many rows of the kernel's events");
	EXPECT_TRACED_WHY(h->nr_kernel_bins = HEAP_KERNEL_MAX_BINS + 1,
			  "too many rows of the kernel's events");
	EXPECT_TRACED_WHY((free(h->kernel_bins), h->kernel_bins = NULL), "a table is missing");
	EXPECT_TRACED_WHY((free(h->kernel_rows), h->kernel_rows = NULL), "a table is missing");
	EXPECT_TRACED_WHY((free(h->kernel_kinds), h->kernel_kinds = NULL), "a table is missing");
	EXPECT_TRACED_WHY(h->kernel_kinds[1].kind = HEAP_KERNEL_MAX_KINDS,
			  "there is no kind 128 of kernel events");
	EXPECT_TRACED_WHY(h->kernel_kinds[1].kind = h->kernel_kinds[0].kind,
			  "kind 6 of kernel events is out of order");
}

static void rows_of_kernel_events_have_their_rules(void **state)
{
	static const char contradiction[] = "kernel event 0 contradicts itself";

	(void)state;
	EXPECT_TRACED_WHY(h->kernel_rows[0].kind = 128, "kernel event 0 is of kind 128 about 1");
	EXPECT_TRACED_WHY(h->kernel_rows[2].of = 5, "kernel event 2 is of kind 6 about 5");
	EXPECT_TRACED_WHY(h->kernel_rows[1].node = h->nr_nodes, "kernel event 1 names node 5");
	EXPECT_TRACED_WHY(h->kernel_rows[0].site = h->nr_sites, "kernel event 0 names site 2");
	EXPECT_TRACED_WHY((h->nr_sites = 1, h->nr_blocks = 0), "kernel event 0 names site 1");
	EXPECT_TRACED_WHY(h->kernel_rows[1].site = h->nr_map_sites,
			  "kernel event 1 names site 2");
	EXPECT_TRACED_WHY(h->kernel_rows[2].site = 0, "kernel event 2 names site 0");
	EXPECT_TRACED_WHY(h->kernel_rows[0].records = 0, contradiction);
	EXPECT_TRACED_WHY(h->kernel_rows[0].records = 10, contradiction);
	EXPECT_TRACED_WHY(h->kernel_rows[0].failed = 10, contradiction);
	EXPECT_TRACED_WHY(h->kernel_rows[0].ns = 1, contradiction);
	EXPECT_TRACED_WHY(h->kernel_rows[0].last_ns = 1, contradiction);
	EXPECT_TRACED_WHY(h->kernel_bins[0].kind = 128, "bin 0 is of kind 128");
	EXPECT_TRACED_WHY(h->kernel_bins[1].kind = h->kernel_bins[0].kind,
			  "bin 1 is out of order");
	EXPECT_TRACED_WHY(h->kernel_bins[2].time_ns = 5, "bin 2 is out of order");
	EXPECT_TRACED_WHY(h->kernel_bins[2].time_ns = UINT64_MAX, "bin 2 has no end");
	EXPECT_TRACED_WHY(h->kernel.bin_ns = 0, "bin 0 has no end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_fall_into_classes),
		cmocka_unit_test(a_new_heap_is_empty_and_sound),
		cmocka_unit_test(indices_out_of_range_are_found),
		cmocka_unit_test(what_is_out_of_order_is_found),
		cmocka_unit_test(what_contradicts_itself_over_time_is_found),
		cmocka_unit_test(texts_are_utf8),
		cmocka_unit_test(sums_must_agree_when_all_was_seen),
		cmocka_unit_test(figures_have_their_rules),
		cmocka_unit_test(leaks_have_their_rules),
		cmocka_unit_test(findings_have_their_rules),
		cmocka_unit_test(each_sum_is_looked_at),
		cmocka_unit_test(kernel_events_have_their_rules),
		cmocka_unit_test(rows_of_kernel_events_have_their_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
