/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about signals of memory, which need more of their stack than its number. */
#ifndef VIEW_TRACE_TRACE_SEGV_H
#define VIEW_TRACE_TRACE_SEGV_H

#include "src/analyze/trace/stack_overflow.h"
#include "src/document/event.h"
#include "src/names/stack_names.h"

/* A stack as it was unwound, and what its frames are called. */
struct trace_walked {
	const struct user_stack *stack;
	struct stack_names *names;	/* NULL: not known */
};

/* As trace_describe; `w` NULL: there is no copy of the stack. */
void trace_describe_segv(struct str *text, struct event *e, const struct trace_record *r,
			 const struct trace_walked *w);

/* A name for machines; NULL: not known. */
const char *trace_stack_sort_name(unsigned sort);

#endif
