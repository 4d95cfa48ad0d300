/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmark of the search for leaks by itself: reachability in this process's own heap, read with
 * memcpy.
 *
 *     bench_leaks BLOCKS THREADS [ROUNDS]
 *
 * One line of JSON for each round. What was found must be what was made.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/leaks_heap.h"
#include "src/analyze/reach/reach.h"

struct list {
	struct heap_block *block;
	uint64_t nr;
};

static size_t read_own(void *arg, uint64_t address, void *to, size_t bytes)
{
	(void)arg;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return bytes;
}

static void note(void *arg, void *block, size_t bytes)
{
	struct list *l = arg;

	l->block[l->nr++] = (struct heap_block){ .address = (uintptr_t)block, .size_bytes = bytes };
}

static int by_address(const void *a, const void *b)
{
	const struct heap_block *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int check(const struct heap *h, const struct reach *r, const struct leaks_built *built)
{
	uint64_t nr[REACH_NR_CLASSES] = { 0 }, bytes[REACH_NR_CLASSES] = { 0 };

	for (uint64_t i = 0; i < r->nr; i++) {
		nr[r->class[i]]++;
		bytes[r->class[i]] += h->blocks[i].size_bytes;
	}
	if (nr[REACH_DEFINITE] == built->definite && nr[REACH_INDIRECT] == built->indirect &&
	    !nr[REACH_POSSIBLE] && bytes[REACH_DEFINITE] == built->definite_bytes &&
	    bytes[REACH_INDIRECT] == built->indirect_bytes)
		return 0;
	fprintf(stderr,
		"bench_leaks: found %" PRIu64 " definite, %" PRIu64 " indirect, %" PRIu64
		" possible\n",
		nr[REACH_DEFINITE], nr[REACH_INDIRECT], nr[REACH_POSSIBLE]);
	return 1;
}

static int round_of(const struct heap *h, const struct memory *m, const struct leaks_built *built,
		    unsigned threads)
{
	struct reach_options o = { .heuristics = REACH_ALL_HEURISTICS, .nr_threads = threads };
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	struct reach r;
	struct err e = { 0 };
	int wrong;

	if (reach_run(h, m, &o, &r, &e)) {
		fprintf(stderr, "bench_leaks: %s\n", e.text);
		return 1;
	}
	wall = seconds(CLOCK_MONOTONIC) - wall;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("{\"blocks\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"read\": %" PRIu64
	       ", \"pointers\": %" PRIu64 ", \"threads\": %u, "
	       "\"wall\": %.4f, \"cpu\": %.4f, \"build_ns\": %" PRIu64 ", \"mark_ns\": %" PRIu64
	       ", \"extra\": %" PRIu64 "}\n",
	       h->nr_blocks, built->bytes, r.stats.read_bytes, r.stats.pointers, threads, wall, cpu,
	       r.stats.build_ns, r.stats.mark_ns, r.stats.extra_bytes);
	fflush(stdout);
	wrong = check(h, &r, built);
	reach_fini(&r);
	return wrong;
}

int main(int argc, char **argv)
{
	static const struct memory_ops ops = { read_own };
	struct memory m = { .ops = &ops };
	struct memory_range root = { .start = (uintptr_t)leaks_buckets,
				     .end = (uintptr_t)(leaks_buckets + LEAKS_BUCKETS) };
	struct leaks_built built;
	struct list list = { 0 };
	struct heap h = { 0 };
	int rc = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_leaks BLOCKS THREADS [ROUNDS]\n");
		return 2;
	}
	h.nr_blocks = strtoull(argv[1], NULL, 10);
	list.block = malloc((h.nr_blocks + 16) * sizeof(*list.block));
	if (!list.block || vec_push(&m.roots, root))
		return 1;
	leaks_build(h.nr_blocks, &built, note, &list);
	qsort(list.block, list.nr, sizeof(*list.block), by_address);
	h.blocks = list.block;
	h.nr_blocks = list.nr;
	for (int rounds = argc > 3 ? atoi(argv[3]) : 1; rounds > 0 && !rc; rounds--)
		rc = round_of(&h, &m, &built, (unsigned)atoi(argv[2]));
	return rc;
}
