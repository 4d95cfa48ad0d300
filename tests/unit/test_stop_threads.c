/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of another process stopped, asked, copied and let go: they stand still meanwhile, and go
 * on afterwards as if nothing had been. Of src/ptrace/stop.c, seize.c, altstack.c, remote.c,
 * divert.c, leash.c, gadget.c, process_copy.c, process_copy_read.c, copy.c, apart.c, room.c,
 * task.c.
 */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/ptrace/altstack.h"
#include "src/ptrace/gadget.h"
#include "src/ptrace/remote.h"
#include "src/ptrace/process_copy.h"
#include "src/ptrace/stop.h"
#include "src/proc/task.h"

#define THREADS	4
#define WAIT_NS	20000000000ull
#define STACK_BYTES 65536u
#ifdef SANITIZED
#define NR_STACKS THREADS	/* it gives every thread one */
#else
#define NR_STACKS 2
#endif

/* What the victim and we share. */
struct shared {
	volatile uint64_t count[THREADS];
	volatile uint32_t ready, signals, odd;
	pid_t tid[THREADS];
	void *stack[THREADS];		/* alternate signal stacks, NULL = none */
	/* memory of the victim's own, which each round fills with its number */
	volatile uint64_t *private;
};

static struct shared *shared;
static pid_t victim;

static void on_signal(int number)
{
	(void)number;
	__atomic_fetch_add(&shared->signals, 1, __ATOMIC_SEQ_CST);
}

static void *counts(void *arg)
{
	const unsigned nr = (unsigned)(uintptr_t)arg;

	shared->tid[nr] = (pid_t)syscall(SYS_gettid);
	if (nr % 2) {
		shared->stack[nr] = malloc(STACK_BYTES);
		if (sigaltstack(&(stack_t){ .ss_sp = shared->stack[nr], .ss_size = STACK_BYTES },
				NULL))
			_exit(2);
	}
	__atomic_fetch_add(&shared->ready, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		shared->count[nr]++;
		if (nr == 1)
			sched_yield();
		if (nr == 2)		/* in a call most of the time */
			usleep(500);
		if (nr == 3 && (getpid() != victim && victim))
			shared->odd = 1;
	}
}

static void be_victim(void)
{
	volatile uint64_t *own = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	victim = getpid();
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART },
		  NULL);
	shared->private = own;
	for (uintptr_t i = 1; i < THREADS; i++)
		if (pthread_create(&t, NULL, counts, (void *)i))
			_exit(2);
	shared->tid[0] = getpid();
	__atomic_fetch_add(&shared->ready, 1, __ATOMIC_SEQ_CST);
	for (uint64_t round = 1;; round++) {
		for (size_t i = 0; i < 16 * 512; i++)
			own[i] = round;
		shared->count[0] = round;
	}
}

static bool may_stop(void)
{
	struct stopped one;

	if (stop_one(victim, WAIT_NS, &one, NULL))
		return false;
	stop_resume(&one);
	return true;
}

static int begin(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	victim = fork();
	if (!victim)
		be_victim();
	while (__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST) < THREADS || !shared->count[0])
		usleep(1000);
	if (!may_stop()) {
		print_message("processes cannot be traced here\n");
		kill(victim, SIGKILL);
		waitpid(victim, NULL, 0);
		skip();
	}
	return shared == MAP_FAILED;
}

static int end(void **state)
{
	int status = 0;

	(void)state;
	assert_int_equal(shared->odd, 0);
	assert_int_equal(waitpid(victim, &status, WNOHANG), 0);	/* it lives */
	kill(victim, SIGKILL);
	waitpid(victim, &status, 0);
	return munmap(shared, sizeof(*shared));
}

static void counts_are(uint64_t to[THREADS])
{
	for (unsigned i = 0; i < THREADS; i++)
		to[i] = shared->count[i];
}

static void all_go_on(void)
{
	uint64_t before[THREADS];

	counts_are(before);
	for (unsigned i = 0; i < THREADS; i++)
		for (unsigned ms = 0; shared->count[i] == before[i]; ms++) {
			assert_true(ms < 20000);
			usleep(1000);
		}
}

static const struct stop_thread *thread_of(const struct stopped *s, pid_t tid)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].tid == tid)
			return &s->v[i];
	return NULL;
}

/* ---- stopped --------------------------------------------------------------------------------- */

