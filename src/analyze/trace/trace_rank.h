/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of sums in order: the largest first, equal ones by kind and number. */
#ifndef ANALYZE_TRACE_TRACE_RANK_H
#define ANALYZE_TRACE_TRACE_RANK_H

#include "src/analyze/trace/trace_totals.h"

enum trace_sort { TRACE_BY_COUNT, TRACE_BY_BYTES, TRACE_BY_TIME };
#define TRACE_NR_SORTS (TRACE_BY_TIME + 1)

/* A list of pointers to the `nr` rows, free(); NULL when out of memory. */
const struct trace_row **trace_rank(const struct trace_row *rows, size_t nr,
				    enum trace_sort sort);

#endif
