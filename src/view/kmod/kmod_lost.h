/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel module's log of a process lacks, in words. */
#ifndef VIEW_KMOD_KMOD_LOST_H
#define VIEW_KMOD_KMOD_LOST_H

#include <stdint.h>

#include "src/base/str.h"
#include "src/model/heap.h"

/* In the order of what they make of the figures: the first ones make them too small. */
enum kmod_lost {
	KMOD_LOST_OVERFLOWS,
	KMOD_LOST_TORN,
	KMOD_LOST_BAD,
	KMOD_LOST_OVER_LIMIT,
	KMOD_LOST_EVICTED,
	KMOD_LOST_NO_MEMORY,
	KMOD_LOST_SITES,
	KMOD_LOST_REPLACED,
	KMOD_LOST_FOREIGN,
	KMOD_LOST_DOUBLE,
	KMOD_LOST_NR,
};

/* How many; 0: none. */
uint64_t kmod_lost(const struct heap_kmod *k, enum kmod_lost what);

/* A word for JSON. */
const char *kmod_lost_code(enum kmod_lost what);

/* Append the sentence. */
void kmod_lost_text(struct str *to, enum kmod_lost what, uint64_t count);

/* Are records or entries missing, so that the figures are too small? */
bool kmod_lost_any(const struct heap_kmod *k);

#endif
