/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads that allocate, move and release blocks and mappings at random without end, and keep a truth of it (precopy_truth.h).
 *
 *	precopy_victim FILE THREADS SLOTS [small]	SLOTS for each thread; about half are in use; small: blocks of up to 200 bytes only
 *
 * Says "ready" and waits for a line, fills the slots, says "running", ends with its input.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/prog/precopy_truth.h"
#include "tests/prog/truth_victim.h"

static struct truth *truth;
static void **own;		/* the same pointers in memory that is not shared: what the program itself works with */
static volatile bool ended;

static void operate(struct truth_thread *t, struct truth_slot *s, enum truth_op op, uint64_t size)
{
	void *p = NULL;

	t->old = *s;
	t->slot = (uint32_t)(s - truth->slot);
	t->new_size = size;
	ORDER();
	t->op = op;
	ORDER();
	if (op == TRUTH_ALLOC)
		p = malloc(size);
	else if (op == TRUTH_REALLOC)
		p = realloc((void *)s->address, size);
	else if (op == TRUTH_MAP)
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else if (op == TRUTH_UNMAP)
		munmap((void *)s->address, s->size);
	else
		free((void *)s->address);
	own[s - truth->slot] = p;
	s->address = (uint64_t)p;
	s->size = p ? size : 0;
	if (p && op != TRUTH_MAP)
		*(uint64_t *)p = (uint64_t)p ^ TRUTH_KEY;
	ORDER();
	t->op = TRUTH_NONE;
	t->nr_done++;
}

/*
 * The kinds by slot: one of 64 for mappings, one of 16 for large blocks, which take time to move. Sizes tell which thread is at it, so that
 * operations under way are told apart.
 */
static void change(struct truth_thread *t, struct truth_slot *s, unsigned i, uint64_t dice)
{
	uint64_t most = !truth->nr_maps_of ? 256 : i % truth->nr_maps_of == 0 ? 65536 : i % 16 == 1 ? 100000 : 600;
	uint64_t size = (dice >> 16) % most / 128 * 128 + 8 + 8 * (uint64_t)(t - truth->thread) + TRUTH_ODD;

	if (truth->nr_maps_of && i % truth->nr_maps_of == 0)
		operate(t, s, s->address ? TRUTH_UNMAP : TRUTH_MAP, size);
	else if (!s->address)
		operate(t, s, TRUTH_ALLOC, size);
	else
		operate(t, s, dice % 3 == 0 ? TRUTH_REALLOC : TRUTH_FREE, size);
}

static void *works(void *arg)
{
	struct truth_thread *t = arg;
	struct truth_slot *slots = truth->slot + (size_t)(t - truth->thread) * truth->nr_slots;
	uint64_t x = 88172645463325252ull * (uint64_t)(t - truth->thread + 1);

	while (!ended) {
		uint64_t dice = next(&x);
		unsigned i = (unsigned)(next(&x) % truth->nr_slots);

		change(t, &slots[i], i, dice);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned nr_threads = argc > 3 ? (unsigned)atoi(argv[2]) : 4, nr_slots = argc > 3 ? (unsigned)atoi(argv[3]) / 64 * 64 : 6400;
	int fd = open(argc > 1 ? argv[1] : "truth", O_RDWR | O_CREAT | O_TRUNC, 0600);
	size_t bytes = sizeof(*truth) + (size_t)nr_threads * nr_slots * sizeof(*truth->slot);
	pthread_t thread[TRUTH_THREADS];

	if (nr_threads > TRUTH_THREADS || ftruncate(fd, (off_t)bytes))
		return 2;
	own = mmap(NULL, (size_t)nr_threads * nr_slots * sizeof(*own), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	truth = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	truth->nr_threads = nr_threads;
	truth->nr_slots = nr_slots;
	truth->nr_maps_of = argc > 4 ? 0 : 64;
	truth->pid = (uint32_t)getpid();
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	if (getchar() == EOF)
		return 1;
	for (size_t i = 0; i < (size_t)nr_threads * nr_slots; i++)
		if (i % 5 < 3)
			change(&truth->thread[i / nr_slots], &truth->slot[i], (unsigned)(i % nr_slots), i << 16);
	for (unsigned i = 0; i < nr_threads; i++)
		pthread_create(&thread[i], NULL, works, &truth->thread[i]);
	puts("running");
	while (getchar() != EOF)
		;
	ended = true;
	for (unsigned i = 0; i < nr_threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
