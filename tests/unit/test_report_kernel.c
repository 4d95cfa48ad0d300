/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's events in the report: exact text and JSON of small recipes, at two widths.
 * Also of src/view/kernel/report_kernel.c, report_kernel_cells.c, report_kernel_faults.c,
 * report_kernel_lines.c, report_kernel_time.c.
 */
#include "tests/unit/report_of.h"

/* The lines from the one that begins with `from` up to an empty one. */
static char *section(char *text, const char *from)
{
	char *at = text, *end;

	while (strncmp(at, from, strlen(from))) {
		at = strchr(at, '\n');
		if (!at)
			fail_msg("no '%s' in:\n%s", from, text);
		at++;
	}
	end = strstr(at, "\n\n");
	return strndup(at, end ? (size_t)(end + 1 - at) : strlen(at));
}

static void expect_wide(const char *recipe, struct report_options opt, unsigned width,
			const char *from, const char *expected)
{
	const struct style style = { .width = width };
	char *text = report_of(recipe, opt, &style), *part = section(text, from);

	assert_string_equal(part, expected);
	free(part);
	free(text);
}

static void expect(const char *recipe, const char *from, const char *expected)
{
	expect_wide(recipe, (struct report_options){ .top = 10 }, 80, from, expected);
}

static void expect_no(const char *recipe, struct report_options opt, const char *part)
{
	const struct style style = { .width = 80 };
	char *text = report_of(recipe, opt, &style);

	assert_null(strstr(text, part));
	free(text);
}

/* One line of JSON's, without indentation. */
static void expect_json(const char *recipe, struct report_options opt, const char *part)
{
	char *text = report_of(recipe, opt, NULL), *to = text;

	for (const char *p = text; *p; p++) {
		if (*p != '\n')
			*to++ = *p;
		while (*p == '\n' && (p[1] == ' ' || p[1] == '\n'))
			p++;
		while (to > text && to[-1] == ' ' && p[1] == ' ')
			p++;
	}
	*to = '\0';
	if (!strstr(text, part))
		fail_msg("no '%s' in: %s", part, text);
	free(text);
}

/* ---- what was covered ---- */

static void a_heap_that_was_not_traced_has_none_of_it(void **state)
{
	static const char plain[] = "site main size=8\npoint 1s live=8\npoint 9s live=8\n";
	char *json = report_of(plain, (struct report_options){ .top = 10 }, NULL);

	(void)state;
	expect_no(plain, (struct report_options){ .top = 10 }, "ernel");
	assert_null(strstr(json, "kernel"));
	free(json);
	/* it is about the whole process */
	expect_no("site main size=8\nkernel\nevent mmap main\nkernel-bin 1s mmap\n",
		  (struct report_options){ .top = 10, .filter.function = "main" }, "ernel");
}

static void what_was_covered_comes_first(void **state)
{
	(void)state;
	expect("kernel classes=mmap,brk\n", "What the kernel",
	       "What the kernel did about its memory\n"
	       "  events  mmap, brk\n"
	       "  seen    0 events\n"
	       "  lost    nothing\n"
	       "  stacks  none\n");
	expect("kernel classes=faults,swap,reclaim unseen=swap,reclaim why=\"this kernel is too "
	       "old; another reason\" sample=16 complete=9 stacks=12 rows-lost=5 bins-lost=6\n"
	       "event fault main events=100\nevent fault main events=1 of=agent\n"
	       "event munmap main events=2 of=agent\nkernel-kind fault lost=1 dropped=2\n",
	       "What the kernel",
	       "What the kernel did about its memory\n"
	       "  events    faults, swap, reclaim\n"
	       "  not seen  swap, reclaim: this kernel is too old; another reason\n"
	       "  seen      103 events, of them 3 by pmm's own agent, which the tables below\n"
	       "            leave out\n"
	       "  lost      1 event for want of room in the ring, 2 for want of room in a table\n"
	       "            or in programs interrupted by themselves\n"
	       "  left out  5 events of the tables below, 6 of the time line: they are full\n"
	       "  stacks    75.0% complete of 12 user stacks; of page faults 1 in 16 has one\n");
	expect_wide("kernel classes=mmap no-stacks\n", (struct report_options){ .top = 10 }, 200,
		    "What the kernel",
		    "What the kernel did about its memory\n"
		    "  events  mmap\n"
		    "  seen    0 events\n"
		    "  lost    nothing\n"
		    "  stacks  none were taken\n");
}

