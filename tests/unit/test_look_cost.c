/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What looks at a ledger cost, counted: system calls, copies, the pause after one that took long.
 */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/proc/task.h"
#include "src/roots/glibc/figures.h"
#include "src/roots/roots_priv.h"
#include "src/base/thread.h"
#include "src/track/figures_last.h"
#include "src/track/process_series.h"
#include "tests/unit/ledger_read.h"

#define MS		1000000ull
#define LOOK_NS		300000u		/* of CPU time */
#define LEAF_BYTES	(PMM_LEAF_WORDS * sizeof(uint64_t))
#define LEAF_SPAN	(32u << PMM_LEAF_BITS)

static unsigned nr_preads, nr_leaves, nr_asked, nr_scans, nr_lists;
static unsigned most_chunks;
static int figures_are = HEAP_FIGURES_KNOWN;
static uint64_t cpu_ns;

ssize_t __real_pread64(int fd, void *to, size_t size, off_t off);
ssize_t __wrap_pread64(int fd, void *to, size_t size, off_t off);
int __real_ledger_map_read(struct ledger_map *m, uint64_t off, void *to, size_t size);
int __wrap_ledger_map_read(struct ledger_map *m, uint64_t off, void *to, size_t size);
uint64_t __wrap_thread_cpu_ns(void);
int __wrap_figures_read(pid_t pid, uint64_t now_ns, unsigned max_chunks, struct heap *h);
int __real_ledger_top_sites(struct ledger_top *t, struct ledger_top_site *top, unsigned n);
int __wrap_ledger_top_sites(struct ledger_top *t, struct ledger_top_site *top, unsigned n);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

int __wrap_ledger_top_sites(struct ledger_top *t, struct ledger_top_site *top, unsigned n)
{
	nr_scans++;
	return __real_ledger_top_sites(t, top, n);
}

DIR *__wrap_opendir(const char *path)
{
	nr_lists++;
	return __real_opendir(path);
}

ssize_t __wrap_pread64(int fd, void *to, size_t size, off_t off)
{
	nr_preads++;
	return __real_pread64(fd, to, size, off);
}

int __wrap_ledger_map_read(struct ledger_map *m, uint64_t off, void *to, size_t size)
{
	nr_leaves += size == LEAF_BYTES;
	return __real_ledger_map_read(m, off, to, size);
}

uint64_t __wrap_thread_cpu_ns(void)
{
	return cpu_ns;
}

int __wrap_figures_read(pid_t pid, uint64_t now_ns, unsigned max_chunks, struct heap *h)
{
	(void)pid;
	most_chunks = max_chunks;
	nr_asked++;
	cpu_ns += LOOK_NS;
	h->allocator.taken_ns = now_ns;
	return figures_are;
}

/* A point of the series and the question whether figures are due take no system call. */
static void looks_at_totals_ask_the_kernel_nothing(void **state)
{
	struct image im = image_new();
	struct figures_last last = { .next_ns = 1 };
	struct series s;
	struct ledger_map *m;

	(void)state;
	((struct pmm_ctx *)image_at(&im, image_ctx(&im)))->class[0].calls[PMM_KIND_MALLOC] = 10;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	assert_int_equal(series_init(&s, 0, 10 * MS), 0);
	figures_last_tick(&last, m, getpid(), 100 * MS);
	nr_preads = 0;
	for (unsigned i = 0; i < 9; i++)
		series_take(&s, m, i * 10 * MS, 1);
	figures_last_tick(&last, m, getpid(), 1000 * MS);
	assert_int_equal(s.nr_points, 9);
	assert_int_equal(s.points[8].allocs, 10);
	assert_int_equal(nr_preads, 0);
	figures_last_fini(&last);
	series_fini(&s);
	ledger_map_close(m);
	image_free(&im);
}

/* Free chunks are counted in the time that has come together since the last look, not beyond it. */
static void figures_take_their_share_of_the_time(void **state)
{
	struct image im = image_new();
	struct pmm_ctx *c = image_at(&im, image_ctx(&im));
	static const struct { uint64_t after_ms; size_t share; unsigned chunks; } looks[] = {
		{ 20, 0, 256 }, { 1000, 0, 1000 }, { 60000, 0, 4096 },
		{ 3000, 1, 3000 }, { 3000, 10, 300 }, { 3000, 20, 256 },
	};
	struct figures_last last = { 0 };
	uint64_t now_ns = 5000 * MS;
	struct ledger_map *m;

	(void)state;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	figures_last_tick(&last, m, getpid(), now_ns);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		c->class[0].calls[PMM_KIND_MALLOC]++;
		now_ns += looks[i].after_ms * MS;
		last.share = looks[i].share;
		figures_last_tick(&last, m, getpid(), now_ns);
		assert_int_equal(last.asked->allocator.taken_ns, now_ns);
		assert_int_equal(most_chunks, looks[i].chunks);
	}
	figures_last_fini(&last);
	ledger_map_close(m);
	image_free(&im);
}

