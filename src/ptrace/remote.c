/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls and functions executed by a stopped thread of another process.
 *
 * Between any two calls the thread is in an event stop, on its way to user mode, with registers
 * that make it call rt_sigreturn on the frame below its stack: let go there, by us or by the kernel
 * when we die, it comes back to where it was. Made to do something, it has the address of
 * rt_sigreturn as its return address. The order of the requests in divert() and restore() matters:
 * signals are blocked only while the frame, which has the true mask, is on the way out.
 */
#include "src/ptrace/remote.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "arch/remote_arch.h"
#include "src/base/nanotime.h"
#include "src/ptrace/divert.h"
#include "src/ptrace/gadget.h"
#include "src/ptrace/leash.h"
#include "src/ptrace/seize.h"
#include "src/proc/task.h"
#include "src/ptrace/tracer.h"

#define WAIT_NS		10000000000u		/* for one system call */

struct remote {
	struct stopped *s;
	struct stop_thread *thread;	/* its regs are the true ones */
	struct leash leash;
	uint64_t low;			/* lowest address of its stack */
	struct gadget gadget;
	uint64_t mask;			/* of signals, the true one */
	uint64_t code;			/* page with arch_call_code, 0 = none yet */
	bool code_lent;			/* not ours to unmap */
	bool diverted;
	bool vectors_changed;
	struct arch_xstate vectors;	/* the true ones */
	struct arch_xstate fresh;
	struct arch_frame frame;
};

static struct user_regs_struct returning(const struct remote *r)
{
	struct user_regs_struct regs = r->thread->regs;

	arch_regs_return(&regs, r->gadget.syscall_ret, &r->frame);
	return regs;
}

static int set_vectors(struct remote *r, struct arch_xstate *x)
{
	return leash_regset(&r->leash, PTRACE_SETREGSET, ARCH_NT_XSTATE, x->image, x->nr);
}

static int come_back(struct remote *r, int rc)
{
	struct user_regs_struct regs = returning(r);

	return leash_back(&r->leash, &regs, rc);
}

static int explain(struct remote *r, int rc, const char *what, struct err *e)
{
	const char *why = rc == -ESRCH	     ? "it has ended"
			  : rc == -ETIMEDOUT ? "it takes too long"
			  : rc == -EFAULT    ? "it crashed"
					     : strerror(-rc);

	if (rc == -ESRCH) {
		r->thread->ended = true;
		if (task_live(r->s->pid) < 0)
			return err_set(e, rc, "process %d has ended", (int)r->s->pid);
		rc = -EAGAIN;
	}
	return err_set(e, rc, "thread %d of process %d could not be made to %s: %s",
		       (int)r->thread->tid, (int)r->s->pid, what, why);
}

/* ---- there and back ------------------------------------------------------------------------- */

static int save(struct remote *r)
{
	struct iovec io = { r->vectors.image, ARCH_XSTATE_BYTES };
	int rc = leash_request(&r->leash, PTRACE_GETSIGMASK, sizeof(r->mask), (uintptr_t)&r->mask);

	if (!rc)
		rc = leash_request(&r->leash, PTRACE_GETREGSET, ARCH_NT_XSTATE, (uintptr_t)&io);
	r->vectors.nr = io.iov_len;
	return !rc && io.iov_len < ARCH_XSTATE_MIN ? -ENOTSUP : rc;
}

static int divert(struct remote *r)
{
	struct user_regs_struct regs;
	int rc = stop_write(r->s->pid, r->frame.address, r->frame.bytes, r->frame.nr);

	if (rc)
		return rc;
	regs = returning(r);
	rc = leash_set_regs(&r->leash, &regs);
	r->diverted = !rc;
	return rc ? rc : leash_set_mask(&r->leash, leash_mask());
}

static void restore(struct remote *r)
{
	if (r->vectors_changed)
		set_vectors(r, &r->vectors);
	leash_set_mask(&r->leash, r->mask);
	leash_set_regs(&r->leash, &r->thread->regs);
	r->diverted = false;
}

