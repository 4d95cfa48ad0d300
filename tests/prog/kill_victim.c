/* SPDX-License-Identifier: GPL-2.0-or-later
 * Allocates, resizes and releases at random without end, in one thread or several that release one another's blocks, below some thousand
 * different stacks, and keeps a truth of it (kill_truth.h). To be killed by kill_driver.
 *
 *	kill_victim FILE THREADS SEED
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/prog/kill_truth.h"

#define PATHS		512
#define HOT_PATHS	8
#define MAX_DEPTH	24

struct path {
	unsigned char link[MAX_DEPTH];
	unsigned depth;
};

struct worker {
	struct kill_thread *truth;
	uint64_t random;
	const struct path *path;
	unsigned leaf;
	void *old;			/* the leaf's arguments ... */
	size_t size;
	void *result;			/* ... and what it got */
	uint64_t last_address;		/* of the last event, if it was an allocation */
};

typedef void (*link_fn)(struct worker *w, unsigned level);

static struct kill_truth *truth;
static struct path paths[PATHS];
static atomic_flag taken[KILL_SLOTS];
static _Atomic uint64_t maker[KILL_SLOTS];	/* thread + 1 and the number of its event that made the slot's block */
static const link_fn links[KILL_LINKS], leaves[KILL_LEAVES];

/* Nothing is moved across this, and a thread that dies anywhere is seen as the code says. */
#define ORDER() atomic_signal_fence(memory_order_seq_cst)
#define CODE	__attribute__((noipa, section("kill_code")))

#define LINK(k, room)									\
	static CODE void link##k(struct worker *w, unsigned level)			\
	{										\
		char local[room];							\
											\
		__asm__ volatile("" : : "r"(local) : "memory");			\
		if (level)								\
			links[w->path->link[level - 1]](w, level - 1);			\
		else									\
			leaves[w->leaf](w, 0);						\
		__asm__ volatile("" : : "r"(w), "r"(level) : "memory");		\
	}
#define LEAF(k, CALL)									\
	static CODE void leaf##k(struct worker *w, unsigned level)			\
	{										\
		w->result = CALL;							\
		__asm__ volatile("" : : "r"(w), "r"(level) : "memory");		\
	}

/* Its name is not that of a leaf: it is called by one. */
static inline __attribute__((always_inline)) void *posix(size_t size)
{
	void *p = NULL;

	return posix_memalign(&p, 128, size) ? NULL : p;
}

LINK(0, 8) LINK(1, 24) LINK(2, 40) LINK(3, 8) LINK(4, 72) LINK(5, 136) LINK(6, 8) LINK(7, 24)
LEAF(0, malloc(w->size))
LEAF(1, calloc(w->size, 1))
LEAF(2, realloc(w->old, w->size))
LEAF(3, memalign(64, w->size))
LEAF(4, aligned_alloc(32, w->size))
LEAF(5, posix(w->size))
LEAF(6, reallocarray(NULL, w->size, 1))
LEAF(7, malloc(w->size))
#define RESIZES	2			/* the leaf */

static const link_fn links[KILL_LINKS] = { link0, link1, link2, link3, link4, link5, link6, link7 };
static const link_fn leaves[KILL_LEAVES] = { leaf0, leaf1, leaf2, leaf3, leaf4, leaf5, leaf6, leaf7 };
extern const char __stop_kill_code[];

static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 8;
}

/* What was allocated by the operation on `s` that is under way. */
static void count_in(struct kill_thread *t, const struct kill_slot *s)
{
	struct kill_sums *sums = &t->sums[s->group];

	sums->allocs++;
	sums->bytes_in += s->size;
	if (truth->nr_threads > 1)
		return;
	truth->live_bytes += s->size;
	if (truth->live_bytes > truth->peak_bytes)
		truth->peak_bytes = truth->live_bytes;
}

static void count_out(struct worker *w, const struct kill_slot *s, bool is_last)
{
	struct kill_sums *sums = &w->truth->sums[s->group];

	sums->frees++;
	sums->bytes_out += s->size;
	if (w->last_address == s->address && is_last)
		sums->temporary++;
	else if (w->last_address == s->address)
		sums->reused++;
	if (truth->nr_threads == 1)
		truth->live_bytes -= s->size;
}

static void call(struct worker *w, enum kill_op op, const struct kill_slot *old)
{
	w->old = (void *)old->address;
	w->result = NULL;
	if (op == KILL_FREE)
		free((void *)old->address);
	else
		links[w->path->link[w->path->depth - 1]](w, w->path->depth - 1);
}

