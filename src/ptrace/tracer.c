/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that traces.
 *
 * It sleeps in waitid() without polling; a timer's signal, directed to this thread alone,
 * interrupts that some hundred times a second so that deadlines are seen. The same signal lets
 * threads die and reaps them: PTRACE_SEIZE waits for an exec of the target that is under way
 * (cred_guard_mutex), which waits for its other threads to be reaped, which as their tracer only we
 * can do (ptrace(2), BUGS).
 *
 * So this is the one place below the commands that gives a signal of the process an action: nothing
 * but a handler ends the wait in PTRACE_SEIZE, and only in this very thread may PTRACE_DETACH be
 * called meanwhile. The signal is one that no other code handles; all other threads never get it.
 */
#include "src/ptrace/tracer.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/base/thread.h"
#include "src/base/vec.h"
#include "src/ptrace/hurry.h"
#include "src/proc/task.h"

#define TICK_SIGNAL	(SIGRTMAX - 3)
#define TICK_NS		5000000
#define STACK_BYTES	(1u << 20)	/* tracer_run(): a whole search */

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

struct tracer {
	pthread_t thread;
	sem_t asked, answered;
	int (*function)(void *);	/* NULL = end */
	void *arg;
	int result;
	/* tracer_run(): ticks, which interrupt system calls, only while tracing */
	bool whole;
	bool open;			/* ... which is now */
	struct hurry hurry;		/* the same; inherited */
	uint64_t deadline_ns;
	VEC(pid_t) watched;
	/* of these the one that is pmm's own child, whose status pmm waits for; 0 = none */
	pid_t child;
	atomic_size_t nr_watched;	/* of these the signal handler may look at */
};

static _Thread_local struct tracer *self;

/*
 * Look first: of a traced thread a wait reports, and uses up, stops as well, even when not asked
 * for (wait_task_stopped()).
 */
static void reap(pid_t tid)
{
	siginfo_t info = { 0 };

	if (self && tid == self->child)
		return;
	if (!waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) &&
	    info.si_pid == tid && info.si_code != CLD_TRAPPED)
		waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | __WALL);
}

/* Everything a dying thread waits for. */
static void let_die(pid_t tid)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) ||
	    !info.si_pid)
		return;
	if (info.si_code != CLD_TRAPPED)
		reap(tid);
	else if (TRACER_EVENT(info.si_status) == PTRACE_EVENT_EXIT)
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

static void on_tick(int number)
{
	int saved = errno;

	(void)number;
	if (self)
		for (size_t i = 0, nr = atomic_load(&self->nr_watched); i < nr; i++)
			let_die(self->watched.v[i]);
	errno = saved;
}

/* Its other threads have the same parent, and are nobody's to wait for but ours. */
int tracer_watch(struct tracer *t, pid_t pid, pid_t tid)
{
	uint64_t parent = 0;
	int rc;

	if (tid == pid && !task_stat(pid, tid, 4, &parent) && parent == (uint64_t)getpid())
		t->child = pid;
	atomic_store(&t->nr_watched, 0);	/* the array may move */
	rc = vec_push(&t->watched, tid);
	atomic_store(&t->nr_watched, t->watched.nr);
	return rc;
}

void tracer_forget(struct tracer *t)
{
	atomic_store(&t->nr_watched, 0);
	t->watched.nr = 0;
}

static void let_tick(int how)
{
	sigset_t tick;

	sigemptyset(&tick);
	sigaddset(&tick, TICK_SIGNAL);
	pthread_sigmask(how, &tick, NULL);
}

/* Have the handler called. False: the signal is in use by another part of the program. */
static bool take_signal(void)
{
	const struct sigaction tick = { .sa_handler = on_tick };	/* no SA_RESTART */
	struct sigaction now;

	if (sigaction(TICK_SIGNAL, NULL, &now))
		return false;
	if (now.sa_handler == on_tick)
		return true;
	return (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) &&
	       !sigaction(TICK_SIGNAL, &tick, NULL);
}

/* The timer; when there is none to be had, waits have no end. 0 or -errno. */
static int start_ticking(timer_t *timer)
{
	const struct itimerspec every = { .it_value.tv_nsec = TICK_NS,
					  .it_interval.tv_nsec = TICK_NS };
	struct sigevent to_me = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TICK_SIGNAL };

	to_me.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (!take_signal())
		return -EEXIST;
	if (timer_create(CLOCK_MONOTONIC, &to_me, timer))
		return -EAGAIN;
	timer_settime(*timer, 0, &every, NULL);
	return 0;
}

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

