/* SPDX-License-Identifier: MIT */
/*
 * Spots in the source as innermost frames: what pmm.h's macros say of a call.
 */
#ifndef AGENT_SPOT_H
#define AGENT_SPOT_H

#include <stdint.h>

#include "agent/agent_arena.h"
#include "agent/ctx.h"
#include "agent/sys.h"

#define SPOT_CACHE_BITS	8

/*
 * Texts are constants: known by address, read when the spot is new, and each time if they are of a module that may be unloaded: another one
 * may come to its place.
 */
struct spot {
	const char *file, *function;
	uint32_t line;
	uint32_t flags;		/* enum pmm_spot_flags */
};

struct spot_known {
	const char *file, *function;
	uint64_t what;		/* line | flags << 32: one word, for it is compared as one */
	uint32_t under;		/* node of the stack it was called from, 0 = none */
	uint32_t site;		/* 0 = unused */
};

struct spot_cache {
	struct spot_known known[1u << SPOT_CACHE_BITS];	/* direct mapped */
};

static inline struct spot_known *spot_known_at(struct spot_cache *cache, const char *file, uint64_t what, uint32_t under)
{
	uint64_t h = ((uint64_t)file + what + under) * 0x9e3779b97f4a7c15ull;

	return &cache->known[h >> (64 - SPOT_CACHE_BITS)];
}

static inline bool spot_is(const struct spot_known *k, const char *file, const char *function, uint64_t what, uint32_t under)
{
	return k->file == file && k->what == what && k->under == under && k->function == function && k->site;
}

/* The site of a spot below node `under`, made when it is new; 0 when there is no room. Reads the texts. */
uint32_t spot_site_slow(struct tctx *c, const struct spot *s, uint32_t under);

/* The same, quick where it came before. */
static inline __attribute__((always_inline)) uint32_t spot_site(struct tctx *c, const char *file, const char *function, uint32_t line, uint32_t flags,
								uint32_t under)
{
	uint64_t what = (uint64_t)flags << 32 | line;

	if (likely(c->spots)) {
		const struct spot_known *k = spot_known_at(c->spots, file, what, under);

		if (likely(spot_is(k, file, function, what, under) && (uint64_t)file - A.texts_at < A.texts_bytes))
			return k->site;
	}
	return spot_site_slow(c, &(struct spot){ file, function, line, flags }, under);
}

/* The node that site's innermost frame was called from, 0 = none. */
uint32_t spot_under(uint32_t site);

static inline const struct pmm_site *spot_site_at(uint32_t site)
{
	pmm_ref chunk = LOAD_ACQUIRE(A.ledger->site_dir[site >> PMM_SITE_SHIFT]);

	return likely(site && chunk) ? (struct pmm_site *)arena_at(chunk) + (site & ((1u << PMM_SITE_SHIFT) - 1)) : NULL;
}

/* A site's flags, those of its spot among them. */
static inline uint32_t spot_flags(uint32_t site)
{
	const struct pmm_site *s = spot_site_at(site);

	return likely(s) ? s->flags : 0;
}

/* The number of the spot a site's innermost frame is, 0 when it is none; spot number `nr`, NULL if there is none. */
uint32_t spot_nr(uint32_t site);
const struct pmm_spot *spot_number(uint32_t nr);

/* The first of all spots that say the same line of the same function. */
uint32_t spot_first(uint32_t nr);

#endif
