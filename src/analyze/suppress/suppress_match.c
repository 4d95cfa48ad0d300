/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks against suppressions, all at once.
 *
 * Let a step hold at a frame when the suppression from that step on matches the stack from that
 * frame outward. Which steps hold follows from those that hold at the next frame out and from the
 * patterns that match this frame's names alone: a state and a move. States are sets of steps, kept
 * once each, moves are remembered, and so are the states of the call tree's nodes, which stacks
 * share. This is a finite automaton of all suppressions, made where stacks ask for it, that reads
 * stacks from main inward.
 */
#include "src/analyze/suppress/suppressions.h"

#include <string.h>

static bool holds(const struct suppress *s, uint32_t state, uint32_t step)
{
	const struct suppress_set *set = &s->sets.list.v[state];
	const uint32_t *v = s->sets.members.v + set->first;
	size_t i = array_while(v, set->nr, p, *p < step);

	return i < set->nr && v[i] == step;
}

/*
 * The steps that hold at a frame, ascending: those that match it and whose next holds further out;
 * "..." before one of these; and "..." that holds further out.
 */
static int64_t make_move(struct suppress *s, uint32_t state, uint32_t matching)
{
	const struct suppress_set *match = &s->sets.list.v[matching], *old = &s->sets.list.v[state];
	VEC(uint32_t) now = { 0 };
	uint32_t i = 0, o = 0;
	int rc = 0;
	int64_t set;

	while (!rc && (i < match->nr || o < old->nr)) {
		uint32_t carried = o < old->nr ? s->sets.members.v[old->first + o] : UINT32_MAX;
		uint32_t step = i < match->nr ? s->sets.members.v[match->first + i] : UINT32_MAX;

		if (carried < step) {
			if (s->steps.v[carried].what == SUPPRESS_FRAMES &&
			    (!now.nr || *vec_last(&now) != carried))
				rc = vec_push(&now, carried);
			o++;
			continue;
		}
		i++;
		if (!s->steps.v[step].last && !holds(s, state, step + 1))
			continue;
		if (!s->steps.v[step].first && s->steps.v[step - 1].what == SUPPRESS_FRAMES &&
		    (!now.nr || *vec_last(&now) != step - 1))
			rc = vec_push(&now, step - 1);
		rc = rc ? rc : vec_push(&now, step);
	}
	set = rc ? rc : suppress_set_add(&s->sets, now.v, (uint32_t)now.nr);
	vec_fini(&now);
	return set;
}

static int64_t move(struct suppress *s, uint32_t state, int64_t matching)
{
	uint64_t key = (uint64_t)state << 32 | (uint32_t)matching;
	uint32_t *known;
	int64_t set;

	if (matching < 0)
		return matching;
	if (!matching && !state)
		return 0;
	known = hash_find(&s->moves, key);
	if (known)
		return *known;
	set = make_move(s, state, (uint32_t)matching);
	if (set >= 0 && hash_put(&s->moves, key, (uint32_t)set))
		return -ENOMEM;
	return set;
}

static int64_t move_frames(struct suppress *s, int64_t state, const struct frame_name *f,
			   unsigned nr)
{
	while (nr-- && state >= 0)
		if (f[nr].role != FRAME_MARK)
			state = move(s, (uint32_t)state, suppress_frame_set(s, &f[nr]));
	return state;
}

/* The state at a node's innermost frame. Or -ENOMEM. */
static int64_t node_state(struct suppress *s, uint32_t node)
{
	const struct heap_node *nodes = s->names->heap->nodes;
	int64_t state = 0;

	s->path.nr = 0;
	for (; node && !s->state.v[node]; node = nodes[node].parent)
		if (vec_push(&s->path, node))
			return -ENOMEM;
	if (node)
		state = s->state.v[node] - 1;
	while (s->path.nr) {
		uint32_t at = s->path.v[--s->path.nr];
		unsigned nr;
		const struct frame_name *f = names_find(s->names, at, &nr);

		state = move_frames(s, state, f, nr);
		if (state < 0)
			return state;
		s->state.v[at] = (uint32_t)state + 1;
	}
	return state;
}

const char *suppress_match(struct suppress *s, uint32_t site, unsigned class, uint64_t blocks,
			   uint64_t bytes)
{
	const struct frame_name *frames;
	const struct suppress_set *set;
	unsigned nr;
	int64_t state;

	if (!s->names || !s->steps.nr)
		return NULL;
	state = node_state(s, s->names->heap->sites[site].node);
	nr = suppress_allocator(s->kind[site], &frames);
	state = move_frames(s, state, frames, nr);
	if (state < 0)
		return NULL;
	set = &s->sets.list.v[state];
	for (uint32_t i = 0; i < set->nr; i++) {
		const struct suppress_step *step = &s->steps.v[s->sets.members.v[set->first + i]];
		struct suppress_entry *e = &s->entries.v[step->entry];

		if (!step->first || !(e->classes & 1u << class) || (e->at_exit && !s->exits))
			continue;
		e->use.sites++;
		e->use.blocks += blocks;
		e->use.bytes += bytes;
		return e->use.name;
	}
	return NULL;
}

uint8_t *suppress_kinds(const struct heap *h)
{
	uint8_t *kind = calloc((size_t)h->nr_sites + 1, 1);

	for (uint64_t i = 0; kind && i < h->nr_blocks; i++)
		kind[h->blocks[i].site] = h->blocks[i].kind;
	return kind;
}

int suppress_begin(struct suppress *s, struct names *names)
{
	const struct heap *h = names->heap;

	suppress_forget(s);
	if (!s->steps.nr)
		return 0;
	s->kind = suppress_kinds(h);
	if (!s->kind || suppress_order(s) || vec_resize(&s->state, h->nr_nodes) ||
	    suppress_set_add(&s->sets, NULL, 0) < 0) {
		suppress_forget(s);
		return -ENOMEM;
	}
	s->names = names;
	s->exits = h->search.how == HEAP_SEARCH_EXIT;
	return 0;
}

void suppress_forget(struct suppress *s)
{
	vec_fini(&s->order);
	vec_fini(&s->sets.list);
	vec_fini(&s->sets.members);
	hash_fini(&s->sets.by_hash);
	hash_fini(&s->by_text);
	hash_fini(&s->by_frame);
	hash_fini(&s->moves);
	vec_fini(&s->state);
	free(s->kind);
	s->kind = NULL;
	vec_fini(&s->path);
	s->names = NULL;
}
