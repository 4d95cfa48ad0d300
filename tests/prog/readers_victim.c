/* SPDX-License-Identifier: GPL-2.0-or-later
 * Allocates, resizes, maps and releases at random until it is to end, in one thread or several that release one another's blocks, and keeps a truth of
 * it (readers_truth.h), which readers_driver compares with what it reads meanwhile. Sizes are of all classes and often small. Linked with
 * libreaders_malloc.so (then compiled with -DDENSE), or not.
 *
 *	readers_victim FILE THREADS SEED TURNS
 *
 *	s	a timer's signals come to each thread; their handlers allocate and release as the thread does. DENSE only
 *	o	with s: on another stack
 *	j	with s: handlers leave what they have interrupted by siglongjmp
 *	f	threads fork; the child allocates, releases, and is gone
 *	t	threads end, and others take their place. Not with s, nor with a single thread
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/prog/readers_truth.h"
#include "tests/prog/truth_victim.h"

#define MOST_SECONDS	300		/* then it ends, whoever has forgotten it */
#define PAGE		4096ul
#define STACK_BYTES	(256ul << 10)
#define LEAST_NS	5000
#define MOST_NS		200000
#define MOST_FORKS	3		/* of a thread */
#define TURN_FORK	300		/* of a thread's turns one in as many */
#define TURN_YIELD	16
#define TURN_NAP	128
#define TURN_JUMP	8		/* of a handler's */
#define TURNS_OF_THREAD	400		/* with t, at most */
#define TOO_LARGE	(SIZE_MAX / 2 + 2)

enum op { OP_NEW, OP_FREE, OP_RESIZE, OP_RESIZE_FAILS, OP_FAILS, OP_MAP, OP_UNMAP, OP_TRIM };

/* A thread's own code, or its handler. */
struct worker {
	struct readers_worker *truth;
	uint64_t random;
	unsigned leaf, link;
	void *old;			/* the leaf's arguments ... */
	size_t size;
	void *result;			/* ... and what it got */
	volatile bool in_call;		/* all is noted that is to be noted before */
};

struct crew {
	struct worker worker, handler;
	volatile bool jumped;		/* and it has released nothing since: not known yet to be out of what it was at */
	sigjmp_buf back;
	timer_t timer;
	unsigned nr_forks;
	pthread_t thread;
	uint32_t ended;
};

typedef void (*function)(struct worker *w);

static struct readers_truth *truth;
static struct crew crews[READERS_THREADS];
static atomic_flag taken[READERS_SLOTS];
static __thread struct crew *mine;
static struct { bool signals, aside, jumps, forks, ends; } turns;
static const function leaves[READERS_LEAVES], links[READERS_LINKS];

#define CODE	__attribute__((noipa, section("readers_code")))
#define ADD(x, n)	__atomic_add_fetch(&(x), n, __ATOMIC_SEQ_CST)
#define GROW(x, n)	__atomic_store_n(&(x), (x) + (n), __ATOMIC_RELEASE)	/* of one writer */

#define LINK(k)							\
	static CODE void link##k(struct worker *w)		\
	{							\
		leaves[w->leaf](w);				\
		__asm__ volatile("" : : "r"(w) : "memory");	\
	}
#define LEAF(k, CALL)						\
	static CODE void leaf##k(struct worker *w)		\
	{							\
		w->result = CALL;				\
		__asm__ volatile("" : : "r"(w) : "memory");	\
	}

LINK(0) LINK(1) LINK(2) LINK(3)
LEAF(0, malloc(w->size))
LEAF(1, calloc(w->size, 1))
LEAF(2, realloc(w->old, w->size))
LEAF(3, memalign(64, w->size))
LEAF(4, aligned_alloc(32, w->size))
LEAF(5, posix(w->size))
LEAF(6, reallocarray(w->old, w->size, 1))
LEAF(7, mmap(NULL, w->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))

static const function leaves[READERS_LEAVES] = { leaf0, leaf1, leaf2, leaf3, leaf4, leaf5, leaf6, leaf7 };
static const function links[READERS_LINKS] = { link0, link1, link2, link3 };
extern const char __stop_readers_code[];

