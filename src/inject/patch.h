/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jumps in a process's code: prepared in slots near the functions, put in place and undone
 * with all threads stopped.
 */
#ifndef INJECT_PATCH_H
#define INJECT_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/entries/attached.h"
#include "src/entries/entries.h"
#include "src/inject/image.h"
#include "src/ptrace/remote.h"
#include "src/ptrace/stop.h"

/*
 * Patches at the end of the record that were prepared earlier and could not be put in place. Those
 * whose functions have changed since are dropped, their slots lost. Index of the first, nr_patches
 * when there are none.
 */
uint32_t patch_pending(struct attached *a);

/*
 * Give every function of `entries` that is not patched yet, nor pending from `pending` on, a slot
 * (memory mapped by `r` and noted in `a`) and a patch in a->record, not applied; one that cannot be
 * patched gets entries->v[i].refused. Number of patches made, or -errno.
 */
int patch_prepare(struct attached *a, struct remote *r, const struct image *im, uint32_t pending,
		  struct entries *entries, struct err *e);

/*
 * May the patches from `first` on be put in place now? Moves threads that are among the
 * instructions to the slots' copies of them. False when one would return into the middle of them:
 * let the threads continue and try again.
 */
bool patch_ready(struct stopped *s, const struct attached *a, uint32_t first);

/*
 * Put those from `first` on in place and read them back. On failure they are undone. Number in
 * place, or -errno.
 */
int patch_apply(const struct stopped *s, struct attached *a, uint32_t first, struct err *e);

/*
 * Of those that were to be put in place from `first` on and were not, the functions in `entries`
 * get their reason.
 */
void patch_missed(const struct attached *a, uint32_t first, struct entries *entries);

/*
 * Take those from `first` on back; not those that may be given blocks, nor, of an agent that has
 * not rested yet, the one by which the program sees its signals' actions. What is no longer ours
 * (the library is gone, others wrote there) stays. 0, or -errno when one could not be undone: the
 * agent must stay then.
 */
enum patch_but { PATCH_ALL, PATCH_BUT_TAKERS, PATCH_BUT_GUARDS };
int patch_restore(const struct stopped *s, struct attached *a, uint32_t first, enum patch_but but);

#endif
