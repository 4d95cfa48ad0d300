/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of user stacks without BPF: a perf event that counts page faults has the kernel copy
 * registers and stack at each of them, and reports exec, fork, exit and mappings beside.
 */
#ifndef TESTS_UNIT_PERF_COPY_H
#define TESTS_UNIT_PERF_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/kernel/user_stack.h"

enum perf_copy_kind {
	PERF_COPY_STACK,
	PERF_COPY_EXEC,
	PERF_COPY_FORK,
	PERF_COPY_EXIT,
	PERF_COPY_MAP,
};

struct perf_copy_event {
	enum perf_copy_kind kind;
	pid_t tgid, tid, parent;	/* parent: of PERF_COPY_FORK */
	uint64_t time_ns;
	uint64_t address;		/* faulted at; or mapped at */
	struct user_stack_copy copy;
};

typedef void perf_copy_take(void *arg, const struct perf_copy_event *e);

struct perf_copy;

/* A child that executes argv once perf_copy_go() was called. NULL: the kernel does not let us. */
struct perf_copy *perf_copy_new(char *const argv[], unsigned stack_bytes, unsigned period);
void perf_copy_go(struct perf_copy *p);

/* Take what there is; false once the child has ended and all was taken. */
bool perf_copy_step(struct perf_copy *p, perf_copy_take *take, void *arg);

uint64_t perf_copy_lost(const struct perf_copy *p);
pid_t perf_copy_pid(const struct perf_copy *p);
void perf_copy_free(struct perf_copy *p);

#endif
