/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In the place of a trace, where no event can be seen: what the kernel's counters have gained over
 * the time, of the machine and of processes. In steps of its own, as trace_session.h:
 *
 *	trace_figures_open(&f, &options, &why, &sink, &e);
 *	trace_figures_run(f, &e);
 *	trace_figures_close(f);
 */
#ifndef SESSION_TRACE_TRACE_FIGURES_H
#define SESSION_TRACE_TRACE_FIGURES_H

#include "src/session/trace/trace_session.h"

struct trace_figures;

/* Can figures stand in for what was asked for? Not for filters by name, user and control group. */
bool trace_figures_can(const struct trace_options *o);

/* `why`: there are no events; o->source is not read. 0 or -errno with `e`. */
int trace_figures_open(struct trace_figures **out, const struct trace_options *o,
		       const struct err *why, const struct session_sink *to, struct err *e);

/* Until something ends it, and hand over the result. 0 or -errno with `e`. */
int trace_figures_run(struct trace_figures *f, struct err *e);

/* End it as soon as may be. NULL is fine. */
void trace_figures_end(struct trace_figures *f);

/* As trace_session_status(). */
int trace_figures_status(const struct trace_figures *f);

/* NULL is fine. */
void trace_figures_close(struct trace_figures *f);

#endif
