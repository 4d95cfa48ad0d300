/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a running process for what is shared with it or trusted: the record (struct pmm_attach)
 * and the ledger.
 *
 * All threads are stopped meanwhile. Else one could fork a child that inherits the descriptor of
 * the ledger's file before it is closed: a child that gives up its rights afterwards would have its
 * parent's ledger to read and to write.
 */
#ifndef INJECT_RESERVE_H
#define INJECT_RESERVE_H

#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/entries/attached.h"
#include "src/inject/injection.h"

/*
 * Set a->at, tree and end; a->pid and of a->record `owner` and `generation` are set. The record is
 * written before anything is there that it knows. The ledger's file is opened by the process
 * itself, so that it counts as its own, laid out by o->make_tree, mapped without access, and kept
 * from children; in *tree_fd as we have it. *taken_bytes is what it takes of the limit on address
 * space, where that cannot be raised, else 0. *pause_ns becomes the stop's length if that is
 * longer. 0, or -errno with `e`: nothing was changed.
 */
int reserve(struct attached *a, const struct inject_options *o, int *tree_fd,
	    uint64_t *taken_bytes, uint64_t *pause_ns, struct err *e);

/* Say that there is no memory for the ledger. -ENOMEM. */
int reserve_no_room(pid_t pid, struct err *e);

#endif
