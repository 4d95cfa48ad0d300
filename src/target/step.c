/* Registers of a stopped thread changed, and single instructions executed. */
#include "src/target/stop.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "arch/x86_64/stop_arch.h"
#include "src/target/seize.h"
#include "src/target/tracer.h"

#define WAIT_NS	100000000u	/* for one instruction, and for the stop of what does not come to its end */

struct step {
	struct stopped *s;
	size_t i;
	const struct user_regs_struct *regs;
	struct err *e;
};

static int run_set_regs(void *arg)
{
	struct step *step = arg;
	struct stop_thread *thread = &step->s->v[step->i];

	thread->regs = *step->regs;
	return thread->ended ? -ESRCH : tracer_regset(PTRACE_SETREGSET, thread->tid, NT_PRSTATUS, &thread->regs, sizeof(thread->regs));
}

int stop_set_regs(struct stopped *s, size_t i, const struct user_regs_struct *regs)
{
	struct step step = { .s = s, .i = i, .regs = regs };

	return tracer_do(s->tracer, run_set_regs, &step);
}

/* To the trap behind the instruction. 0, -EBUSY it waits in a system call again. */
static int step_once(struct stopped *s, struct stop_thread *thread)
{
	int status = 0;

	while (status != SIGTRAP) {
		int rc = (int)tracer_ptrace(PTRACE_SINGLESTEP, thread->tid, 0, TRACER_EVENT(status) ? 0 : (uint64_t)status);

		status = rc ? rc : tracer_wait(s->tracer, thread->tid);
		if (status == -ETIMEDOUT)
			break;
		if (status < 0)
			return status;
	}
	if (status == SIGTRAP)
		return waitpid(thread->tid, &status, __WALL | WNOHANG) < 0 ? -ESRCH : 0;	/* uses up the SIGTRAP */
	tracer_deadline(s->tracer, tracer_now_ns() + WAIT_NS);
	tracer_ptrace(PTRACE_INTERRUPT, thread->tid, 0, 0);
	status = tracer_wait(s->tracer, thread->tid);
	return status < 0 ? status : -EBUSY;
}

/* All signals but SIGTRAP wait: a blocked one would be forced, and the program's handler of it forgotten (force_sig_info()). */
static int step_masked(struct stopped *s, struct stop_thread *thread)
{
	uint64_t mask, all = ~(1ull << (SIGTRAP - 1));
	int rc = (int)tracer_ptrace(PTRACE_GETSIGMASK, thread->tid, sizeof(mask), (uintptr_t)&mask);

	if (!rc)
		rc = (int)tracer_ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(all), (uintptr_t)&all);
	if (rc)
		return rc;
	rc = step_once(s, thread);
	tracer_ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(mask), (uintptr_t)&mask);
	return rc;
}

static int run_step(void *arg)
{
	struct step *step = arg;
	struct stop_thread *thread = &step->s->v[step->i];
	int rc;

	tracer_deadline(step->s->tracer, tracer_now_ns() + WAIT_NS);
	rc = thread->ended ? -ESRCH : arch_interrupted(&thread->regs) >= 0 ? -EBUSY : step_masked(step->s, thread);
	if (!rc || rc == -EBUSY)
		rc = seize_look(thread) ? -ESRCH : rc;
	if (rc == -ESRCH)
		thread->ended = true;
	if (rc)
		err_set(step->e, rc, "thread %d of process %d cannot be made to step: %s", (int)thread->tid, (int)step->s->pid,
			strerror(-rc));
	return rc;
}

int stop_step(struct stopped *s, size_t i, struct err *e)
{
	struct step step = { .s = s, .i = i, .e = e };

	return tracer_do(s->tracer, run_step, &step);
}
