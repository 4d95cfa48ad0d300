/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace's parts among themselves. */
#ifndef SESSION_TRACE_TRACE_SESSION_PRIV_H
#define SESSION_TRACE_TRACE_SESSION_PRIV_H

#include "src/analyze/trace/fault_names.h"
#include "src/kernel/mounts.h"
#include "src/kernel/vmstat.h"
#include "src/session/trace/prompt.h"
#include "src/session/trace/trace_blocks.h"
#include "src/session/trace/trace_heaps_result.h"
#include "src/session/trace/trace_kernel_looks.h"
#include "src/session/trace/trace_libc_source.h"
#include "src/session/trace/trace_moments.h"
#include "src/session/trace/trace_session.h"
#include "src/session/trace/trace_stacks.h"
#include "src/session/trace/trace_targets.h"
#include "src/track/gate.h"
#include "src/view/trace/trace_line.h"

struct trace_session {
	struct trace_options o;
	struct err why_source;		/* what o.why_source points to */
	const struct session_sink *to;
	struct kernel_source *source;
	struct gate gate;
	struct trace_totals totals;
	bool with_stacks;
	struct trace_stacks stacks;
	struct trace_moments moments;
	struct kernel_rows rows[KERNEL_NR_TABLES];
	struct kernel_group_state groups[KERNEL_NR_GROUPS];	/* of the result */
	struct kernel_rows before[KERNEL_NR_TABLES];	/* as the last result had them */
	struct vmstat vmstat[2];	/* as the time of the result began, and now */
	struct ksyms ksyms;
	struct trace_kernel kernel;
	struct mounts mounts;
	struct fault_names files;	/* for lines */
	struct trace_libc libc;
	struct loop_source *tick, *filling, *child, *end, *interval, *second;
	struct trace_targets targets;
	struct trace_heaps *heaps;	/* of class `heap`; NULL: not asked for */
	struct trace_heaps_result heap_results;
	struct trace_blocks blocks;	/* of tracked processes */
	struct trace_clock clock;
	/* of the result that is being made: when its time began, and what was counted by then */
	uint64_t since_ns;
	struct trace_counts counted[TRACE_NR_KINDS];
	uint64_t missed[KERNEL_NR_GROUPS];
	uint64_t ended[USER_STACK_NR_ENDS], ends[USER_STACK_NR_ENDS];
	bool said;			/* a result was handed over */
	pid_t command;			/* the command's process, also when it has ended; 0: none */
	int status;			/* of the program, -1 = not known */
	struct prompt prompt;
	bool ending;
	int failed;			/* -errno that ended it; -EPIPE: nobody reads it any more */
	char tail[TRACE_TEXT_MAX + 1];
};

/* trace_session_heaps.c: class `heap`. Of that alone the kernel need not say anything. */
bool trace_session_heap_alone(const struct trace_options *o);
const struct kernel_source_ops *trace_session_source(const struct trace_options *o);

/* A command's heap beside events that are opened for a process that is there. -ENOTSUP. */
int trace_session_refuse_both(struct err *e);

/* s->heaps, where it is asked for. 0 or -errno with `e`. */
int trace_session_open_heaps(struct trace_session *s, struct err *e);

/* Leave out of stacks what agents of pmm have put in them. 0 or -ENOMEM. */
int trace_session_hide_hooks(struct trace_session *s);

/* The given processes are not traced any more: detaching is not what they do. */
void trace_session_leave_alone(struct trace_session *s);

#endif
