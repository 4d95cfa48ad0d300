/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Micro-workloads of the benchmark (bench/run, bench/instructions), as a program of its own.
 *
 *     bench_micro KIND THREADS DEPTH PAIRS
 *                                     threads hold their slots filled, then free and fill one of
 *                                     them, PAIRS times; slots and PAIRS are over all threads
 *     bench_micro KIND THREADS DEPTH PAIRS wait
 *                                     the same, but first it says "ready" and waits for a line, to
 *                                     be attached to; at the end it says how many ns of CPU the
 *                                     pairs took
 *     bench_micro KIND THREADS DEPTH PAIRS step
 *                                     says how many instructions of the agent's code PAIRS pairs
 *                                     take one thread, after some thousand others; the other
 *                                     threads sleep
 *     bench_micro live BLOCKS STACKS [FIFO]
 *                                     leaves BLOCKS of 48 bytes live, made by STACKS different
 *                                     stacks; says so there and waits until nobody reads it
 *     bench_micro stacks NUMBER DEPTH EVENTS
 *                                     leaves a block live of each of NUMBER (a power of 2) stacks,
 *                                     then makes and frees EVENTS more by them; says how many ns
 *                                     of CPU the stacks and the events took
 *
 * A KIND is
 *     random      65536 slots taken at random
 *     hot         1000 slots taken at random
 *     temporary   8 slots in turn: a block is freed 15 events after it was made
 *     changing    1000 slots at random, by stacks that have nothing but main in common
 *     mapped      16 slots at random: mappings of 64 KiB, by mmap and munmap
 *
 * Every block is made at the end of a chain of DEPTH functions without frame pointers, called anew
 * each time. The outer ones are always the same and the two innermost vary: 64 stacks. Of
 * `changing` all vary: 4096 stacks. Sizes are multiples of 16: with many thousand different pairs
 * of size and stack heaptrack 1.4's interpreter runs out of memory.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench/count_steps.h"

#define WAYS		8	/* functions to choose from at each level */
#define MAX_DEPTH	64
#define MAX_THREADS	64
#define NR_LATE		1000	/* blocks of "stacks" that are kept before they are freed */
#define HOLD_US		300000	/* the live heap stays so long: tools may lag behind */
#define CHANGING_STACKS	4096
#define MAPPED_BYTES	65536
#define WARM_PAIRS	50000	/* before steps are counted */

struct kind {
	const char *name;
	unsigned nr_slots;
	unsigned size_mask;		/* sizes are 16 + random & size_mask bytes */
	bool in_turn, changing, mapped;
};