static bool shadow_stack(struct remote *r)
{
	uint64_t ssp = 0;

	return !leash_regset(&r->leash, PTRACE_GETREGSET, ARCH_NT_SHSTK, &ssp, sizeof(ssp));
}

struct job {
	struct remote *r;
	struct err *e;
	long nr;
	const uint64_t *args;
	int64_t *result;
	uint64_t function, arg, stack_end, timeout_ns;
};

/* The instructions; not found may mean that the process is not the one any more that it was. */
static int find_gadget(struct remote *r, struct err *e)
{
	struct user_regs_struct regs;
	int rc;

	if (r->s->gadget && gadget_there(r->s->pid, r->s->gadget)) {
		r->gadget = *r->s->gadget;
		return 0;
	}
	rc = gadget_find(r->s->pid, &r->gadget, e);
	if (rc && leash_get_regs(&r->leash, &regs) == -ESRCH)
		rc = -ESRCH;
	return rc;
}

/*
 * The frame by which the thread comes back should we be killed. -EAGAIN when the stack has no room
 * for it.
 */
static int make_frame(struct remote *r, struct err *e)
{
	struct user_regs_struct back = r->thread->regs;
	uint64_t way[ARCH_WAY_WORDS];
	uint8_t code[ARCH_CALL_BYTES + ARCH_NEXT_BYTES];
	unsigned nr;

	if (!stop_read(r->s->pid, arch_pc(&back) - ARCH_CALL_BYTES, code, sizeof(code)))
		arch_name_restarted(&back, code);
	nr = gadget_way(&r->gadget, way);
	arch_frame(&back, r->mask, &r->vectors, way, nr, &r->frame);
	if (r->frame.address < r->low + ARCH_RED_ZONE)
		return err_set(e, -EAGAIN, "thread %d of process %d has used up its stack",
			       (int)r->thread->tid, (int)r->s->pid);
	return 0;
}

static int run_open(void *arg)
{
	struct job *job = arg;
	struct remote *r = job->r;
	int rc = r->thread->ended ? -ESRCH : find_gadget(r, job->e);

	if (!rc)
		rc = divert_check(r->s->pid, r->thread, &r->low, job->e);
	if (rc)
		return rc == -ESRCH ? explain(r, rc, "work for pmm", job->e) : rc;
	if (shadow_stack(r))
		return err_set(job->e, -ENOTSUP,
			       "process %d has its return addresses guarded (shadow stack)",
			       (int)r->s->pid);
	rc = save(r);
	if (rc)
		return explain(r, rc, "work for pmm", job->e);
	rc = make_frame(r, job->e);
	if (rc)
		return rc;
	rc = divert(r);
	if (!rc)
		return 0;
	restore(r);
	return explain(r, rc, "work for pmm", job->e);
}

unsigned remote_rank(const struct stop_thread *t)
{
	long nr = arch_interrupted(&t->regs);
	uint64_t args[6];

	arch_syscall_args(&t->regs, args);
	return nr < 0 ? ARCH_RANK_RUNNING : arch_rank_syscall(nr, args);
}

bool remote_next(const struct stopped *s, struct remote_walk *w, size_t *i)
{
	for (; w->rank <= ARCH_RANK_WORST; w->rank++, w->next = 0)
		while (w->next < s->nr) {
			*i = w->next++;
			if (!s->v[*i].ended && remote_rank(&s->v[*i]) == w->rank)
				return true;
		}
	return false;
}

int remote_by_any(struct stopped *s, int (*function)(struct remote *r, void *arg, struct err *e),
		  void *arg, struct err *e)
{
	struct remote_walk walk = { 0 };
	int rc = -EAGAIN;
	size_t i;

	while (rc && remote_next(s, &walk, &i)) {
		struct remote *r = NULL;

		rc = remote_open(s, i, &r, e);
		if (!rc)
			rc = function(r, arg, e);
		remote_close(r);
	}
	return rc;
}

