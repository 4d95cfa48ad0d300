/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer in a few sentences: who holds the memory, what grows and how fast, what only churns,
 * how much of the resident memory the heap explains.
 */
#ifndef VIEW_OVERVIEW_OVERVIEW_H
#define VIEW_OVERVIEW_OVERVIEW_H

#include "src/proc/limits.h"
#include "src/view/report_view.h"

#define OVERVIEW_SCHEMA "pmm-overview/1.0"	/* for people only: there is no JSON of it */

/*
 * Facts of a report that was made with all rows (top 0). `limit`: the one that a running process
 * will meet first, NULL = not known. NULL when out of memory.
 */
struct table *overview_facts(const struct report *r, const struct limit *limit);

#endif
