/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of a tree that pmm does not see into: which, and why.
 */
#ifndef SESSION_UNTRACKED_H
#define SESSION_UNTRACKED_H

#include <sys/types.h>

#include "src/analyze/coverage.h"
#include "src/model/heap.h"

struct launch_totals;

/* Why nothing is known of the heap of a process that has a ledger; NULL: it is known. */
const char *untracked_why(const struct heap *h);

/* Its name, for a message. */
const char *untracked_name(const struct heap *h);

/*
 * What the monitor knows of and delivered no heap of: programs that were not tracked, others that
 * never allocated anything. `c` holds those of the latter whose heap was not seen.
 */
void untracked_rest(struct coverage *c, const struct launch_totals *t);

/*
 * What others report as well: `nr_lost` processes without a ledger, and `nr_living` that go on,
 * `living` among them.
 */
void untracked_others(struct coverage *c, unsigned nr_lost, unsigned nr_living, pid_t living);

#endif