int remote_open(struct stopped *s, size_t i, struct remote **out, struct err *e)
{
	struct remote *r = aligned_alloc(64, (sizeof(*r) + 63) & ~63ul);
	struct job job = { .r = r, .e = e };
	int rc;

	*out = NULL;
	if (!r)
		return err_set(e, -ENOMEM, "out of memory");
	memset(r, 0, sizeof(*r));
	r->s = s;
	r->thread = &s->v[i];
	r->leash = (struct leash){ .t = s->tracer, .tid = r->thread->tid };
	rc = tracer_do(r->s->tracer, run_open, &job);
	if (rc)
		free(r);
	else
		*out = r;
	return rc;
}

/* ---- a system call -------------------------------------------------------------------------- */

/*
 * Run to its end and read the result. A call interrupted by a stop that is passed through starts
 * again by itself.
 */
static int run_through(struct remote *r, int64_t *result)
{
	for (;;) {
		struct user_regs_struct regs;
		int rc = leash_run(&r->leash);	/* into it */

		if (!rc)
			rc = leash_run(&r->leash);	/* and out */
		if (!rc)
			rc = leash_get_regs(&r->leash, &regs);
		if (rc)
			return rc;
		if (arch_interrupted(&regs) < 0 || arch_result(&regs) == -EINTR) {
			*result = arch_result(&regs);
			return 0;
		}
	}
}

static int run_syscall(void *arg)
{
	struct job *job = arg;
	struct remote *r = job->r;
	struct user_regs_struct regs = r->thread->regs;
	int rc;

	tracer_deadline(r->s->tracer, nanotime() + WAIT_NS);
	arch_regs_syscall(&regs, r->gadget.syscall_ret, &r->frame, job->nr, job->args);
	rc = leash_set_regs(&r->leash, &regs);
	if (!rc)
		rc = come_back(r, run_through(r, job->result));
	return rc ? explain(r, rc, "make a system call", job->e) : 0;
}

int remote_syscall(struct remote *r, long nr, const uint64_t args[6], int64_t *result,
		   struct err *e)
{
	struct job job = { .r = r, .e = e, .nr = nr, .args = args, .result = result };

	*result = -ENOSYS;
	return tracer_do(r->s->tracer, run_syscall, &job);
}

/*
 * Below the frame make_frame() leaves so much of the stack. Signals, which would write there, are
 * blocked.
 */
uint64_t remote_scratch(const struct remote *r)
{
	_Static_assert(REMOTE_SCRATCH_BYTES <= ARCH_RED_ZONE, "");

	return (r->frame.address - REMOTE_SCRATCH_BYTES) & ~7ull;
}

/* ---- a copy --------------------------------------------------------------------------------- */

/*
 * The child, which begins as a thread in the middle of the program, gets a way of its own: its
 * stack pointer is that of another frame, by which it goes to exit_group. So it does whenever no
 * process holds it.
 */
static int run_fork(void *arg)
{
	struct job *job = arg;
	struct remote *r = job->r;
	uint64_t way[ARCH_WAY_WORDS];
	struct arch_end_frame f;
	int rc;

	arch_end_frame(&r->thread->regs, way, gadget_way(&r->gadget, way), r->gadget.syscall_ret,
		       REMOTE_CHILD_STATUS, &f);
	rc = stop_write(r->s->pid, f.address, f.bytes, f.nr);
	if (!rc)
		rc = leash_request(&r->leash, PTRACE_SETOPTIONS, 0,
				   SEIZE_OPTIONS | PTRACE_O_TRACECLONE);
	if (rc)
		return explain(r, rc, "make a copy", job->e);
	r->leash.child = 0;
	job->nr = SYS_clone;
	job->args = (const uint64_t[6]){ CLONE_FILES, f.address };
	return run_syscall(job);
}

int remote_fork(struct remote *r, struct remote_child *child, struct err *e)
{
	int64_t result = -ENOSYS;
	struct job job = { .r = r, .e = e, .result = &result };
	int rc = tracer_do(r->s->tracer, run_fork, &job);

	if (!rc && result == -EAGAIN)
		rc = err_set(
			e, -EDQUOT,
			"process %d could not be copied: a limit on processes forbids one more",
			(int)r->s->pid);
	else if (!rc && result < 0)
		rc = err_set(e, (int)result, "process %d could not be copied: %s", (int)r->s->pid,
			     strerror((int)-result));
	else if (!rc && !r->leash.child)
		rc = err_set(e, -ENOTSUP, "the copy of process %d cannot be traced",
			     (int)r->s->pid);
	*child = (struct remote_child){ rc ? 0 : r->leash.child, rc ? 0 : (pid_t)result };
	return rc;
}