static void nap_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* ---- the truth -------------------------------------------------------------------------------------------------------------------------------- */

static bool takes_out(enum op op)
{
	return op == OP_FREE || op == OP_RESIZE;
}

static bool puts_in(enum op op)
{
	return op == OP_NEW || op == OP_RESIZE || op == OP_MAP;
}

static bool is_of_map(enum op op)
{
	return op == OP_MAP || op == OP_UNMAP || op == OP_TRIM;
}

static bool stays(enum op op)
{
	return op == OP_RESIZE_FAILS || op == OP_FAILS;
}

/* What the operation changes in sums, when it is begun or when it is done. */
static void count(struct readers_sums *sums, enum op op, const struct readers_block *old, const struct readers_block *new)
{
	struct readers_sums *of_old = &sums[old->group], *of_new = &sums[new->group];

	if (puts_in(op)) {
		GROW(of_new->allocs, 1);
		GROW(of_new->bytes_in, new->size);
	}
	if (takes_out(op) || op == OP_UNMAP) {
		GROW(of_old->frees, 1);
		GROW(of_old->bytes_out, old->size);
	}
	if (op == OP_TRIM)
		GROW(of_old->bytes_out, old->size - new->size);
	if (op == OP_RESIZE_FAILS) {
		GROW(of_old->void_frees, 1);
		GROW(of_old->void_bytes, old->size);
	}
	if (stays(op))
		GROW(of_new->failed, 1);
}

