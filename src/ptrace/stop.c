/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All threads of a process stopped, looked at and let go.
 *
 * Each pass over /proc/PID/task seizes and interrupts what is new and then waits for it; once a
 * pass finds nothing new, no thread is left that could make another one.
 */
#include "src/ptrace/stop.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "arch/stop_arch.h"
#include "src/base/hash.h"
#include "src/base/nanotime.h"
#include "src/ptrace/divert.h"
#include "src/ptrace/seize.h"
#include "src/proc/task.h"
#include "src/ptrace/tracer.h"

#define ALL_WAIT_NS	15000000u	/* at first, for all threads */
/* for one thread, before another one or it again is tried */
#define ONE_WAIT_NS	200000000u
#define AGAIN_NS	2000000		/* between looking at all of them */
#define MAX_CHOICES	64
#define PMM_WAITS	500u		/* for another pmm to let go */
#define PMM_WAIT_NS	10000000u

struct stopping {
	struct seizing sz;
	struct stopped *s;
	struct err *e;
	pid_t tid;			/* stop this one, 0 = all */
	uint64_t deadline_ns;
	struct hash_map known;		/* thread -> index in s->v, plus 1; 0 = it has ended */
	struct task_list tasks;
};

/* Stop what is new. The number of new threads, or -errno. */
static int stop_pass(struct stopping *st)
{
	size_t first = st->s->nr;
	int rc = task_list(st->s->pid, &st->tasks);

	for (size_t i = 0; !rc && i < st->tasks.tids.nr; i++) {
		pid_t tid = st->tasks.tids.v[i];
		uint32_t *index = hash_add(&st->known, (uint64_t)tid, 0, NULL);

		if (!index)
			rc = -ENOMEM;
		else if (!*index || st->s->v[*index - 1].ended)
			rc = seize(&st->sz, tid);
		if (rc > 0) {
			*index = (uint32_t)st->s->nr;
			rc = 0;
		}
	}
	for (size_t i = first; !rc && i < st->s->nr; i++) {
		rc = seize_wait(&st->sz, &st->s->v[i]);
		st->sz.nr_looked_at += !rc;
	}
	return rc ? rc : (int)(st->s->nr - first);
}

static void forget_ended(struct stopped *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++)
		if (!s->v[i].ended)
			s->v[kept++] = s->v[i];
	s->nr = kept;
}

static int run_stop_all(void *arg)
{
	struct stopping *st = arg;
	bool late;
	int new;

	tracer_deadline(st->s->tracer, st->deadline_ns);
	st->s->begin_ns = nanotime();
	do {
		/* a pass that took long, on a busy machine, may yet have been the last one */
		late = nanotime() > st->deadline_ns;
		new = stop_pass(st);
		if (new > 0 && late)
			new = err_set(st->e, -ETIMEDOUT,
				      "process %d makes threads faster than they can be stopped",
				      (int)st->s->pid);
	} while (new > 0);
	if (new)
		seize_let_go(&st->sz);
	forget_ended(st->s);
	if ((new == -ESRCH || !new) && !st->s->nr && task_live(st->s->pid) > 0)
		return seize_began_another(&st->sz);
	if (new == -ESRCH || (!new && !st->s->nr))
		return err_set(st->e, -ESRCH, "process %d has ended", (int)st->s->pid);
	if (new == -ENOMEM)
		err_set(st->e, new, "out of memory");
	return new;
}

static int run_resume(void *arg)
{
	struct stopped *s = arg;

	for (size_t i = 0; i < s->nr; i++)
		if (!s->v[i].ended)
			tracer_ptrace(PTRACE_DETACH, s->v[i].tid, 0, 0);
	return 0;
}

struct set_regs {
	struct stopped *s;
	size_t i;
	const struct user_regs_struct *regs;
};

static int run_set_regs(void *arg)
{
	struct set_regs *set = arg;
	struct stop_thread *thread = &set->s->v[set->i];

	thread->regs = *set->regs;
	return thread->ended ? -ESRCH
			     : tracer_regset(PTRACE_SETREGSET, thread->tid, NT_PRSTATUS,
					     &thread->regs, sizeof(thread->regs));
}

