/* SPDX-License-Identifier: MIT */
/*
 * Which accesses that the kernel stopped are one error: a key made of what counts of their stacks.
 */
#include "agent/guard/alike.h"

#include "agent/agent_arena.h"
#include "agent/unwind/module.h"
#include "agent/node.h"

/* The stack of a site; 0: none is known. */
static uint32_t node_of(uint32_t site)
{
	const struct pmm_site *s = site ? arena_chunk(agent.ledger->site_dir, site, PMM_SITE_SHIFT,
						      sizeof(*s))
					: NULL;

	return s ? LOAD(s->node) : 0;
}

/* The C library's number among the modules; 0: not known. */
static uint32_t library(void)
{
	uint64_t function = agent.next.exit ? (uint64_t)agent.next.exit
					    : (uint64_t)agent.next.malloc;
	struct module_at m;

	return function && module_find(function, &m) ? m.id : 0;
}

uint64_t alike_key(const struct pmm_finding *f, uint64_t rest)
{
	uint32_t node = node_of(f->site), lib = node ? library() : 0;
	bool any = false;

	for (unsigned depth = 0; node && depth < PMM_MAX_FRAMES; depth++) {
		const struct pmm_node *n = node_at(node);
		uint64_t frame = n->frame;

		node = n->parent < node ? n->parent : 0;
		if (lib && PMM_FRAME_MODULE(frame) == lib)
			continue;
		rest = alike_mixed(rest, frame);
		any = true;
	}
	return any ? rest : alike_mixed(rest, f->site);
}