static void raise_to(uint64_t *most, uint64_t bytes)
{
	uint64_t was = __atomic_load_n(most, __ATOMIC_SEQ_CST);

	while (was < bytes && !__atomic_compare_exchange_n(most, &was, bytes, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

static void total_begins(enum op op, uint64_t old, uint64_t new)
{
	if (is_of_map(op))
		return;
	if (takes_out(op) || op == OP_RESIZE_FAILS)
		ADD(truth->sure_bytes, -old);
	old = op == OP_RESIZE ? old : 0;
	if (puts_in(op) && new > old)
		raise_to(&truth->perhaps_peak, ADD(truth->perhaps_bytes, new - old));
}

static void total_ends(enum op op, uint64_t old, uint64_t new)
{
	if (is_of_map(op))
		return;
	if (puts_in(op))
		raise_to(&truth->sure_peak, ADD(truth->sure_bytes, new));
	if (op == OP_RESIZE_FAILS)
		ADD(truth->sure_bytes, old);
	new = op == OP_RESIZE ? new : 0;
	if (takes_out(op) && old > new)
		ADD(truth->perhaps_bytes, new - old);
}

/* ---- operations ------------------------------------------------------------------------------------------------------------------------------- */

static __attribute__((noipa)) void call(struct worker *w, enum op op, const struct readers_block *old, bool by_realloc)
{
	w->old = op == OP_RESIZE || op == OP_RESIZE_FAILS || by_realloc ? (void *)old->address : NULL;
	w->result = NULL;
	w->in_call = true;
	ORDER();
	if (op == OP_UNMAP)
		munmap((void *)old->address, old->size);
	else if (op == OP_TRIM)
		munmap((void *)(old->address + w->size), old->size - w->size);
	else if (op == OP_FREE && !by_realloc)
		free((void *)old->address);
	else
		links[w->link](w);
	ORDER();
	w->in_call = false;
	if (op == OP_TRIM || op == OP_RESIZE_FAILS)
		w->result = w->result ? fails("it has memory for all"), NULL : (void *)old->address;
	if (puts_in(op) && (!w->result || w->result == MAP_FAILED))
		fails("no memory");
}

/* Of one slot, which is the worker's meanwhile; READERS_SLOTS: of none. The order is that of readers_truth.h, and readers_driver relies on it. */
static __attribute__((noipa)) void operate(struct worker *w, uint32_t n, enum op op, bool by_realloc)
{
	struct readers_slot *s = n < READERS_SLOTS ? &truth->slot[n] : NULL;
	struct readers_flight *f = &w->truth->flight;

	f->slot = n;
	f->old = s ? s->is : (struct readers_block){ 0 };
	f->new = (struct readers_block){ .size = w->size, .group = w->leaf * READERS_LINKS + w->link, .tid = w->truth->tid };
	if (op == OP_TRIM)
		f->new.group = f->old.group;
	count(w->truth->begun, op, &f->old, &f->new);
	GROW(f->nr, 1);
	if (s)
		GROW(s->seq, 1);
	total_begins(op, f->old.size, f->new.size);
	atomic_thread_fence(memory_order_seq_cst);
	call(w, op, &f->old, by_realloc);
	count(w->truth->done, op, &f->old, &f->new);
	total_ends(op, f->old.size, f->new.size);
	if (puts_in(op) || op == OP_TRIM) {
		__atomic_store_n(&f->new.address, (uint64_t)w->result, __ATOMIC_RELEASE);
		w->truth->log[w->truth->nr_logged % READERS_LOG] = f->new;
		GROW(w->truth->nr_logged, 1);
		s->is = f->new;
	} else if (s && !stays(op)) {
		s->is = (struct readers_block){ 0 };
	}
	if (s)
		GROW(s->seq, 1);
	GROW(f->nr, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (op == OP_FREE && w == &mine->worker)
		mine->jumped = false;
}

static size_t some_size(uint64_t dice)
{
	static const unsigned short least[] = { 0, 1, 1, 1, 9, 9, 17, 17, 40, 57, 57, 64, 200, 1024 };
	static const unsigned short most[] = { 0, 8, 8, 8, 16, 16, 32, 56, 56, 64, 128, 300, 600, 8000 };
	unsigned k = dice % (sizeof(least) / sizeof(*least));

	if (dice / 16 % 200 == 0)
		return 1000 + dice / 4096 % 199000;
	return least[k] + dice / 4096 % (most[k] - least[k] + 1u);
}

static void change_map(struct worker *w, uint32_t n, uint64_t dice)
{
	const struct readers_block *is = &truth->slot[n].is;

	w->leaf = READERS_MMAP;
	w->size = PAGE * (1 + dice % 16);
	if (is->address && is->size > PAGE && dice / 16 % 2) {
		w->size = is->size / PAGE / 2 * PAGE;
		operate(w, n, OP_TRIM, false);
	} else {
		operate(w, n, is->address ? OP_UNMAP : OP_MAP, false);
	}
}

static void resize(struct worker *w, uint32_t n, uint64_t dice)
{
	w->leaf = dice % 2 ? READERS_REALLOC : READERS_ARRAY;
	if (dice / 2 % 16 == 0)
		w->size = TOO_LARGE;
#ifdef DENSE
	operate(w, n, w->size == TOO_LARGE ? OP_RESIZE_FAILS : OP_RESIZE, false);
#else
	/* to nothing: a release */
	operate(w, n, w->size == TOO_LARGE ? OP_RESIZE_FAILS : w->size ? OP_RESIZE : OP_FREE, !w->size);
#endif
}

static void change(struct worker *w, uint32_t n)
{
	uint64_t dice = next(&w->random), way = next(&w->random);

	w->size = some_size(dice);
	w->link = w == &mine->handler ? READERS_LINKS - 1 : (unsigned)(way % (READERS_LINKS - 1));
	w->leaf = (unsigned)(way / 4 % READERS_MMAP);
	if (n < READERS_MAPS) {
		change_map(w, n, dice);
	} else if (!truth->slot[n].is.address && way / 64 % 32 == 0) {
		w->size = TOO_LARGE;
		operate(w, READERS_SLOTS, OP_FAILS, false);
	} else if (!truth->slot[n].is.address) {
		operate(w, n, OP_NEW, false);
	} else if (way / 64 % 3) {
		operate(w, n, OP_FREE, false);
	} else {
		resize(w, n, way / 2048);
	}
}

/* A tenth of the slots is for most of the operations: the others have blocks that stay. */
static void turn(struct worker *w)
{
	uint64_t dice = next(&w->random);
	uint32_t n = (uint32_t)(dice / 8 % READERS_SLOTS);

	if (dice % 8)
		n = n / 10 * 10 % READERS_SLOTS;
	if (dice / 16384 % 64 == 0)
		n %= READERS_MAPS;
	if (atomic_flag_test_and_set_explicit(&taken[n], memory_order_acquire))
		return;
	change(w, n);
	if (dice >> 24 & 1)
		change(w, n);		/* a temporary block */
	atomic_flag_clear_explicit(&taken[n], memory_order_release);
}

/* ---- signals ---------------------------------------------------------------------------------------------------------------------------------- */

static sigset_t block_signals(void)
{
	sigset_t usr1, before;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, &before);
	return before;
}

/* Again when the handler has run. */
static void wind(struct crew *crew, uint64_t dice)
{
	struct itimerspec in = { .it_value.tv_nsec = LEAST_NS + (long)(dice % MOST_NS) };

	syscall(SYS_timer_settime, crew->timer, 0, &in, NULL);
}

/* The operation that the thread was at stays as it is for good, and so does its slot. */
static void jump(struct crew *crew)
{
	struct readers_flight *f = &crew->worker.truth->flight;
	uint32_t k;

	if (!turns.jumps || crew->jumped || !crew->worker.in_call)
		return;
	k = ADD(truth->nr_left, 1) - 1;
	if (k >= READERS_LEFT)
		return;
	truth->left[k].slot = f->slot;
	truth->left[k].old = f->old;
	truth->left[k].new = f->new;
	GROW(truth->left[k].nr, 1);
	GROW(f->nr, 1);
	crew->jumped = true;
	crew->worker.in_call = false;
	wind(crew, next(&crew->handler.random));
	siglongjmp(crew->back, 1);
}

static void handler(int number)
{
	struct crew *crew = mine;
	uint64_t dice = next(&crew->handler.random);

	(void)number;
	for (unsigned k = 0; k < 1 + dice % 4; k++)
		turn(&crew->handler);
	if (dice / 8 % TURN_JUMP == 0)
		jump(crew);
	wind(crew, dice >> 16);
}

static void signals_begin(struct crew *crew)
{
	static char stacks[READERS_THREADS][STACK_BYTES] __attribute__((aligned(64)));
	stack_t stack = { .ss_sp = stacks[crew - crews], .ss_size = STACK_BYTES };
	struct sigevent to = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1, ._sigev_un._tid = (pid_t)syscall(SYS_gettid) };

	if (turns.aside)
		sigaltstack(&stack, NULL);
	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &to, &crew->timer))
		fails("no timer");
	wind(crew, next(&crew->handler.random));
}

