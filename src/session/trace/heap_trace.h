/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's events of processes whose heaps are recorded, made part of those heaps (--trace):
 *
 *	heap_trace_open(&t, &options, &sink, &e);	nothing is traced yet
 *	heap_trace_target(t, pid, ...);			a process; its children if they follow
 *	each 5 ms: heap_trace_step(t);
 *	of each heap, before it is written: heap_trace_give(t, heap, ...);
 *	heap_trace_close(t);				nothing of it is in the kernel
 *
 * An address that a page fault is about is looked up in the ledger as its record is read: some 5 ms
 * later, so that a block which was released meanwhile is not found, and one that has taken its
 * place is taken for it.
 *
 * From the first target to the close the calling thread has a higher priority (prompt.h).
 *
 * Threads: one. Prints nothing, touches no signals.
 */
#ifndef SESSION_TRACE_HEAP_TRACE_H
#define SESSION_TRACE_HEAP_TRACE_H

#include "src/base/err.h"
#include "src/kernel/event_class.h"
#include "src/model/heap.h"
#include "src/session/trace/trace_about.h"

struct heap_trace;
struct session_sink;

struct heap_trace_options {
	const struct kernel_source_ops *source;
	uint32_t classes;		/* of heap_trace_parse() */
	bool follow;			/* children of targets are traced, too */
	trace_block_at *block_at;
	void *arg;
};

/*
 * The classes of a list "faults,mmap"; "default": those that say something of a heap. 0, or -EINVAL
 * with `e` (exit code 2): not a class, or one that only `pmm trace` can show.
 */
int heap_trace_parse(const char *list, uint32_t *classes, struct err *e);

/*
 * *out is the caller's. What is only missing in part is said to the sink. 0 or -errno with `e`: all
 * of it is missing.
 */
int heap_trace_open(struct heap_trace **out, const struct heap_trace_options *o,
		    const struct session_sink *to, struct err *e);

/* CLOCK_MONOTONIC at 0 of the heaps' time axis; before the first target. */
void heap_trace_set_zero(struct heap_trace *t, uint64_t ns);

/*
 * Trace a process. `waits`: it is a copy of pmm that has not executed its program yet, and what it
 * does before counts for nothing. 0 or -errno.
 */
int heap_trace_target(struct heap_trace *t, pid_t pid, bool waits);

/* trace_stacks_hide() */
int heap_trace_hide(struct heap_trace *t, pid_t pid, uint64_t pc);

/* In a process that was forked, and whose parent takes nothing any more: go on. */
void heap_trace_forked(struct heap_trace *t);

/* A process is not traced any more: what it is made to do from here on is not in its heap. */
void heap_trace_leave(struct heap_trace *t, pid_t pid);

/* Take what the kernel has recorded. 0, or -errno: nothing more will come. */
int heap_trace_step(struct heap_trace *t);

/*
 * Put what belongs to the heap's process into it, for good. `replaced_ns`: since then
 * (CLOCK_MONOTONIC) other programs are in its place, whose events are not the heap's; 0: none. 0 or
 * -ENOMEM: it has nothing of the kernel's then.
 */
int heap_trace_give(struct heap_trace *t, struct heap *h, uint64_t replaced_ns);

/* NULL is fine. */
void heap_trace_close(struct heap_trace *t);

#endif