/* ---- a function ----------------------------------------------------------------------------- */

void remote_use_code(struct remote *r, uint64_t code)
{
	r->code = code;
	r->code_lent = true;
}

/*
 * The page that calls the function: the thread's own code cannot say what the function returned and
 * end in rt_sigreturn, too.
 */
static int make_code(struct remote *r, struct err *e)
{
	const uint64_t args[6] = { 0,
				   REMOTE_CODE_BYTES,
				   PROT_READ | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS,
				   (uint64_t)-1,
				   0 };
	int64_t at = -ENOMEM;
	int rc = r->code ? 0 : remote_syscall(r, SYS_mmap, args, &at, e);

	if (rc || r->code)
		return rc;
	if (at < 0)
		return err_set(e, (int)at, "process %d got no executable memory: %s",
			       (int)r->s->pid, strerror((int)-at));
	r->code = (uint64_t)at;
	rc = stop_write(r->s->pid, r->code, arch_call_code, sizeof(arch_call_code));
	return rc ? explain(r, rc, "execute code of pmm's", e) : 0;
}

/* Run until the function has returned, which the system call at the end of our page shows. */
static int run_function(struct remote *r, int64_t *result)
{
	for (;;) {
		struct user_regs_struct regs;
		int rc = leash_run(&r->leash);

		if (!rc)
			rc = leash_get_regs(&r->leash, &regs);
		if (rc)
			return rc;
		if (arch_pc(&regs) == r->code + ARCH_CALL_END &&
		    arch_in_syscall(&regs) == SYS_rt_sigreturn) {
			*result = (int64_t)arch_first_arg(&regs);
			return 0;
		}
	}
}

static int run_call(void *arg)
{
	struct job *job = arg;
	struct remote *r = job->r;
	struct user_regs_struct regs = r->thread->regs;
	uint64_t context = (job->stack_end - sizeof(struct arch_ucontext)) & ~15ull;
	int rc = make_code(r, job->e);

	if (rc)
		return rc;
	arch_xstate_fresh(&r->vectors, &r->fresh);
	rc = stop_write(r->s->pid, context, r->frame.bytes + (r->frame.context - r->frame.address),
			sizeof(struct arch_ucontext));
	r->vectors_changed = true;
	if (!rc)
		rc = set_vectors(r, &r->fresh);
	tracer_deadline(r->s->tracer, nanotime() + job->timeout_ns);
	arch_regs_call(&regs, r->code, context, job->function, job->arg);
	if (!rc)
		rc = leash_set_regs(&r->leash, &regs);
	if (!rc)
		rc = come_back(r, run_function(r, job->result));
	return rc ? explain(r, rc, "call a function", job->e) : 0;
}

int remote_call(struct remote *r, uint64_t function, uint64_t arg, uint64_t stack_end,
		uint64_t timeout_ns, int64_t *result, struct err *e)
{
	struct job job = { .r = r,
			   .e = e,
			   .result = result,
			   .function = function,
			   .arg = arg,
			   .stack_end = stack_end,
			   .timeout_ns = timeout_ns };

	*result = -ENOSYS;
	return tracer_do(r->s->tracer, run_call, &job);
}

/* ---- the end -------------------------------------------------------------------------------- */

static int run_close(void *arg)
{
	struct remote *r = ((struct job *)arg)->r;
	int64_t result;

	if (r->code && !r->code_lent)
		remote_syscall(r, SYS_munmap, (const uint64_t[6]){ r->code, REMOTE_CODE_BYTES },
			       &result, NULL);
	if (r->diverted)
		restore(r);
	return 0;
}

void remote_close(struct remote *r)
{
	struct job job = { .r = r };

	if (!r)
		return;
	tracer_do(r->s->tracer, run_close, &job);
	free(r);
}