/* Where there are more, it is tried anew when there is time for twice as many. */
static void figures_too_many_to_count_cost_half(void **state)
{
	struct image im = image_new();
	struct pmm_ctx *c = image_at(&im, image_ctx(&im));
	static const struct { uint64_t after_ms; int are; unsigned chunks; } looks[] = {
		{ 20, HEAP_FIGURES_MANY, 256 },	   { 300, HEAP_FIGURES_MANY, 32 },
		{ 600, HEAP_FIGURES_MANY, 900 },   { 1100, HEAP_FIGURES_MANY, 32 },
		{ 700, HEAP_FIGURES_MANY, 1800 },  { 2700, HEAP_FIGURES_BUSY, 32 },
		{ 600, HEAP_FIGURES_MANY, 600 },   { 60000, HEAP_FIGURES_MANY, 4096 },
		{ 4000, HEAP_FIGURES_MANY, 32 },   { 600, HEAP_FIGURES_KNOWN, 4096 },
		{ 1000, HEAP_FIGURES_KNOWN, 1000 },
	};
	struct figures_last last = { 0 };
	uint64_t now_ns = 5000 * MS;
	struct ledger_map *m;

	(void)state;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	figures_last_tick(&last, m, getpid(), now_ns);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		const uint64_t usual = LOOK_NS * 1000;

		c->class[0].calls[PMM_KIND_MALLOC]++;
		now_ns += looks[i].after_ms * MS;
		figures_are = looks[i].are;
		figures_last_tick(&last, m, getpid(), now_ns);
		assert_int_equal(last.asked->allocator.taken_ns, now_ns);
		assert_int_equal(most_chunks, looks[i].chunks);
		assert_int_equal(last.next_ns - now_ns,
				 looks[i].chunks == 32 ? 2 * usual : usual);
	}
	figures_are = HEAP_FIGURES_KNOWN;
	figures_last_fini(&last);
	ledger_map_close(m);
	image_free(&im);
}

static void take(struct series *s, struct ledger_map *m, unsigned from, unsigned to)
{
	nr_scans = 0;
	for (unsigned tick = from; tick < to; tick++)
		series_take(s, m, tick * 10 * MS, 1);
}

/*
 * While nothing happens to the heap sites are looked at once more, as an event may have counted
 * before it was noted at its site. Each moment has its points all the same.
 */
static void sites_of_an_idle_heap_are_not_looked_at(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct pmm_ctx *c = image_at(&im, a);
	struct pmm_record *r;
	struct ledger_map *m;
	struct series s;

	(void)state;
	image_site(&im, 1, 1, 0);
	r = image_record(&im, a, 1);
	r->bytes_in = 100;
	r->allocs = c->class[0].calls[PMM_KIND_MALLOC] = 1;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	assert_int_equal(series_init(&s, 0, 10 * MS), 0);
	take(&s, m, 1, 11);
	assert_int_equal(nr_scans, 2);
	assert_int_equal(s.nr_scans, 10);
	assert_int_equal(s.nr_sites, 10);
	assert_int_equal(s.sites[9].live_bytes, 100);
	assert_int_equal(s.sites[9].time_ns, 100 * MS);
	r->bytes_in = 300;
	r->allocs = c->class[0].calls[PMM_KIND_MALLOC] = 2;
	take(&s, m, 11, 12);
	assert_int_equal(nr_scans, 1);
	assert_int_equal(s.sites[10].live_bytes, 300);
	r->bytes_in = 400;		/* what had counted before */
	take(&s, m, 12, 21);
	assert_int_equal(nr_scans, 1);
	assert_int_equal(s.sites[11].live_bytes, 400);
	assert_int_equal(s.sites[19].live_bytes, 400);
	assert_int_equal(s.nr_scans, 20);
	c->class[0].frees = 1;
	take(&s, m, 21, 22);
	assert_int_equal(nr_scans, 1);
	series_fini(&s);
	ledger_map_close(m);
	image_free(&im);
}

