/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Canary scans: this process is the one looked at; a ledger made by hand says which blocks it has,
 * and memory of its own has their canaries.
 */
#include "tests/unit/unit.h"

#include <linux/futex.h>
#include <pthread.h>

#include "src/ledger/canary_scan.h"
#include "src/ledger/canary_scanner.h"
#include "tests/unit/ledger_image.h"

#define SECRET	0x123456789abcdefull
#define PAGE	4096ull
#define TICK	PMM_TICK_NS

static struct image im;
static struct canary_scan scan;
static unsigned char *pool, *heap;
static int board_fd = -1;

/* A canaried block at heap + at. */
static unsigned char *block(uint64_t at, uint64_t size, unsigned align_log2, uint32_t tick)
{
	unsigned char *p = heap + at;
	uint64_t a = (uint64_t)p, front = pmm_front_bytes(1ull << align_log2);
	struct pmm_head head = { .what = size | (uint64_t)align_log2 << PMM_HEAD_ALIGN_SHIFT };

	head.seal = pmm_seal(SECRET, a, head.what);
	for (uint64_t i = a - front; i < pmm_tail_end(a, size); i++)
		if (i < a || i >= a + size)
			heap[i - (uint64_t)heap] = pmm_canary_byte(SECRET, a, i);
	memset(p, 'x', size);
	memcpy(p - sizeof(head), &head, sizeof(head));
	image_block(&im, PMM_TABLE_HEAP, a, size, 1, PMM_KIND_MALLOC, 0, tick);
	return p;
}

/* A guarded one that begins or ends at an end of page `page` of the pool. */
static unsigned char *guarded(uint32_t run, unsigned page, uint64_t size, bool left)
{
	unsigned char *start = pool + page * PAGE,
		      *p = left ? start : start + PAGE - (size + 15) / 16 * 16;

	for (uint64_t i = (uint64_t)start; i < (uint64_t)start + PAGE; i++)
		if (i < (uint64_t)p || i >= (uint64_t)p + size)
			pool[i - (uint64_t)pool] = pmm_canary_byte(SECRET, (uint64_t)p, i);
	image_guard(&im, run, (uint64_t)p, size, 1, 0, 3);
	return p;
}

static int setup(void **state)
{
	(void)state;
	im = image_new();
	heap = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pool = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	im.tree->check = (struct pmm_check){ .level = PMM_CHECK_GUARD, .secret = SECRET };
	im.l->check.pool_start = (uint64_t)pool;
	im.l->check.pool_end = (uint64_t)pool + 16 * PAGE;
	image_thread(&im, 0, 7, "main");
	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	return 0;
}

static void forget_scans(void)
{
	canary_scan_fini(&scan);
	memset(&scan, 0, sizeof(scan));
}

static int teardown(void **state)
{
	(void)state;
	forget_scans();
	if (board_fd >= 0)
		close(board_fd);
	board_fd = -1;
	munmap(heap, 64 * PAGE);
	munmap(pool, 16 * PAGE);
	image_free(&im);
	return 0;
}