int stop_set_regs(struct stopped *s, size_t i, const struct user_regs_struct *regs)
{
	return tracer_do(s->tracer, run_set_regs, &(struct set_regs){ s, i, regs });
}

static int run_calm_down(void *arg)
{
	hurry_end(arg);
	return 0;
}

/* The tracer's thread has inherited it. */
void stop_calm_down(struct stopped *s)
{
	if (s->hurry.on && s->tracer && s->tracer != tracer_here())
		tracer_do(s->tracer, run_calm_down, &s->hurry);
	hurry_end(&s->hurry);
	s->hurry.on = false;
}

uint64_t stop_resume_traced(struct stopped *s, struct tracer **tracer)
{
	uint64_t ns = 0;

	if (s->tracer) {
		tracer_do(s->tracer, run_resume, s);
		ns = nanotime() - s->begin_ns;
		tracer_forget(s->tracer);
	}
	stop_calm_down(s);
	free(s->v);
	*tracer = s->tracer;
	*s = (struct stopped){ .pid = s->pid };
	return ns;
}

uint64_t stop_resume(struct stopped *s)
{
	struct tracer *t;
	uint64_t ns = stop_resume_traced(s, &t);

	tracer_free(t);
	return ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Begin a tracing, do it, and on failure let everything go. */
static int stop_some(pid_t pid, pid_t tid, uint64_t timeout_ns, struct stopped *s,
		     int (*function)(void *), struct err *e)
{
	struct stopping st = { .sz = { .s = s, .e = e },
			       .s = s,
			       .e = e,
			       .tid = tid,
			       .deadline_ns = nanotime() + timeout_ns };
	int rc;

	*s = (struct stopped){ .pid = pid };
	s->tracer = tracer_here();
	if (s->tracer) {
		s->hurry = tracer_take_hurry(s->tracer);
		st.sz.latest_ns = st.deadline_ns;
		st.deadline_ns = nanotime() + least(timeout_ns, ALL_WAIT_NS);
	}
	if (!s->hurry.on)
		hurry_begin(&s->hurry);
	rc = s->tracer ? 0 : tracer_new(&s->tracer, e);
	if (!rc)
		rc = tracer_do(s->tracer, function, &st);
	hash_fini(&st.known);
	vec_fini(&st.tasks.tids);
	if (rc)
		stop_resume(s);
	return rc;
}

static void nap(uint64_t ns)
{
	nanosleep(&(struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) }, NULL);
}

/* Of the threads that are traced, is each by a pmm? Also when it has just let go. */
static bool held_by_pmm(pid_t pid)
{
	struct task_list tasks = { 0 };
	bool only = !task_list(pid, &tasks);

	for (size_t i = 0; only && i < tasks.tids.nr; i++) {
		pid_t tracer = task_tracer(pid, tasks.tids.v[i]);

		only = !tracer || (task_is_pmm(tracer) && tracer != getpid());
	}
	vec_fini(&tasks.tids);
	return only;
}

/*
 * Patience is counted in what was waited, not in the time that passed: a machine that stopped,
 * or us, uses up one attempt.
 *
 * A thread that does not stop, say one that waits for a child made by vfork, must not hold up all
 * others for long: they continue for a while between attempts that wait longer and longer.
 */
int stop_all(pid_t pid, uint64_t timeout_ns, struct stopped *s, struct err *e)
{
	uint64_t wait_ns = ALL_WAIT_NS, left_ns = timeout_ns;
	unsigned waits = 0;

	/* what does not stop goes free with this thread only: no further attempt */
	if (tracer_here())
		return stop_some(pid, 0, timeout_ns, s, run_stop_all, e);
	for (;; wait_ns += wait_ns / 2) {
		int rc = stop_some(pid, 0, least(wait_ns, left_ns), s, run_stop_all, e);

		for (; rc == -EBUSY && waits < PMM_WAITS && held_by_pmm(pid); waits++) {
			nap(PMM_WAIT_NS);
			rc = stop_some(pid, 0, least(wait_ns, left_ns), s, run_stop_all, e);
		}
		if (rc != -ETIMEDOUT || wait_ns >= left_ns)
			return rc;
		nap(wait_ns / 2);
		left_ns -= least(left_ns, wait_ns + wait_ns / 2);
	}
}

