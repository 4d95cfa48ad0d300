/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors as a person and as a program read them: exact text and JSON of every kind. Also of
 * src/view/check/check_view.c, check_figures.c, check_head.c, check_text.c, stack_view.c,
 * check_coverage.c, check_runs.c, check_tree.c, src/names/role.c.
 */
#include "tests/unit/check_view_of.h"

/* A frame as JSON. */
#define FRAME(stack, name, pc)                                                                     \
	"        {\"stack\": \"" stack "\", \"function\": \"" name "\", \"file\": \"/src/" name    \
	".c\", "                                                                                   \
	"\"line\": 7, \"module\": \"" name "\", \"module_offset\": \"0x10\", \"pc\": \"" pc "\", " \
	"\"inlined\": false, \"role\": \"program\"}"

/* The two lines that say what it is. */
static void expect_lines(const char *finding, const char *title, const char *what)
{
	struct check_view_options opt = { .no_head = true };
	char recipe[1000], begin[500], *got;

	snprintf(recipe, sizeof(recipe),
		 PROCESS "check guard\nsite main>a size=1\nsite main>b size=1\nsite main>c "
			 "size=1\nfinding %s\n",
		 finding);
	snprintf(begin, sizeof(begin), "pmm: %s\n  %s\n  demo, pid 42%s", title, what,
		 strstr(finding, "by=sweep") ? "\n" : ", ");
	got = make(recipe, opt, false);
	if (strncmp(got, begin, strlen(begin)))
		assert_string_equal(got, begin);
	free(got);
}

static void all_three_places_are_told(void **state)
{
	(void)state;
	expect(PROCESS "check guard guarded=9 canaried=2 budget=2\nsite main>parse size=1\nsite "
		       "main>new size=1\nsite main>drop size=1\n"
		       "finding type=after-free access=read code=8b00 guarded first=3s last=5s "
		       "count=3 thread=worker site=main>parse "
		       "address=1008 block=1000 block-size=24 kind=malloc alloc=main>new "
		       "alloc-at=1s alloc-thread=main "
		       "free=main>drop free-at=2995ms free-thread=worker\n",
	       (struct check_view_options){ .depth = 8 },
	       "demo\n"
	       "  blocks   all 11 blocks had canaries, 9 of them guard pages too; canaries\n"
	       "           only: 2 for their cost (--budget)\n"
	       "  process  demo, pid 42, ran 10.0 s, still running\n"
	       "  found    1 error: 1 use after free; met 3 times\n"
	       "\n"
	       "  use after free in parse, parse.c:7\n"
	       "    read of 4 bytes, 8 bytes into a block of 24 bytes that was freed\n"
	       "    thread 8 (worker), 3.00 s after the start; 3 times, the last 2.00 s later:\n"
	       "      parse  parse.c:7\n"
	       "      main  main.c:7\n"
	       "    the block at 0x1000 was allocated with malloc by thread 7 (main), 2.00 s\n"
	       "    before:\n"
	       "      new  new.c:7\n"
	       "      main  main.c:7\n"
	       "    it was freed by the same thread, under 10 ms before:\n"
	       "      drop  drop.c:7\n"
	       "      main  main.c:7\n");
}