static void all_stand_still(void **state)
{
	uint64_t before[THREADS], after[THREADS];
	struct stopped s;

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		assert_int_equal(stop_all(victim, WAIT_NS, &s, NULL), 0);
		assert_int_equal(s.pid, victim);
		assert_int_equal(s.nr, THREADS);
		for (unsigned i = 0; i < THREADS; i++) {
			const struct stop_thread *t = thread_of(&s, shared->tid[i]);

			assert_non_null(t);
			assert_false(t->ended);
			assert_int_not_equal(t->regs.rip, 0);
			assert_int_not_equal(t->regs.rsp, 0);
		}
		counts_are(before);
		kill(victim, SIGUSR1);			/* meanwhile: it comes afterwards */
		usleep(5000);
		counts_are(after);
		assert_memory_equal(before, after, sizeof(before));
		assert_int_equal(shared->signals, round);
		assert_true(stop_resume(&s) >= 5000000);
		assert_int_equal(stop_resume(&s), 0);
		all_go_on();
		for (unsigned ms = 0; shared->signals != round + 1; ms++) {
			assert_true(ms < 20000);
			usleep(1000);
		}
	}
}

static void only_one_stands_still(void **state)
{
	struct stopped s;
	uint64_t before;

	(void)state;
	assert_int_equal(stop_this(victim, shared->tid[1], WAIT_NS, &s, NULL), 0);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.v[0].tid, shared->tid[1]);
	before = shared->count[1];
	for (unsigned ms = 0, from = (unsigned)shared->count[0];
	     (unsigned)shared->count[0] == from && ms < 20000; ms++)
		usleep(1000);
	assert_int_equal(shared->count[1], before);
	stop_resume(&s);
	all_go_on();
	assert_int_equal(stop_one(victim, WAIT_NS, &s, NULL), 0);
	assert_int_equal(s.nr, 1);
	stop_resume(&s);
	all_go_on();
	assert_true(stop_this(victim, 0x7ffffff0, WAIT_NS, &s, NULL) < 0);
}

static void memory_is_that_of_the_moment(void **state)
{
	uint64_t word[512], round;
	struct stopped s;

	(void)state;
	assert_int_equal(stop_all(victim, WAIT_NS, &s, NULL), 0);
	round = shared->count[0];
	assert_int_equal(stop_read(victim, (uint64_t)shared->private, word, sizeof(word)), 0);
	/* it fills that with the next number just now */
	for (unsigned i = 0; i < 512; i++)
		assert_true(word[i] == round || word[i] == round + 1);
	stop_resume(&s);
}

/* ---- made to work ---------------------------------------------------------------------------- */

static void calls_are_made_in_it(void **state)
{
	struct remote *r = NULL;
	struct stopped s;
	int64_t result;

	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		size_t at = 0;

		assert_int_equal(stop_all(victim, WAIT_NS, &s, NULL), 0);
		while (s.v[at].tid != shared->tid[i])
			at++;
		assert_true(remote_rank(&s.v[at]) <= 100);
		if (!remote_open(&s, at, &r, NULL)) {
			assert_int_equal(remote_syscall(r, SYS_getpid, (const uint64_t[6]){ 0 },
							&result, NULL),
					 0);
			assert_int_equal(result, victim);
			assert_int_equal(remote_syscall(r, SYS_gettid, (const uint64_t[6]){ 0 },
							&result, NULL),
					 0);
			assert_int_equal(result, shared->tid[i]);
			assert_int_equal(remote_syscall(r, SYS_close, (const uint64_t[6]){ 9999 },
							&result, NULL),
					 0);
			assert_int_equal(result, -EBADF);
			assert_int_equal(remote_scratch(r) % 8, 0);
		}
		remote_close(r);
		stop_resume(&s);
		all_go_on();
		r = NULL;
	}
}

static bool has_stack(const struct altstacks *a, unsigned thread)
{
	for (size_t i = 0; i < a->v.nr; i++)
		if (a->v.v[i].tid == shared->tid[thread]) {
			assert_int_equal(a->v.v[i].start, (uint64_t)shared->stack[thread]);
			assert_int_equal(a->v.v[i].bytes, STACK_BYTES);
			return true;
		}
	return false;
}

