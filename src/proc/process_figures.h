/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says of a running process, file by file of /proc/PID: what each tells and costs
 * differs. None of them stops the process.
 */
#ifndef PROC_PROCESS_FIGURES_H
#define PROC_PROCESS_FIGURES_H

#include <stdint.h>
#include <sys/types.h>

struct process_figures {
	/* stat: of all its threads, those that have ended among them */
	uint64_t minor_faults, major_faults;
	uint64_t user_ns, system_ns;	/* in steps of the kernel's clock, mostly 10 ms */
	uint32_t threads;		/* 0: it has ended, and was not waited for yet */
	/* status: resident, and swapped out */
	uint64_t anon_bytes, file_bytes, shmem_bytes, swap_bytes;
	uint64_t pss_bytes;		/* smaps_rollup */
	uint64_t start_ticks;		/* stat: when it began; tells it from one of its number */
};

/*
 * Each sets what its file tells; `root` goes before /proc. 0; -ESRCH the process is gone, or has no
 * memory any more; -ENOENT the kernel has no such file or figures; -EACCES or -EPERM; -errno.
 */

/* As long as it has threads. Anybody's, unless hidden (hidepid). */
int process_figures_stat(const char *root, pid_t pid, struct process_figures *f);

/*
 * The kernel's counters, which may lag behind by a few pages for each processor. Likewise; -ENOENT
 * also of a thread of the kernel, which has no memory of its own.
 */
int process_figures_status(const char *root, pid_t pid, struct process_figures *f);

/*
 * Goes through all page tables, with the lock on the process's mappings: some ms for each GiB that
 * is resident. For those who may trace it.
 */
int process_figures_rollup(const char *root, pid_t pid, struct process_figures *f);

#endif
