/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process copy holds until process_copy_free(). For process copy*.c only.
 */
#ifndef PTRACE_PROCESS_COPY_PRIV_H
#define PTRACE_PROCESS_COPY_PRIV_H

#include "src/ptrace/apart.h"
#include "src/ptrace/copy.h"
#include "src/proc/pages.h"
#include "src/ptrace/stop.h"

struct process_copy_state {
	struct stopped stopped;		/* without a copy */
	struct copy copy;
	/* by which the process's memory is read: the first thread, while it lives */
	pid_t task;
	int mem, copy_mem;		/* /proc/PID/mem, -1 = none */
	int pages, copy_pages;		/* pages_open(), the same */
	struct apart apart;
	/* without a copy: where pages come by userfaultfd, perhaps from a thread that is stopped */
	struct page_runs brought;
	bool may_ask;			/* process_copy_ask(): no filter forbids it */
};

#endif
