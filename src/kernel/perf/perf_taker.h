/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From records of perf events to records as the programs in the kernel write them
 * (bpf/trace_abi.h): page faults with their memory, mappings, processes. What is in a record is
 * outside data.
 */
#ifndef KERNEL_PERF_PERF_TAKER_H
#define KERNEL_PERF_PERF_TAKER_H

#include "src/kernel/kernel_source.h"
#include "src/kernel/perf/perf_faults.h"
#include "src/kernel/perf/perf_set.h"
#include "src/kernel/perf/perf_tasks.h"

struct perf_taker {
	uint64_t wanted[2];		/* bit per enum trace_kind: records are handed over */
	uint64_t min_bytes;
	const char *comm;		/* NULL: any */
	uint32_t uid;
	bool alone;			/* children of processes are not looked at */
	kernel_take *take;
	void *take_arg;
	kernel_mapped *mapped;		/* NULL: nobody asks */
	void *mapped_arg;
	void (*twice)(void *arg, pid_t tid); /* a given thread has copies of another one's events */
	void *twice_arg;

	struct perf_tasks tasks;
	struct perf_faults faults;
	struct trace_counts counts[TRACE_NR_KINDS];
	uint64_t damaged;		/* records that are none */
	/*
	 * Faults that are sampled: how many more were counted than samples stand for, and how many
	 * each of the next samples stands for besides itself.
	 */
	bool sampled;
	int64_t unsaid;
	uint64_t share;
	uint64_t taken;
	struct {
		struct trace_regs regs;
		char bytes[PERF_MAX_RECORD];
	} tail;
	char text[TRACE_TEXT_MAX];
};

/* `t` is all zero but for the fields above `tasks` and `sampled`. 0, or -errno of take(). */
int perf_taker_take(struct perf_taker *t, const struct perf_kind *kind, pid_t given,
		    const struct perf_event_header *h);

/* So many samples of sampled faults are to come until the next call. */
void perf_taker_share(struct perf_taker *t, uint64_t samples);

/*
 * A thread that is given; its name and parent are read, and what it has mapped unless it is about
 * to execute a program. 0 or -ENOMEM.
 */
int perf_taker_given(struct perf_taker *t, pid_t pid, pid_t tid, uint64_t start_ns, bool at_exec);

void perf_taker_fini(struct perf_taker *t);

#endif
