/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which limit a process that grows will hit first: its control groups' memory, its address space,
 * its data, the machine.
 */
#ifndef PROC_LIMITS_H
#define PROC_LIMITS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum limit_kind {
	LIMIT_CGROUP,		/* memory.max, memory.limit_in_bytes of its group or one above */
	LIMIT_ADDRESS_SPACE,	/* RLIMIT_AS */
	LIMIT_DATA,		/* RLIMIT_DATA */
	LIMIT_MACHINE,		/* memory without swap space */
	LIMIT_PROCESSES,	/* pids.max of its group or one above; counts, not bytes */
};
#define LIMIT_NR_KINDS (LIMIT_PROCESSES + 1)

struct limit {
	enum limit_kind kind;
	uint64_t limit_bytes, used_bytes;
	uint64_t left_bytes;		/* page cache that would be given back counts as left */
	/* LIMIT_CGROUP: who reaches it has the whole group killed (memory.oom.group) */
	bool together;
	/* LIMIT_CGROUP, LIMIT_PROCESSES: directory of the group; else "" */
	char where[PATH_MAX];
};

/*
 * The limit of which the least is left. `root` goes before all paths below /proc and /sys ("" =
 * this machine's own). 0, -ESRCH when the process does not exist, -ENOENT when no limit is known.
 */
int limits_nearest(const char *root, pid_t pid, struct limit *out);

/*
 * RLIMIT_AS of a process, soft and hard, UINT64_MAX = none: prlimit() asks for rights over another
 * user's even to read it. 0, -ESRCH.
 */
int limits_space(pid_t pid, uint64_t *now, uint64_t *most);

/* The same of RLIMIT_STACK, the soft one. */
int limits_stack(pid_t pid, uint64_t *now);

/* The lowest memory limit of its control groups, in bytes; UINT64_MAX = none. */
uint64_t limits_cgroup(const char *root, pid_t pid);

/*
 * Memory that reading one thing from outside may take unless more is asked for: a quarter of
 * the machine's memory, or of the lowest limit of our control groups. What is made of the thing
 * afterwards (sums, trees, names) takes less than it does, so that half remains for others.
 */
uint64_t limits_share(const char *root);

/*
 * The same of memory only, its groups' and the machine's; of the number of its groups' processes
 * and threads.
 */
int limits_memory(const char *root, pid_t pid, struct limit *out);
int limits_processes(const char *root, pid_t pid, struct limit *out);

/* "cgroup limit", "address space limit", "data limit", "machine's memory", "limit on processes". */
const char *limit_name(enum limit_kind kind);

#endif