static void what_is_missing_is_a_warning(void **state)
{
	static const char recipe[] =
		"process end=killed status=9\nkernel classes=faults,swap unseen=swap why=\"no "
		"rights\" rows-lost=5 bins-lost=1\nkernel-kind fault lost=1 dropped=2\n";

	(void)state;
	expect_wide(recipe, (struct report_options){ .top = 10 }, 200, "  !",
		    "  !  kernel events that were not seen, or in part: swap (no rights)\n"
		    "  !  1 kernel event was lost: pmm did not read the ring in time, and it was "
		    "full\n"
		    "  !  2 kernel events were lost: a table was full, or a program interrupted "
		    "itself\n"
		    "  !  5 kernel events are in no table by line or stack: they are full\n"
		    "  !  1 kernel event is not on the time line, which is full\n");
	expect_json(recipe, (struct report_options){ 0 },
		    "\"warnings\": [ {\"code\": \"kernel_events_not_seen\", \"count\": 1, \"text\": "
		    "\"kernel events that were not seen, or in part: swap (no rights)\"}, {\"code\": "
		    "\"kernel_events_lost\", \"count\": 1, ");
	expect_json(recipe, (struct report_options){ 0 },
		    "\"kernel\": { \"events\": \"faults, swap\", \"not_seen\": \"swap\", "
		    "\"why_not_seen\": \"no rights\", \"seen\": 0, \"by_agent\": 0, "
		    "\"lost_in_ring\": 1, \"lost_in_tables\": 2, \"left_out_of_tables\": 5, "
		    "\"left_out_of_time\": 1, \"stacks\": 0, \"complete_stacks\": 0, \"bin_ns\": "
		    "100000000 }");
}

/* The kernel's count is the sum, whether what is estimated from records is more or less. */
static void page_faults_are_counted_or_estimated(void **state)
{
	static const struct report_options wide = { .top = 10 };

	(void)state;
	expect_wide("kernel classes=faults faults=1200 major=34\n"
		    "event fault main events=1300 records=100\n", wide, 200, "What the kernel",
		    "What the kernel did about its memory\n"
		    "  events       faults\n"
		    "  seen         1,200 events\n"
		    "  page faults  1,200 (exact), 1,166 minor, 34 major; by line and stack "
		    "estimated from 100\n"
		    "  lost         nothing\n  stacks       none\n");
	expect_wide("kernel classes=faults faults=5\nevent fault main events=5\n", wide, 200,
		    "  page faults", "  page faults  5 (exact), 5 minor, 0 major\n"
		    "  lost         nothing\n  stacks       none\n");
	expect_wide("kernel classes=faults faults=6\nevent fault main events=5\n", wide, 200,
		    "  page faults", "  page faults  6 (exact), 6 minor, 0 major; by line and "
		    "stack estimated from 5\n"
		    "  lost         nothing\n  stacks       none\n");
	expect_wide("kernel classes=faults\nevent fault main events=1300 records=100\n", wide, 150,
		    "  page faults", "  page faults  about 1,300; by line and stack estimated from "
		    "100\n"
		    "  lost         nothing\n  stacks       none\n");
	expect_no("kernel classes=faults\nevent fault main events=5\n", wide, "  page faults");
	expect_json("kernel classes=faults faults=1200 major=34\n"
		    "event fault main events=1300 records=100\n", (struct report_options){ 0 },
		    "\"seen\": 1200, \"by_agent\": 0, \"page_faults\": 1200, "
		    "\"major_faults\": 34, \"lost_in_ring\": 0,");
}

