/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread seized and stopped, as part of stopping several.
 *
 * Stops seen on the way (ptrace(2)):
 *
 *     PTRACE_EVENT_STOP  what PTRACE_INTERRUPT leads to, also in a process that is stopped by
 *                        SIGSTOP: done. On its way back to user mode, before signals are looked at
 *                        and before an interrupted system call starts again. One of what it has
 *                        executed itself, a fault, may be pending then: that is delivered first,
 *                        for it is about the instruction that the thread is at
 *     a signal           let it be delivered and interrupt again: it stops at the handler's first
 *                        instruction
 *     PTRACE_EVENT_EXIT  let it end
 *     PTRACE_EVENT_EXEC  everything known of the process is void
 */
#include "src/ptrace/seize.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "arch/stop_arch.h"
#include "src/base/nanotime.h"
#include "src/base/vec.h"
#include "src/ptrace/leash.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"
#include "src/ptrace/tracer.h"

#define SEIZE_TRIES	8
/* for threads to stop that are too late, on a machine too busy for them */
#define LATE_NS		10000000000ull
#define SOON_NS		20000000u	/* ... where none of them can be interrupted now */
#define POLL_NS		300000
/* between looks whether a thread still waits for a processor */
#define LOOK_NS		20000000u
#define PF_IO_WORKER	0x10u		/* linux/sched.h: of field 9 of stat */
#define PF_USER_WORKER	0x4000u

static int regs(int request, struct stop_thread *thread)
{
	return tracer_regset(request, thread->tid, NT_PRSTATUS, &thread->regs,
			     sizeof(thread->regs));
}

static int add_thread(struct seizing *sz, pid_t tid)
{
	struct stopped *s = sz->s;
	struct stop_thread *v = vec_grow(s->v, &sz->room, s->nr + 1, sizeof(*v));

	if (!v || tracer_watch(sz->s->tracer, sz->s->pid, tid))
		return -ENOMEM;
	s->v = v;
	s->v[s->nr++] = (struct stop_thread){ .tid = tid };
	return 0;
}

int seize_began_another(struct seizing *sz)
{
	err_set(sz->e, -EAGAIN, "process %d has just begun another program (exec)",
		(int)sz->s->pid);
	err_hint(sz->e, "try again");
	return -EAGAIN;
}

static int cannot_seize(struct seizing *sz, pid_t tid, pid_t tracer, int rc)
{
	struct err *e = sz->e;

	if (tracer == getpid())	/* seized under the number that it had before exec */
		return seize_began_another(sz);
	if (tracer) {
		err_set(e, -EBUSY, "thread %d of process %d is being traced by process %d",
			(int)tid, (int)sz->s->pid, (int)tracer);
		err_hint(e, "the kernel allows one tracer at a time: let that one detach first");
		return -EBUSY;
	}
	err_set(e, rc, "thread %d of process %d cannot be traced: %s", (int)tid, (int)sz->s->pid,
		strerror(-rc));
	err_hint(e, "run pmm as root");
	return rc;
}

/*
 * Has it ended, or is it one of the kernel's (io_uring), which some kernels do not let be traced
 * and which run none of the program's code?
 */
static bool nothing_to_stop(pid_t pid, pid_t tid)
{
	uint64_t flags = 0;

	return task_ended(pid, tid) ||
	       (!task_stat(pid, tid, 9, &flags) && flags & (PF_IO_WORKER | PF_USER_WORKER));
}

/*
 * The dead are refused with EPERM, too, also a first thread whose place the thread that calls exec
 * is just about to take, and one that is traced: when no process traces it, its tracer may have let
 * go of it since.
 */
int seize(struct seizing *sz, pid_t tid)
{
	pid_t tracer = 0;
	int rc, tries = 0;

	do {
		rc = (int)tracer_ptrace(PTRACE_SEIZE, tid, 0, SEIZE_OPTIONS);
		tracer = rc == -EPERM ? task_tracer(sz->s->pid, tid) : 0;
	} while (rc == -EPERM && !tracer && ++tries < SEIZE_TRIES && !task_ended(sz->s->pid, tid));
	if (rc == -ESRCH || (rc == -EPERM && nothing_to_stop(sz->s->pid, tid)))
		return 0;
	if (rc)
		return cannot_seize(sz, tid, tracer, rc);
	rc = add_thread(sz, tid);
	if (!rc)
		rc = (int)tracer_ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	return rc == -ESRCH || !rc ? 1 : rc;
}

static int does_not_stop(struct seizing *sz, pid_t tid)
{
	char comm[PROC_COMM_BYTES] = "?", where[64];
	char state = task_sleeps_in(sz->s->pid, tid, where, sizeof(where));

	proc_thread_comm(sz->s->pid, tid, comm);
	err_set(sz->e, -ETIMEDOUT, "thread %d ('%s') of process %d does not stop (state %c%s%s)",
		(int)tid, comm, (int)sz->s->pid, state, where[0] ? ", in " : "", where);
	if (state == 'D')
		err_hint(sz->e, "it waits in the kernel for something that cannot be interrupted, "
				"such as a disk or a child made by vfork; "
				"try again");
	else
		err_hint(sz->e, "the machine is too busy for it to stop in time; try again");
	return -ETIMEDOUT;
}