static const struct kind kinds[] = {
	{ "random", 65536, 0x1f0, false, false, false },
	{ "hot", 1000, 0x70, false, false, false },
	{ "temporary", 8, 0x70, true, false, false },
	{ "changing", 1000, 0x70, false, true, false },
	{ "mapped", 16, 0x70, false, false, true },
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct worker {
	uint8_t path[MAX_DEPTH];	/* function at each level, 0 the innermost */
	unsigned depth;
	uint64_t random;
	const struct kind *kind;
	void **slots;
	unsigned nr_slots;
	unsigned long turn;		/* pairs so far */
	unsigned long pairs;
	uint64_t cpu_ns;		/* that they took */
	bool mapped;			/* the leaf's arguments: make a mapping, or ... */
	size_t size;			/* ... a block of that size ... */
	void **slot;			/* ... there */
};

typedef void (*link_fn)(struct worker *w, unsigned level);

static const link_fn links[WAYS], leaves[WAYS];

static void *map(void)
{
	void *p = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

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
		char *p = w->mapped ? map() : malloc(w->size);                                     \
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

static void choose_path(struct worker *w, uint64_t r)
{
	uint64_t x = (r >> 16) % CHANGING_STACKS + 1;

	w->path[0] = r >> 16 & (WAYS - 1);
	w->path[1] = r >> 20 & (WAYS - 1);
	for (unsigned k = 0; w->kind->changing && k < w->depth; k++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		w->path[k] = x >> 61;
	}
}

static void fill(struct worker *w, void **slot)
{
	uint64_t r = next_random(w);

	w->size = 16 + (r & w->kind->size_mask);
	choose_path(w, r);
	make(w, slot);
}

static void fill_all(struct worker *w)
{
	w->slots = calloc(w->nr_slots, sizeof(*w->slots));
	if (!w->slots)
		abort();
	for (unsigned k = 0; k < w->nr_slots; k++)
		fill(w, &w->slots[k]);
}

static inline void release(const struct worker *w, void *p)
{
	if (w->mapped)
		munmap(p, MAPPED_BYTES);
	else
		free(p);
}

static inline void run_pair(struct worker *w)
{
	uint64_t n = w->kind->in_turn ? w->turn++ : next_random(w) * w->nr_slots >> 40;
	void **slot = &w->slots[n % w->nr_slots];

	release(w, *slot);
	fill(w, slot);
}

static void free_all(struct worker *w)
{
	for (unsigned k = 0; k < w->nr_slots; k++)
		release(w, w->slots[k]);
	free(w->slots);
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

	fill_all(w);
	before_ns = thread_cpu_ns();
	while (w->pairs-- > 0)
		run_pair(w);
	w->cpu_ns = thread_cpu_ns() - before_ns;
	free_all(w);
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

static void *sleeps(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/*
 * In one loop, as the agent knows stacks: all pairs have the same. 0, or 1: no steps were counted.
 */
static int run_steps(struct worker *w, unsigned nr)
{
	pthread_t thread;

	while (nr-- > 1)
		if (pthread_create(&thread, NULL, sleeps, NULL))
			abort();
	w->random = 1;
	fill_all(w);
	for (unsigned long k = 0; k < WARM_PAIRS + w->pairs; k++) {
		if (k == WARM_PAIRS && step_begin())
			return 1;
		run_pair(w);
	}
	printf("%lu\n", step_end());
	free_all(w);
	return 0;
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

/* For who has the FIFO open to look at what is live, be it late; also when that one dies. */
static void wait_to_be_seen(const char *fifo)
{
	struct pollfd p = { .fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC) };

	if (p.fd < 0 || write(p.fd, "live\n", 5) != 5)
		exit(1);
	while (!(p.revents & POLLERR))
		poll(&p, 1, -1);
	close(p.fd);
}

/* Stack number `n` is the path with its digits. */
static void run_live(unsigned long blocks, unsigned long stacks, const char *fifo)
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
	if (fifo)
		wait_to_be_seen(fifo);
}

/* The stack whose functions, each one of two, are the bits of `n`. */
static void make_by_bits(struct worker *w, unsigned long n, void **slot)
{
	for (unsigned k = 0; k < w->depth; k++, n >>= 1)
		w->path[k] = n & 1;
	make(w, slot);
}

/*
 * An odd factor makes each stack's number come once, in no order; later ones come at random. All
 * blocks are made in one place: another one would make other stacks.
 */
static void run_stacks(unsigned long nr, unsigned depth, unsigned long events)
{
	struct worker w = { .depth = depth, .size = 48, .random = 1 };
	void *kept, *late[NR_LATE] = { NULL };
	uint64_t began_ns = thread_cpu_ns(), made_ns = 0;

	for (unsigned long k = 0;; k++) {
		void **slot = k < nr ? &kept : &late[k % NR_LATE];
		uint64_t n = k < nr ? k * 2654435769ul : next_random(&w);

		if (k == nr)
			made_ns = thread_cpu_ns();
		if (k == nr + events)
			break;
		if (k >= nr)
			free(*slot);
		make_by_bits(&w, n & (nr - 1), slot);
	}
	printf("stacks %llu ns, events %llu ns\n", (unsigned long long)(made_ns - began_ns),
	       (unsigned long long)(thread_cpu_ns() - made_ns));
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

static const struct kind *find_kind(const char *name)
{
	for (size_t k = 0; k < NR_KINDS; k++)
		if (!strcmp(name, kinds[k].name))
			return &kinds[k];
	return NULL;
}

int main(int argc, char **argv)
{
	bool wait = argc == 6 && !strcmp(argv[5], "wait");
	bool step = argc == 6 && !strcmp(argv[5], "step");
	struct worker w = { 0 };
	unsigned threads;
	uint64_t cpu_ns;

	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "live")) {
		run_live(number(argv[2], 1, 1000000000), number(argv[3], 1, 1ul << 21),
			 argc == 5 ? argv[4] : NULL);
		return 0;
	}
	if (argc == 5 && !strcmp(argv[1], "stacks")) {
		unsigned long nr = number(argv[2], 1, 1ul << 24);
		unsigned depth = (unsigned)number(argv[3], 1, MAX_DEPTH);

		if (nr & (nr - 1) || (depth < 24 && nr > 1ul << depth))
			return 2;	/* not so many different ones */
		run_stacks(nr, depth, number(argv[4], 0, 1000000000));
		return 0;
	}
	w.kind = argc == 5 || wait || step ? find_kind(argv[1]) : NULL;
	if (!w.kind) {
		fputs("usage: bench_micro random|hot|temporary|changing|mapped THREADS DEPTH PAIRS "
		      "[wait|step] | live BLOCKS STACKS [FIFO] | stacks NUMBER DEPTH EVENTS\n",
		      stderr);
		return 2;
	}
	threads = (unsigned)number(argv[2], 1, MAX_THREADS);
	w.nr_slots = w.kind->nr_slots;
	w.mapped = w.kind->mapped;
	w.depth = (unsigned)number(argv[3], 1, MAX_DEPTH);
	w.pairs = number(argv[4], 0, 1000000000);
	if (step)
		return run_steps(&w, threads);
	if (wait)
		wait_for_line();
	cpu_ns = run_threads(&w, threads);
	if (wait)
		printf("%llu\n", (unsigned long long)cpu_ns);
	return 0;
}