/* A finding of a recipe, its title, its sentence. */
static const char *const kinds[][3] = {
	{ "type=overrun access=write size=4 address=1018 block=1000 block-size=24 "
	  "site=main>a alloc=main>b",
	  "heap overrun in a, a.c:7",
	  "write of 4 bytes, right behind the end of a block of 24 bytes" },
	{ "type=overrun access=read size=1 address=101b block=1000 block-size=24 "
	  "site=main>a",
	  "heap overrun in a, a.c:7",
	  "read of 1 byte, 3 bytes behind the end of a block of 24 bytes" },
	{ "type=overrun by=function function=memcpy access=write size=30 address=1018 "
	  "block=1000 block-size=24 site=main>a>libc.so.6",
	  "heap overrun in a, a.c:7",
	  "memcpy: write of 30 bytes, right behind the end of a block of 24 bytes" },
	{ "type=overrun by=function function=memcpy access=write size=30 address=1018 "
	  "block=1000 block-size=24 other=1008 site=main>a",
	  "heap overrun in a, a.c:7",
	  "memcpy: write of 30 bytes, which goes 14 bytes past the end of a block of 24\n  "
	  "bytes" },
	{ "type=underrun access=write code=8b00 address=fff block=1000 block-size=1 "
	  "site=main>a",
	  "heap underrun in a, a.c:7",
	  "write of 4 bytes, 1 byte before the start of a block of 1 byte" },
	{ "type=overrun by=release release=free access=write address=1019 block=1000 "
	  "block-size=24 site=main>a alloc=main>b",
	  "heap overrun, found in a, a.c:7",
	  "write 1 byte behind the end of a block of 24 bytes, some time before this\n  "
	  "free" },
	{ "type=after-free by=quarantine access=write address=1000 block=1000 "
	  "block-size=24 site=main>a alloc=main>b free=main>c",
	  "use after free, of a block from b, b.c:7",
	  "write at the start of a block of 24 bytes that was freed, some time before\n  "
	  "its memory was to be used again" },
	{ "type=overrun by=sweep access=write address=1018 block=1000 block-size=24 "
	  "alloc=main>b first=2s",
	  "heap overrun, of a block from b, b.c:7",
	  "write right behind the end of a block of 24 bytes, between its allocation\n  "
	  "and the canary scan 2.00 s after the start" },
	{ "type=underrun by=sweep access=write address=ff0 block=1000 block-size=24 "
	  "alloc=main>b first=2s since=1500ms",
	  "heap underrun, of a block from b, b.c:7",
	  "write 16 bytes before the start of a block of 24 bytes, between the canary\n  "
	  "scans 1.50 s and 2.00 s after the start" },
	{ "type=double-free by=release release=delete[] address=1000 block=1000 "
	  "block-size=24 site=main>a free=main>c",
	  "double free in a, a.c:7",
	  "delete[] of a block of 24 bytes that was freed already" },
	{ "type=realloc-freed by=release release=realloc address=1000 block=1000 "
	  "block-size=24 site=main>a free=main>c",
	  "realloc after free in a, a.c:7",
	  "realloc of a block of 24 bytes that was freed already" },
	{ "type=bad-free by=release release=free place=inside address=1008 block=1000 "
	  "block-size=24 site=main>a",
	  "bad free in a, a.c:7", "free of an address 8 bytes into a block of 24 bytes" },
	{ "type=bad-free by=release release=free place=stack address=1008 site=main>a",
	  "bad free in a, a.c:7", "free of memory on a stack" },
	{ "type=bad-free by=release release=realloc place=static address=1008 site=main>a",
	  "bad free in a, a.c:7", "realloc of a variable of the program or a library" },
	{ "type=bad-free by=release release=free place=unmapped address=8 site=main>a",
	  "bad free in a, a.c:7", "free of an address where no memory is" },
	{ "type=bad-free by=release release=free address=1008 site=main>a",
	  "bad free in a, a.c:7", "free of an address that was never allocated" },
	{ "type=mismatch by=release release=free kind=new[] block=1000 block-size=24 "
	  "site=main>a",
	  "mismatched free in a, a.c:7",
	  "free of a block of 24 bytes that came from new[]" },
	{ "type=mismatch by=release release=delete-sized kind=new block=1000 block-size=24 "
	  "other=14 site=main>a",
	  "mismatched free in a, a.c:7",
	  "sized delete of a block of 24 bytes that came from new, said to be 20" },
	{ "type=mismatch by=release release=delete-aligned kind=new-aligned block=1000 "
	  "block-size=24 other=20 site=main>a",
	  "mismatched free in a, a.c:7",
	  "aligned delete of a block of 24 bytes that came from new(aligned), "
	  "said to\n  be aligned to 32" },
	{ "type=overlap by=function function=memcpy size=50 address=100a other=1000 "
	  "block=1000 block-size=100 site=main>a",
	  "overlapping copy in a, a.c:7",
	  "memcpy of 50 bytes from 0x1000 to 0x100a: the ranges overlap" },
	{ "type=size by=function kind=malloc size=18446744073709551611 site=main>a",
	  "bad size in a, a.c:7",
	  "malloc of 0xfffffffffffffffb bytes: -5 taken for a size" },
	{ "type=size by=function kind=calloc size=18446744073709551615 site=main>a",
	  "bad size in a, a.c:7",
	  "calloc of more bytes than fit in size_t, or of -1 taken for a size" },
	{ "type=size by=function kind=malloc size=18446744073709551615 site=main>a",
	  "bad size in a, a.c:7",
	  "malloc of 0xffffffffffffffff bytes: -1 taken for a size" },
	{ "type=size by=function kind=calloc size=0 site=main>a", "bad size in a, a.c:7",
	  "calloc of 0 bytes" },
	{ "type=stack-overflow access=write address=1000 site=main>a",
	  "stack overflow in a, a.c:7", "the stack ran over its end" },
	{ "type=wild access=read size=8 address=1000 site=main>a",
	  "wild access in a, a.c:7", "read of 8 bytes where no block is" },
	{ "type=uninitialised by=valgrind text=Use_of_nothing site=main>a",
	  "uninitialised memory in a, a.c:7", "Use_of_nothing" },
	{ "type=other by=valgrind text=words site=main>a", "error in a, a.c:7", "words" },
	{ "type=other by=valgrind text=words block=1000 block-size=4 site=main>a",
	  "error in a, a.c:7", "words" },
	{ "type=bad-free by=valgrind release=free text=words site=main>a",
	  "bad free in a, a.c:7", "words" },
	{ "type=bad-free by=valgrind release=free place=stack text=words site=main>a",
	  "bad free in a, a.c:7", "free of memory on a stack" },
	{ "type=wild by=valgrind place=stack text=words site=main>a",
	  "wild access in a, a.c:7", "words" },
	{ "type=size by=valgrind text=words kind=malloc site=main>a",
	  "bad size in a, a.c:7", "words" },
	{ "type=size by=valgrind text=words kind=malloc size=18446744073709551615 "
	  "site=main>a",
	  "bad size in a, a.c:7",
	  "malloc of 0xffffffffffffffff bytes: -1 taken for a size" },
	{ "type=wild by=valgrind access=read site=main>a", "wild access in a, a.c:7",
	  "an error" },
	{ "type=wild access=exec address=1000", "wild access",
	  "execution where no block is" },
};