/* ---- threads ---------------------------------------------------------------------------------------------------------------------------------- */

/* A block of the parent's, some of its own, and the child is gone. */
static void child_works(uint64_t dice, void *heir)
{
	void *p[8];

	free(heir);
	for (unsigned k = 0; k < 8; k++)
		p[k] = malloc((dice >> 3 * k) % 100);
	for (unsigned k = 0; k < dice % 8; k++)
		free(p[k]);
	_exit(0);
}

static void forks(struct crew *crew)
{
	uint64_t dice = next(&crew->worker.random);
	uint32_t n = READERS_MAPS + (uint32_t)(dice % (READERS_SLOTS - READERS_MAPS));
	sigset_t before = block_signals();
	pid_t pid;

	if (!atomic_flag_test_and_set_explicit(&taken[n], memory_order_acquire)) {
		pid = fork();
		if (!pid)
			child_works(dice, (void *)truth->slot[n].is.address);
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		crew->nr_forks++;
		atomic_flag_clear_explicit(&taken[n], memory_order_release);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void park(void)
{
	sigset_t before = block_signals();

	ADD(truth->nr_parked, 1);
	while (__atomic_load_n(&truth->pause, __ATOMIC_SEQ_CST))
		nap_ns(100000);
	ADD(truth->nr_parked, -1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *works(void *arg)
{
	struct crew *crew = arg;
	unsigned left;

	mine = crew;
	crew->worker.truth->tid = crew->handler.truth->tid = (uint32_t)syscall(SYS_gettid);
	while (!__atomic_load_n(&truth->started, __ATOMIC_SEQ_CST))
		nap_ns(100000);
	left = 1 + (unsigned)(next(&crew->worker.random) % TURNS_OF_THREAD);
	if (turns.signals)
		signals_begin(crew);
	sigsetjmp(crew->back, 1);
	while (!__atomic_load_n(&truth->end, __ATOMIC_SEQ_CST) && (!turns.ends || left--)) {
		uint64_t dice = next(&crew->worker.random);

		turn(&crew->worker);
		if (__atomic_load_n(&truth->pause, __ATOMIC_SEQ_CST))
			park();
		if (dice % TURN_YIELD == 0)
			sched_yield();
		if (dice / TURN_YIELD % TURN_NAP == 0)
			nap_ns(50000);
		if (turns.forks && dice / 4096 % TURN_FORK == 0 && crew->nr_forks < MOST_FORKS)
			forks(crew);
	}
	block_signals();
	__atomic_store_n(&crew->ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void thread_begin(struct crew *crew)
{
	crew->ended = 0;
	errno = pthread_create(&crew->thread, NULL, works, crew);
	if (errno)
		fails("no thread");
}

static void several(unsigned threads)
{
	for (unsigned k = 0; k < threads; k++)
		thread_begin(&crews[k]);
	__atomic_store_n(&truth->started, 1, __ATOMIC_SEQ_CST);
	for (unsigned k = 0; turns.ends && !__atomic_load_n(&truth->end, __ATOMIC_SEQ_CST); k = (k + 1) % threads)
		if (__atomic_load_n(&crews[k].ended, __ATOMIC_SEQ_CST)) {
			pthread_join(crews[k].thread, NULL);
			thread_begin(&crews[k]);
		} else {
			nap_ns(50000);
		}
	for (unsigned k = 0; k < threads; k++)
		pthread_join(crews[k].thread, NULL);
}

static void describe(void)
{
	for (unsigned k = 0; k < READERS_LEAVES; k++)
		truth->starts[k] = (uint64_t)leaves[k];
	for (unsigned k = 0; k < READERS_LINKS; k++)
		truth->starts[READERS_LEAVES + k] = (uint64_t)links[k];
	truth->code_end = (uint64_t)__stop_readers_code;
	truth->pid = (uint32_t)getpid();
}

int main(int argc, char **argv)
{
	int fd = argc == 5 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	unsigned threads = argc == 5 ? (unsigned)atoi(argv[2]) : 0;
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	uint64_t seed = argc == 5 ? 0x9e3779b97f4a7c15ull * (strtoull(argv[3], NULL, 10) + 1) : 0;

	if (fd < 0 || !threads || threads > READERS_THREADS)
		return 2;
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (truth == MAP_FAILED)
		return 2;
	alarm(MOST_SECONDS);
	turns.signals = strchr(argv[4], 's');
	turns.aside = strchr(argv[4], 'o');
	turns.jumps = strchr(argv[4], 'j');
	turns.forks = strchr(argv[4], 'f');
	turns.ends = strchr(argv[4], 't');
	truth->nr_threads = threads;
	truth->threads_end = turns.ends;
	for (unsigned k = 0; k < READERS_THREADS; k++) {
		crews[k].worker = (struct worker){ .truth = &truth->worker[k], .random = seed + 2 * k + 1 };
		crews[k].handler = (struct worker){ .truth = &truth->worker[READERS_THREADS + k], .random = seed + 2 * k + 2 };
	}
	sa.sa_flags |= turns.aside ? SA_ONSTACK : 0;
	sigaction(SIGUSR1, &sa, NULL);
	describe();
	if (threads > 1) {
		several(threads);
	} else {
		truth->started = 1;
		works(&crews[0]);
	}
	return 0;
}
