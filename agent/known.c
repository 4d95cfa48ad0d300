/* SPDX-License-Identifier: MIT */
/*
 * Stacks that come back: noting them.
 */
#include "agent/known.h"

/* Checks as slots. Returns the number of groups, 0 when they do not fit. */
static uint16_t slots_put(struct known_stack *k, const struct check *checks, uint32_t nr)
{
	uint32_t filled = (nr + KNOWN_GROUP - 1) / KNOWN_GROUP * KNOWN_GROUP;

	if (filled > KNOWN_SLOTS)
		return 0;
	for (uint32_t i = 0; i < filled; i++) {
		const struct check *check = &checks[nr - 1 - (i < nr ? i : 0)];
		struct known_group *g = &k->group[i / KNOWN_GROUP];
		uint64_t bytes = check->address - k->sp;

		if (bytes & 7 || bytes / 8 > UINT16_MAX)
			return 0;
		g->slot[i % KNOWN_GROUP] = (uint16_t)(bytes / 8);
		g->value[i % KNOWN_GROUP] = check->value;
	}
	return (uint16_t)(filled / KNOWN_GROUP);
}

void known_note(const struct tctx *c, struct known_stack *k, const struct caller *from)
{
	const struct frame *inner = &c->memo[c->memo_nr - 1];

	if (k->ra != from->ra || k->sp != from->sp || k->gen != c->known_gen) {
		k->ra = from->ra;
		k->sp = from->sp;
		k->gen = c->known_gen;
		k->nr_groups = 0;
		k->found = 0;
		k->vain = 0;
		return;
	}
	k->vain = k->found ? 0 : k->vain + 1;
	if (k->vain & (k->vain - 1))
		return;
	k->found = 0;
	k->fp = from->fp;
	k->needs_fp = inner->needs_fp;
	k->site = c->last_site;
	k->nr_groups = slots_put(k, c->checks, inner->nr_checks);
}
