/* SPDX-License-Identifier: GPL-2.0-or-later
 * Scenarios of inject_self: sampling, the end of the monitor, forks, threads, seccomp, many agents one after the other, and how long
 * a pair of calls takes.
 */
#include "tests/prog/inject_self.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS	400000

static void *block[BLOCKS];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- sampling ------------------------------------------------------------------------------------------------ */

static void sample(void *(*allocate)(size_t, size_t))
{
	uint64_t bytes = 0;
	struct heap *p;

	for (unsigned i = 0; i < BLOCKS; i++) {
		size_t size = 16 + (i * 7919u) % 2000;

		block[i] = allocate(1, size);
		bytes += size;
	}
	p = host_read(&h);
	EXPECT_NEAR(p->bytes_in, bytes, 4);
	EXPECT_NEAR(p->allocs, BLOCKS, 12);
	EXPECT_NEAR(p->live_bytes, bytes, 4);
	EXPECT(p->nr_blocks < BLOCKS / 5 && p->nr_blocks > BLOCKS / 40, 1);
	heap_free(p);
	for (unsigned i = 0; i < BLOCKS; i++)
		hooked_free(block[i], 0, 0);
	p = host_read(&h);
	EXPECT(p->nr_blocks, 0);
	EXPECT(p->live_bytes, 0);
	EXPECT(p->allocs, p->frees);
	heap_free(p);
}

static void *by_malloc(size_t n, size_t each)
{
	return hooked_malloc(n * each);
}

static NOIPA void *calloc_of_malloc(size_t n, size_t each)
{
	return hooked_malloc(n * each);
}

void sampled(void)
{
	start((struct ledger_tree_options){ .mode = PMM_MODE_SAMPLED, .sample_bytes = 16384 });
	sample(by_malloc);
}

/* An allocator whose calloc is made of malloc: nothing counts twice. */
void sampled_inner(void)
{
	h.args.dense = 1;
	start((struct ledger_tree_options){ .mode = PMM_MODE_SAMPLED, .sample_bytes = 16384 });
	sample(host_entry(&h, PMM_ROLE_CALLOC, PMM_KIND_CALLOC, calloc_of_malloc, NULL));
}

/* ---- the monitor goes ------------------------------------------------------------------------------------------ */

void gone(void)
{
	uint64_t until, allocs;
	struct heap *p;

	h.may_go = true;
	start_exact();
	for (until = now_ns() + 1000000000; now_ns() < until; )	/* late, but there */
		for (int i = 0; i < 5000; i++)
			hooked_free(hooked_malloc(10), 0, 0);
	p = host_read(&h);
	EXPECT(p->off_reason, PMM_OFF_NONE);
	heap_free(p);
	for (until = now_ns() + 2800000000; now_ns() < until; )
		for (int i = 0; i < 5000; i++)
			hooked_free(hooked_malloc(10), 0, 0);
	p = host_read(&h);
	EXPECT(p->off_reason, PMM_OFF_MONITOR_GONE);
	allocs = p->allocs;
	EXPECT(allocs - p->frees <= 1, 1);	/* off in the midst of a pair */
	heap_free(p);
	for (int i = 0; i < 100000; i++)
		hooked_free(hooked_realloc(hooked_malloc(10), 20), 0, 0);
	p = host_read(&h);
	EXPECT(p->allocs, allocs);
	heap_free(p);
}

/* ---- other processes, other threads ------------------------------------------------------------------------------ */

void forked(void)
{
	void *a;
	int status;
	struct heap *p;

	start_exact();
	a = hooked_malloc(10);
	if (!fork()) {
		hooked_free(a, 0, 0);
		for (int i = 0; i < 10000; i++)
			hooked_free(hooked_calloc(1, 20), 0, 0);
		if (!fork()) {
			hooked_malloc(30);
			_exit(0);
		}
		wait(NULL);
		_exit(host_failed() ? 1 : 0);
	}
	wait(&status);
	EXPECT(status, 0);
	if (!vfork()) {			/* the parent's memory: what it allocates is the parent's */
		block[0] = hooked_malloc(40);
		_exit(0);
	}
	p = LEDGER(2, 0, 50, 0);
	EXPECT(p->nr_threads, 1);
	heap_free(p);
}

static void *work(void *arg)
{
	void *v[64] = { 0 };
	unsigned random = (unsigned)(uint64_t)arg;

	for (int i = 0; i < 200000; i++) {
		random = random * 1103515245 + 12345;
		if (v[random >> 26])
			hooked_free(v[random >> 26], 0, 0), v[random >> 26] = NULL;
		else
			v[random >> 26] = hooked_malloc(random >> 20 & 1023);
	}
	for (int i = 0; i < 64; i++)
		if (v[i])
			hooked_free(v[i], 0, 0);
	return NULL;
}

void threads(void)
{
	pthread_t t[4];
	struct heap *p;

	start_exact();
	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, work, (void *)(i + 10 * round));
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	}
	p = host_read(&h);
	EXPECT(p->allocs, p->frees);
	EXPECT(p->allocs > 1000000, 1);
	EXPECT(p->live_bytes + p->nr_blocks + p->untracked_frees + p->drift_blocks, 0);
	EXPECT(p->nr_threads, 12);
	heap_free(p);
}

