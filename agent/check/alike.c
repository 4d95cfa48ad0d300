/* SPDX-License-Identifier: MIT */
/*
 * Which accesses that the kernel stopped are one error: a key made of what counts of their stacks.
 */
#include "agent/check/alike.h"

#include "agent/arena.h"
#include "agent/module.h"
#include "agent/node.h"

#define NEAR_CODE	32u	/* bytes between instructions of one access */
#define NEAR_DATA	64u	/* ... and between the addresses that they access, */
#define PIECE		8u	/* which are no nearer: pieces of a copy do not overlap */

/* The stack of a site; 0: none is known. */
static uint32_t node_of(uint32_t site)
{
	const struct pmm_site *s = site ? arena_chunk(A.ledger->site_dir, site, PMM_SITE_SHIFT, sizeof(*s)) : NULL;

	return s ? LOAD(s->node) : 0;
}

/* The C library's number among the modules; 0: not known. */
static uint32_t library(void)
{
	uint64_t function = A.next.exit ? (uint64_t)A.next.exit : (uint64_t)A.next.malloc;
	struct agent_module m;

	return function && module_find(function, &m) ? m.id : 0;
}

static inline bool within(uint64_t a, uint64_t b, uint64_t bytes)
{
	return a - b + bytes <= 2 * bytes;
}

/* Is it a piece of the access that was stopped last, or the same instruction once more? */
static bool goes_on(const struct near_access *last, uint64_t pc, uint64_t address)
{
	return pc == last->pc || (within(last->pc, pc, NEAR_CODE) && within(last->address, address, NEAR_DATA) &&
				  !within(last->address, address, PIECE - 1));
}

uint64_t alike_key(struct tctx *c, const struct pmm_finding *f, uint64_t rest)
{
	uint32_t node = node_of(f->site), lib = node ? library() : 0;
	uint64_t inner = 0, outer = rest, frame, key, place;
	bool direct = false;

	for (unsigned depth = 0; node && depth < PMM_MAX_FRAMES; depth++) {
		const struct pmm_node *n = node_at(node);

		frame = n->frame;
		node = n->parent < node ? n->parent : 0;
		if (lib && PMM_FRAME_MODULE(frame) == lib)
			continue;
		if (inner) {
			outer = alike_mixed(outer, frame);
		} else {
			inner = frame;
			direct = !depth;
		}
	}
	if (!inner)
		return alike_mixed(rest, f->site);
	key = alike_mixed(outer, inner);
	place = alike_mixed(outer, f->block);
	if (!direct)
		return key;
	if (c->near.place == place && goes_on(&c->near, inner, f->address))
		key = c->near.key;
	c->near = (struct near_access){ .place = place, .pc = inner, .address = f->address, .key = key };
	return key;
}