static void *serve(void *arg)
{
	struct tracer *t = arg;
	timer_t timer;
	bool ticking;

	self = t;
	t->result = start_ticking(&timer);
	ticking = !t->result;
	if (ticking && !t->whole)
		let_tick(SIG_UNBLOCK);
	sem_post(&t->answered);
	for (;;) {
		wait_for(&t->asked);
		if (!t->function)
			break;
		t->result = t->function(t->arg);
		sem_post(&t->answered);
	}
	if (ticking)
		timer_delete(timer);
	return NULL;
}

static int start(const struct tracer *with, struct tracer **out, struct err *e)
{
	struct tracer *t = malloc(sizeof(*t));
	int rc = t ? 0 : -ENOMEM;

	*out = NULL;
	if (t) {
		*t = *with;
		sem_init(&t->asked, 0, 0);
		sem_init(&t->answered, 0, 0);
		rc = thread_start(&t->thread, STACK_BYTES, serve, t);
	}
	if (rc) {
		free(t);
		return err_set(e, rc, "no thread to trace with: %s", strerror(-rc));
	}
	wait_for(&t->answered);
	if (t->result) {
		rc = t->result;
		tracer_free(t);
		if (rc == -EEXIST)
			return err_set(e, rc, "something else in pmm handles signal %d",
				       TICK_SIGNAL);
		return err_set(e, rc, "no timer to trace with: %s", strerror(-rc));
	}
	*out = t;
	return 0;
}

int tracer_new(struct tracer **out, struct err *e)
{
	return start(&(struct tracer){ .whole = false }, out, e);
}

void tracer_free(struct tracer *t)
{
	if (!t || t == self)
		return;
	t->function = NULL;
	sem_post(&t->asked);
	pthread_join(t->thread, NULL);
	sem_destroy(&t->asked);
	sem_destroy(&t->answered);
	vec_fini(&t->watched);
	free(t);
}

static int do_here(struct tracer *t, int (*function)(void *arg), void *arg)
{
	const bool begins = t->whole && !t->open;
	int result;

	if (begins)
		let_tick(SIG_UNBLOCK);
	t->open |= begins;
	result = function(arg);
	if (begins)
		let_tick(SIG_BLOCK);
	t->open &= !begins;
	return result;
}

int tracer_do(struct tracer *t, int (*function)(void *arg), void *arg)
{
	if (self == t)
		return do_here(t, function, arg);
	tracer_begin(t, function, arg);
	return tracer_await(t);
}

bool tracer_begin(struct tracer *t, int (*function)(void *arg), void *arg)
{
	if (self == t)
		return false;
	t->function = function;
	t->arg = arg;
	sem_post(&t->asked);
	return true;
}

int tracer_await(struct tracer *t)
{
	wait_for(&t->answered);
	return t->result;
}

int tracer_run(int (*function)(void *arg), void *arg, struct err *e)
{
	struct tracer with = { .whole = true }, *t;
	int rc;

	hurry_begin(&with.hurry);
	rc = start(&with, &t, e);
	if (!rc)
		rc = tracer_do(t, function, arg);
	tracer_free(t);
	hurry_end(&with.hurry);
	return rc;
}

struct tracer *tracer_here(void)
{
	return self && self->whole ? self : NULL;
}

struct hurry tracer_take_hurry(struct tracer *t)
{
	const struct hurry h = t->hurry;

	t->hurry.on = false;
	return h;
}

void tracer_deadline(struct tracer *t, uint64_t ns)
{
	t->deadline_ns = ns;
}

long tracer_ptrace(int request, pid_t tid, uint64_t address, uint64_t data)
{
	long result = ptrace(request, tid, (void *)(uintptr_t)address, (void *)(uintptr_t)data);

	return result < 0 ? -errno : result;
}

int tracer_regset(int request, pid_t tid, unsigned type, void *data, size_t bytes)
{
	struct iovec io = { data, bytes };

	return (int)tracer_ptrace(request, tid, type, (uintptr_t)&io);
}

/*
 * WNOWAIT: a wait that consumes the report would clear the signal with which the thread continues
 * if we die now (kernel/exit.c, wait_task_stopped).
 */
static int peek_state(pid_t tid, int options)
{
	siginfo_t info = { 0 };
	int rc = waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL | options)
			 ? -errno
			 : 0;

	if (!rc && !info.si_pid)
		return -EAGAIN;
	if (!rc && info.si_code == CLD_TRAPPED)
		return info.si_status;
	if (!rc)
		reap(tid);
	return rc == -EINTR ? rc : -ESRCH;
}

int tracer_peek(pid_t tid)
{
	return peek_state(tid, WNOHANG);
}

int tracer_wait(struct tracer *t, pid_t tid)
{
	for (;;) {
		int status = peek_state(tid, 0);

		if (status != -EINTR)
			return status;
		if (nanotime() < t->deadline_ns)
			continue;
		/* it may have stopped while we waited for a processor */
		status = tracer_peek(tid);
		return status == -EAGAIN ? -ETIMEDOUT : status;
	}
}
