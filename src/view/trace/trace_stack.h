/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User stacks in lines and in the result of a trace. */
#ifndef VIEW_TRACE_TRACE_STACK_H
#define VIEW_TRACE_TRACE_STACK_H

#include "src/document/doc.h"
#include "src/document/event.h"
#include "src/kernel/stack_table.h"
#include "src/names/stack_names.h"

struct trace_result;

/*
 * The frames of a stack, innermost first, as the member "stack", and why it ends if it is not
 * complete; in text the first function that is neither the C library's nor an allocator's.
 */
void trace_stack_event(struct event *e, struct str *text, const struct stack_table *stacks,
		       struct stack_names *names, uint32_t number);

/* The stacks with the most events, by kind, with their frames. */
void trace_stack_section(struct doc *d, const struct trace_result *t);

#endif
