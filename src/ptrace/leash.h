/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stopped thread that is made to run for a moment, from one system call to the next, and then
 * restored . All on the tracing thread.
 */
#ifndef PTRACE_LEASH_H
#define PTRACE_LEASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "src/ptrace/tracer.h"

struct leash {
	struct tracer *t;
	pid_t tid;
	/* it has ended, or does not stop any more: every request fails with -ESRCH */
	bool lost;
	/*
	 * the last one that it has made, where its making is traced (PTRACE_O_TRACECLONE); as we
	 * see it
	 */
	pid_t child;
};

/* Requests about it. 0 or -errno. */
int leash_request(struct leash *l, int request, uint64_t address, uint64_t data);
int leash_regset(struct leash *l, int request, unsigned type, void *data, size_t bytes);
int leash_get_regs(struct leash *l, struct user_regs_struct *regs);
int leash_set_regs(struct leash *l, struct user_regs_struct *regs);
int leash_set_mask(struct leash *l, uint64_t mask);

/*
 * The signals to block while it runs: all but those that the processor raises itself. Were they
 * blocked, the kernel would forget the program's handler (force_sig_info()).
 */
uint64_t leash_mask(void);

/*
 * Let it run into the next entry or exit of a system call, until the tracer's deadline. Stops of
 * other kinds are the program's, or group stops: they are passed through. 0, -EFAULT it has crashed
 * (the signal is dropped), -ESRCH, -ETIMEDOUT.
 */
int leash_run(struct leash *l);

/*
 * After a run that ended with `rc`: into the event stop in which it can be let go, without an
 * instruction in between, with these registers. Returns the first error.
 */
int leash_back(struct leash *l, struct user_regs_struct *regs, int rc);

#endif
