/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and processes that perf events are of: which event's copy each thread has, what it is
 * called, how many threads a process has left, what it has mapped.
 *
 * Each thread counts by the events of one given thread, although it may have copies of several
 * threads' events: where one that was given has started another one that was given too.
 */
#ifndef KERNEL_PERF_PERF_TASKS_H
#define KERNEL_PERF_PERF_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/trace_abi.h"
#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/perf/areas.h"

struct perf_process {
	pid_t tgid, parent;		/* parent 0: not known */
	unsigned nr_threads;		/* 0: none is known any more */
	struct areas *areas;		/* NULL: not read yet, or it has ended */
	uint64_t start_ns;		/* 0: before the trace */
	bool executes;			/* its program's path comes with its first mapping */
	uint64_t exec_ns;
};

struct perf_task {
	pid_t tid, tgid;
	pid_t source;			/* the given thread whose events count for it */
	uint64_t start_ns;
	char comm[TRACE_COMM_BYTES];
};

struct perf_tasks {
	VEC(struct perf_task) tasks;
	VEC(struct perf_process) processes;
	struct hash_map by_tid, by_tgid; /* -> index */
	VEC(uint32_t) free_tasks, free_processes; /* indices of those that have ended */
};

/* NULL: none. */
struct perf_task *perf_task_find(const struct perf_tasks *t, pid_t tid);
struct perf_process *perf_process_find(const struct perf_tasks *t, pid_t tgid);

/*
 * A thread that is given or was started; `source` as above. If it is known it is begun anew. Both
 * move when others are added. NULL: out of memory.
 */
struct perf_task *perf_task_add(struct perf_tasks *t, pid_t tid, pid_t tgid, pid_t source);

/* Its process; it is added, without threads, if it is not known. NULL: out of memory. */
struct perf_process *perf_process_get(struct perf_tasks *t, pid_t tgid);

/* It has ended; so has its process if it was the last one: true. */
bool perf_task_end(struct perf_tasks *t, struct perf_task *task);

/*
 * What a process has mapped, to be changed: its own. Of one that runs since before the trace it is
 * read; `file` is called for each file then. NULL: out of memory.
 */
struct areas *perf_process_areas(struct perf_process *p, areas_file *file, void *arg);

/* A thread has executed a program: all others of its process have ended, whatever was said. */
void perf_task_alone(struct perf_tasks *t, pid_t tid, pid_t tgid);

/* It executes a program: nothing of what was mapped is there. 0 or -ENOMEM. */
int perf_process_exec(struct perf_process *p, uint64_t time_ns);

/* A child has what its parent has, as far as that is known. */
void perf_process_fork(struct perf_process *child, struct perf_process *parent);

void perf_tasks_fini(struct perf_tasks *t);

#endif
