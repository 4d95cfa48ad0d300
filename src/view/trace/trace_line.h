/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record of the kernel as an event of the output: one line of text, one JSON object
 * (doc/json/trace.schema.json).
 */
#ifndef VIEW_TRACE_TRACE_LINE_H
#define VIEW_TRACE_TRACE_LINE_H

#include "src/document/event.h"
#include "src/kernel/event_class.h"
#include "src/kernel/stack_table.h"
#include "src/kernel/user_stack.h"
#include "src/names/stack_names.h"

#define TRACE_SCHEMA "pmm-trace/1.0"

/*
 * What a record says beyond who and when: words for people into `text`, fields into `e`. `tail`:
 * the record's text, "" = none, with NULs up to TRACE_TEXT_MAX.
 */
typedef void trace_describe(struct str *text, struct event *e, const struct trace_record *r,
			    const char *tail);

/* By group of programs. */
void trace_describe_call(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail);
void trace_describe_reclaim(struct str *text, struct event *e, const struct trace_record *r,
			    const char *tail);
void trace_describe_compaction(struct str *text, struct event *e, const struct trace_record *r,
			       const char *tail);
void trace_describe_huge(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail);
void trace_describe_life(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail);

void trace_describe_oom(struct str *text, struct event *e, const struct trace_record *r,
			const char *tail);

void trace_describe_file(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail);
void trace_describe_rss(struct str *text, struct event *e, const struct trace_record *r,
			const char *tail);
void trace_describe_cache(struct str *text, struct event *e, const struct trace_record *r,
			  const char *tail);
void trace_describe_kernel(struct str *text, struct event *e, const struct trace_record *r,
			   const char *tail);

/* `tail`: the path of the file that it was of, if it is known. */
void trace_describe_fault(struct str *text, struct event *e, const struct trace_record *r,
			  const char *tail);

void trace_describe_libc(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail);
void trace_describe_sample(struct str *text, struct event *e, const struct trace_record *r,
			   const char *tail);
void trace_describe_growth(struct str *text, struct event *e, const struct trace_record *r,
			   const char *tail);

struct trace_clock {
	uint64_t start_ns;		/* CLOCK_MONOTONIC as tracing began */
	uint64_t to_realtime_ns;	/* added to CLOCK_MONOTONIC it is CLOCK_REALTIME */
	bool show_realtime;		/* text has times of day, not seconds since the start */
};

/* The line that names the columns of trace_line(). */
void trace_heading(struct event *e, const struct trace_clock *clock);

/*
 * `clock`: NULL: the start was at 0, and times of day are not known. `number`: of the record's
 * stack, 0 = it has none.
 */
void trace_line(struct event *e, const struct trace_record *r, const char *tail,
		const struct trace_clock *clock, const struct stack_table *stacks,
		struct stack_names *names, uint32_t number);

/* With the record's stack as it was unwound, of which TRACE_SEGV says more. NULL: there is none. */
void trace_line_walked(struct event *e, const struct trace_record *r, const char *tail,
		       const struct trace_clock *clock, const struct stack_table *stacks,
		       struct stack_names *names, uint32_t number, const struct user_stack *walked);

/* "ENOMEM"; a number for those that have no name. */
const char *trace_errno(uint64_t result);

#endif
