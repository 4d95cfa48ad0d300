/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which stacks of a heap are which of the comparison.
 *
 * A stack is a node of a tree for each level of strictness. Level by level, what the stricter ones
 * left is matched by equal nodes. Stacks that one level cannot tell apart, while no stricter one
 * matched them, become one row. Where one heap has all builds of the modules of the other's stack,
 * the exact level has the last word: the stack would be the same in both.
 */
#include "src/analyze/diff/diff_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int64_t diff_trie_step(struct diff_trie *t, uint32_t node, uint32_t key)
{
	bool added;
	uint32_t *at;

	if (!t->nodes.nr && vec_push(&t->nodes, (struct diff_trie_node){ 0 }))
		return -ENOMEM;
	if (t->nodes.nr >= DIFF_NONE - 1)
		return -ENOSPC;
	at = hash_add(&t->child, (uint64_t)node << 32 | key, (uint32_t)t->nodes.nr, &added);
	if (!at || (added && vec_push(&t->nodes, (struct diff_trie_node){ node, key })))
		return -ENOMEM;
	return *at;
}

/* By node of LEVEL_EXACT: does a side have all builds on the way there? NULL: no memory. */
static uint8_t *shared_with(const struct diff *d, uint32_t side)
{
	const struct diff_trie *t = &d->trie[LEVEL_EXACT];
	uint8_t *shared = calloc(t->nodes.nr + 1, 1);

	for (size_t i = 1; shared && i < t->nodes.nr; i++) {
		const struct diff_trie_node *n = &t->nodes.v[i];

		shared[i] = (!n->parent || shared[n->parent]) &&
			    diff_has_build(d, side, d->place_build.v[n->key]);
	}
	return shared;
}

struct matching {
	struct diff_local *l;
	struct diff *d;
	unsigned side;
	struct diff_local_stack *stack;
	size_t nr;
	size_t nr_known;	/* rows from earlier heaps */
	uint8_t *ours_shared, *theirs_shared;
};

/* The node by which a stack may be matched at a level; 0: it may not. */
static uint32_t node_of(const uint32_t at[NR_LEVELS], unsigned level, const uint8_t *shared)
{
	return level != LEVEL_EXACT && at[LEVEL_EXACT] && shared[at[LEVEL_EXACT]] ? 0 : at[level];
}

/* Two rows are the same: the later one's figures go to the earlier one. */
static void join(struct diff *d, uint32_t into, uint32_t from)
{
	vec_each(&d->figures[DIFF_STACKS], f) {
		size_t to = (size_t)into * DIFF_NR_METRICS, at = (size_t)from * DIFF_NR_METRICS;

		for (unsigned m = 0; m < DIFF_NR_METRICS; m++) {
			if (at + m < f->value.nr) {
				f->value.v[to + m] += f->value.v[at + m];
				f->value.v[at + m] = 0;
			}
		}
	}
	/* of several inlined functions none is the one that another name can stand for */
	if (d->lines.v[d->stacks.v[into].line].function !=
	    d->lines.v[d->stacks.v[from].line].function)
		d->stacks.v[into].inlined = false;
	d->stacks.v[from].gone = true;
}

/* Is this row one that a stack of the heap may be? */
static bool open_row(const struct diff_stack *s, unsigned side)
{
	return !s->gone && s->side != side;
}

static int match_level(struct matching *m, unsigned level)
{
	struct diff *d = m->d;
	struct hash_map row_of = { 0 };
	uint32_t nodes_nr = (uint32_t)d->trie[level].nodes.nr;
	uint8_t *wanted = calloc((size_t)nodes_nr + 1, 1);
	int rc = wanted ? 0 : -ENOMEM;

	/* rows are joined only where this heap has such a stack */
	for (size_t i = 0; i < m->nr && !rc; i++)
		if (m->stack[i].row == DIFF_NONE)
			wanted[node_of(m->stack[i].at, level, m->ours_shared)] = 1;
	for (uint32_t i = DIFF_RESIDUE + 1; i < m->nr_known && !rc; i++) {
		uint32_t node = node_of(d->stacks.v[i].at, level, m->theirs_shared), *row;

		if (!open_row(&d->stacks.v[i], m->side) || !node || !wanted[node])
			continue;
		row = hash_add(&row_of, node, i, NULL);
		if (!row)
			rc = -ENOMEM;
		else if (*row != i)
			join(d, *row, i);
	}
	for (size_t i = 0; i < m->nr && !rc; i++) {
		uint32_t node = node_of(m->stack[i].at, level, m->ours_shared), *row;

		if (m->stack[i].row != DIFF_NONE || !node)
			continue;
		row = hash_find(&row_of, node);
		if (!row)
			continue;
		m->stack[i].row = *row;
		d->stacks.v[*row].side = m->side;
	}
	free(wanted);
	hash_fini(&row_of);
	return rc;
}

