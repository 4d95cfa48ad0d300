/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What speaks for a leak at a call site whose blocks can still be got at.
 *
 * That a site grows is one thing that a leak does, and a cache that fills, a table made at first
 * use and a server's start do it too. A leak does more: it continues at its pace, block by block,
 * over all of the time, and none of what has grown old is freed. Each of these is a piece of
 * evidence of its own. With all of them a leak is likely; a site with some of them grows.
 * doc/leaks.md says what each rules out, and how often it errs.
 */
#ifndef ANALYZE_EVIDENCE_H
#define ANALYZE_EVIDENCE_H

#include <stdint.h>

#include "src/analyze/growth.h"
#include "src/base/str.h"
#include "src/model/heap.h"

#define EVIDENCE_LONG_OLD	30	/* times the age from which a block is old */
#define EVIDENCE_MANY_BLOCKS	64
#define EVIDENCE_PARTS		8

enum evidence_kind {
	EVIDENCE_STEADY	= 1 << 0,	/* it grows steadily (growth.h) */
	/* by at least EVIDENCE_MANY_BLOCKS that live on: the next one is to be expected */
	EVIDENCE_MANY	= 1 << 1,
	/* in each eighth of the time, a quarter of its share at least */
	EVIDENCE_SPREAD	= 1 << 2,
	/*
	 * in the last third at seven tenths of the whole's pace at least, and not by fewer blocks
	 * than chance explains
	 */
	EVIDENCE_PACE	= 1 << 3,
	/* of those that grew old (an eighth of the time) at most one in twenty was freed */
	EVIDENCE_KEPT	= 1 << 4,
	/* for EVIDENCE_LONG_OLD times as long as it takes to be old */
	EVIDENCE_LONG	= 1 << 5,
	EVIDENCE_ALL	= 63,
};

struct evidence {
	uint32_t site;			/* to be set, index into heap.sites */
	struct growth growth;		/* to be set */
	unsigned has;			/* enum evidence_kind */
	uint64_t grown_ns, long_ns;	/* steady for so long; for so long it must be */
	uint64_t born[EVIDENCE_PARTS];	/* blocks alive, by birth in the time of growth */
	uint64_t aged, freed_aged;	/* blocks that got old: alive, freed */
};

/*
 * Fill in what speaks for a leak at each of `nr` sites. `old_ns`: from this age on a block is old.
 * 0 or -ENOMEM.
 */
int evidence_find(const struct heap *h, uint64_t old_ns, struct evidence *e, size_t nr);

/* Append the names of what there is, such as "steady many kept". */
void evidence_names(struct str *s, const struct evidence *e);

#endif
