// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmod_storm ioctl|ring PROCESSES RECORDS: so many processes log at once, each so many allocations
 * of which every other one is freed: by calls, or by a ring that four threads write into. Then the
 * totals of each, by the module's list, are exactly those.
 */
#include "kmod_test.h"

#include <pthread.h>
#include <pmm/kmod_ring.h>

#define THREADS	4
#define SLOTS	1024

static int fd;
static struct pmm_kmod_ring *ring;
static __u32 slots;
static unsigned int nr;

static void by_call(void)
{
	for (unsigned int i = 1; i <= nr; i++) {
		IS(add(fd, 16 * (uint64_t)i, i), 0);
		if (i % 2)
			IS(drop(fd, 16 * (uint64_t)i), 0);
	}
}

/* A share of the records. Only what was written counts; the rest is in `overflows`. */
static void *write_share(void *argument)
{
	unsigned int first = (unsigned int)(uintptr_t)argument;
	struct pmm_kmod_slot s = { .kind = PMM_KMOD_MALLOC, .site = 0 };
	uintptr_t written = 0;

	for (unsigned int i = first; i <= nr; i += THREADS) {
		s.pointer = 16 * (uint64_t)i;
		s.bytes = i;
		s.tid = first;
		written += (unsigned int)pmm_kmod_write(ring, slots, &s);
	}
	return (void *)written;
}

/* Returns how many records were written. */
static unsigned long by_ring(void)
{
	pthread_t threads[THREADS];
	unsigned long written = 0;
	void *share;

	ring = mmap(NULL, PMM_KMOD_RING_BYTES(SLOTS), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		die("ring");
	slots = ring->slots;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, write_share, (void *)(i + 1)))
			die("thread");
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &share);
		written += (uintptr_t)share;
	}
	return written;
}

/* The totals of a process that is done, as it sees them itself. */
static void verify(unsigned long written, int rings)
{
	struct pmm_kmod_process p;
	uint64_t half = nr / 2;

	if (rings) {
		IS(call(fd, PMM_DRAIN, NULL) >= 0, 1);
		IS(call(fd, PMM_DRAIN, NULL), 0);
	}
	p = process_of(fd, getpid());
	IS(p.bad | p.torn | p.double_frees | p.foreign_frees | p.replaced, 0);
	IS(p.over_limit | p.no_memory | p.evicted, 0);
	IS(p.allocated_bytes, p.entry_bytes + p.freed_bytes);
	if (rings) {
		IS(p.allocations, written);
		IS(p.allocations + p.overflows, nr);
		IS(p.entries, written);
		IS(ring->overflows, p.overflows);
		return;
	}
	IS(p.allocations, nr);
	IS(p.frees, nr - half);
	IS(p.entries, half);
	IS(p.entry_bytes, half * (half + 1));
	IS(p.overflows, 0);
}

static void child(int rings, int gate)
{
	unsigned long written = 0;
	char byte;

	fd = device(0);
	if (read(gate, &byte, 1) != 0)
		die("gate");
	if (rings)
		written = by_ring();
	else
		by_call();
	verify(written, rings);
	_exit(failures ? 1 : 0);
}

int main(int argc, char **argv)
{
	int gate[2], rings, processes, all = device(0);
	static struct pmm_kmod_process p[256];
	uint64_t total = 0, lost = 0;
	static int pids[256];

	if (argc < 4 || pipe(gate) || (processes = atoi(argv[2])) > 256)
		return 2;
	rings = !strcmp(argv[1], "ring");
	nr = (unsigned int)atoi(argv[3]);
	for (int i = 0; i < processes; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			close(gate[1]);
			child(rings, gate[0]);
		}
	}
	close(gate[0]);
	close(gate[1]);
	for (int i = 0; i < processes; i++)
		IS(wait_for(pids[i]), 0);
	/* what they saw is what is there when they have gone */
	IS(list(all, p, 256), processes);
	for (int i = 0; i < processes; i++) {
		IS(p[i].allocations, p[i].entries + p[i].frees);
		total += p[i].allocations;
		lost += p[i].overflows;
	}
	IS(total + lost, (uint64_t)nr * (unsigned int)processes);
	printf("%d processes, %llu allocations taken, %llu lost\n", processes,
	       (unsigned long long)total, (unsigned long long)lost);
	return failures ? 1 : 0;
}
