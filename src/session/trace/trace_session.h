/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace: the kernel's events of some processes, as lines while it lasts and as a result at its
 * end. In steps of its own, on the loop of who runs it:
 *
 *	trace_session_open(&s, &options, &sink, &e);	programs are in the kernel
 *	trace_session_run(s);				until something ends it
 *	trace_session_finish(s, &e);			the last records, the result
 *	trace_session_close(s);				nothing of it is in the kernel
 *
 * Signals: none is taken; trace_session_end() is for callbacks of the loop.
 */
#ifndef SESSION_TRACE_TRACE_SESSION_H
#define SESSION_TRACE_TRACE_SESSION_H

#include <signal.h>

#include "src/analyze/trace/trace_rank.h"
#include "src/base/loop.h"
#include "src/kernel/kernel_source.h"
#include "src/session/session.h"

struct child_signals;
struct trace_session;

struct trace_options {
	struct loop *loop;		/* borrowed, as all that follows */
	const struct kernel_source_ops *source;
	const struct err *why_source;	/* why there is no better one; NULL: it is the best */
	uint32_t classes;		/* bit per enum event_class */
	struct kernel_options kernel;	/* groups and kinds follow from the classes */
	bool tree;			/* and all that descends from the given processes */
	char **command;			/* program and arguments; NULL: none is started */
	/* what of pmm's signals is put back in a command that is launched (class `heap`) */
	const struct child_signals *signals;
	const sigset_t *mask;		/* that the program is to have; NULL: as it is */
	const char *scope;		/* for people: what is traced; NULL: the command */
	uint64_t duration_ns;		/* 0: until something else ends it */
	uint64_t interval_ns;		/* a result that often as well; 0: at the end only */
	bool lines;			/* an event for each record */
	bool quiet;			/* no notes and warnings */
	bool clock;			/* with the time of day in text */
	uint64_t older_ns;		/* kernel objects that are older count apart; 0: not */
	bool folded;			/* the result as lines of folded stacks */
	enum trace_sort sort;
	bool map_events;		/* mappings by the kernel's own records as well */
	uint64_t top;			/* rows of a table; 0 = all */
	uint64_t frames;		/* of a stack in text; 0 = all */
};

/* 0 or -errno with `e`, *out is NULL then. */
int trace_session_open(struct trace_session **out, const struct trace_options *o,
		       const struct session_sink *to, struct err *e);

/* Let the program run, if one was given, and trace until something ends it. 0 or -errno. */
int trace_session_run(struct trace_session *s, struct err *e);

/* End it as soon as may be. */
void trace_session_end(struct trace_session *s);

/* Hand over the last lines and the result. 0 or -errno with `e`. */
int trace_session_finish(struct trace_session *s, struct err *e);

/* The wait status of the program; -1: there was none, or it goes on. */
int trace_session_status(const struct trace_session *s);

/* NULL is fine. */
void trace_session_close(struct trace_session *s);

/* Try which groups work: open each, close it again. `groups` has KERNEL_NR_GROUPS. */
void trace_session_try(const struct kernel_source_ops *source,
		       struct kernel_group_state *groups);

#endif
