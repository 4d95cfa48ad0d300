/* SPDX-License-Identifier: GPL-2.0-or-later
 * Allocates, resizes and releases at random without end, in one thread or several that release one another's blocks, below some thousand
 * different stacks, and keeps a truth of it (kill_truth.h). To be killed by kill_driver. Meanwhile it may take turns (kill_turns.c).
 *
 *	kill_victim FILE IMAGE THREADS SEED TURNS
 */
#include "tests/prog/kill_victim.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOT_PATHS	8
#define MOST_SECONDS	300		/* then it ends, whoever has forgotten it */

typedef void (*link_fn)(struct worker *w, unsigned level);

struct kill_truth *truth;
struct turns turns;
atomic_flag taken[KILL_SLOTS];
static struct kill_file *file;
static char **arguments;
static struct path paths[PATHS];
static struct crew crews[KILL_THREADS];
static _Atomic uint64_t maker[KILL_SLOTS];	/* thread + 1 and the number of its event that made the slot's block */
static const link_fn links[KILL_LINKS], leaves[KILL_LEAVES];

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
	if (w->last_address == s->address && is_last && w->crew->interrupts == w->last_interrupts && !w->crew->jumped)
		sums->temporary++;
	else if (w->last_address == s->address || turns.signals)
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

static void note(struct worker *w, uint32_t n, enum kill_op op)
{
	struct kill_thread *t = w->truth;
	struct kill_note *to = &t->note;

	to->slot = n;
	to->old = truth->slot[n];
	to->new = (struct kill_slot){ .size = w->size, .thread = (uint32_t)(t - truth->thread),
				      .group = w->leaf * KILL_LINKS + w->path->link[0] };
	to->temporary = to->old.address && (w->last_address == to->old.address || turns.signals);
	to->old_sums = t->sums[to->old.group];
	to->new_sums = t->sums[to->new.group];
	to->live_bytes = truth->live_bytes;
	to->peak_bytes = truth->peak_bytes;
	ORDER();
	to->op = op;
	ORDER();
}