static void every_kind_of_error_has_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(kinds); i++)
		expect_lines(kinds[i][0], kinds[i][1], kinds[i][2]);
}

static bool told_before(const void *ctx, const struct heap_finding *f)
{
	return f->block == *(const uint64_t *)ctx;
}

/*
 * What a canary scan has found and the release finds again: who released it, and how much later, is
 * all that is new.
 */
static void damage_is_told_once(void **state)
{
	const uint64_t block = 0x1000;
	struct check_view_options opt = { .no_head = true,
					  .again = told_before,
					  .again_ctx = &block };

	(void)state;
	expect(PROCESS "check light\nsite main>a size=1\nsite main>b size=1\n"
		       "finding type=overrun by=sweep access=write address=1018 block=1000 "
		       "block-size=24 alloc=main>a first=2s "
		       "release=free free=main>b free-at=5s free-thread=worker\n",
	       (struct check_view_options){ .no_head = true },
	       "pmm: heap overrun, of a block from a, a.c:7\n"
	       "  write right behind the end of a block of 24 bytes, between its allocation\n"
	       "  and the canary scan 2.00 s after the start\n"
	       "  demo, pid 42\n"
	       "  the block at 0x1000 was allocated, 2.00 s before:\n"
	       "    a  a.c:7\n"
	       "    main  main.c:7\n"
	       "  found again by its free in thread 8 (worker), 3.00 s later:\n"
	       "    b  b.c:7\n"
	       "    main  main.c:7\n");
	expect(PROCESS "check light\nsite main>a size=1\nsite main>b size=1\n"
		       "finding type=overrun by=sweep access=write address=1018 block=1000 "
		       "block-size=24 alloc=main>a first=2s release=free free=main>b free-at=1s\n",
	       (struct check_view_options){ .no_head = true },
	       "pmm: heap overrun, of a block from a, a.c:7\n"
	       "  write right behind the end of a block of 24 bytes, between its allocation\n"
	       "  and the canary scan 2.00 s after the start\n"
	       "  demo, pid 42\n"
	       "  the block at 0x1000 was allocated, 2.00 s before:\n"
	       "    a  a.c:7\n"
	       "    main  main.c:7\n"
	       "  found again by its free, under 10 ms later:\n"
	       "    b  b.c:7\n"
	       "    main  main.c:7\n");
	expect(PROCESS "check light\nsite main>a size=1\nsite main>b size=1\n"
		       "finding type=overrun by=release access=write address=1018 block=1000 "
		       "block-size=24 alloc=main>a first=2s release=free site=main>b\n",
	       opt,
	       "pmm: heap overrun, found again in b, b.c:7\n"
	       "  free of a block of 24 bytes at 0x1000, whose damage a canary scan has\n"
	       "  reported\n"
	       "  demo, pid 42, 2.00 s after the start:\n"
	       "    b  b.c:7\n"
	       "    main  main.c:7\n");
}