/* ---- one thread ----------------------------------------------------------------------------- */

struct choice {
	pid_t tid;
	unsigned rank;
};

static int by_rank(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->tid < y->tid ? -1 : 1;
}

/*
 * The threads to choose from, best first. Their number, which is 0 in the middle of an exec, or
 * -ESRCH.
 */
static int choose(pid_t pid, struct choice choice[MAX_CHOICES])
{
	struct task_list tasks = { 0 };
	int nr = 0;

	if (task_list(pid, &tasks))
		tasks.tids.nr = 0;
	for (size_t i = 0; i < tasks.tids.nr && nr < MAX_CHOICES; i++) {
		pid_t tid = tasks.tids.v[i];
		uint64_t args[6], sp;
		long call;

		if (task_ended(pid, tid))
			continue;
		call = task_syscall(pid, tid, args, &sp);
		choice[nr++] = (struct choice){
			tid, call == -1 ? ARCH_RANK_RUNNING : arch_rank_syscall(call, args)
		};
	}
	vec_fini(&tasks.tids);
	qsort(choice, (size_t)nr, sizeof(choice[0]), by_rank);
	return nr ? nr : task_live(pid) > 0 ? 0 : -ESRCH;
}

static int run_stop_this(void *arg)
{
	struct stopping *st = arg;
	int rc;

	tracer_deadline(st->s->tracer, st->deadline_ns);
	st->s->begin_ns = nanotime();
	rc = seize(&st->sz, st->tid);
	if (rc > 0)
		rc = seize_wait(&st->sz, &st->s->v[0]);
	if (rc) {
		seize_let_go(&st->sz);
		return rc;
	}
	st->sz.nr_looked_at = 1;
	if (!st->s->nr || st->s->v[0].ended)
		return err_set(st->e, -EAGAIN, "thread %d of process %d has ended", (int)st->tid,
			       (int)st->s->pid);
	return divert_check(st->s->pid, &st->s->v[0], NULL, st->e);
}

int stop_this(pid_t pid, pid_t tid, uint64_t timeout_ns, struct stopped *s, struct err *e)
{
	return stop_some(pid, tid, timeout_ns, s, run_stop_this, e);
}

/* Worth trying another thread, or this one later? */
static bool try_on(pid_t pid, int rc)
{
	return rc == -EAGAIN || rc == -ETIMEDOUT || (rc == -EBUSY && held_by_pmm(pid));
}

int stop_one(pid_t pid, uint64_t timeout_ns, struct stopped *s, struct err *e)
{
	const uint64_t wait_ns = least(timeout_ns, ONE_WAIT_NS);
	uint64_t left_ns = timeout_ns;
	struct choice choice[MAX_CHOICES];
	int rc;

	*s = (struct stopped){ .pid = pid };
	for (;;) {
		int nr = choose(pid, choice);

		if (nr < 0)
			return err_set(e, -ESRCH, "process %d has ended", (int)pid);
		for (int i = 0; i < nr; i++) {
			const uint64_t begin_ns = nanotime();

			rc = stop_some(pid, choice[i].tid, wait_ns, s, run_stop_this, e);
			left_ns -= least(left_ns, least(wait_ns, nanotime() - begin_ns));
			if (!rc || !try_on(pid, rc) || !left_ns)
				return rc;
		}
		if (!left_ns)
			return err_set(e, -EAGAIN,
				       "no thread of process %d can be stopped just now", (int)pid);
		nap(AGAIN_NS);
		left_ns -= least(left_ns, AGAIN_NS);
	}
}
