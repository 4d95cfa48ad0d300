/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which form the kernel's events can be had: programs in the kernel, else perf events of given
 * processes, else no events at all.
 */
#ifndef SESSION_TRACE_TRACE_FORM_H
#define SESSION_TRACE_TRACE_FORM_H

#include "src/session/trace/trace_session.h"
#include "src/view/trace/trace_view.h"

/*
 * Open a trace with the best source that this user may use: o->source is not read. A note says so
 * where it is not programs in the kernel. 0, or -errno with `e`; trace_form_is_refused(): no
 * source may be used, figures (trace_figures.h) can stand in. -ENODATA: there is a source, which
 * shows none of the events.
 */
int trace_form_open(struct trace_session **out, const struct trace_options *o,
		    const struct session_sink *to, struct err *e);

bool trace_form_is_refused(int rc);

/* Hand over which events work here. 0 or -errno. */
int trace_form_list(const struct session_sink *to);

/* For lists: try all events with the best source. `groups` has KERNEL_NR_GROUPS. */
void trace_form_try(struct kernel_group_state *groups, struct trace_list_form *form);

#endif
