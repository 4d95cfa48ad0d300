/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What could not be charged to its stack, in words: it comes before all figures.
 */
#ifndef VIEW_LOST_H
#define VIEW_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/str.h"
#include "src/model/heap.h"

/* Do the figures lack stacks or blocks for want of room? */
bool lost_any(const struct heap *h);

/*
 * Allocations that are charged to '[stack unknown]' for want of room (0: other events only), and
 * the sentence that says so.
 */
uint64_t lost_stacks(const struct heap *h);
void lost_stacks_text(const struct heap *h, struct str *to);

/*
 * What the events of a kind that was dropped were, and why: "3 blocks were not recorded: ...".
 * Not of PMM_DROP_SITE_FULL, which is lost_stacks_text()'s.
 */
void lost_drop_text(const struct heap *h, unsigned drop, struct str *to);

/* Calls that are in no figure, but for those before or after the time that was recorded. */
uint64_t lost_calls(const struct heap *h);

/* JSON's word for a kind of drop: "blocks_dropped". */
const char *lost_drop_code(unsigned drop);

/*
 * The sentence that says what the program lacks where its limit on address space could not be
 * raised, by heap.space_taken_bytes. JSON's word for it: "address_space_taken".
 */
void lost_space_text(struct str *to, uint64_t taken_bytes);
#define LOST_SPACE_CODE "address_space_taken"

/* The same where heap.own_calls. "own_calls". */
void lost_own_text(struct str *to, const struct heap *h);
#define LOST_OWN_CODE "own_calls"

/* What is missing of the kernel's events. */
enum lost_kernel {
	LOST_KERNEL_UNSEEN,	/* classes, that cannot be seen or only in part */
	LOST_KERNEL_RING,
	LOST_KERNEL_TABLE,
	LOST_KERNEL_ROWS,
	LOST_KERNEL_BINS,
};
#define LOST_KERNEL_NR (LOST_KERNEL_BINS + 1)

/* How many events, or classes; 0 = none. The sentence that says so. JSON's word. */
uint64_t lost_kernel(const struct heap *h, enum lost_kernel what);
void lost_kernel_text(const struct heap *h, enum lost_kernel what, struct str *to);
const char *lost_kernel_code(enum lost_kernel what);

/* The names of classes of events: "mmap, brk". */
void lost_kernel_classes(struct str *to, uint64_t classes);

/*
 * Why not all was recorded (heap.off_reason): add a sentence, return JSON's word for it. NULL:
 * there is nothing to say.
 */
const char *lost_off_text(const struct heap *h, struct str *to);

#endif
