/* SPDX-License-Identifier: MIT */
/*
 * Small blocks of the real allocator that have left quarantine, ready for the next request of just
 * their size: so the real allocator, which would sort and merge what comes back in the order it was
 * released, is not asked.
 *
 * Each context has its own. What is known of them is apart from them: a program that still writes
 * to one changes nothing here.
 */
#ifndef AGENT_CHECK_RECYCLE_H
#define AGENT_CHECK_RECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/ctx.h"

#define RECYCLE_BYTES	1024u		/* of a real block; larger ones go back */
#define RECYCLE_STEP	16u		/* the sizes asked for are multiples of it */
#define RECYCLE_DEPTH	15u		/* blocks of a size */
#define RECYCLE_MOST	(128u << 10)	/* bytes of all of them */

struct recycle_bin {
	uint64_t nr;
	void *block[RECYCLE_DEPTH];
};

struct recycle {
	uint64_t bytes;
	struct recycle_bin bin[RECYCLE_BYTES / RECYCLE_STEP];
};

/* Private memory for it. Without it, and for threads beyond the first ones, all blocks go back. */
void recycle_start(void);

/* In a forked child. */
void recycle_forked(void);

/* The context's own; NULL: there are no more. */
struct recycle *recycle_new(struct tctx *c);

/*
 * A real block that was asked for with so many bytes; NULL: none is there. A signal handler may
 * interrupt and never come back.
 */
static inline void *recycle_take(struct tctx *c, size_t bytes)
{
	struct recycle *r = c->recycle;
	struct recycle_bin *bin;
	uint64_t nr;
	void *p;

	if (unlikely(!r) || bytes >= RECYCLE_BYTES)
		return NULL;
	bin = &r->bin[bytes / RECYCLE_STEP];
	nr = bin->nr;
	if (!nr)
		return NULL;
	p = bin->block[nr - 1];
	STORE(bin->nr, nr - 1);
	r->bytes -= bytes;
	return p;
}

/* Keep one; false: it is to go back. */
static inline bool recycle_put(struct tctx *c, void *real, size_t bytes)
{
	struct recycle *r = c->recycle;
	struct recycle_bin *bin;

	if (bytes >= RECYCLE_BYTES || (unlikely(!r) && !(r = recycle_new(c))))
		return false;
	bin = &r->bin[bytes / RECYCLE_STEP];
	if (bin->nr == RECYCLE_DEPTH || r->bytes > RECYCLE_MOST)
		return false;
	bin->block[bin->nr] = real;
	STORE(bin->nr, bin->nr + 1);
	r->bytes += bytes;
	return true;
}

#endif
