/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user stacks of a trace: what is mapped where, copies unwound, each stack kept once, its names
 * looked up on demand.
 */
#ifndef SESSION_TRACE_TRACE_STACKS_H
#define SESSION_TRACE_TRACE_STACKS_H

#include "src/kernel/map_events.h"
#include "src/kernel/user_stack.h"
#include "src/names/stack_names.h"

/* A frame that is left out of a process's stacks. */
struct trace_hidden {
	pid_t pid;
	uint64_t frame;
};

struct trace_stacks {
	struct images images;
	struct user_stacks *walker;
	struct user_stack last;		/* the one that was walked last; nr 0: none */
	struct stack_table table;
	struct stack_names *names;
	struct map_events *events;	/* NULL: mappings are read from /proc alone */
	struct err no_events;		/* why */
	bool expected_only;		/* events of other processes are left out */
	uint64_t drained_ns;		/* all that happened before is in their queue */
	uint64_t lost;			/* of them, as far as that was dealt with */
	VEC(struct trace_hidden) hidden;
};

/* 0 or -ENOMEM; trace_stacks_fini() follows in any case. */
int trace_stacks_init(struct trace_stacks *s);

/*
 * Have the kernel report mappings from now on: of these processes and of their children, whose
 * mappings so far are read; none: of all, of which as many are read as a fifth of a second allows.
 * Where the kernel cannot, s->no_events says why.
 */
void trace_stacks_follow(struct trace_stacks *s, const pid_t *pids, size_t nr);

/* The same, where who calls trace_stacks_mapped() reports mappings. */
void trace_stacks_told(struct trace_stacks *s, const pid_t *pids, size_t nr);
int trace_stacks_mapped(void *arg, const struct map_event *e);	/* arg: the stacks; 0 or -ENOMEM */

/* In a process that was forked. 0 or -errno: mappings are not reported any more. */
int trace_stacks_forked(struct trace_stacks *s);

/*
 * Leave out of the stacks of a process that runs the frame at this address: of an agent of pmm that
 * it has inside (ledger_hook_pc()); 0: none. Once its mappings are followed. 0 or -ENOMEM.
 */
int trace_stacks_hide(struct trace_stacks *s, pid_t pid, uint64_t pc);

/* What the kernel has reported up to that time. 0 or -ENOMEM. */
int trace_stacks_until(struct trace_stacks *s, uint64_t time_ns);

/*
 * All records, in the order in which they come: begins and ends of processes, new mappings. 0 or
 * -ENOMEM: less is known from here on.
 */
int trace_stacks_note(struct trace_stacks *s, const struct trace_record *r);

/* The number of a record's stack in the table; 0: it has none, or the table is full. */
uint32_t trace_stacks_add(struct trace_stacks *s, const struct trace_record *r, const void *tail);

/* Is the innermost frame of a stack pmm's own agent? */
bool trace_stacks_by_agent(const struct trace_stacks *s, uint32_t stack);

void trace_stacks_fini(struct trace_stacks *s);

#endif
