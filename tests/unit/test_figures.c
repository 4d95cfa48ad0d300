/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/roots/glibc/figures.c, figures_count.c: the allocator's figures of real processes, to the
 * byte as mallinfo2() gives them there; and of such whose allocator has been written over.
 */
#include "tests/unit/unit.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/roots/glibc/figures.h"

static struct shared {
	struct mallinfo2 said;
	volatile bool ready;
} *shared;

static pthread_barrier_t there;

/* ---- children ---- */

static void stay(void)
{
	shared->ready = true;
	for (;;)
		pause();
}

static void say_and_stay(void)
{
	shared->said = mallinfo2();
	stay();
}

/* malloc() and free() that no compiler looks into: it would leave out what nobody uses. */
static void *(*volatile take)(size_t) = malloc;
static void (*volatile give)(void *) = free;

static unsigned random_next(unsigned *x)
{
	return *x = *x * 1103515245u + 12345u, *x >> 8;
}

/*
 * Of all sizes, freed at random: caches, fast bins, sorted and unsorted bins, mappings of their
 * own.
 */
static void churn(unsigned seed)
{
	static const size_t most[] = { 100, 100, 1000, 5000, 60000, 400000 };
	void *p[400] = { 0 };

	for (unsigned n = 0; n < 20000; n++) {
		unsigned i = random_next(&seed) % NR(p);

		give((void *)p[i]);
		p[i] = random_next(&seed) % 3
			       ? take(random_next(&seed) % most[random_next(&seed) % NR(most)])
			       : NULL;
	}
}

static unsigned child_seed;

static void churned_child(void)
{
	void *p[20];

	churn(child_seed);
	for (unsigned i = 0; i < NR(p); i++)
		p[i] = take(100);
	for (unsigned i = 0; i < NR(p); i++)
		give(p[i]);
	say_and_stay();
}

static void *churner(void *arg)
{
	churn((unsigned)(uintptr_t)arg);
	pthread_barrier_wait(&there);
	for (;;)
		pause();
	return NULL;
}

static void threads_child(void)
{
	pthread_t thread[5];

	mallopt(M_ARENA_MAX, 6);
	pthread_barrier_init(&there, NULL, NR(thread) + 1);
	for (uintptr_t i = 0; i < NR(thread); i++)
		if (pthread_create(&thread[i], NULL, churner, (void *)i))
			_exit(2);
	churn(99);
	pthread_barrier_wait(&there);
	say_and_stay();
}

static void mapped_child(void)
{
	char *p[3];

	for (unsigned i = 0; i < NR(p); i++)
		p[i] = take((1 << 20) + i * 12345);
	give(p[1]);
	say_and_stay();
}

