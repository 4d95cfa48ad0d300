/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call in whose middle something happens, as if a signal came there: at each of its instructions,
 * one after the other, in a child process of its own. x86-64 only.
 */
#ifndef TESTS_UNIT_STEPPED_H
#define TESTS_UNIT_STEPPED_H

#ifdef __x86_64__

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define STEPPED_TRAP	0x100		/* of the flags register */
#define STEPPED_SECONDS	20		/* for a child */
#define STEPPED_SAID	3		/* so many children that fail are named */

struct stepped {
	void (*call)(void);
	void (*then)(void);		/* in its middle; it may call stepped_leave() */
	bool (*right)(void);		/* asked when the call has ended or was left */
};

static struct {
	struct stepped of;
	unsigned steps, wrong;
	bool child;
	sigjmp_buf back;
} stepped_now;

/* From `then`: the call is left for good. */
static inline void stepped_leave(void)
{
	siglongjmp(stepped_now.back, 1);
}

static void stepped_trap(int number, siginfo_t *info, void *context)
{
	pid_t child = fork();
	int status = -1;

	(void)number;
	(void)info;
	if (!child) {
		stepped_now.child = true;
		alarm(STEPPED_SECONDS);
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~STEPPED_TRAP;
		stepped_now.of.then();
		return;
	}
	if ((child < 0 || waitpid(child, &status, 0) != child || status) &&
	    stepped_now.wrong++ < STEPPED_SAID)
		fprintf(stderr, "instruction %u: status %#x\n", stepped_now.steps,
			(unsigned)status);
	stepped_now.steps++;
}

/* Returns how many children were not right; *steps: how many there were. */
static unsigned stepped(struct stepped of, unsigned *steps)
{
	struct sigaction action = { .sa_sigaction = stepped_trap, .sa_flags = SA_SIGINFO }, before;

	stepped_now.of = of;
	stepped_now.steps = stepped_now.wrong = 0;
	fflush(NULL);
	sigaction(SIGTRAP, &action, &before);
	if (!sigsetjmp(stepped_now.back, 1)) {
		__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(STEPPED_TRAP) : "memory",
				 "cc");
		of.call();
		__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~STEPPED_TRAP) : "memory",
				 "cc");
	}
	if (stepped_now.child)
		_exit(!stepped_now.of.right());
	sigaction(SIGTRAP, &before, NULL);
	*steps = stepped_now.steps;
	return stepped_now.wrong;
}

#endif
#endif
