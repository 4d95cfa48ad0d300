/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the machine's own counters (/proc/vmstat) have gained in the traced time. */
#ifndef VIEW_TRACE_TRACE_VMSTAT_H
#define VIEW_TRACE_TRACE_VMSTAT_H

#include "src/view/trace/trace_view.h"

/*
 * Counters whose name begins with one of `prefixes` (which end with NULL) and that have changed;
 * nothing where none has, or none is known. Strings are not copied.
 */
void trace_vmstat(struct doc *d, const struct trace_result *t, const char *key, const char *title,
		  const char *const *prefixes);

#endif