static void signal_stacks_are_asked_for(void **state)
{
	struct altstacks a = { 0 };
	struct gadget g;
	struct stopped s;
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(gadget_find(victim, &g, NULL), 0);
	assert_true(gadget_there(victim, &g));
	assert_int_equal(stop_all(victim, WAIT_NS, &s, NULL), 0);
	assert_int_equal(altstacks_stopped(&s, &g, &a), 0);
	assert_null(s.gadget);
	stop_resume(&s);
	assert_true(has_stack(&a, 1) && has_stack(&a, 3));
	assert_int_equal(a.v.nr, NR_STACKS);
	assert_int_equal(a.nr_silent, 0);
	vec_fini(&a.v);
	a = (struct altstacks){ 0 };
	/* one that does not run in time is silent, and asked again */
	for (unsigned i = 0, silent = 0; i < THREADS; i++) {
		assert_int_equal(altstacks_running(victim, shared->tid[i], &g, &a, &ns), 0);
		if (a.nr_silent && silent++ < 100)
			a.nr_silent = 0, i--;
	}
	assert_int_equal(a.nr_silent, 0);
	assert_true(has_stack(&a, 1) && has_stack(&a, 3));
	assert_int_equal(a.v.nr, NR_STACKS);
	assert_true(ns > 0);
	vec_fini(&a.v);
	all_go_on();
}

/* ---- copied ---------------------------------------------------------------------------------- */

struct moment {
	uint64_t count;
	unsigned nr;
};

static int note_moment(void *arg, struct err *e)
{
	struct moment *m = arg;

	(void)e;
	m->count = shared->count[0];
	m->nr++;
	return 0;
}

static void check_moment(const struct process_copy *s, uint64_t count)
{
	static uint64_t word[16 * 512];

	assert_int_equal(process_copy_read(s, (uint64_t)shared->private, word, sizeof(word)),
			 sizeof(word));
	for (unsigned i = 0; i < 16 * 512; i++)
		if (word[i] != count && word[i] != count + 1)
			fail_msg("word %u is of round %lu, not %lu", i, (unsigned long)word[i],
				 (unsigned long)count);
	assert_true(word[0] >= word[16 * 512 - 1]);
}

static void a_copy_is_of_one_moment(void **state)
{
	(void)state;
	for (unsigned no_copy = 0; no_copy < 2; no_copy++) {
		struct moment m = { 0, 0 };
		struct process_copy_options o = { .no_copy = no_copy,
					      .stopped = note_moment,
					      .arg = &m };
		struct altstacks a = { 0 };
		struct err e = { 0 };
		struct process_copy s;
		uint64_t later;

		assert_int_equal(process_copy_take(victim, &o, &s, &e), 0);
		assert_int_equal(m.nr, 1);
		assert_int_equal(s.pid, victim);
		assert_int_equal(s.threads.nr, THREADS);
		if (no_copy)
			assert_int_equal(s.copy, 0);
		if (s.copy)
			all_go_on();
		later = shared->count[0];
		check_moment(&s, m.count);
		if (!s.copy)
			assert_int_equal(shared->count[0], later);
		assert_true(process_copy_intact(&s));
		assert_int_equal(process_copy_read(&s, 8, &later, 8), 0);
		assert_int_equal(process_copy_ask(&s, &a), 0);
		assert_true(has_stack(&a, 1) && has_stack(&a, 3));
		assert_int_equal(a.v.nr, NR_STACKS);
		assert_int_equal(a.nr_silent, 0);
		vec_fini(&a.v);
		check_moment(&s, m.count);
		assert_true(process_copy_free(&s) > 0);
		all_go_on();
		assert_int_equal(process_copy_reap_leftovers(victim), 0);
	}
}

/* Who gives up while all stand still has nothing. */
static int give_up(void *arg, struct err *e)
{
	(void)arg;
	return err_set(e, -ECANCELED, "not now");
}

static void who_gives_up_has_nothing(void **state)
{
	struct process_copy_options o = { .stopped = give_up };
	struct err e = { 0 };
	struct process_copy s;

	(void)state;
	assert_int_equal(process_copy_take(victim, &o, &s, &e), -ECANCELED);
	assert_string_equal(e.text, "not now");
	all_go_on();
	assert_int_equal(process_copy_reap_leftovers(victim), 0);
	assert_true(process_copy_take(0x7ffffff0, &o, &s, &e) < 0);
	assert_string_equal(e.text, "no process 2147483632");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(all_stand_still),
		TEST(only_one_stands_still),
		TEST(memory_is_that_of_the_moment),
		TEST(calls_are_made_in_it),
		TEST(signal_stacks_are_asked_for),
		TEST(a_copy_is_of_one_moment),
		TEST(who_gives_up_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
