/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes by the time that they have waited for something of the kernel's. */
#ifndef VIEW_TRACE_TRACE_WAITS_H
#define VIEW_TRACE_TRACE_WAITS_H

#include "src/view/trace/trace_view.h"

/* The processes with events of these kinds, the longest time first; nothing without any. */
void trace_waits(struct doc *d, const struct trace_result *t, const char *key, const char *title,
		 const enum trace_kind *kinds, unsigned nr);

/* Are there events of these kinds? */
bool trace_any(const struct trace_result *t, const enum trace_kind *kinds, unsigned nr);

#endif
