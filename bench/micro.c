/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Micro-workloads of the benchmark (bench/run), as a program of its own.
 *
 *     bench_micro random|hot THREADS DEPTH PAIRS
 *                                     threads hold their slots filled, then free and fill one of
 *                                     them at random, PAIRS times; slots (65536 or 1000) and PAIRS
 *                                     are over all threads
 *     bench_micro random|hot THREADS DEPTH PAIRS wait
 *                                     the same, but first it says "ready" and waits for a line, to
 *                                     be attached to; at the end it says how many ns of CPU the
 *                                     pairs took
 *     bench_micro live BLOCKS STACKS  leaves BLOCKS of 48 bytes live, made by STACKS different
 *                                     stacks
 *
 * Every block is made at the end of a chain of DEPTH functions without frame pointers, called anew
 * each time. In random and hot the outer ones are always the same and the two innermost vary: 64
 * stacks. Sizes are multiples of 16: with many thousand different pairs of size and stack heaptrack
 * 1.4's interpreter runs out of memory.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAYS		8	/* functions to choose from at each level */
#define MAX_DEPTH	64
#define MAX_THREADS	64
#define HOLD_US		300000	/* the live heap stays that long, to be looked at */

struct worker {
	uint8_t path[MAX_DEPTH];	/* function at each level, 0 the innermost */
	unsigned depth;
	uint64_t random;
	void **slots;
	unsigned nr_slots;
	unsigned size_mask;		/* sizes are 16 + random & size_mask bytes */
	unsigned long pairs;
	uint64_t cpu_ns;		/* that they took */
	size_t size;			/* the leaf's arguments: make a block of that size ... */
	void **slot;			/* ... there */
};

typedef void (*link_fn)(struct worker *w, unsigned level);

static const link_fn links[WAYS], leaves[WAYS];

/* Functions of different frames: `room` bytes on the stack. */
#define LINK(k, room)                                                                              \
	static __attribute__((noipa)) void link##k(struct worker *w, unsigned level)               \
	{                                                                                          \
		char local[room];                                                                  \
                                                                                                   \
		__asm__ volatile("" : : "r"(local) : "memory");                                    \
		(level > 1 ? links : leaves)[w->path[level - 1]](w, level - 1);                    \
		__asm__ volatile("" : : "r"(w), "r"(level) : "memory");                            \
	}
#define LEAF(k)                                                                                    \
	static __attribute__((noipa)) void leaf##k(struct worker *w, unsigned level)               \
	{                                                                                          \
		char *p = malloc(w->size);                                                         \
                                                                                                   \
		if (!p)                                                                            \
			abort();                                                                   \
		*p = (char)level;                                                                  \
		*w->slot = p;                                                                      \
	}
LINK(0, 8) LINK(1, 24) LINK(2, 40) LINK(3, 8) LINK(4, 72) LINK(5, 136) LINK(6, 8) LINK(7, 24)
LEAF(0) LEAF(1) LEAF(2) LEAF(3) LEAF(4) LEAF(5) LEAF(6) LEAF(7)

static const link_fn links[WAYS] = { link0, link1, link2, link3, link4, link5, link6, link7 };
static const link_fn leaves[WAYS] = { leaf0, leaf1, leaf2, leaf3, leaf4, leaf5, leaf6, leaf7 };

/* Make a block below the chain that w->path says. */
static void make(struct worker *w, void **slot)
{
	w->slot = slot;
	(w->depth > 1 ? links : leaves)[w->path[w->depth - 1]](w, w->depth - 1);
}

static uint64_t next_random(struct worker *w)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return w->random >> 24;
}

static void fill(struct worker *w, void **slot)
{
	uint64_t r = next_random(w);

	w->size = 16 + (r & w->size_mask);
	w->path[0] = r >> 16 & (WAYS - 1);
	w->path[1] = r >> 20 & (WAYS - 1);
	make(w, slot);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t before_ns;
	unsigned k;

	w->slots = calloc(w->nr_slots, sizeof(*w->slots));
	if (!w->slots)
		abort();
	for (k = 0; k < w->nr_slots; k++)
		fill(w, &w->slots[k]);
	before_ns = thread_cpu_ns();
	while (w->pairs-- > 0) {
		void **slot = &w->slots[(next_random(w) * w->nr_slots >> 40) % w->nr_slots];

		free(*slot);
		fill(w, slot);
	}
	w->cpu_ns = thread_cpu_ns() - before_ns;
	for (k = 0; k < w->nr_slots; k++)
		free(w->slots[k]);
	free(w->slots);
	return NULL;
}

/* The CPU time that all pairs took, in ns. */
static uint64_t run_threads(const struct worker *model, unsigned nr)
{
	static struct worker workers[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	uint64_t cpu_ns;
	unsigned k;

	for (k = 0; k < nr; k++) {
		workers[k] = *model;
		workers[k].random = k + 1;
		workers[k].pairs = model->pairs / nr;
		workers[k].nr_slots = model->nr_slots / nr;
		if (k && pthread_create(&threads[k], NULL, work, &workers[k]))
			abort();
	}
	work(&workers[0]);
	cpu_ns = workers[0].cpu_ns;
	for (k = 1; k < nr; k++) {
		pthread_join(threads[k], NULL);
		cpu_ns += workers[k].cpu_ns;
	}
	return cpu_ns;
}

/* Without stdio's buffers: no block is older than what is waited for. */
static void wait_for_line(void)
{
	static const char ready[] = "ready\n";
	char c;

	if (write(STDOUT_FILENO, ready, sizeof(ready) - 1) < 0)
		exit(1);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

/* Stack number `n` is the path with its digits. */
static void run_live(unsigned long blocks, unsigned long stacks)
{
	struct worker w = { .depth = 7, .size = 48 };
	unsigned long n, k, digits;
	void *slot;

	for (n = 0; n < blocks; n++) {
		for (k = 0, digits = n % stacks; k < w.depth; k++, digits /= WAYS)
			w.path[k] = digits % WAYS;
		make(&w, &slot);
	}
	usleep(HOLD_US);
}

static unsigned long number(const char *text, unsigned long min, unsigned long max)
{
	unsigned long n = strtoul(text, NULL, 10);

	if (n < min || n > max) {
		fprintf(stderr, "bench_micro: '%s' is not in %lu..%lu\n", text, min, max);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	bool wait = argc == 6 && !strcmp(argv[5], "wait");
	struct worker w = { 0 };
	uint64_t cpu_ns;

	if (argc == 4 && !strcmp(argv[1], "live")) {
		run_live(number(argv[2], 1, 1000000000), number(argv[3], 1, 1ul << 21));
		return 0;
	}
	if ((argc != 5 && !wait) || (strcmp(argv[1], "random") && strcmp(argv[1], "hot"))) {
		fputs("usage: bench_micro random|hot THREADS DEPTH PAIRS [wait] | live BLOCKS "
		      "STACKS\n",
		      stderr);
		return 2;
	}
	w.nr_slots = strcmp(argv[1], "hot") ? 65536 : 1000;
	w.size_mask = strcmp(argv[1], "hot") ? 0x1f0 : 0x70;
	w.depth = (unsigned)number(argv[3], 1, MAX_DEPTH);
	w.pairs = number(argv[4], 0, 1000000000);
	if (wait)
		wait_for_line();
	cpu_ns = run_threads(&w, (unsigned)number(argv[2], 1, MAX_THREADS));
	if (wait)
		printf("%llu\n", (unsigned long long)cpu_ns);
	return 0;
}