/* The threads of a process that has ended are not listed: it says that it was the last one. */
static void a_zombie_is_looked_at_once(void **state)
{
	siginfo_t info;
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	nr_lists = 0;
	assert_int_equal(task_live(child), -ESRCH);
	assert_int_equal(nr_lists, 0);
	waitpid(child, NULL, 0);
}

static size_t count_read(void *arg, uint64_t address, void *to, size_t bytes)
{
	(void)address;
	++*(unsigned *)arg;
	memset(to, 0, bytes);
	return bytes;
}

/* Of ten pages of the agent two may have notes, of two kinds. */
static void code_of_the_agent_is_not_searched_for_notes(void **state)
{
	char path[] = "/x/libpmm.so";
	struct proc_map map[] = {
		{ .start = 0x10000, .end = 0x18000, .ino = 1, .path = path,
		  .perms = PROC_MAP_READ | PROC_MAP_EXEC },
		{ .start = 0x18000, .end = 0x1a000, .ino = 1, .path = path, .offset = 0x8000,
		  .perms = PROC_MAP_READ | PROC_MAP_WRITE },
	};
	struct proc_maps maps = { .v = map, .nr = 2 };
	const struct memory_ops ops = { .read = count_read };
	unsigned nr = 0;
	struct memory memory = { .ops = &ops, .arg = &nr };
	struct heap *h = heap_new();
	struct roots_find f = { .memory = &memory, .heap = h, .maps = &maps, .names_break = true };

	(void)state;
	assert_int_equal(vec_push(&f.objects, (struct roots_object){ .start = 0x10000,
								     .end = 0x1a000,
								     .path = path }), 0);
	assert_int_equal(roots_maps_find(&f), 0);
	assert_int_equal(nr, 4);
	f.maps = NULL;
	vec_fini(&f.objects);
	roots_find_fini(&f);
	memory_fini(&memory);
	heap_free(h);
}

/* Figures that took 0.3 ms are not asked for again for 1000 times that, from the first look on. */
static void figures_rest_after_each_look(void **state)
{
	struct image im = image_new();
	struct pmm_ctx *c = image_at(&im, image_ctx(&im));
	struct figures_last last = { .next_ns = 0 };
	struct ledger_map *m;

	(void)state;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	nr_asked = 0;
	for (unsigned ms = 0; ms < 1000; ms += 10) {
		c->class[0].calls[PMM_KIND_MALLOC]++;
		figures_last_tick(&last, m, getpid(), 1000 * MS + ms * MS);
	}
	assert_int_equal(nr_asked, 4);		/* at 20 ms, and every 300 ms */
	figures_last_fini(&last);
	ledger_map_close(m);
	image_free(&im);
}

/* 64 leaves, of which `nr_full` have a block; the others have had one. */
static struct image image_leaves(unsigned nr_full)
{
	struct image im = image_new();

	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	image_record(&im, image_ctx(&im), 1)->allocs = 64;
	for (unsigned i = 0; i < 64; i++) {
		const uint64_t address = 0x40000 + i * LEAF_SPAN + (i % 3 * 127 + 1) * 32;
		uint64_t *word = image_block(&im, PMM_TABLE_HEAP, address, 100, 1, PMM_KIND_MALLOC,
					     0, 1);

		if (i >= nr_full)
			*word = 0;		/* and the second word stays, as in the agent */
	}
	return im;
}

static void read_leaves(bool running, unsigned nr_full, unsigned nr_copies)
{
	struct ledger_options o = { .damaged = &damaged, .running = running, .pid = getpid() };
	struct image im = image_leaves(nr_full);
	struct heap *h;

	nr_leaves = 0;
	h = read_with(&im, &o);
	assert_int_equal(nr_leaves, nr_copies);
	assert_int_equal(h->nr_blocks, nr_full);
	assert_int_equal(h->ledger_slots, 64 << PMM_LEAF_BITS);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

static void empty_leaves_are_not_copied(void **state)
{
	(void)state;
	read_leaves(false, 3, 3);
	read_leaves(true, 3, 6);
	read_leaves(false, 0, 0);
	read_leaves(false, 64, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_at_totals_ask_the_kernel_nothing),
		cmocka_unit_test(figures_take_their_share_of_the_time),
		cmocka_unit_test(figures_too_many_to_count_cost_half),
		cmocka_unit_test(sites_of_an_idle_heap_are_not_looked_at),
		cmocka_unit_test(a_zombie_is_looked_at_once),
		cmocka_unit_test(code_of_the_agent_is_not_searched_for_notes),
		cmocka_unit_test(figures_rest_after_each_look),
		cmocka_unit_test(empty_leaves_are_not_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