/* The main arena's memory is not the break's, which may not grow. */
static void no_break_child(void)
{
	void *p;

	sbrk(1);
	mmap((void *)(((uintptr_t)sbrk(0) + 4095) & ~4095ul), 4096, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	for (unsigned i = 0; i < 100; i++) {
		p = take(50000);
		if (i % 3)
			give(p);
	}
	say_and_stay();
}

/*
 * Two chunks of a list of 1,000 bytes and more lead to each other, a third between free ones keeps
 * them apart.
 */
static volatile uint64_t **chunks_apart(void)
{
	static volatile uint64_t *p[8];

	for (unsigned i = 0; i < NR(p); i++)
		p[i] = take(3000);
	for (unsigned i = 0; i < NR(p); i += 2)
		give((void *)p[i]);
	return p;
}

static void circle_child(void)
{
	volatile uint64_t **p = chunks_apart();

	p[4][0] = (uintptr_t)p[2] - 16;		/* the bin's list: 6, 4, 2, 0 */
	p[2][0] = (uintptr_t)p[4] - 16;
	stay();
}

/* One chunk of the list is left out. */
static void skip_child(void)
{
	volatile uint64_t **p = chunks_apart();

	p[4][0] = (uintptr_t)p[0] - 16;
	stay();
}

static void garbage_size_child(void)
{
	volatile uint64_t **p = chunks_apart();

	p[4][-1] = 0x7fffffffffff0ull | 1;
	stay();
}

static void garbage_link_child(void)
{
	volatile uint64_t **p = chunks_apart();

	p[4][0] = p[4][1] = 0x4141414141414141;
	stay();
}

/*
 * 20 chunks of 48 bytes, of which a thread's cache takes 7: a fast bin, whose last one leads to its
 * first but three.
 */
static void fast_circle_child(void)
{
	volatile uint64_t *p[20], position;

	for (unsigned i = 0; i < NR(p); i++)
		p[i] = take(40);
	for (unsigned i = 0; i < NR(p); i++)
		give((void *)p[i]);
	position = (uintptr_t)p[7];
	p[7][0] = position >> 12 ^ ((uintptr_t)p[16] - 16);
	stay();
}

/* A thread stays in the allocator: its arena is locked for good. */
static void locked_child(void)
{
	volatile uint64_t **p = chunks_apart();
	/* it leads to its bin, and the state begins with the lock */
	volatile int *mutex = (volatile int *)(uintptr_t)(p[6][1] - 96);

	shared->said = mallinfo2();
	*mutex = 1;
	stay();
}

/* It was stopped when it had moved the topmost chunk, whose size is not written yet. */
static void locked_at_top_child(void)
{
	volatile uint64_t **p = chunks_apart();
	volatile uint64_t **top = (volatile uint64_t **)(uintptr_t)p[6][1];
	volatile int *mutex = (volatile int *)((uintptr_t)top - 96);

	shared->said = mallinfo2();
	(*top)[1] = 0x4141414141414140;
	*mutex = 1;
	stay();
}

static void *busy(void *arg)
{
	churn(1);
	pthread_barrier_wait(&there);
	for (unsigned i = (unsigned)(uintptr_t)arg; ; i++)
		churn(i);
	return NULL;
}

static void busy_child(void)
{
	pthread_t thread[2];

	mallopt(M_ARENA_MAX, 2);
	pthread_barrier_init(&there, NULL, NR(thread) + 1);
	for (uintptr_t i = 0; i < NR(thread); i++)
		if (pthread_create(&thread[i], NULL, busy, (void *)i))
			_exit(2);
	pthread_barrier_wait(&there);
	stay();
}

/* ---- the parent ---- */

static pid_t begin(void (*child)(void))
{
	pid_t pid;

	needs_glibc();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child();
		_exit(1);
	}
	while (!shared->ready) {
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(shared, sizeof(*shared));
}

static struct heap *heap_of(const char *path)
{
	struct heap *h = heap_new();

	free(h->allocator.path);
	h->allocator.path = strdup(path);
	return h;
}

static struct heap_allocator ask(pid_t pid, const char *path)
{
	struct heap *h = heap_of(path);
	struct heap_allocator a;

	assert_true(figures_read(pid, 7, FIGURES_MAX_CHUNKS, h) >= 0);
	a = h->allocator;
	a.path = NULL;
	heap_free(h);
	return a;
}

#define LIBC	"/lib/x86_64-linux-gnu/libc.so.6"

static void check_equal(const struct heap_allocator *a, const struct mallinfo2 *m)
{
	assert_true(a->valid && a->outside);
	assert_int_equal(a->taken_ns, 7);
	assert_int_equal(a->arena_bytes, m->arena);
	assert_int_equal(a->used_bytes, m->uordblks);
	assert_int_equal(a->free_bytes, m->fordblks);
	assert_int_equal(a->free_chunks, m->ordblks);
	assert_int_equal(a->fast_chunks, m->smblks);
	assert_int_equal(a->fast_bytes, m->fsmblks);
	assert_int_equal(a->mmapped_chunks, m->hblks);
	assert_int_equal(a->mmapped_bytes, m->hblkhd);
	assert_int_equal(a->top_bytes, m->keepcost);
}

static struct heap_allocator run(void (*child)(void))
{
	pid_t pid = begin(child);
	struct heap_allocator a = ask(pid, LIBC);

	if (shared->said.arena) {
		check_equal(&a, &shared->said);
		assert_true(a.nr_arenas > 0);
	}
	end(pid);
	return a;
}

static void as_mallinfo2(void **state)
{
	(void)state;
	for (child_seed = 1; child_seed <= 12; child_seed++) {
		struct heap_allocator a = run(churned_child);

		assert_int_equal(a.why, HEAP_FIGURES_KNOWN);
		assert_int_equal(a.nr_arenas, 1);
		assert_true(a.free_chunks > 20);
		assert_true(a.fast_chunks > 0);
	}
}

static void several_arenas(void **state)
{
	struct heap_allocator a = run(threads_child);

	(void)state;
	assert_int_equal(a.why, HEAP_FIGURES_KNOWN);
	assert_int_equal(a.nr_arenas, 6);
}

static void mapped_chunks(void **state)
{
	struct heap_allocator a = run(mapped_child);

	(void)state;
	assert_int_equal(a.why, HEAP_FIGURES_KNOWN);
	assert_int_equal(a.mmapped_chunks, 2);
	assert_int_equal(a.mmapped_bytes, (1 << 20) + 4096 + (1 << 20) + 28672);
}

static void break_refused(void **state)
{
	struct heap_allocator a = run(no_break_child);

	(void)state;
	assert_int_equal(a.why, HEAP_FIGURES_KNOWN);
}

static void written_over(void **state)
{
	static void (*const child[])(void) = { circle_child, skip_child, garbage_size_child,
					       garbage_link_child, fast_circle_child };

	(void)state;
	for (unsigned i = 0; i < NR(child); i++) {
		struct heap_allocator a = run(child[i]);

		assert_false(a.valid);
		assert_int_equal(a.why, HEAP_FIGURES_SENSELESS);
		assert_int_equal(a.arena_bytes, 0);
	}
}

/* A circle is no reason to say that there are many chunks. */
static void circle_is_no_crowd(void **state)
{
	pid_t pid = begin(fast_circle_child);
	struct heap *h = heap_of(LIBC);

	(void)state;
	assert_int_equal(figures_read(pid, 7, 2000, h), HEAP_FIGURES_SENSELESS);
	heap_free(h);
	end(pid);
}

static void locked(void **state)
{
	struct heap_allocator a = run(locked_child);
	pid_t pid;

	(void)state;
	assert_int_equal(a.why, HEAP_FIGURES_CHANGED);
	pid = begin(locked_at_top_child);
	a = ask(pid, LIBC);
	assert_int_equal(a.why, HEAP_FIGURES_BUSY);
	assert_true(a.valid);
	assert_int_equal(a.arena_bytes, shared->said.arena);
	assert_int_equal(a.used_bytes + a.free_bytes, 0);
	end(pid);
}

/* Whatever is said of a process that changes its heap all the time adds up. */
static void busy_process(void **state)
{
	pid_t pid = begin(busy_child);
	unsigned counted = 0;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct heap_allocator a = ask(pid, LIBC);

		if (!a.valid || a.why > HEAP_FIGURES_MANY)
			fail_msg("question %u: not valid, reason %u", i, a.why);
		assert_int_equal(a.nr_arenas, 2);
		assert_true(a.arena_bytes > 0 && !(a.arena_bytes & 4095));
		if (!heap_figures_counted(&a)) {
			assert_int_equal(a.used_bytes + a.free_bytes + a.free_chunks, 0);
			continue;
		}
		counted++;
		assert_int_equal(a.used_bytes + a.free_bytes, a.arena_bytes);
		assert_true(a.free_bytes >= a.top_bytes + a.fast_bytes);
	}
	print_message("%u of 200 counted\n", counted);
	assert_true(counted > 0);
	end(pid);
}

