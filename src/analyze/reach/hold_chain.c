/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chain to a block, place by place: which word of each block is the pointer to the next.
 *
 * The graph knows who points to whom but not from where, so the blocks shown are read once more. A
 * list may put millions of blocks on a chain; of a long one the beginning and the end are kept.
 */
#include "src/analyze/reach/hold.h"

#include <errno.h>

#include "src/analyze/reach/reach_bag.h"

struct looking {
	uint32_t block;
	struct hold_step *step;
	uint64_t start;			/* of the block before */
};

static void note_hits(void *arg, const struct reach_scanner *s)
{
	struct looking *l = arg;
	struct hold_step *step = l->step;

	for (unsigned i = s->given; i < s->batch.found; i++) {
		struct reach_hit hit = s->batch.hits[i];

		if (hit.block != l->block)
			continue;
		/* a pointer to the start says most */
		if (!step->same || (step->into && !hit.offset)) {
			step->into = hit.offset;
			step->field = s->place[i] - l->start;
		}
		if (step->same < UINT32_MAX)
			step->same++;
	}
}

/* Find the pointer of a step in the block before it. */
static void find_pointer(struct hold *h, struct hold_step *step)
{
	struct looking l = { .block = step->block,
			     .step = step,
			     .start = h->heap->blocks[step->before].address };

	reach_scan_block(&h->scanner, step->before, note_hits, &l);
}

static uint64_t length(const struct hold *h, uint32_t block)
{
	uint64_t nr = 1;

	for (; h->from[block] != HOLD_NONE; block = h->from[block])
		nr++;
	return nr;
}

int hold_chain(struct hold *h, uint32_t block, struct hold_chain *c)
{
	uint64_t at, kept, head = HOLD_HEAD;

	*c = (struct hold_chain){ .edge = h->origin[block], .nr = length(h, block) };
	if (c->nr <= HOLD_HEAD + HOLD_TAIL + HOLD_SLACK)
		head = c->nr;
	kept = c->nr > head ? head + HOLD_TAIL : c->nr;
	if (vec_resize(&c->steps, kept))
		return -ENOMEM;
	at = kept;
	for (uint64_t place = c->nr; place-- > 0; block = h->from[block]) {
		struct hold_step *s;

		if (place >= head && place < c->nr - HOLD_TAIL)
			continue;
		s = &c->steps.v[--at];
		*s = (struct hold_step){ .block = block, .before = h->from[block] };
		if (place && place == c->nr - HOLD_TAIL && c->nr > kept)
			s->skipped = c->nr - kept;
	}
	vec_each(&c->steps, s) {
		if (s->before != HOLD_NONE)
			find_pointer(h, s);
		else
			*s = (struct hold_step){ .block = s->block,
						 .before = HOLD_NONE,
						 .same = 1,
						 .into = h->edges.v[c->edge].offset };
	}
	return 0;
}

struct marking {
	struct reach_stack stack;
	uint64_t *seen;
	uint32_t block;
	bool found, failed;
};

static void mark(void *arg, uint32_t to, uint32_t offset)
{
	struct marking *k = arg;
	uint64_t bit = (uint64_t)1 << (to & 63);

	(void)offset;
	k->found |= to == k->block;
	if (k->seen[to / 64] & bit)
		return;
	k->seen[to / 64] |= bit;
	k->failed |= reach_push(&k->stack, &to, 1) != 0;
}

/* All that one root pointer leads to, but for what others have led to before. */
static void mark_from(struct hold *h, struct marking *k, uint32_t block)
{
	uint32_t next;

	mark(k, block, 0);
	while (!k->found && !k->failed && reach_pop(&k->stack, &next, 1)) {
		reach_follow(&h->graph, &h->scanner, next, mark, k);
		k->failed |= reach_stopped(&h->scanner);
	}
}

int hold_otherwise(struct hold *h, unsigned set, uint32_t block, uint32_t *edge)
{
	struct marking k = { .stack.space = &h->space,
			     .seen = reach_take(&h->space, reach_bits_bytes(h->index.nr)),
			     .block = block };

	*edge = HOLD_NONE;
	if (!k.seen)
		return -ENOMEM;
	for (size_t i = 0; i < h->edges.nr && !k.found && !k.failed; i++) {
		if (h->edges.v[i].set == set)
			continue;
		mark_from(h, &k, h->edges.v[i].block);
		if (k.found)
			*edge = (uint32_t)i;
	}
	reach_stack_fini(&k.stack);
	reach_give(&h->space, k.seen, reach_bits_bytes(h->index.nr));
	return h->scanner.stopped ? -EINTR : k.failed ? -ENOMEM : 0;
}

void hold_chain_fini(struct hold_chain *c)
{
	vec_fini(&c->steps);
}
