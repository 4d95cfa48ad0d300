/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks outlive their time: bookkeeping over successive looks at the heap of one process.
 *
 * A block has expired once it has lived for `expire_ns`. A site gets a number when the first of its
 * blocks does, is reported again when more do (at growing intervals), and falls silent when expired
 * blocks are freed after all: what lives long is not what leaks. A silent site speaks again only
 * when it holds more than twice the expired blocks that it held at most before. What happens
 * between two looks and leaves no trace in the second is not known here: a block that expired and
 * was freed counts as a free only.
 */
#ifndef ANALYZE_EXPIRY_H
#define ANALYZE_EXPIRY_H

#include <stdbool.h>
#include <stdint.h>

#include "src/analyze/lifetimes.h"
#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/model/heap.h"

enum expiry_what {
	EXPIRY_NEW,	/* the site's first blocks expired */
	EXPIRY_AGAIN,	/* more blocks expired */
	EXPIRY_FREED,	/* expired blocks were freed; the site falls silent */
};
#define EXPIRY_NR (EXPIRY_FREED + 1)

/* In sampled mode numbers of blocks and bytes are estimates. */
struct expiry_count {
	uint64_t blocks, bytes;
};

struct expiry_event {
	enum expiry_what what;
	uint32_t number;		/* of the site, from 1 on */
	uint32_t site;			/* index in the heap looked at */
	/* expired since the last event, or freed since the last look */
	struct expiry_count count;
	struct expiry_count expired;	/* live and expired now */
	uint64_t oldest_ns;		/* age of the oldest block alive, 0 = none */
};

struct expiry_events {
	VEC(struct expiry_event) list;
};

struct expiry_sum {
	double blocks, bytes;
};

/* A site with a number. */
struct expiry_site {
	struct expiry_sum held;		/* live and expired at the last look */
	struct expiry_sum most;		/* ... at any look */
	struct expiry_sum limit;	/* silent until it holds more */
	struct expiry_sum ever;		/* expired so far */
	struct expiry_sum freed;	/* of those, freed */
	struct expiry_sum unreported;	/* expired since the last event */
	uint64_t told_ns, wait_ns;	/* when that was; how long to be quiet after it */
	bool silent;
};

/* Zeroed but for expire_ns. */
struct expiry {
	uint64_t expire_ns;
	uint64_t until_ns;		/* what was born before had expired at the last look */
	struct hash_map by_site;	/* heap_site.number -> index into sites */
	VEC(struct expiry_site) sites;	/* by number - 1 */
};

/*
 * Read a heap; what is to be reported goes into *out (emptied first), old sites before new ones.
 * 0 or -ENOMEM.
 */
int expiry_look(struct expiry *x, const struct heap *h, struct expiry_events *out);
void expiry_fini(struct expiry *x);

/* A line of the final table. */
struct expiry_row {
	uint32_t number;		/* 0: nothing of it has expired */
	uint32_t site;			/* index in the heap */
	bool silent;
	struct expiry_count live, expired;	/* expired: of those alive */
	struct expiry_count ever, freed;	/* expired so far; of those freed */
	uint64_t oldest_ns;
	struct lifetime_range lifetime;	/* of what was freed; nr 0 = nothing was */
};

/*
 * All sites that allocated, the most expired bytes first, then the most live ones. The heap must
 * have been looked at last. *out: free(); their number, or -ENOMEM.
 */
int64_t expiry_rows(const struct expiry *x, const struct heap *h, struct expiry_row **out);

/*
 * Sites with expired blocks that live at the last look, in *nr_silent (may be NULL) the silent ones
 * of them, in *sum those blocks.
 */
uint32_t expiry_held(const struct expiry *x, struct expiry_count *sum, uint32_t *nr_silent);

#endif