static void all_kinds_are_listed(void **state)
{
	static const char recipe[] =
		"kernel\nevent mmap main events=3 bytes=4M failed=1\nevent mmap main of=agent\n"
		"event fault main events=1000 records=10\nkernel-kind fault lost=4\n"
		"event memcg_reclaim main events=2 took=30ms longest=20ms bytes=1M\nevent 99 -\n"
		"kernel-kind writeback dropped=8\n";

	(void)state;
	expect(recipe, "Kernel events\n",
	       "Kernel events\n"
	       "  event          count  failed     bytes     time  longest  by pmm  lost\n"
	       "  mmap               4       1  4.00 MiB        -        -       1     -\n"
	       "  fault          1,000       -         -        -        -       -     4\n"
	       "  memcg_reclaim      2       -  1.00 MiB  30.0 ms  20.0 ms       -     -\n"
	       "  writeback          0       -         -        -        -       -     8\n"
	       "  kind 99            1       -         -        -        -       -     -\n");
	expect_json(recipe, (struct report_options){ 0 },
		    "\"kernel_events\": [ {\"event\": \"mmap\", \"count\": 4, \"records\": 4, "
		    "\"failed\": 1, \"size_bytes\": 4194304, \"total_ns\": 0, \"longest_ns\": 0, "
		    "\"by_agent\": 1, \"lost_in_ring\": 0, \"lost_in_tables\": 0}, ");
}

/* ---- page faults ---- */

#define FAULTS                                                                                     \
	"site main>fill size=100\nsite main>load size=10\nsite main>map kind=mmap size=4K\n"       \
	"kernel\n"                                                                                 \
	"event fault main>touch area=heap write of=block site=main>fill events=600 records=6\n"    \
	"event fault main>touch area=heap present of=block site=main>fill events=100 records=1\n"  \
	"event fault main area=heap of=block site=main>fill events=100 records=1\n"                \
	"event swap_in main>touch of=block site=main>fill events=3\n"                              \
	"event fault main>load of=block site=main>load events=150 records=150\n"                   \
	"event fault main>touch of=mapping site=main>map events=40\n"                              \
	"event major main>touch of=mapping site=main>map events=20\n"                              \
	"event fault main area=stack events=5\nevent fault - area=private_file events=4\n"         \
	"event fault main area=heap of=unknown events=1\nevent fault - of=agent events=777\n"

