/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors of one process, found in several ways at several times, brought together.
 */
#ifndef ANALYZE_FINDINGS_H
#define ANALYZE_FINDINGS_H

#include <stdbool.h>

#include "src/model/heap.h"

/*
 * Findings of `from` whose index is `first` or more, put among those of a later snapshot of the
 * same process by their numbers. Sites are identified by their numbers (struct heap_site),
 * threads by number and name; what is not there is not known. Also heap.check's canary
 * scans. 0 or -ENOMEM.
 */
int findings_carry(const struct heap *from, uint64_t first, struct heap *to);

/* Does the signal say by itself that the program went wrong, unless another process sent it? */
bool findings_is_crash(int signal);

/*
 * A process that such a signal ended, of which its agent could not say anything: a finding that
 * says no more than that. 0, 1 = it was added, or -ENOMEM.
 */
int findings_note_crash(struct heap *h);

/* What ended the process, where that finding is about it; else zero. */
struct heap_death findings_death(const struct heap *h, const struct heap_finding *f);

/*
 * Findings of h by release that say again what a canary scan has found (`again` tells): what they
 * add, where the block was released, goes to the canary scan's finding of the same call site, and
 * they go. Those whose canary scan's finding is not there stay.
 */
void findings_fold(struct heap *h, bool (*again)(const void *ctx, const struct heap_finding *f),
		   const void *ctx);

#endif
