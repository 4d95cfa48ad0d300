/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened to a process when, as its monitor hears of it: bounded. When there are MARKS_MOST,
 * each two successive ones of a kind become one that says how many it is and from when to when.
 */
#ifndef TRACK_MARK_SERIES_H
#define TRACK_MARK_SERIES_H

#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/model/heap.h"

#define MARKS_MOST	256

/* All zero is empty. */
struct mark_series {
	VEC(struct heap_mark) all;	/* by time */
	uint64_t nr_lost;		/* for which there was no memory */
};

void mark_series_fini(struct mark_series *s);

/* Add one; what is earlier than the last one counts as of that moment. `name`: any bytes. */
void mark_series_add(struct mark_series *s, enum heap_mark_kind kind, uint64_t now_ns, pid_t pid,
		     const char *name);

/* A copy of all into the process's heap, as far as `until_ns`. 0 or -ENOMEM. */
int mark_series_give(const struct mark_series *s, uint64_t until_ns, struct heap *h);

#endif