static void faults_have_whose_memory_it_is(void **state)
{
	(void)state;
	expect(FAULTS, "Page faults by the line that",
	       "Page faults by the line that allocated the memory\n"
	       "        faults share first  touched major swap-ins allocated by\n"
	       "  about    800 80.0%   697 2.72 MiB     -        3 fill  fill.c:7\n"
	       "  about    700         597 2.33 MiB     -        3   touched by touch  touch.c:7\n"
	       "  about    100         100  400 KiB     -        -   touched by main  main.c:7\n"
	       "           150 15.0%   150  600 KiB     -        - load  load.c:7\n"
	       "           150         150  600 KiB     -        -   touched by load  load.c:7\n"
	       "            40  4.0%    40  160 KiB    20        - mapped by map  map.c:7\n"
	       "            40          40  160 KiB    20        -   touched by touch  touch.c:7\n"
	       "             5  0.5%     5 20.0 KiB     -        - in no block: stack\n"
	       "             5           5 20.0 KiB     -        -   touched by main  main.c:7\n"
	       "             4  0.4%     4 16.0 KiB     -        - in no block: private file\n"
	       "             1  0.1%     1 4.00 KiB     -        - not looked up: heap (brk)\n"
	       "             1           1 4.00 KiB     -        -   touched by main  main.c:7\n"
	       "  about  1,000  100%   897 3.50 MiB    20        3 total\n"
	       "  about: estimated, from the 208 faults that have a stack\n"
	       "  first: there was no page yet, nor one in swap; touched: at least that, a page\n"
	       "  of 4.00 KiB each\n");
	/* what is not listed is summed up; other memory always is */
	expect_wide(FAULTS, (struct report_options){ .top = 1 }, 200,
		    "Page faults by the line that",
		    "Page faults by the line that allocated the memory\n"
		    "         faults  share  first   touched  major  swap-ins  allocated by\n"
		    "  about     800  80.0%    697  2.72 MiB      -         3  fill  fill.c:7\n"
		    "  about     700           597  2.33 MiB      -         3    touched by touch  "
		    "touch.c:7\n"
		    "  about     100           100   400 KiB      -         -    touched by main  "
		    "main.c:7\n"
		    "            190  19.0%    190   760 KiB     20         -  (2 more lines, --top 0 "
		    "shows all)\n"
		    "              5   0.5%      5  20.0 KiB      -         -  in no block: stack\n"
		    "              5             5  20.0 KiB      -         -    touched by main  "
		    "main.c:7\n"
		    "              4   0.4%      4  16.0 KiB      -         -  in no block: private "
		    "file\n"
		    "              1   0.1%      1  4.00 KiB      -         -  not looked up: heap "
		    "(brk)\n"
		    "              1             1  4.00 KiB      -         -    touched by main  "
		    "main.c:7\n"
		    "  about   1,000   100%    897  3.50 MiB     20         3  total\n"
		    "  about: estimated, from the 208 faults that have a stack\n"
		    "  first: there was no page yet, nor one in swap; touched: at least that, a page "
		    "of 4.00 KiB each\n");
}

static void faults_are_lists_for_programs(void **state)
{
	(void)state;
	expect_json(FAULTS, (struct report_options){ 0 },
		    "\"kernel_fault_sites\": [ { \"faults\": 800, \"records\": 8, "
		    "\"share_percent\": 8e+01, \"first_touches\": 697, \"touched_bytes\": 2854912, "
		    "\"major\": 0, \"swap_ins\": 3, \"of\": \"block\", \"sites\": 1, \"function\": "
		    "\"fill\", \"file\": \"/src/fill.c\", \"line\": 7, \"module\": \"fill\", "
		    "\"module_offset\": \"0x10\", \"pc\": \"0x600010\", \"touched_by\": [ "
		    "{\"faults\": 700, \"records\": 7, \"first_touches\": 597, \"touched_bytes\": "
		    "2445312, \"major\": 0, \"swap_ins\": 3, \"function\": \"touch\", ");
	expect_json(FAULTS, (struct report_options){ 0 },
		    "{ \"faults\": 4, \"records\": 4, \"share_percent\": 0.4, \"first_touches\": 4, "
		    "\"touched_bytes\": 16384, \"major\": 0, \"swap_ins\": 0, \"of\": \"nothing\", "
		    "\"memory\": \"private_file\", \"touched_by\": [ {\"faults\": 4, ");
	expect_json(FAULTS, (struct report_options){ .top = 1 },
		    "\"map_sites\": 0, \"kernel_fault_sites\": 2, \"kernel_fault_stacks\": 3, "
		    "\"kernel_calls\": 0, \"kernel_waits\": 0 }");
	expect_json(FAULTS, (struct report_options){ 0 },
		    "\"kernel_fault_sites\": 0, \"kernel_fault_stacks\": 0, \"kernel_calls\": 0, "
		    "\"kernel_waits\": 0 }");
}