/* No more chunks are counted than are asked for; what needs no counting is known. */
static void many_chunks(void **state)
{
	pid_t pid;
	struct heap *h;

	(void)state;
	child_seed = 1;
	pid = begin(churned_child);
	h = heap_of(LIBC);
	assert_int_equal(
		figures_read(pid, 7, (unsigned)(shared->said.ordblks + shared->said.smblks), h),
		HEAP_FIGURES_KNOWN);
	check_equal(&h->allocator, &shared->said);
	assert_int_equal(
		figures_read(pid, 7, (unsigned)(shared->said.ordblks + shared->said.smblks - 1), h),
		HEAP_FIGURES_MANY);
	assert_true(h->allocator.valid && h->allocator.why == HEAP_FIGURES_MANY);
	assert_int_equal(h->allocator.arena_bytes, shared->said.arena);
	assert_int_equal(h->allocator.mmapped_bytes, shared->said.hblkhd);
	assert_int_equal(h->allocator.top_bytes, shared->said.keepcost);
	assert_int_equal(h->allocator.used_bytes + h->allocator.free_bytes +
				 h->allocator.free_chunks + h->allocator.fast_chunks,
			 0);
	heap_free(h);
	end(pid);
}

static void other_allocators(void **state)
{
	pid_t pid = begin(mapped_child);
	struct heap_allocator a = ask(pid, "/usr/lib/libjemalloc.so.2");

	(void)state;
	assert_false(a.valid);
	assert_int_equal(a.why, HEAP_FIGURES_OTHER);
	a = ask(pid, "/lib/ld-musl-x86_64.so.1");
	assert_int_equal(a.why, HEAP_FIGURES_OTHER);
	a = ask(pid, "/lib/libc-2.31.so");	/* which is not there */
	assert_int_equal(a.why, HEAP_FIGURES_SHAPE);
	a = ask(pid, "");
	assert_true(a.valid);
	end(pid);
}

