/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps beside a trace (class `heap`): of processes that run already, by attaching to them, or of a
 * command and its children, by launching it. No probe of the kernel is needed.
 *
 *	trace_heaps_open(&t, &options, &sink, &e);	functions are found; nothing is held
 *	trace_heaps_start(t, &e);			the agent is in the processes
 *	trace_heaps_look(t, &e);			t->heap[] is as it is now
 *	trace_heaps_end(t);				the agent is out, a last look
 *	trace_heaps_close(t);
 *
 * Works on the caller's loop. Who has started must end or close it, whatever happens.
 */
#ifndef SESSION_TRACE_TRACE_HEAPS_H
#define SESSION_TRACE_TRACE_HEAPS_H

#include <limits.h>
#include <signal.h>

#include "src/analyze/trace/heap_rows.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/names/naming.h"
#include "src/proc/elf_check.h"
#include "src/proc/proc.h"

struct attach;
struct child_signals;
struct launch;
struct session_sink;
struct ticker;

struct trace_heaps_options {
	struct loop *loop;		/* borrowed, as all that follows */
	const pid_t *pids;		/* that are attached to */
	size_t nr_pids;
	char **argv;			/* or a command that is launched; NULL: none */
	bool follow;			/* with its children */
	/* of the command: pmm's, and the mask that it is to have (NULL: as it is) */
	const struct child_signals *signals;
	const sigset_t *mask;
	/* its process is there and waits; 0, or -errno with `e` ends it */
	int (*forked)(void *arg, pid_t pid, struct err *e);
	void (*ended)(void *arg, int status);	/* the command's wait status */
	void *arg;
	uint64_t older_ns, min_bytes;	/* of rows; 0: not asked for */
};

/* One process's heap. */
struct trace_heap {
	pid_t pid;
	char comm[PROC_COMM_BYTES];
	struct attach *attach;		/* NULL: launched, or over */
	struct loop_source *source;
	bool ended, failed;		/* failed: its heap could not be read; `why` */
	struct err why;
	struct heap *heap;		/* of the last look; NULL: none */
	struct naming naming;		/* its names, for as long as the heap is there */
	bool named;
	struct heap_rows rows;
};

struct trace_heaps {
	struct trace_heaps_options o;
	const struct session_sink *to;
	VEC(struct trace_heap *) heaps;
	struct ticker *ticker;
	struct elf_check program;	/* the command's */
	char agent[PATH_MAX];
	struct launch *launch;
	struct loop_source *launch_source;
	bool told;			/* the command's end */
};

/* *out is the caller's. 0 or -errno with `e`. */
int trace_heaps_open(struct trace_heaps **out, const struct trace_heaps_options *o,
		     const struct session_sink *to, struct err *e);

/*
 * 0 or -errno with `e`: nothing is held in a process, the command does not run. With several
 * processes those that refuse are said, unless all do.
 */
int trace_heaps_start(struct trace_heaps *t, struct err *e);

/* Read each heap; what cannot be read says so in its `why`. 0 or -ENOMEM. */
int trace_heaps_look(struct trace_heaps *t);

/* Look a last time and take the agent out; a command that runs continues. 0 or -ENOMEM. */
int trace_heaps_end(struct trace_heaps *t);

/*
 * ledger_hook_pc() of a process that pmm, this one or another, is attached to; 0: none is, or that
 * cannot be known.
 */
uint64_t trace_heaps_hook_pc(pid_t pid);

/* NULL is fine. */
void trace_heaps_close(struct trace_heaps *t);

#endif