static void operate(struct worker *w, uint32_t n, enum kill_op op)
{
	struct kill_thread *t = w->truth;
	struct kill_slot *s = &truth->slot[n];
	uint64_t id = (t->nr_done << 4) + (uint64_t)(t - truth->thread) + 1;
	bool is_last = atomic_load(&maker[n]) == id - (1 << 4);

	t->slot = n;
	t->old = *s;
	t->new = (struct kill_slot){ .size = w->size, .thread = (uint32_t)(t - truth->thread),
				     .group = w->leaf * KILL_LINKS + w->path->link[0] };
	t->temporary = t->old.address && w->last_address == t->old.address;
	t->old_sums = t->sums[t->old.group];
	t->new_sums = t->sums[t->new.group];
	t->live_bytes = truth->live_bytes;
	t->peak_bytes = truth->peak_bytes;
	ORDER();
	t->op = op;
	ORDER();
	call(w, op, &t->old);
	if (op != KILL_FREE && !w->result)
		abort();
	if (op != KILL_ALLOC)
		count_out(w, &t->old, is_last);
	*s = (struct kill_slot){ 0 };
	if (op != KILL_FREE) {
		*s = t->new;
		s->address = (uint64_t)w->result;
		count_in(t, s);
		*(uint64_t *)w->result = s->address;
	}
	w->last_address = s->address;
	atomic_store(&maker[n], s->address ? id : 0);
	ORDER();
	t->op = KILL_NONE;
	t->nr_done++;
}

/* Each thread has sizes of its own: a block that is being made at the kill is known by them to be its. */
static size_t some_size(const struct worker *w, uint64_t dice)
{
	size_t most = dice % 512 == 0 ? 200000 : dice % 64 == 0 ? 40000 : 600;

	return (dice >> 16) % most / 128 * 128 + 8 + 8 * (size_t)(w->truth - truth->thread) + 5;
}

static bool change(struct worker *w, uint32_t n)
{
	uint64_t dice = next(&w->random), way = next(&w->random);
	bool came = false;

	w->size = some_size(w, dice);
	w->path = &paths[way % 8 ? way / 8 % HOT_PATHS : way / 8 % PATHS];
	w->leaf = dice % KILL_LEAVES;
	if (!truth->slot[n].address) {
		operate(w, n, KILL_ALLOC);
		came = true;
	} else if (way >> 20 & 3) {
		operate(w, n, KILL_FREE);
	} else {
		w->leaf = RESIZES;
		operate(w, n, KILL_RESIZE);
		came = true;
	}
	return came;
}

static void *works(void *arg)
{
	struct worker w = { .truth = arg };

	w.truth->tid = (uint32_t)syscall(SYS_gettid);
	w.random = 88172645463325252ull * (uint64_t)(w.truth - truth->thread + 1) + paths[0].depth;
	for (;;) {
		uint64_t dice = next(&w.random);
		uint32_t n = (uint32_t)(dice % KILL_SLOTS);
		bool came;

		if (atomic_flag_test_and_set_explicit(&taken[n], memory_order_acquire))
			continue;
		came = change(&w, n);
		if (came && dice >> 20 & 1)
			change(&w, n);		/* a temporary block */
		atomic_flag_clear_explicit(&taken[n], memory_order_release);
	}
	return NULL;
}

static void make_paths(uint64_t seed)
{
	uint64_t x = 0x9e3779b97f4a7c15ull * (seed + 1);

	for (struct path *p = paths; p < paths + PATHS; p++) {
		p->depth = 1 + (unsigned)(next(&x) % MAX_DEPTH);
		for (unsigned k = 0; k < p->depth; k++)
			p->link[k] = (unsigned char)(next(&x) % KILL_LINKS);
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 4 ? open(argv[1], O_RDWR) : -1;
	unsigned nr = argc == 4 ? (unsigned)atoi(argv[2]) : 0;
	pthread_t thread;

	if (fd < 0 || !nr || nr > KILL_THREADS || ftruncate(fd, sizeof(*truth)))
		return 2;
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (truth == MAP_FAILED)
		return 2;
	make_paths((uint64_t)atoll(argv[3]));
	truth->nr_threads = nr;
	for (unsigned k = 0; k < KILL_LEAVES; k++)
		truth->leaves[k] = (uint64_t)leaves[k];
	for (unsigned k = 0; k < KILL_LINKS; k++)
		truth->links[k] = (uint64_t)links[k];
	truth->code_end = (uint64_t)__stop_kill_code;
	truth->pid = (uint32_t)getpid();
	ORDER();
	truth->started = 1;
	for (unsigned k = 1; k < nr; k++)
		if (pthread_create(&thread, NULL, works, &truth->thread[k]))
			return 3;
	works(&truth->thread[0]);
	return 0;
}
