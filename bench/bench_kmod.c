/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Benchmark of the kernel module's parts that need no kernel: an entry put into a log and one taken
 * out, with so many outstanding; a record written into the ring and taken from it, by one thread.
 *
 * The allocator is this machine's, not the kernel's; see doc/kmod.md. Each figure is the best of
 * five: nanoseconds of processor time each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <pmm/kmod_ring.h>

#include "kmod/pmm_ring.h"

#define SLOTS	4096u
#define ROUNDS	5
#define NR_OPS	200000u

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static u64 pointer_of(u64 number)
{
	return 0x7f0000000000ull + number * 48;
}

static void enter(struct pmm_log *log, unsigned kind, u64 number)
{
	struct pmm_log_request r = { .pointer = pointer_of(number),
				     .bytes = 40,
				     .kind = (u16)kind };

	pmm_log_enter(log, &r);
}

/* What malloc and free of a program cost in a log of `n` entries, the oldest of which goes. */
static void bench_log(struct pmm_log_limits *limits, u64 n)
{
	struct pmm_log log;
	double best = 1e18, begin, took;
	u64 next = 0, oldest = 0;

	pmm_log_init(&log, limits, 0x1234567);
	while (next < n)
		enter(&log, PMM_KMOD_MALLOC, next++);
	for (unsigned round = 0; round < ROUNDS; round++) {
		begin = now_ns();
		for (unsigned i = 0; i < NR_OPS; i++) {
			enter(&log, PMM_KMOD_MALLOC, next++);
			enter(&log, PMM_KMOD_FREE, oldest++);
		}
		took = (now_ns() - begin) / NR_OPS;
		best = took < best ? took : best;
	}
	printf("log_pair_%llu %.1f\n", (unsigned long long)log.entries, best);
	pmm_log_clear(&log);
}

/* Half of the records are malloc, half free, so that the log stays small. */
static void write_all(struct pmm_kmod_ring *shared)
{
	struct pmm_kmod_slot record = { .bytes = 40, .time_ns = 1 };

	for (u32 i = 0; i < SLOTS; i++) {
		record.kind = i & 1 ? PMM_KMOD_FREE : PMM_KMOD_MALLOC;
		record.pointer = pointer_of(i / 2);
		pmm_kmod_write(shared, SLOTS, &record);
	}
}

static int bench_ring(struct pmm_log_limits *limits)
{
	struct pmm_kmod_ring *shared = aligned_alloc(4096, PMM_KMOD_RING_BYTES(SLOTS));
	double write = 1e18, drain = 1e18, begin, middle, end;
	struct pmm_ring ring;
	struct pmm_log log;

	if (!shared)
		return 1;
	memset(shared, 0, PMM_KMOD_RING_BYTES(SLOTS));
	pmm_log_init(&log, limits, 0x1234567);
	pmm_ring_init(&ring, shared, SLOTS);
	for (unsigned round = 0; round < 100 * ROUNDS; round++) {
		begin = now_ns();
		write_all(shared);
		middle = now_ns();
		pmm_ring_drain(&ring, &log, 2, false);
		end = now_ns();
		write = (middle - begin) / SLOTS < write ? (middle - begin) / SLOTS : write;
		drain = (end - middle) / SLOTS < drain ? (end - middle) / SLOTS : drain;
	}
	printf("ring_write %.1f\nring_drain %.1f\n", write, drain);
	if (ring.records != 100ull * ROUNDS * SLOTS || ring.overflows || log.entries)
		fprintf(stderr, "bench_kmod: records are missing\n");
	pmm_log_clear(&log);
	free(shared);
	return ring.records != 100ull * ROUNDS * SLOTS;
}

int main(void)
{
	struct pmm_log_limits limits = { .entries_per_process = 1u << 24,
					 .entries_in_all = 1u << 24 };

	bench_log(&limits, 1000);
	bench_log(&limits, 100000);
	bench_log(&limits, 1000000);
	return bench_ring(&limits);
}