static void faults_have_who_touches(void **state)
{
	(void)state;
	expect(FAULTS, "Page faults by the code that",
	       "Page faults by the code that touches the memory\n"
	       "        faults share first  touched major swap-ins touched by\n"
	       "  about    740 74.0%   637 2.49 MiB    20        3 touch  touch.c:7\n"
	       "                                                     main  main.c:7\n"
	       "           150 15.0%   150  600 KiB     -        - load  load.c:7\n"
	       "                                                     main  main.c:7\n"
	       "  about    106 10.6%   106  424 KiB     -        - main  main.c:7\n"
	       "             4  0.4%     4 16.0 KiB     -        - [stack unknown]\n");
	expect_wide("kernel\nevent fault f>e>d>c>b>a events=3\nevent fault a events=2\n",
		    (struct report_options){ .top = 1, .depth = 2, .depth_given = true }, 80,
		    "Page faults by the code that",
		    "Page faults by the code that touches the memory\n"
		    "  faults  share  first   touched  touched by\n"
		    "       3  60.0%      3  12.0 KiB  a  a.c:7\n"
		    "                                    b  b.c:7\n"
		    "                                    c  c.c:7\n"
		    "                                    ... 3 more frames (--depth 0 shows all)\n"
		    "  1 more stack (--top 0 shows all)\n");
}

static void those_that_touch_are_cut_after_three(void **state)
{
	static const char recipe[] =
		"site main>fill size=100\nkernel\n"
		"event fault a of=block site=main>fill events=5\n"
		"event fault - of=block site=main>fill events=4\n"
		"event fault b of=block site=main>fill events=3\n"
		"event fault c of=block site=main>fill events=2\n"
		"event fault d of=block site=main>fill events=1\n"
		"event fault e area=stack events=6\nevent fault - area=stack\n";

	(void)state;
	expect_wide(recipe, (struct report_options){ .top = 10 }, 200,
		    "Page faults by the line that",
		    "Page faults by the line that allocated the memory\n"
		    "  faults  share  first   touched  allocated by\n"
		    "      15  68.2%     15  60.0 KiB  fill  fill.c:7\n"
		    "       5             5  20.0 KiB    touched by a  a.c:7\n"
		    "       3             3  12.0 KiB    touched by b  b.c:7\n"
		    "       2             2  8.00 KiB    touched by c  c.c:7\n"
		    "       5             5  20.0 KiB    touched by others\n"
		    "       7  31.8%      7  28.0 KiB  in no block: stack\n"
		    "       6             6  24.0 KiB    touched by e  e.c:7\n"
		    "       1             1  4.00 KiB    touched by others\n"
		    "      22   100%     22  88.0 KiB  total\n"
		    "  first: there was no page yet, nor one in swap; touched: at least that, a page "
		    "of 4.00 KiB each\n");
	expect_json(recipe, (struct report_options){ 0 },
		    "{\"faults\": 4, \"records\": 4, \"first_touches\": 4, \"touched_bytes\": "
		    "16384, \"major\": 0, \"swap_ins\": 0}, {\"faults\": 3, ");
}

/* What malloc touches for itself is explained, what is not known to be that is not. */
static void allocators_own_memory_is_explained(void **state)
{
	(void)state;
	expect("kernel\nevent fault fill area=heap events=3\n", "Page faults by the line that",
	       "Page faults by the line that allocated the memory\n"
	       "  faults  share  first   touched  allocated by\n"
	       "       3   100%      3  12.0 KiB  in no block: heap (brk)\n"
	       "       3             3  12.0 KiB    touched by fill  fill.c:7\n"
	       "       3   100%      3  12.0 KiB  total\n"
	       "  first: there was no page yet, nor one in swap; touched: at least that, a page\n"
	       "  of 4.00 KiB each\n"
	       "  heap (brk) in no block: the allocator's own data and free memory, which malloc\n"
	       "  touches first where the heap grows; 'touched by' says for whom\n");
	expect_no("kernel\nevent fault fill area=anonymous\n", (struct report_options){ 0 },
		  "the allocator's own");
	expect_no("kernel\nevent fault fill of=unknown area=heap\n", (struct report_options){ 0 },
		  "the allocator's own");
}