static void what_was_there_stays(void **state)
{
	struct heap *h = heap_of("/usr/lib/libjemalloc.so.2");

	(void)state;
	h->allocator.valid = true;
	h->allocator.used_bytes = 42;
	h->allocator.taken_ns = 3;
	assert_int_equal(figures_read(getpid(), 7, FIGURES_MAX_CHUNKS, h), HEAP_FIGURES_OTHER);
	assert_true(h->allocator.valid);
	assert_int_equal(h->allocator.used_bytes, 42);
	assert_int_equal(h->allocator.taken_ns, 3);
	assert_int_equal(h->allocator.why, HEAP_FIGURES_KNOWN);
	heap_free(h);
}

/* As another user. */
static void not_allowed(void **state)
{
	pid_t pid, asker;
	int status;

	(void)state;
	if (geteuid())
		skip();
	pid = begin(mapped_child);
	asker = fork();
	if (!asker) {
		struct heap *h = heap_of(LIBC);
		int rc = setuid(65533) ? -1 : figures_read(pid, 7, FIGURES_MAX_CHUNKS, h);

		_exit(rc == HEAP_FIGURES_DENIED && !h->allocator.valid &&
				      h->allocator.why == HEAP_FIGURES_DENIED
			      ? 0
			      : 1);
	}
	waitpid(asker, &status, 0);
	assert_int_equal(status, 0);
	end(pid);
}

static void ended(void **state)
{
	pid_t pid = fork();
	struct heap_allocator a;

	(void)state;
	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	a = ask(pid, LIBC);		/* a zombie */
	assert_int_equal(a.why, HEAP_FIGURES_GONE);
	waitpid(pid, NULL, 0);
	a = ask(pid, LIBC);
	assert_false(a.valid);
	assert_int_equal(a.why, HEAP_FIGURES_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_mallinfo2),
		cmocka_unit_test(several_arenas),
		cmocka_unit_test(mapped_chunks),
		cmocka_unit_test(break_refused),
		cmocka_unit_test(written_over),
		cmocka_unit_test(circle_is_no_crowd),
		cmocka_unit_test(locked),
		cmocka_unit_test(busy_process),
		cmocka_unit_test(many_chunks),
		cmocka_unit_test(other_allocators),
		cmocka_unit_test(what_was_there_stays),
		cmocka_unit_test(not_allowed),
		cmocka_unit_test(ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
