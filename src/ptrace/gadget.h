/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions found in a process's own code.
 */
#ifndef PTRACE_GADGET_H
#define PTRACE_GADGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

struct gadget {
	uint64_t syscall_ret;	/* a system call, then a return */
	/* the system call with which a signal handler ends, 0 = the program has none */
	uint64_t sigreturn;
	uint64_t pop_return;	/* loads the register that numbers system calls, then returns */
};

/* What a stack has to hold so that a return ends in rt_sigreturn; the number of words. */
unsigned gadget_way(const struct gadget *g, uint64_t way[3]);

/* Is what was found before still there? */
bool gadget_there(pid_t pid, const struct gadget *g);

/*
 * Look in everything executable that is not writable. 0, -ENOTSUP with `e` when something is not
 * there, -ESRCH, -EACCES.
 */
int gadget_find(pid_t pid, struct gadget *g, struct err *e);

#endif
