/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of a tree that pmm does not see into: which, and why.
 */
#ifndef SESSION_UNTRACKED_H
#define SESSION_UNTRACKED_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/analyze/coverage.h"
#include "src/model/heap.h"

struct launch;
struct launch_totals;

/* Why nothing is known of the heap of a process that has a ledger; NULL: it is known. */
const char *untracked_why(const struct heap *h);

/* Its name, for a message. */
const char *untracked_name(const struct heap *h);

/*
 * What the monitor knows of and delivered no heap of: programs that were not tracked, others that
 * never allocated anything. `c` holds those of the latter whose heap was not seen, and `nr_missed`
 * others that are not to count as looked at.
 */
void untracked_rest(struct coverage *c, const struct launch_totals *t, uint64_t nr_missed);

/* `nr` processes that continue, `one` among them: by name those that are known. */
void untracked_living(struct coverage *c, const struct launch *l, unsigned nr, pid_t one);

/* `nr` processes without a ledger, which others report as well. */
void untracked_lost(struct coverage *c, unsigned nr);

/* Is one of the programs that were not tracked of a kind that attaching tracks? */
bool untracked_can_be_attached(const struct coverage *c);

#endif