static void a_run_without_errors_is_one_line(void **state)
{
	(void)state;
	expect(PROCESS "check guard guarded=9 canaried=2 large=2\n",
	       (struct check_view_options){ .brief = true },
	       "pmm: demo, pid 42: all 11 blocks had canaries, 9 of them guard pages too; no\n"
	       "heap errors; canaries only: 2 for their size\n");
	expect(PROCESS "check light canaried=1\n", (struct check_view_options){ .brief = true },
	       "pmm: demo, pid 42: the only block had canaries; no heap errors\n");
	expect(PROCESS "check sampled guarded=3 sweeps=2\n", (struct check_view_options){ 0 },
	       "demo\n"
	       "  blocks   3 blocks of the sample had guard pages\n"
	       "  process  demo, pid 42, ran 10.0 s, still running\n"
	       "  found    no heap errors; 2 canary scans of all live blocks\n");
}

static void expect_coverage(const char *check, const char *line)
{
	char recipe[300], text[400];

	snprintf(recipe, sizeof(recipe), PROCESS "check %s\n", check);
	snprintf(text, sizeof(text), "pmm: demo, pid 42: %s\n", line);
	expect(recipe, (struct check_view_options){ .brief = true }, text);
}

/* guarded + canaries only + not checked = all; the reasons of each part add up to it. */
static void the_numbers_of_blocks_add_up(void **state)
{
	(void)state;
	/* a capture whose unchecked blocks (THRIFT) are among those of the budget */
	expect_coverage(
		"guard guarded=5735 canaried=22815 passed=11450 flags=32 budget=34265",
		"28,550 of 40,000 blocks had canaries, 5,735 of them guard\npages too; no "
		"heap errors; canaries only: 22,815 for their cost (--budget);\nnot checked: "
		"11,450 for their cost (--budget)");
	/* resized in place: guard pages were not asked for */
	expect_coverage("guard guarded=9 canaried=5 large=2",
			"all 14 blocks had canaries, 9 of them guard pages too; no\nheap errors; "
			"canaries only: 2 for their size, 3 resized in place");
	/* an event that was being recorded */
	expect_coverage("guard guarded=9 canaried=3 limit=4",
			"all 12 blocks had canaries, 9 of them guard pages too; no\nheap errors; "
			"canaries only: 3 above the limit (--max-guarded)");
	expect_coverage("sampled guarded=3 budget=2 large=1",
			"3 of 6 blocks in the sample had guard pages; no heap\nerrors; not "
			"guarded: 2 for their cost (--budget), 1 for their size");
}

/* What could not be kept or looked at belongs to the head also when all seems well. */
static void what_was_not_looked_at_is_told(void **state)
{
	(void)state;
	expect(PROCESS
	       "check guard guarded=1 canaried=4 limit=3 refused=1 passed=5 early=2 unkept-large=8 "
	       "unkept-busy=9 failed=6 lost=7\nfinding type=size by=function kind=malloc\n",
	       (struct check_view_options){ .from = 1, .brief = true },
	       "demo\n"
	       "  blocks   5 of 10 blocks had canaries, 1 of them guard pages too; canaries\n"
	       "           only: 3 above the limit (--max-guarded), 1 as the kernel refused;\n"
	       "           not checked: 2 from before pmm was ready, 3 where they could not be\n"
	       "           tracked; not quarantined after release: 8 too large (--quarantine),\n"
	       "           9 as the quarantine was in use\n"
	       "  process  demo, pid 42, ran 10.0 s, still running\n"
	       "  failed   6 requests made to fail\n"
	       "  found    1 error: 1 bad size\n"
	       "\n"
	       "  !  7 errors more met, but not listed: there is room for 1,024 different\n"
	       "     ones a process\n");
}