static void operate(struct worker *w, uint32_t n, enum kill_op op)
{
	struct kill_thread *t = w->truth;
	struct kill_slot *s = &truth->slot[n];
	uint64_t id = (t->nr_done << 4) + (uint64_t)(t - truth->thread) + 1;
	bool is_last = atomic_load(&maker[n]) == id - (1 << 4);
	unsigned interrupts = w->crew->interrupts;

	note(w, n, op);
	call(w, op, &t->note.old);
	if (op != KILL_FREE && !w->result)
		fails("no memory");
	if (op != KILL_ALLOC)
		count_out(w, &t->note.old, is_last);
	*s = (struct kill_slot){ 0 };
	if (op != KILL_FREE) {
		*s = t->note.new;
		s->address = (uint64_t)w->result;
		count_in(t, s);
		*(uint64_t *)w->result = s->address;
	}
	w->last_address = s->address;
	w->last_interrupts = interrupts;
	atomic_store(&maker[n], s->address ? id : 0);
	ORDER();
	t->note.op = KILL_NONE;
	t->nr_done++;
	if (op == KILL_FREE && w == w->crew->worker)
		w->crew->jumped = false;
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

void turn(struct worker *w)
{
	uint64_t dice = next(&w->random);
	uint32_t n = (uint32_t)(dice % KILL_SLOTS);
	bool came;

	if (atomic_flag_test_and_set_explicit(&taken[n], memory_order_acquire))
		return;
	came = change(w, n);
	if (came && dice >> 20 & 1)
		change(w, n);		/* a temporary block */
	atomic_flag_clear_explicit(&taken[n], memory_order_release);
}

static void release_heir(struct crew *crew, unsigned n)
{
	struct kill_thread *t = crew->worker->truth;
	void *heir = (void *)crew->heirs[n];

	crew->heirs[n] = 0;
	t->note.slot = KILL_SLOTS;
	ORDER();
	t->note.op = KILL_INHERITED;
	ORDER();
	free(heir);
	ORDER();
	t->nr_inherited++;
	t->note.op = KILL_NONE;
	crew->worker->last_address = 0;
}

static void *works(void *arg)
{
	struct crew *crew = arg;
	struct worker *w = crew->worker;

	turns_thread(crew);
	sigsetjmp(crew->back, 1);
	for (;;) {
		uint64_t dice = next(&w->random);

		turn(w);
		if (dice % 64 == 0 && crew->heirs[dice / 64 % NR_HEIRS])
			release_heir(crew, dice / 64 % NR_HEIRS);
		turns_take(crew);
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

static void crew_begin(struct crew *crew, unsigned n, unsigned threads)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	for (unsigned k = 0; k < 1 + KILL_HANDLERS; k++) {
		unsigned number = k ? threads + KILL_HANDLERS * n + k - 1 : n;
		struct worker *w = &crew->worker[k];

		w->crew = crew;
		w->random = 88172645463325252ull * (number + 1) + paths[0].depth + 977 * (uint64_t)(truth - file->image);
		if (k && !turns.signals)
			continue;
		w->truth = &truth->thread[number];
		w->truth->tid = tid;
	}
}

static void *begins(void *arg)
{
	struct crew *crew = arg;

	crew_begin(crew, (unsigned)(crew - crews), truth->nr_threads / (turns.signals ? 1 + KILL_HANDLERS : 1));
	return works(crew);
}

bool image_get(unsigned *n)
{
	*n = __atomic_fetch_add(&file->nr_images, 1, __ATOMIC_RELAXED);
	return *n < KILL_IMAGES;
}

static void describe(void)
{
	for (unsigned k = 0; k < KILL_LEAVES; k++)
		truth->starts[k] = (uint64_t)leaves[k];
	for (unsigned k = 0; k < KILL_LINKS; k++)
		truth->starts[KILL_LEAVES + k] = (uint64_t)links[k];
	truth->code_end = (uint64_t)__stop_kill_code;
	truth->pid = (uint32_t)getpid();
	ORDER();
	truth->started = 1;
}

void image_begin(unsigned n, unsigned threads, const uint64_t heirs[NR_HEIRS])
{
	pthread_t thread;

	alarm(MOST_SECONDS);
	memset(taken, 0, sizeof(taken));
	memset(maker, 0, sizeof(maker));
	memset(crews, 0, sizeof(crews));
	memcpy(crews[0].heirs, heirs, sizeof(crews[0].heirs));
	truth = &file->image[n];
	truth->nr_threads = threads * (turns.signals ? 1 + KILL_HANDLERS : 1);
	describe();
	for (unsigned k = 1; k < threads; k++)
		while ((errno = pthread_create(&thread, NULL, begins, &crews[k])))
			if (errno != EAGAIN)		/* a thread that has begun is about to execute a program */
				fails("no thread");
	begins(&crews[0]);
	fails("it came back");
}

void image_execute(unsigned n, unsigned threads)
{
	char image[16], number[16];
	char *argv[] = { arguments[0], arguments[1], image, number, arguments[4], arguments[5], NULL };

	snprintf(image, sizeof(image), "%u", n);
	snprintf(number, sizeof(number), "%u", threads);
	truth->leaving = 1;
	ORDER();
	execv("/proc/self/exe", argv);
	fails("exec");
}

int main(int argc, char **argv)
{
	int fd = argc == 6 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	unsigned image = argc == 6 ? (unsigned)atoi(argv[2]) : 0, nr = argc == 6 ? (unsigned)atoi(argv[3]) : 0;

	if (fd < 0 || image >= KILL_IMAGES || !nr || nr > KILL_THREADS)
		return 2;
	file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED || (!image && setpgid(0, 0)))
		return 2;
	arguments = argv;
	make_paths((uint64_t)atoll(argv[4]));
	turns = (struct turns){ strchr(argv[5], 's'), strchr(argv[5], 'j'), strchr(argv[5], 'f'), strchr(argv[5], 'e') };
	turns_begin();
	image_begin(image, nr, (const uint64_t[NR_HEIRS]){ 0 });
}
