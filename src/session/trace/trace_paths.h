/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths for lines about page faults, from the tables of files that the kernel fills. */
#ifndef SESSION_TRACE_TRACE_PATHS_H
#define SESSION_TRACE_TRACE_PATHS_H

#include "src/analyze/trace/fault_names.h"

/* Is it a record of a file that has a path? */
bool trace_paths_has(const struct trace_record *r);

/* The path, which is added to `n` if it is new; "": it is not known. */
const char *trace_paths_find(struct fault_names *n, struct kernel_source *source,
			     const struct trace_record *r);

#endif