/* With `major` and `swap` alone. */
static void major_faults_need_no_others(void **state)
{
	static const char recipe[] =
		"site main>fill size=100\nkernel classes=major,swap\nevent swap_in main>touch "
		"of=block site=main>fill area=heap events=3\nevent major main area=private_file\n";

	(void)state;
	expect(recipe, "Page faults by the line that",
	       "Page faults by the line that allocated the memory\n"
	       "  share  major  swap-ins  allocated by\n"
	       "  75.0%      -         3  fill  fill.c:7\n"
	       "             -         3    touched by touch  touch.c:7\n"
	       "  25.0%      1         -  in no block: private file\n"
	       "             1         -    touched by main  main.c:7\n"
	       "   100%      1         3  total\n");
	expect_no(recipe, (struct report_options){ .top = 10 }, "first");
}

/* ---- calls, waits, others ---- */

static void calls_are_listed_by_line(void **state)
{
	static const char recipe[] =
		"kernel\nevent mmap main>load>malloc bytes=4M events=4 failed=1\nevent mmap "
		"main>other>load bytes=1M\nevent brk main bytes=64K events=9\nevent munmap main "
		"of=agent\n";

	(void)state;
	expect(recipe, "Calls",
	       "Calls that change mappings, by line\n"
	       "  calls  failed     bytes  stacks  event  by\n"
	       "      5       1  5.00 MiB       2  mmap   load  load.c:7\n"
	       "                                            via malloc\n"
	       "                                            main  main.c:7\n"
	       "      9       -  64.0 KiB       1  brk    main  main.c:7\n");
	expect_wide(recipe, (struct report_options){ .top = 1 }, 80, "Calls",
		    "Calls that change mappings, by line\n"
		    "  calls  failed     bytes  stacks  event  by\n"
		    "      5       1  5.00 MiB       2  mmap   load  load.c:7\n"
		    "                                            via malloc\n"
		    "                                            main  main.c:7\n"
		    "  1 more line (--top 0 shows all)\n");
	expect_json(recipe, (struct report_options){ 0 },
		    "\"kernel_calls\": [ { \"count\": 5, \"failed\": 1, \"size_bytes\": 5242880, "
		    "\"stacks\": 2, \"event\": \"mmap\", \"function\": \"load\", ");
}

static void waits_have_their_share_of_the_run(void **state)
{
	static const char recipe[] =
		"process taken=10s\nkernel\nevent memcg_reclaim main>load events=12 took=1200ms "
		"longest=300ms bytes=50M\nevent compaction - took=5ms\nevent throttled main>load "
		"took=100ms events=2 longest=70ms\n";

	(void)state;
	expect(recipe, "Time lost",
	       "Time lost in the kernel, by line\n"
	       "  count    bytes    time longest of the run stacks event         by\n"
	       "     12 50.0 MiB  1.20 s  300 ms      12.0%      1 memcg_reclaim load  load.c:7\n"
	       "                                                                   main  main.c:7\n"
	       "      2        -  100 ms 70.0 ms       1.0%      1 throttled     load  load.c:7\n"
	       "                                                                   main  main.c:7\n"
	       "      1        - 5.00 ms 5.00 ms       0.1%      1 compaction    [stack unknown]\n");
	expect_json(recipe, (struct report_options){ 0 },
		    "\"kernel_waits\": [ { \"count\": 12, \"size_bytes\": 52428800, \"total_ns\": "
		    "1200000000, \"longest_ns\": 300000000, \"run_percent\": 12, \"stacks\": 1, "
		    "\"event\": \"memcg_reclaim\", ");
}

