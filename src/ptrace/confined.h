/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Would a process's seccomp filters let pmm and its agent make the system calls that they have to
 * make in it?
 */
#ifndef PTRACE_CONFINED_H
#define PTRACE_CONFINED_H

#include <stddef.h>
#include <sys/types.h>

#include <linux/filter.h>

#include "src/base/err.h"

enum confined_use {
	CONFINED_ATTACH,	/* the agent in it */
	CONFINED_COPY,		/* a copy made inside it (process_copy.h) */
	CONFINED_STOP,		/* its threads stopped and let go */
	CONFINED_ASK,		/* its threads made to ask the kernel something (altstack.h) */
	CONFINED_NR_USES
};

/*
 * 0 when every filter of every thread does, also when there is none. -EACCES with `e`: one does not
 * (which system call), or it cannot be known. Stops each thread that has filters for a moment, one
 * after the other; other errors are those of stop_one().
 */
int confined_check(pid_t pid, enum confined_use use, struct err *e);

/*
 * The name of a system call that this filter does not let us make, "" when it is none that can be
 * run, NULL = it lets us make all.
 */
const char *confined_refuses(enum confined_use use, const struct sock_filter *v, size_t nr);

#endif