/* One canary scan: so many findings, of which the last is returned in *f (may be NULL). */
static void swept(int nr, struct heap_finding *f)
{
	struct ledger_map *m = NULL;
	struct heap *h = NULL;
	struct err e = { 0 };
	char why[128];
	int found;

	if (ledger_map_open_pid(getpid(), &m, &e))
		fail_msg("%s", e.text);
	if (board_fd >= 0)
		ledger_map_set_clock(m, board_fd);
	found = canary_scan_process(&scan, getpid(), m, PMM_MAX_FINDINGS + (uint32_t)scan.seen.nr,
				    &h, &e);
	ledger_map_close(m);
	assert_int_equal(found, nr);
	if (heap_check(h, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(h->nr_findings, nr);
	assert_int_equal(h->check.scans, scan.scans);
	if (f) {
		*f = h->findings[h->nr_findings - 1];
		f->text = NULL;
	}
	heap_free(h);
}

/* The only damage of a new canary scan: this. */
static void expect(int type, const unsigned char *at, const unsigned char *p, uint64_t size)
{
	struct heap_finding f;

	swept(1, &f);
	assert_int_equal(f.type, type);
	assert_int_equal(f.by, PMM_BY_SCAN);
	assert_int_equal(f.access, PMM_ACCESS_WRITE);
	assert_int_equal(f.address, (uint64_t)at);
	assert_int_equal(f.block, (uint64_t)p);
	assert_int_equal(f.block_bytes, size);
	assert_int_equal(f.alloc_site, 1);
	assert_int_equal(f.kind, PMM_KIND_MALLOC);
	assert_true(f.nr_bytes > 0 && f.bytes[0] == *at);
	assert_int_equal(f.guarded, p >= pool && p < pool + 16 * PAGE);
}

/*
 * What the agent has reported already is no finding of a canary scan; a block that came to the
 * address later is another one.
 */
static void what_is_reported_is_no_finding(void **state)
{
	static struct pmm_reported table[PMM_REPORTED];
	unsigned char *p = block(64, 20, 0, 5), *other = block(256, 20, 0, 5);
	struct pmm_reported *r = &table[pmm_reported_at((uint64_t)p) + PMM_REPORTED_WAYS - 1];
	struct heap_finding f;

	(void)state;
	im.l->check.reported = (uint64_t)table;
	p[20] = other[20] = 1;
	*r = (struct pmm_reported){ .block = (uint64_t)p, .tick = 5 };
	expect(PMM_FINDING_OVERRUN, other + 20, other, 20);
	forget_scans();
	r->tick = 4;
	swept(1, &f);
	assert_int_equal(f.count, 2);
	forget_scans();
	r->tick = 5;
	im.l->check.reported = 4096;	/* cannot be read */
	swept(1, &f);
	assert_int_equal(f.count, 2);
}

static void whole_canaries_are_no_finding(void **state)
{
	(void)state;
	block(64, 40, 0, 1);
	block(256, 0, 0, 2);
	block(8192, 5000, 12, 3);
	guarded(0, 1, 100, false);
	guarded(1, 3, 100, true);
	guarded(2, 5, PAGE, false);
	swept(0, NULL);
	swept(0, NULL);
	assert_int_equal(scan.scans, 2);
}

/* Each at its first wrong byte, and once only; one damage at a time. */
static void damage_is_found_where_it_is(void **state)
{
	unsigned char *a = block(64, 40, 0, 1), *b = block(256, 33, 0, 1),
		      *c = block(1024, 64, 8, 1), *d = block(2048, 4, 0, 1);
	unsigned char *e = block(3 * PAGE, 200, 12, 1), *g = guarded(0, 1, 100, false),
		      *l = guarded(1, 3, 100, true);

	(void)state;
	swept(0, NULL);
	a[40] ^= 1;
	expect(PMM_FINDING_OVERRUN, a + 40, a, 40);
	b[pmm_tail_end((uint64_t)b, 33) - (uint64_t)b - 1] ^= 0x80;
	expect(PMM_FINDING_OVERRUN, b + 63, b, 33);
	c[-1] ^= 1;				/* the seal */
	expect(PMM_FINDING_UNDERRUN, c - 1, c, 64);
	d[-15] ^= 4;				/* the size */
	expect(PMM_FINDING_UNDERRUN, d - 15, d, 4);
	e[-17] ^= 1;				/* between the real block's start and the head */
	expect(PMM_FINDING_UNDERRUN, e - 17, e, 200);
	g[100] ^= 1;				/* up to the page's end */
	expect(PMM_FINDING_OVERRUN, g + 100, g, 100);
	l[PAGE - 1] ^= 1;
	expect(PMM_FINDING_OVERRUN, l + PAGE - 1, l, 100);
	swept(0, NULL);
	assert_int_equal(scan.seen.nr, 7);
}

/* The same block of the same life, the same byte, by its release. */
static void what_the_release_finds_again_is_known(void **state)
{
	unsigned char *a = block(64, 40, 0, 3);
	struct heap_finding f;

	(void)state;
	a[41] ^= 1;
	swept(1, &f);
	assert_false(canary_scan_has_found(&scan, &f));
	f.by = PMM_BY_RELEASE;
	assert_true(canary_scan_has_found(&scan, &f));
	f.address--;
	assert_false(canary_scan_has_found(&scan, &f));
	f.address++;
	f.alloc_ns += TICK;
	assert_false(canary_scan_has_found(&scan, &f));
	f.alloc_ns -= TICK;
	f.parent_pid = 1;
	assert_false(canary_scan_has_found(&scan, &f));
}

static void slack_before_a_guarded_block_is_looked_at(void **state)
{
	unsigned char *g = guarded(0, 1, 100, false);

	(void)state;
	g[-1] ^= 1;
	expect(PMM_FINDING_UNDERRUN, g - 1, g, 100);
}

/*
 * What cannot be told of a block that was born after the last canary scan: that it was well then.
 */
static void the_scan_before_is_told(void **state)
{
	unsigned char *old = block(64, 40, 0, 1), *young;
	struct heap_finding f;

	(void)state;
	im.tree->tick = 1000;
	swept(0, NULL);
	im.tree->tick = 1500;
	young = block(512, 40, 0, 1200);
	old[40] ^= 1;
	swept(1, &f);
	assert_int_equal(f.since_ns, 1000 * TICK);
	assert_int_equal(f.first_ns, 1500 * TICK);
	assert_int_equal(f.alloc_ns, 1 * TICK);
	im.tree->tick = 1600;
	young[-1] ^= 1;
	swept(1, &f);
	assert_int_equal(f.since_ns, 1500 * TICK);
	assert_int_equal(f.number, PMM_MAX_FINDINGS + 1);
	young = block(1024, 40, 0, 1650);
	young[41] ^= 1;
	im.tree->tick = 1700;
	swept(1, &f);
	assert_int_equal(f.since_ns, 0);
}

/*
 * While the monitor stands still, so does the clock of births: what seems older than the last
 * canary scan may be younger.
 */
static void a_late_clock_is_not_believed(void **state)
{
	unsigned char *old = block(64, 40, 0, 999), *young;
	struct heap_finding f;
	struct timespec now;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &now);
	im.tree->start_monotonic_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec -
				      3000 * TICK;
	im.tree->tick = 1000;
	swept(0, NULL);
	young = block(512, 40, 0, 1000);
	young[40] ^= 1;
	swept(1, &f);
	assert_int_equal(f.since_ns, 0);
	assert_true(f.first_ns > 3000 * TICK);
	old[40] ^= 1;
	swept(1, &f);
	assert_true(f.since_ns >= 3000 * TICK);
}

/*
 * A monitor that lives does not get to its clock for longer than canary scans wait for one that
 * nobody may advance. For that one they do not wait as long as for a monitor that lives.
 */
#define LATE_NS		(40 * PMM_TICK_NS)
#define NEVER_NS	(150 * PMM_TICK_NS)

struct late {
	struct pmm_tree *board;
	uint64_t ns;
};

static void *tick_late(void *arg)
{
	const struct late *l = arg;

	nanosleep(&(struct timespec){ .tv_sec = (time_t)(l->ns / 1000000000),
				      .tv_nsec = (long)(l->ns % 1000000000) },
		  NULL);
	__atomic_store_n(&l->board->tick, 3000, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * Two canary scans, of which the first finds the clock at 1000, late; when was a block that was
 * born at 1000 well, by the second?
 */
static uint64_t well_after_a_late_clock(struct pmm_tree *board, uint64_t late_ns, uint32_t life,
					uint64_t at)
{
	struct late late = { board, late_ns };
	unsigned char *p = block(at, 40, 0, 1000);
	struct heap_finding f;
	pthread_t thread;

	forget_scans();
	*board = (struct pmm_tree){ .tick = 1000, .life = { 1, life }, .life_at = 1 };
	assert_int_equal(pthread_create(&thread, NULL, tick_late, &late), 0);
	swept(0, NULL);
	pthread_cancel(thread);
	assert_int_equal(pthread_join(thread, NULL), 0);
	board->tick = 3000;
	p[40] ^= 1;
	swept(1, &f);
	p[40] ^= 1;
	return f.since_ns;
}

static void a_late_clock_is_waited_for_while_its_monitor_lives(void **state)
{
	struct pmm_tree *board;
	struct timespec now;

	(void)state;
	board_fd = memfd_create("board", MFD_CLOEXEC);
	assert_true(board_fd >= 0);
	assert_int_equal(ftruncate(board_fd, sizeof(*board)), 0);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, board_fd, 0);
	assert_ptr_not_equal(board, MAP_FAILED);
	clock_gettime(CLOCK_MONOTONIC, &now);
	im.tree->start_monotonic_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec -
				      2000 * TICK;
	assert_true(well_after_a_late_clock(board, LATE_NS, 4711, 64) >= 2000 * TICK);
	assert_int_equal(
		well_after_a_late_clock(board, NEVER_NS, 4711 | FUTEX_OWNER_DIED, 512), 0);
	assert_int_equal(well_after_a_late_clock(board, NEVER_NS, 0, 1024), 0);
	munmap(board, sizeof(*board));
}

/*
 * Of one call site, and neither born on different sides of the last canary scan nor damaged at
 * different ends.
 */
static void damaged_blocks_of_a_site_are_counted(void **state)
{
	struct heap_finding f;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		block(64 + 256 * i, 40, 0, 1)[40] ^= 1;
	swept(1, &f);
	assert_int_equal(f.count, 5);
	assert_int_equal(f.block, (uint64_t)heap + 64);
	assert_int_equal(scan.seen.nr, 5);
	block(4096, 40, 0, 1)[40] ^= 1;
	block(4352, 40, 0, 999)[40] ^= 1;
	block(4608, 40, 0, 1001)[40] ^= 1;
	block(4864, 40, 0, 1)[-1] ^= 1;
	im.tree->tick = 2000;
	swept(3, NULL);
}

/* A block on its way out, as canary_take() leaves it, and one with the new seal. */
static void a_block_being_freed_is_no_finding(void **state)
{
	unsigned char *p = block(64, 40, 0, 1), *q = block(256, 40, 0, 1);
	struct pmm_head *h = (struct pmm_head *)(void *)(p - sizeof(*h)),
			*k = (struct pmm_head *)(void *)(q - sizeof(*k));

	(void)state;
	h->what |= PMM_HEAD_FREED;
	memset(p, 0xfd, 48);
	k->what |= PMM_HEAD_FREED;
	k->seal = pmm_seal(SECRET, (uint64_t)q, k->what);
	swept(0, NULL);
}

/* Memory that is not there (any more), and blocks after it. */
static void what_cannot_be_read_is_passed_over(void **state)
{
	unsigned char *p;

	(void)state;
	block(64, 40, 0, 1);
	block(9 * PAGE, 40, 0, 1);
	p = block(11 * PAGE, 40, 0, 1);
	p[40] ^= 1;
	munmap(heap + 8 * PAGE, 2 * PAGE);
	expect(PMM_FINDING_OVERRUN, p + 40, p, 40);
}

/* With the sampled level all others are the allocator's own blocks, without canaries. */
static void only_guarded_blocks_of_a_sample_are_looked_at(void **state)
{
	unsigned char *p = block(64, 40, 0, 1), *g = guarded(0, 1, 100, false);

	(void)state;
	im.tree->check.level = PMM_CHECK_SAMPLED;
	p[-3] ^= 1;
	p[40] ^= 1;
	g[101] ^= 1;
	expect(PMM_FINDING_OVERRUN, g + 101, g, 100);
}

/* In a new image of the process, all is new: what was found before may be found in it. */
static void another_image_begins_anew(void **state)
{
	unsigned char *p = block(64, 40, 0, 1);

	(void)state;
	p[40] ^= 1;
	swept(1, NULL);
	swept(0, NULL);
	im.l->image++;
	swept(1, NULL);
	assert_int_equal(scan.scans, 1);
}

static bool end_now;

#define FLEETING	100u

static bool end_now;

/*
 * A place that is used again and again, many times a tick: a live block's canaries are always well,
 * those of no block never.
 */
static void *come_and_go(void *p)
{
	uint64_t *word = image_word_of(&im, PMM_TABLE_HEAP, (uint64_t)p),
		 live = *word & ~0xffffffffull;
	struct pmm_head *h = (struct pmm_head *)p - 1, good = *h;

	for (unsigned i = 1; !__atomic_load_n(&end_now, __ATOMIC_RELAXED); i++) {
		__atomic_store_n(&h->what, good.what | PMM_HEAD_FREED, __ATOMIC_RELEASE);
		__atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
		/* the allocator has it back */
		memset(h, 'y', sizeof(*h) + FLEETING + 1);
		if (i % 64 == 0)
			__atomic_fetch_add(&im.tree->tick, 1, __ATOMIC_RELAXED);
		for (uint64_t a = FLEETING; a < pmm_tail_end((uint64_t)p, FLEETING) - (uint64_t)p;
		     a++)
			((volatile unsigned char *)p)[a] = pmm_canary_byte(SECRET, (uint64_t)p,
									   (uint64_t)p + a);
		h->what = good.what;
		h->seal = good.seal;
		__atomic_store_n(word, live | im.tree->tick, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void a_block_that_was_freed_meanwhile_is_no_finding(void **state)
{
	unsigned char *p = block(64, FLEETING, 0, 999);
	pthread_t thread;

	(void)state;
	end_now = false;
	assert_int_equal(pthread_create(&thread, NULL, come_and_go, p), 0);
	for (int i = 0; i < 1000; i++)
		swept(0, NULL);
	__atomic_store_n(&end_now, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	p[FLEETING] ^= 1;
	swept(1, NULL);
}

static void a_process_without_canaries_is_refused(void **state)
{
	struct ledger_map *m = NULL;
	struct heap *h = NULL;
	struct err e = { 0 };
	char text[80];

	(void)state;
	im.tree->check.level = PMM_CHECK_NONE;
	assert_int_equal(ledger_map_open_pid(getpid(), &m, &e), 0);
	assert_int_equal(canary_scan_process(&scan, getpid(), m, PMM_MAX_FINDINGS, &h, &e),
			 -ENODATA);
	snprintf(text, sizeof(text), "process %d is not checked: its blocks have no canaries",
		 (int)getpid());
	assert_string_equal(e.text, text);
	assert_null(h);
	ledger_map_close(m);
}

/* The thread does the same; the canary scan it was lent comes back, and with it what is known. */
static void a_scaner_scans(void **state)
{
	unsigned char *p = block(64, 40, 0, 1);
	struct canary_scanner w = { 0 };
	struct heap *h = NULL;
	struct err e = { 0 };

	(void)state;
	p[40] ^= 1;
	assert_false(canary_scanner_done(&w));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(canary_scanner_start(&w, getpid(), &scan), 0);
		assert_int_equal(canary_scanner_take(&w, &scan, &h, &e), !i);
		assert_int_equal(w.pid, 0);
		assert_int_equal(h->check.scans, i + 1);
		heap_free(h);
	}
	assert_int_equal(canary_scanner_start(&w, 0x3fffffff, &scan), 0);
	assert_int_equal(canary_scanner_take(&w, &scan, &h, &e), -ESRCH);
	assert_null(h);
	assert_int_equal(scan.seen.nr, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_reported_is_no_finding),
		TEST(whole_canaries_are_no_finding),
		TEST(what_is_reported_is_no_finding),
		TEST(damage_is_found_where_it_is),
		TEST(what_the_release_finds_again_is_known),
		TEST(slack_before_a_guarded_block_is_looked_at),
		TEST(the_scan_before_is_told),
		TEST(a_late_clock_is_not_believed),
		TEST(a_late_clock_is_waited_for_while_its_monitor_lives),
		TEST(damaged_blocks_of_a_site_are_counted),
		TEST(a_block_being_freed_is_no_finding),
		TEST(what_cannot_be_read_is_passed_over),
		TEST(only_guarded_blocks_of_a_sample_are_looked_at),
		TEST(another_image_begins_anew),
		TEST(a_block_that_was_freed_meanwhile_is_no_finding),
		TEST(a_process_without_canaries_is_refused),
		TEST(a_scaner_scans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