/*
 * Is a signal pending that the processor raises? The kernel stops a thread before it looks for one
 * (get_signal()). Borrowed like that, the thread would get it in the middle of what it is made to
 * do. That anything is pending is rare, and cheaper to find out than what.
 */
static bool fault_pending(pid_t pid, pid_t tid)
{
	struct __ptrace_peeksiginfo_args first = { .nr = 1 };
	uint64_t pending, blocked;
	siginfo_t info;

	return tracer_ptrace(PTRACE_PEEKSIGINFO, tid, (uintptr_t)&first, (uintptr_t)&info) > 0 &&
	       !task_status(pid, tid, "SigPnd", 16, &pending) &&
	       !task_status(pid, tid, "SigBlk", 16, &blocked) && pending & ~blocked & ~leash_mask();
}

/*
 * Does it stop as soon as it gets a processor, which is all that it waits for? Then it is waited
 * for a bit longer.
 */
static bool is_on_its_way(struct seizing *sz, pid_t tid)
{
	const uint64_t now_ns = nanotime();
	char where[64];

	if (now_ns >= sz->latest_ns || task_sleeps_in(sz->s->pid, tid, where, sizeof(where)) == 'D')
		return false;
	tracer_deadline(sz->s->tracer, now_ns + LOOK_NS);
	return true;
}

/* Read its registers; make a call that fails when stopped one that begins again. 0, -errno. */
static int look_at(struct stop_thread *thread)
{
	int rc = regs(PTRACE_GETREGSET, thread);

	if (!rc && arch_restart_unless_handled(&thread->regs))
		rc = regs(PTRACE_SETREGSET, thread);
	if (rc == -ESRCH)
		thread->ended = true;
	return rc == -ESRCH ? 0 : rc;
}

int seize_wait(struct seizing *sz, struct stop_thread *thread)
{
	for (;;) {
		int status = tracer_wait(sz->s->tracer, thread->tid);

		if (status == -ETIMEDOUT && is_on_its_way(sz, thread->tid))
			continue;
		if (status == -ETIMEDOUT)
			return does_not_stop(sz, thread->tid);
		if (status < 0) {
			thread->ended = true;
			return 0;
		}
		switch (TRACER_EVENT(status)) {
		case PTRACE_EVENT_STOP:
			if (!fault_pending(sz->s->pid, thread->tid))
				return look_at(thread);
			/* uninterrupted: the signal is next */
			tracer_ptrace(PTRACE_CONT, thread->tid, 0, 0);
			continue;
		case PTRACE_EVENT_EXIT:
			thread->ended = true;
			tracer_ptrace(PTRACE_DETACH, thread->tid, 0, 0);
			return 0;
		case PTRACE_EVENT_EXEC:
			return seize_began_another(sz);
		}
		/*
		 * A signal; interrupt first, for a stop of any kind uses up an earlier interrupt.
		 */
		tracer_ptrace(PTRACE_INTERRUPT, thread->tid, 0, 0);
		tracer_ptrace(PTRACE_CONT, thread->tid, 0,
			      TRACER_EVENT(status) ? 0 : (uint64_t)status);
	}
}

/* Let go of a thread if it has stopped. False while it has not. */
static bool let_go(struct stop_thread *thread)
{
	int status = tracer_peek(thread->tid);

	if (status == -EAGAIN)
		return false;
	if (status >= 0 && TRACER_EVENT(status) == PTRACE_EVENT_STOP)
		look_at(thread);
	if (status >= 0)
		tracer_ptrace(PTRACE_DETACH, thread->tid, 0,
			      TRACER_EVENT(status) ? 0 : (uint64_t)status);
	thread->ended = true;
	return true;
}

/*
 * A thread that is not scheduled for a while does stop in the end; one that cannot be
 * interrupted is not worth waiting for.
 */
void seize_let_go(struct seizing *sz)
{
	const uint64_t begin_ns = nanotime();
	struct stopped *s = sz->s;
	uint64_t wait_ns;
	char where[64];

	for (size_t i = 0; i < sz->nr_looked_at; i++)
		if (!s->v[i].ended)
			tracer_ptrace(PTRACE_DETACH, s->v[i].tid, 0, 0);
	do {
		wait_ns = 0;
		for (size_t i = sz->nr_looked_at; i < s->nr; i++) {
			struct stop_thread *thread = &s->v[i];

			if (thread->ended || let_go(thread) || wait_ns == LATE_NS)
				continue;
			wait_ns = task_sleeps_in(s->pid, thread->tid, where, sizeof(where)) == 'D'
					  ? SOON_NS
					  : LATE_NS;
		}
		if (wait_ns)
			nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
	} while (nanotime() - begin_ns < wait_ns);
	s->nr = 0;
}
