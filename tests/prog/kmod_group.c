// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmod_group HOW N MIB: logs N allocations, far more than its control group has memory for, and uses
 * MIB of memory of its own, half of it meanwhile, half when the group is full. HOW: call, ring (the
 * kernel thread reads it), drain (it has it read). The log then has the newest, in order, and all
 * others are counted.
 * kmod_group touch MIB: uses memory alone.
 */
#include "kmod_test.h"

#include <pmm/kmod_ring.h>

#define SLOTS	16384
#define STEPS	64	/* in which its memory grows */

static struct pmm_kmod_record batch[64];
static struct pmm_kmod_ring *ring;
static unsigned int nr;
static int fd;

/* Allocation i has that pointer, and i bytes. */
static uint64_t pointer_of(unsigned int i)
{
	return 0x10000u + 16ull * i;
}

static char *memory_of(size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("memory");
	return at;
}

static void touch(char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 4096)
		at[i] = 1;
}

static void by_ring(unsigned int i, int drains)
{
	struct pmm_kmod_slot s = { .kind = PMM_KMOD_MALLOC, .pointer = pointer_of(i), .bytes = i };

	if (drains && pmm_kmod_pending(ring) >= SLOTS / 2)
		IS(call(fd, PMM_DRAIN, NULL) >= 0, 1);
	AWAIT(pmm_kmod_pending(ring) < SLOTS);
	IS(pmm_kmod_write(ring, SLOTS, &s), 1);
}

/*
 * The log ends with the newest. What is missing between has gone while it was read: the pages that
 * it is read into need memory, too.
 */
static void check_order(void)
{
	uint64_t evicted = process_of(fd, getpid()).evicted, expected = 0, missing = 0;
	unsigned int flags = PMM_KMOD_RESTART;
	long got;

	while ((got = read_log(fd, getpid(), flags, batch, 64)) > 0) {
		for (long i = 0; i < got; i++) {
			IS(batch[i].pointer >= expected, 1);
			if (i || !flags)
				missing += (batch[i].pointer - expected) / 16;
			expected = batch[i].pointer + 16;
		}
		flags = 0;
	}
	IS(got, 0);
	IS(expected, pointer_of(nr + 1));
	IS(missing <= process_of(fd, getpid()).evicted - evicted, 1);
}

static void check_figures(void)
{
	struct pmm_kmod_process p = process_of(fd, getpid());

	IS(p.allocations, nr);
	IS(p.entries + p.evicted, nr);
	IS(p.evicted > 0, 1);
	IS(p.entries > 0, 1);
	IS(p.frees | p.replaced | p.over_limit | p.no_memory | p.overflows | p.torn | p.bad, 0);
	IS(p.allocated_bytes, (uint64_t)nr * (nr + 1) / 2);
	/* what is outstanding are the newest */
	IS(p.lost_bytes, p.evicted * (p.evicted + 1) / 2);
	IS(p.entry_bytes, p.allocated_bytes - p.lost_bytes);
	IS(p.freed_bytes, 0);
	IS(p.peak_entries >= p.entries && p.peak_entries < nr, 1);
	/* the newest is there, the oldest is not, and who never was cannot be told from that */
	IS(drop(fd, pointer_of(nr)), 0);
	IS(drop(fd, pointer_of(1)), 0);
	p = process_of(fd, getpid());
	IS(p.frees, 1);
	IS(p.freed_bytes, nr);
	IS(p.evicted_frees, 1);
	IS(p.foreign_frees | p.double_frees, 0);
	printf("%u allocations, %llu entries, %llu evicted, %llu at most\n", nr,
	       (unsigned long long)p.entries, (unsigned long long)p.evicted,
	       (unsigned long long)p.peak_entries);
}

int main(int argc, char **argv)
{
	size_t bytes;
	char *memory;
	int call_each, drains;

	if (argc < 3)
		return 2;
	bytes = (size_t)atoi(argv[argc - 1]) << 20;
	memory = memory_of(bytes);
	if (argc == 3) {
		touch(memory, bytes);
		return 0;
	}
	call_each = !strcmp(argv[1], "call");
	drains = !strcmp(argv[1], "drain");
	nr = (unsigned int)atoi(argv[2]);
	fd = device(0);
	if (!call_each)
		ring = mmap(NULL, PMM_KMOD_RING_BYTES(SLOTS), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		die("ring");
	for (unsigned int i = 1; i <= nr; i++) {
		if (call_each)
			IS(add(fd, pointer_of(i), i), 0);
		else
			by_ring(i, drains);
		if (i % (nr / STEPS) == 0 && i / (nr / STEPS) <= STEPS)
			touch(memory + bytes / 2 / STEPS * (i / (nr / STEPS) - 1), bytes / 2 / STEPS);
	}
	if (!call_each)
		IS(call(fd, PMM_DRAIN, NULL) >= 0, 1);
	touch(memory, bytes);
	check_order();
	check_figures();
	return failures ? 1 : 0;
}
