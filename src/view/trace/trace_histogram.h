/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations as a table of powers of two, a bar for each. */
#ifndef VIEW_TRACE_TRACE_HISTOGRAM_H
#define VIEW_TRACE_TRACE_HISTOGRAM_H

#include "src/document/doc.h"

/*
 * slots[k]: how many took from 2^k ns, below 2^(k+1); the last one has all that took longer. Rows
 * from the first to the last that is not zero; nothing where all are. Strings are not copied.
 */
void trace_histogram(struct doc *d, const char *key, const char *title, const uint64_t *slots,
		     unsigned nr);

#endif
