/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's last minute, a moment a second, kept while a trace runs. */
#ifndef SESSION_TRACE_TRACE_MOMENTS_H
#define SESSION_TRACE_TRACE_MOMENTS_H

#include "src/view/trace/trace_oom.h"

#define TRACE_MOMENT_NS	1000000000ull

/* All zero is empty. */
struct trace_moments {
	struct machine v[TRACE_OOM_SECONDS];	/* the oldest first */
	unsigned nr;
};

/* Read the machine's figures now, as the latest moment. */
void trace_moments_add(struct trace_moments *m);

#endif