/* ---- seccomp --------------------------------------------------------------------------------------------------- */

void confined(void)
{
	int (*control)(int, long, long, long, long);
	long (*call)(long, long, long, long);
	struct heap *p;

	start_exact();
	control = host_entry(&h, PMM_ROLE_PRCTL, 0, prctl, NULL);
	call = host_entry(&h, PMM_ROLE_SYSCALL, 0, syscall, NULL);
	hooked_malloc(10);
	EXPECT(control(PR_SET_NAME, (long)"confined", 0, 0, 0), 0);
	EXPECT(call(39 /* getpid */, 0, 0, 0), getpid());
	p = LEDGER(1, 0, 10, 0);
	EXPECT(p->off_reason, PMM_OFF_NONE);
	heap_free(p);
	EXPECT(control(PR_SET_SECCOMP, 99, 0, 0, 0), -1);
	hooked_malloc(10);
	p = LEDGER(1, 0, 10, 0);
	EXPECT(p->off_reason, PMM_OFF_CONFINED);
	heap_free(p);
}

/* ---- again and again ------------------------------------------------------------------------------------------- */

static unsigned nr_mappings(void)
{
	char line[4096];
	unsigned n = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

void again(void)
{
	unsigned mappings = 0;

	for (int i = 0; i < 50; i++) {
		memset(&h, 0, sizeof(h));
		start_exact();
		hooked_free(hooked_malloc(100), 0, 0);
		heap_free(LEDGER(1, 1, 100, 100));
		host_end(&h);
		if (i == 5)
			mappings = nr_mappings();
	}
	EXPECT(nr_mappings(), mappings);
}

/* A file with the head of a ledger's and no memory for more. */
static int short_file(void)
{
	struct ledger_tree_options o = { .attached = true, .space_bytes = UINT64_MAX, .file_bytes = UINT64_MAX, .limit_bytes = 256 << 20 };
	int fd = memfd_create("short", MFD_CLOEXEC);
	struct ledger_tree t;

	EXPECT(ledger_tree_init(&t, &o, NULL), 0);
	EXPECT(write(fd, t.head, sizeof(*t.head)), sizeof(*t.head));
	ledger_tree_fini(&t);
	return fd;
}

/* No tree, or one whose only slot is taken, or without memory: nothing stays mapped. */
void refused(void)
{
	struct ledger_tree_options none = { 0 };
	unsigned mappings;

	h.no_tree = true;
	EXPECT(host_start(&h, agent, none), PMM_OFF_NO_MEMORY);
	EXPECT(h.args.private_bytes + h.args.tree_bytes, 0);
	host_end(&h);
	mappings = nr_mappings();
	h.no_tree = false;
	h.take_slot = true;
	EXPECT(host_start(&h, agent, none), PMM_OFF_NO_SLOT);
	EXPECT(h.args.private_bytes + h.args.tree_bytes, 0);
	host_end(&h);
	EXPECT(nr_mappings(), mappings);
	h.take_slot = false;
	h.file = short_file();
	EXPECT(host_start(&h, agent, none), PMM_OFF_NO_MEMORY);
	EXPECT(h.args.private_bytes + h.args.tree_bytes, 0);
	host_end(&h);
	close(h.file);
	EXPECT(nr_mappings(), mappings);
}

/* ---- how long --------------------------------------------------------------------------------------------------- */

static double pair_ns(void *(*allocate)(size_t), void (*release)(void *, size_t, size_t))
{
	enum { ROUNDS = 2000000 };
	double best = 1e9;

	for (int tries = 0; tries < 5; tries++) {
		uint64_t t = now_ns();

		for (int i = 0; i < ROUNDS; i++)
			release(allocate(48), 0, 0);
		t = now_ns() - t;
		if ((double)t / ROUNDS < best)
			best = (double)t / ROUNDS;
	}
	return best;
}

static void native_free(void *p, size_t a, size_t b)
{
	(void)a;
	(void)b;
	free(p);
}

/* Pairs with the agent off: as tree->tick stands still. */
static void bench_off(double native)
{
	uint64_t until = now_ns() + 4000000000;

	while (now_ns() < until)
		for (int i = 0; i < 5000; i++)
			hooked_free(hooked_malloc(10), 0, 0);
	printf("off +%.1f\n", pair_ns(hooked_malloc, hooked_free) - native);
}

void bench(void)
{
	double native = pair_ns(malloc, native_free);

	printf("native %.1f\n", native);
	start((struct ledger_tree_options){ .mode = PMM_MODE_SAMPLED, .sample_bytes = 512 << 10 });
	printf("sampled +%.1f\n", pair_ns(hooked_malloc, hooked_free) - native);
	host_end(&h);
	memset(&h, 0, sizeof(h));
	start_exact();
	printf("exact +%.1f\n", pair_ns(hooked_malloc, hooked_free) - native);
	bench_off(native);
}