static void damaged_blocks_are_counted(void **state)
{
	(void)state;
	expect(PROCESS "check light\nsite main>a size=1\n"
		       "finding type=overrun by=sweep access=write count=1200 address=1018 "
		       "block=1000 block-size=24 alloc=main>a first=2s\n",
	       (struct check_view_options){ .no_head = true },
	       "pmm: heap overrun, of a block from a, a.c:7\n"
	       "  write right behind the end of a block of 24 bytes, between its allocation\n"
	       "  and the canary scan 2.00 s after the start\n"
	       "  demo, pid 42; 1,200 such blocks\n"
	       "  the block at 0x1000 was allocated, 2.00 s before:\n"
	       "    a  a.c:7\n"
	       "    main  main.c:7\n");
}

static void times_count_from_the_attach(void **state)
{
	(void)state;
	expect("process comm=demo cmdline=demo pid=42 taken=10s end=running attached\ncheck "
	       "sampled guarded=1 sweeps=1\nsite main>a size=1\n"
	       "finding type=wild access=read site=main>a first=2s\n",
	       (struct check_view_options){ 0 },
	       "demo\n"
	       "  blocks   1 block of the sample had guard pages\n"
	       "  process  demo, pid 42, watched for 10.0 s, still running\n"
	       "  found    1 error: 1 wild access; 1 canary scan of all live blocks\n"
	       "\n"
	       "  wild access in a, a.c:7\n"
	       "    read where no block is\n"
	       "    2.00 s after the attach:\n"
	       "      a  a.c:7\n"
	       "      main  main.c:7\n");
}

static void an_end_that_was_not_seen_is_told(void **state)
{
	(void)state;
	expect("process comm=demo pid=42 taken=10s end=killed status=9\ncheck light canaried=1 "
	       "failed=2\n",
	       (struct check_view_options){ .brief = true },
	       "pmm: demo, pid 42: the only block had canaries; nothing found until SIGKILL\n"
	       "ended it; 2 requests made to fail\n"
	       "\n"
	       "  !  its live blocks were not scanned at its end: it was killed, or how\n"
	       "     it ended was not seen\n");
}

static void errors_stand_apart_and_top_limits_them(void **state)
{
	(void)state;
	expect(PROCESS "check light\nfinding type=wild access=read count=1\nfinding type=wild "
		       "access=write\nfinding type=other text=x by=valgrind\n",
	       (struct check_view_options){ .no_head = true, .top = 2 },
	       "pmm: wild access\n"
	       "  read where no block is\n"
	       "  demo, pid 42, 1.00 s after the start:\n"
	       "    [stack unknown]\n"
	       "\n"
	       "pmm: wild access\n"
	       "  write where no block is\n"
	       "  demo, pid 42, 1.00 s after the start:\n"
	       "    [stack unknown]\n"
	       "1 more (--top 0 shows all)\n");
}

/* Contents of memory only when asked for; nothing from outside reaches the terminal raw. */
static void contents_are_not_shown_unasked(void **state)
{
	static const char recipe[] = PROCESS "check light\nsite main>ev\033il size=1\n"
					     "finding type=overrun by=release release=free "
					     "access=write address=1018 block=1000 block-size=24 "
					     "bytes=deadbeef01020304c0ffee site=main>ev\033il\n";
	char *text = make(recipe, (struct check_view_options){ .no_head = true }, false);
	char *json = make(recipe, (struct check_view_options){ 0 }, true);

	(void)state;
	assert_null(strstr(text, "deadbeef"));
	assert_null(strstr(json, "deadbeef"));
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(json, '\x1b'));
	assert_non_null(strstr(text, "ev\\x1bil"));
	assert_non_null(strstr(json, "ev\\u001bil"));
	free(text);
	free(json);
	text = make(recipe, (struct check_view_options){ .no_head = true, .bytes = true }, false);
	json = make(recipe, (struct check_view_options){ .bytes = true }, true);
	assert_non_null(strstr(text, "  now at 0x1018: deadbeef01020304 c0ffee\n"));
	assert_non_null(strstr(json, "\"contents\": \"deadbeef01020304c0ffee\""));
	free(text);
	free(json);
}

