/* SPDX-License-Identifier: MIT */
/*
 * Source locations in the source as innermost frames: what pmm.h's macros say of a call.
 */
#ifndef AGENT_SRCLOC_H
#define AGENT_SRCLOC_H

#include <stdint.h>

#include "agent/agent_arena.h"
#include "agent/ctx.h"
#include "agent/sys.h"

#define SRCLOC_CACHE_BITS	8

/*
 * Texts are constants: recognised by address, read when the source location is new, and each time
 * if they are of a module that may be unloaded: another one may come to its place.
 */
struct srcloc {
	const char *file, *function;
	uint32_t line;
	uint32_t flags;		/* enum pmm_srcloc_flags */
};

struct srcloc_known {
	const char *file, *function;
	uint64_t what;		/* line | flags << 32: one word, for it is compared as one */
	uint32_t under;		/* node of the stack it was called from, 0 = none */
	uint32_t site;		/* 0 = unused */
};

struct srcloc_cache {
	struct srcloc_known known[1u << SRCLOC_CACHE_BITS];	/* direct mapped */
};

static inline struct srcloc_known *srcloc_known_at(struct srcloc_cache *cache, const char *file,
						   uint64_t what, uint32_t under)
{
	uint64_t h = ((uint64_t)file + what + under) * 0x9e3779b97f4a7c15ull;

	return &cache->known[h >> (64 - SRCLOC_CACHE_BITS)];
}

static inline bool srcloc_is(const struct srcloc_known *k, const char *file, const char *function,
			     uint64_t what, uint32_t under)
{
	return k->file == file && k->what == what && k->under == under && k->function == function &&
	       k->site;
}

/*
 * The site of a source location below node `under`, made when it is new; 0 when there is no room.
 * Reads the texts.
 */
uint32_t srcloc_site_slow(struct tctx *c, const struct srcloc *s, uint32_t under);

/* The same, quick where it came before. */
static inline __attribute__((always_inline)) uint32_t srcloc_site(struct tctx *c, const char *file,
								  const char *function,
								  uint32_t line, uint32_t flags,
								  uint32_t under)
{
	uint64_t what = (uint64_t)flags << 32 | line;

	if (likely(c->srclocs)) {
		const struct srcloc_known *k = srcloc_known_at(c->srclocs, file, what, under);

		if (likely(srcloc_is(k, file, function, what, under) &&
			   (uint64_t)file - agent.texts_at < agent.texts_bytes))
			return k->site;
	}
	return srcloc_site_slow(c, &(struct srcloc){ file, function, line, flags }, under);
}

/* The node that site's innermost frame was called from, 0 = none. */
uint32_t srcloc_under(uint32_t site);

static inline const struct pmm_site *srcloc_site_at(uint32_t site)
{
	pmm_ref chunk = LOAD_ACQUIRE(agent.ledger->site_dir[site >> PMM_SITE_SHIFT]);

	return likely(site && chunk)
		       ? (struct pmm_site *)arena_at(chunk) + (site & ((1u << PMM_SITE_SHIFT) - 1))
		       : NULL;
}

/* A site's flags, those of its source location among them. */
static inline uint32_t srcloc_flags(uint32_t site)
{
	const struct pmm_site *s = srcloc_site_at(site);

	return likely(s) ? s->flags : 0;
}

/*
 * The number of the source location a site's innermost frame is, 0 when it is none; source location
 * number `nr`, NULL if there is none.
 */
uint32_t srcloc_nr(uint32_t site);
const struct pmm_srcloc *srcloc_number(uint32_t nr);

/* The first of all source locations that say the same line of the same function. */
uint32_t srcloc_first(uint32_t nr);

#endif
