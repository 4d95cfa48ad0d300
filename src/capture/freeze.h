/*
 * The live blocks of a running process exactly as they were at one moment, though reading them takes longer than that moment may last.
 *
 *	freeze_begin(&f, map, &e);	the process runs: copies the block tables, and asks the agent to mark pages it changes from then on
 *	... all threads are stopped ...
 *	freeze_now(&f, &e);		copies again what was marked: as much as changed in some milliseconds
 *	... the threads run ...
 *	freeze_heap(&f, &o, &h, &e);	the heap, its blocks as of freeze_now()
 *	freeze_end(&f);
 *
 * As migration of virtual machines does it (pre-copy). See include/pmm/ledger.h, struct pmm_ledger.changing. freeze_begin() copies again in rounds
 * while the number of pages that change in between gets smaller.
 */
#ifndef CAPTURE_FREEZE_H
#define CAPTURE_FREEZE_H

#include <stdint.h>

#include "src/base/err.h"
#include "src/capture/ledger.h"

struct freeze {
	struct ledger_map *map;		/* borrowed */
	uint64_t copied_pages;		/* in freeze_begin(), all rounds */
	uint64_t late_pages;		/* in freeze_now() */
	struct freeze_state *state;
};

/* 0 or -errno with `e`: -EROFS the ledger cannot be written (then nothing can be marked), -EBUSY another pmm is at it, -ENOMEM. */
int freeze_begin(struct freeze *f, struct ledger_map *map, struct err *e);

/* With all threads of the process stopped (or ended). 0 or -errno with `e`. */
int freeze_now(struct freeze *f, struct err *e);

/* As ledger_read(), but blocks (and what is summed over them) as of freeze_now(); sites and threads may be newer. */
int freeze_heap(struct freeze *f, const struct ledger_options *o, struct heap **out, struct err *e);

/* The agent need not mark any more; release. All zero is fine. */
void freeze_end(struct freeze *f);

#endif