static void json_has_every_figure(void **state)
{
	char *json = make(PROCESS
			  "check guard guarded=9 canaried=2 budget=2 sweeps=3 guarded-most=8\n"
			  "site main>a size=1\nsite main>b size=1\nsite main>c size=1\n"
			  "finding type=after-free by=function function=memcpy access=write "
			  "guarded first=3s last=5s count=3 thread=worker "
			  "site=main>a address=1008 size=4 block=1000 block-size=24 kind=malloc "
			  "alloc=main>b alloc-at=1s alloc-thread=main "
			  "free=main>c free-at=2s free-thread=worker\n",
			  (struct check_view_options){ 0 }, true);
	const char *check = strstr(json, "\"check\"");

	(void)state;
	assert_non_null(check);
	assert_string_equal(
		check,
		"\"check\": {\n"
		"    \"level\": \"guard\",\n"
		"    \"mechanism\": \"madvise\",\n"
		"    \"findings\": 1,\n"
		"    \"findings_lost\": 0,\n"
		"    \"left_open\": 0,\n"
		"    \"guarded_blocks\": 9,\n"
		"    \"guarded_most_blocks\": 8,\n"
		"    \"canaried_blocks\": 2,\n"
		"    \"unchecked_blocks\": 0,\n"
		"    \"unguarded_for_limit\": 0,\n"
		"    \"unguarded_for_budget\": 2,\n"
		"    \"unguarded_for_size\": 0,\n"
		"    \"unguarded_refused\": 0,\n"
		"    \"failed_on_purpose\": 0,\n"
		"    \"sweeps\": 3,\n"
		"    \"other_processes\": 0,\n"
		"    \"blocks\": 11,\n"
		"    \"unchecked_before_start\": 0,\n"
		"    \"unkept_for_size\": 0,\n"
		"    \"unkept_in_use\": 0,\n"
		"    \"coverage\": \"all 11 blocks had canaries, 9 of them guard pages too; "
		"canaries only: 2 for their cost (--budget)\"\n"
		"  },\n"
		"  \"warnings\": [],\n"
		"  \"findings\": [\n"
		"    {\n"
		"      \"type\": \"use-after-free\",\n"
		"      \"by\": \"function\",\n"
		"      \"access\": \"write\",\n"
		"      \"what\": \"memcpy: write of 4 bytes, 8 bytes into a block of 24 bytes that "
		"was freed\",\n"
		"      \"count\": 3,\n"
		"      \"first_ns\": 3000000000,\n"
		"      \"last_ns\": 5000000000,\n"
		"      \"tid\": 8,\n"
		"      \"thread_name\": \"worker\",\n"
		"      \"address\": \"0x1008\",\n"
		"      \"size_bytes\": 4,\n"
		"      \"block_address\": \"0x1000\",\n"
		"      \"block_bytes\": 24,\n"
		"      \"kind\": \"malloc\",\n"
		"      \"function_called\": \"memcpy\",\n"
		"      \"guarded\": true,\n"
		"      \"allocated_tid\": 7,\n"
		"      \"allocated_thread_name\": \"main\",\n"
		"      \"allocated_ns\": 1000000000,\n"
		"      \"freed_tid\": 8,\n"
		"      \"freed_thread_name\": \"worker\",\n"
		"      \"freed_ns\": 2000000000,\n"
		"      \"frames\": [\n"
		FRAME("error", "a", "0x600010") ",\n"
		FRAME("error", "main", "0x500010") ",\n"
		FRAME("allocated", "b", "0x700010") ",\n"
		FRAME("allocated", "main", "0x500010") ",\n"
		FRAME("freed", "c", "0x800010") ",\n"
		FRAME("freed", "main", "0x500010") "\n"
		"      ]\n"
		"    }\n"
		"  ],\n"
		"  \"left_out\": {\n"
		"    \"findings\": 0\n"
		"  }\n"
		"}\n");
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_three_places_are_told),
		cmocka_unit_test(every_kind_of_error_has_its_words),
		cmocka_unit_test(damage_is_told_once),
		cmocka_unit_test(a_run_without_errors_is_one_line),
		cmocka_unit_test(the_numbers_of_blocks_add_up),
		cmocka_unit_test(what_was_not_looked_at_is_told),
		cmocka_unit_test(damaged_blocks_are_counted),
		cmocka_unit_test(times_count_from_the_attach),
		cmocka_unit_test(an_end_that_was_not_seen_is_told),
		cmocka_unit_test(errors_stand_apart_and_top_limits_them),
		cmocka_unit_test(contents_are_not_shown_unasked),
		cmocka_unit_test(json_has_every_figure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