/* What is left is new. Stacks with the same lines of the same functions are one. */
static int enter_rest(struct matching *m)
{
	struct hash_map row_of = { 0 };
	int rc = 0;

	for (size_t i = 0; i < m->nr && !rc; i++) {
		struct diff_local_stack *s = &m->stack[i];
		bool exact = s->at[LEVEL_EXACT] != 0, added;
		uint32_t *row;

		if (s->row != DIFF_NONE)
			continue;
		row = hash_add(&row_of,
			       (uint64_t)exact << 32 | s->at[exact ? LEVEL_EXACT : LEVEL_LINES],
			       (uint32_t)m->d->stacks.nr, &added);
		if (!row)
			rc = -ENOMEM;
		else
			s->row = *row;
		if (row && added) {
			rc = vec_push(&m->d->stacks, (struct diff_stack){ .side = DIFF_NO_SIDE });
		}
	}
	hash_fini(&row_of);
	return rc;
}

/*
 * Inlined functions that answer for the same stacks and have other names in the two heaps: each of
 * ours is one of theirs, and no other, or they stay apart.
 */
struct rename {
	uint32_t ours, theirs;
	bool several;
};

static void note_rename(struct matching *m, const struct diff_local_stack *s, struct rename *ours,
		       struct rename *theirs)
{
	const struct diff_stack *known = &m->d->stacks.v[s->row];
	uint32_t local = m->l->lines.v[s->line].function,
		 function = m->l->functions.v[local].function,
		 other = m->d->lines.v[known->line].function;

	if (!s->inlined || !known->inlined || m->d->functions.v[other].side == m->side ||
	    m->d->functions.v[function].nr_sides > 1)
		return;
	ours[local].several |= ours[local].theirs != DIFF_NONE && ours[local].theirs != other;
	theirs[other].several |= theirs[other].ours != DIFF_NONE && theirs[other].ours != local;
	ours[local].theirs = other;
	theirs[other].ours = local;
}

static struct rename *renames_new(size_t nr)
{
	struct rename *r = calloc(nr + 1, sizeof(*r));

	for (size_t i = 0; r && i < nr; i++)
		r[i].ours = r[i].theirs = DIFF_NONE;
	return r;
}

static int rename_inlined(struct matching *m)
{
	size_t nr_ours = m->l->functions.nr, nr_theirs = m->d->functions.nr;
	struct rename *ours = renames_new(nr_ours), *theirs = renames_new(nr_theirs);
	int rc = ours && theirs ? 0 : -ENOMEM;

	for (size_t i = 0; i < m->nr && !rc; i++)
		if (m->stack[i].row < m->nr_known)
			note_rename(m, &m->stack[i], ours, theirs);
	for (uint32_t i = 0; i < nr_ours && !rc; i++)
		if (ours[i].theirs != DIFF_NONE && !ours[i].several &&
		    !theirs[ours[i].theirs].several)
			rc = diff_rename(m->l, i, ours[i].theirs);
	free(ours);
	free(theirs);
	return rc;
}

/* Rows are shown and found as the latest heap has them. */
static void renew(struct matching *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		const struct diff_local_stack *s = &m->stack[i];
		struct diff_stack *known = &m->d->stacks.v[s->row];

		known->side = m->side;
		known->line = m->l->lines.v[s->line].line;
		known->inlined = s->inlined;
		memcpy(known->at, s->at, sizeof(known->at));
	}
}

int diff_match_stacks(struct diff_local *l, struct diff_local_stack *stack, size_t nr)
{
	struct diff *d = l->d;
	struct matching m = { l, d, l->side, stack, nr, d->stacks.nr,
			      shared_with(d, DIFF_NO_SIDE), shared_with(d, l->side) };
	int rc = m.ours_shared && m.theirs_shared ? 0 : -ENOMEM;

	for (unsigned level = 0; level < NR_LEVELS && !rc; level++)
		rc = match_level(&m, level);
	if (!rc)
		rc = enter_rest(&m);
	if (!rc)
		rc = rename_inlined(&m);
	if (!rc)
		renew(&m);
	free(m.ours_shared);
	free(m.theirs_shared);
	return rc;
}
