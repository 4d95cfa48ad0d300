/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stopped thread that is made to run for a moment and then restored. */
#include "src/ptrace/leash.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "src/base/nanotime.h"

/* for a thread that has taken too long to stop, and for the last bit of its way */
#define REGAIN_NS	1000000000u

int leash_request(struct leash *l, int what, uint64_t address, uint64_t data)
{
	int rc = l->lost ? -ESRCH : (int)tracer_ptrace(what, l->tid, address, data);

	if (rc == -ESRCH)
		l->lost = true;
	return rc;
}

int leash_regset(struct leash *l, int what, unsigned type, void *from, size_t bytes)
{
	struct iovec io = { from, bytes };

	return leash_request(l, what, type, (uintptr_t)&io);
}

int leash_set_regs(struct leash *l, struct user_regs_struct *regs)
{
	return leash_regset(l, PTRACE_SETREGSET, NT_PRSTATUS, regs, sizeof(*regs));
}

int leash_get_regs(struct leash *l, struct user_regs_struct *regs)
{
	return leash_regset(l, PTRACE_GETREGSET, NT_PRSTATUS, regs, sizeof(*regs));
}

int leash_set_mask(struct leash *l, uint64_t mask)
{
	return leash_request(l, PTRACE_SETSIGMASK, sizeof(mask), (uintptr_t)&mask);
}

uint64_t leash_mask(void)
{
	static const int raised[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
	uint64_t mask = ~0ull;

	for (size_t i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
		mask &= ~(1ull << (raised[i] - 1));
	return mask;
}

static int next_stop(struct leash *l)
{
	int status = tracer_wait(l->t, l->tid);

	if (status >= 0 && TRACER_EVENT(status) == PTRACE_EVENT_EXIT) {
		tracer_ptrace(PTRACE_DETACH, l->tid, 0, 0);
		status = -ESRCH;
	}
	if (status == -ESRCH)
		l->lost = true;
	return status;
}

/* Was the signal raised by what the thread executed? */
static bool own_fault(struct leash *l, int signal)
{
	siginfo_t info = { 0 };

	return !(leash_mask() >> (signal - 1) & 1) &&
	       !leash_request(l, PTRACE_GETSIGINFO, 0, (uintptr_t)&info) && info.si_code > 0;
}

static void note_child(struct leash *l)
{
	unsigned long child = 0;

	if (!leash_request(l, PTRACE_GETEVENTMSG, 0, (uintptr_t)&child))
		l->child = (pid_t)child;
}

int leash_run(struct leash *l)
{
	uint64_t signal = 0;

	for (;;) {
		int rc = leash_request(l, PTRACE_SYSCALL, 0, signal);
		int status = rc ? rc : next_stop(l);

		signal = 0;
		if (status < 0)
			return status;
		if (status == TRACER_SYSCALL)
			return 0;
		if (TRACER_EVENT(status) == PTRACE_EVENT_CLONE)
			note_child(l);
		if (!TRACER_EVENT(status)) {
			if (own_fault(l, status))
				return -EFAULT;
			signal = (uint64_t)status;
		}
	}
}

/*
 * From the stop that `status` reports (0 = no signal) into the event stop, without an instruction
 * in between, with `regs`.
 */
static int settle(struct leash *l, struct user_regs_struct *regs, int status)
{
	int rc = leash_set_regs(l, regs);

	while (!rc) {
		rc = leash_request(l, PTRACE_INTERRUPT, 0, 0);
		if (!rc)
			rc = leash_request(l, PTRACE_CONT, 0,
					   status > 0 && !TRACER_EVENT(status) &&
							   status != TRACER_SYSCALL
						   ? (uint64_t)status
						   : 0);
		if (!rc)
			status = next_stop(l);
		if (!rc && status < 0)
			rc = status;
		if (!rc && TRACER_EVENT(status) == PTRACE_EVENT_STOP)
			return 0;
	}
	return rc;
}

/* It takes too long: stop it wherever it is. Its status, or -errno. */
static int regain(struct leash *l)
{
	int status = leash_request(l, PTRACE_INTERRUPT, 0, 0);

	tracer_deadline(l->t, nanotime() + REGAIN_NS);
	if (!status)
		status = next_stop(l);
	if (status == -ETIMEDOUT)
		l->lost = true;
	return status;
}

int leash_back(struct leash *l, struct user_regs_struct *regs, int rc)
{
	int back = 0;

	if (rc == -ETIMEDOUT)
		back = regain(l);
	tracer_deadline(l->t, nanotime() + REGAIN_NS);
	if (back >= 0)
		back = settle(l, regs, back);
	if (back == -ETIMEDOUT)
		l->lost = true;
	return rc ? rc : back;
}
