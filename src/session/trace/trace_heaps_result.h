/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps as a result of a trace has them. */
#ifndef SESSION_TRACE_TRACE_HEAPS_RESULT_H
#define SESSION_TRACE_TRACE_HEAPS_RESULT_H

#include "src/session/trace/trace_heaps.h"
#include "src/view/trace/trace_view.h"

/* All zero is empty. */
struct trace_heaps_result {
	VEC(struct trace_heap_result) v;
};

/* Fill it; valid until the next look at the heaps. 0 or -ENOMEM. `t` NULL: none. */
int trace_heaps_result(struct trace_heaps_result *r, const struct trace_heaps *t);

#endif
