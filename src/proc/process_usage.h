/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a process at one moment, and the page faults that it has had: /proc/PID. */
#ifndef PROC_PROCESS_USAGE_H
#define PROC_PROCESS_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/proc/proc.h"

struct process_usage {
	char comm[PROC_COMM_BYTES];
	uint64_t start_ticks;			/* since boot: with the pid it names a process */
	uint64_t minor_faults, major_faults;	/* since it began, of all its threads */
	uint64_t resident_bytes, swapped_bytes;
	uint64_t nr_mappings;			/* 0: they may not be read */
};

/*
 * Read it; `root` goes before /proc. With `exact`, resident and swapped bytes are those of its page
 * tables (smaps_rollup), which takes as long as it is large, and mappings are counted; else, or
 * where that may not be read, the kernel's counters, which may lag behind, and no mappings. 0 or
 * -ESRCH.
 */
int process_usage_read(const char *root, pid_t pid, bool exact, struct process_usage *out);

#endif