static void the_rest_is_listed_too(void **state)
{
	static const char recipe[] =
		"kernel\nevent oom_kill main\nevent migrate - detail=2 events=4 bytes=2M "
		"took=7ms longest=4ms\nevent collapse - detail=11\nevent huge_fault main events=5 "
		"failed=2 bytes=10M\nevent 99 -\n";

	(void)state;
	expect(recipe, "Other kernel",
	       "Other kernel events\n"
	       "  event       count  failed     bytes     time  longest\n"
	       "  migrate         4       -  2.00 MiB  7.00 ms  4.00 ms  compaction, sync\n"
	       "  huge_fault      5       2  10.0 MiB        -        -\n"
	       "  collapse        1       -         -        -        -  succeeded, file, madvise\n"
	       "  oom_kill        1       -         -        -        -\n"
	       "  kind 99         1       -         -        -        -\n");
	expect_json(recipe, (struct report_options){ 0 },
		    "{\"event\": \"kind 99\", \"count\": 1, \"failed\": 0, \"size_bytes\": 0, "
		    "\"total_ns\": 0, \"longest_ns\": 0, \"detail\": null}");
}

/* ---- over time ---- */

#define TIMES                                                                                      \
	"process attach=1s taken=11s\nsite main size=8\npoint 1s live=8\npoint 11s live=8\n"       \
	"totals peak=8 peak-at=1s\nkernel bin=200ms\nkernel-bin 0s fault\n"                        \
	"kernel-bin 1s fault events=10\nkernel-bin 2s mmap\nkernel-bin 2s fault events=1000\n"     \
	"kernel-bin 2200ms munmap events=9\nkernel-bin 5s oom_kill\nkernel-bin 6s 99\n"            \
	"kernel-bin 20s fault events=500\n"

static void marks_are_below_the_graph(void **state)
{
	char *narrow = report_of(TIMES, (struct report_options){ .top = 10 },
			    &(const struct style){ .width = 32 });
	char *wide = report_of(TIMES, (struct report_options){ .top = 10 },
			  &(const struct style){ .width = 200, .utf8 = true });
	char *part = section(narrow, "            0 s");

	(void)state;
	assert_string_equal(part, "            0 s           10.0 s\n"
				  "    faults |. #                -\n"
				  "  mappings |  #\n"
				  " OOM kills |        #\n");
	free(part);
	part = section(wide, "            0 s");
	assert_string_equal(
		part,
		"            0 s                                                                     "
		"                    10.0 s\n"
		"    faults │▁         █                                                              "
		"                        ▄\n"
		"  mappings │          ▁ █\n"
		" OOM kills │                                        █\n");
	free(part);
	free(narrow);
	free(wide);
}

static void bins_are_a_list_for_programs(void **state)
{
	(void)state;
	expect_json(TIMES, (struct report_options){ 0 },
		    "\"kernel_bins\": [ {\"time_ns\": 0, \"event\": \"fault\", \"count\": 1, "
		    "\"size_bytes\": 0, \"total_ns\": 0}, {\"time_ns\": 0, \"event\": \"fault\", "
		    "\"count\": 10, \"size_bytes\": 0, \"total_ns\": 0}, {\"time_ns\": 1000000000, "
		    "\"event\": \"mmap\", \"count\": 1, ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_heap_that_was_not_traced_has_none_of_it),
		cmocka_unit_test(what_was_covered_comes_first),
		cmocka_unit_test(what_is_missing_is_a_warning),
		cmocka_unit_test(page_faults_are_counted_or_estimated),
		cmocka_unit_test(all_kinds_are_listed),
		cmocka_unit_test(faults_have_whose_memory_it_is),
		cmocka_unit_test(faults_are_lists_for_programs),
		cmocka_unit_test(faults_have_who_touches),
		cmocka_unit_test(those_that_touch_are_cut_after_three),
		cmocka_unit_test(allocators_own_memory_is_explained),
		cmocka_unit_test(major_faults_need_no_others),
		cmocka_unit_test(calls_are_listed_by_line),
		cmocka_unit_test(waits_have_their_share_of_the_run),
		cmocka_unit_test(the_rest_is_listed_too),
		cmocka_unit_test(marks_are_below_the_graph),
		cmocka_unit_test(bins_are_a_list_for_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
