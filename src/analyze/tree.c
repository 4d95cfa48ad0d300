/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees of sums.
 *
 * Top-down follows the heap's own nodes: one pass adds every node to its parent. Bottom-up has no
 * nodes of its own: the stacks of a row are a slice of one array, sorted by where they are now,
 * then each moved on to its caller.
 */
#include "src/analyze/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "src/names/names.h"
#include "src/base/vec.h"

struct child {
	struct weight weight, self;
	uint64_t value;
	uint32_t node;
	size_t from, to; /* bottom-up: its slice of stacks */
};

struct children {
	struct child *v;
	size_t nr, room;
};

struct stack {
	struct weight weight;
	uint64_t pc;
	uint32_t at; /* node it is at */
	uint32_t module;
};

struct build {
	const struct heap *h;
	enum rank_key key;
	struct tree_limits limits;
	VEC(struct tree_row) rows;
	struct weight total;
	int (*expand)(struct build *b, const struct child *parent, struct children *out);
	/* top-down, by node */
	struct weight *sum, *self;
	uint32_t *first, *next; /* child; sibling */
	/* bottom-up */
	VEC(struct stack) stacks;
};

static void add(struct weight *to, struct weight w)
{
	to->bytes += w.bytes;
	to->count += w.count;
}

static int by_value(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static bool shown(const struct build *b, const struct child *c, size_t rank)
{
	double total = (double)rank_value(b->key, b->total);

	if (b->limits.top && rank >= b->limits.top)
		return false;
	return (double)c->value * 100 >= b->limits.min_percent * total;
}

/* Append the children of `parent` at `depth`, and below each its own. */
static int emit(struct build *b, const struct child *parent, uint32_t depth)
{
	uint64_t max_depth = b->limits.depth && b->limits.depth < TREE_MAX_DEPTH ? b->limits.depth
										 : TREE_MAX_DEPTH;
	struct tree_row rest = { .depth = depth };
	struct children kids = { 0 };
	int rc = 0;

	if (depth >= max_depth)
		return 0;
	rc = b->expand(b, parent, &kids);
	if (rc)
		goto out;
	for (size_t i = 0; i < kids.nr; i++)
		kids.v[i].value = rank_value(b->key, kids.v[i].weight);
	vec_sort(&kids, by_value);
	for (size_t i = 0; i < kids.nr && !rc; i++) {
		const struct child *c = &kids.v[i];

		if (!shown(b, c, i)) {
			rest.more++;
			add(&rest.weight, c->weight);
			continue;
		}
		rc = vec_push(&b->rows, (struct tree_row){ c->node, 0, depth, c->weight, c->self });
		if (!rc && c->node)
			rc = emit(b, c, depth + 1);
	}
	if (!rc && rest.more)
		rc = vec_push(&b->rows, rest);
out:
	vec_fini(&kids);
	return rc;
}

static int finish(struct build *b, int rc, struct tree *out)
{
	if (rc) {
		vec_fini(&b->rows);
		return rc;
	}
	out->row = b->rows.v;
	out->nr = b->rows.nr;
	out->total = b->total;
	return 0;
}

/* ---- top-down ---- */

static int expand_down(struct build *b, const struct child *parent, struct children *out)
{
	uint32_t at = parent ? parent->node : 0;
	int rc = 0;

	if (!parent && !weight_is_nothing(b->self[0]))
		rc = vec_push(out, (struct child){ .weight = b->self[0], .self = b->self[0] });
	for (uint32_t i = b->first[at]; i && !rc; i = b->next[i])
		if (!weight_is_nothing(b->sum[i]))
			rc = vec_push(out, (struct child){ .weight = b->sum[i],
							   .self = b->self[i],
							   .node = i });
	return rc;
}

static void sum_up(struct build *b, const struct selection *s)
{
	const struct heap *h = b->h;

	for (uint32_t i = 0; i < h->nr_sites; i++) {
		struct weight w = rank_weight(h, s, b->key, i);

		add(&b->self[h->sites[i].node], w);
		add(&b->total, w);
	}
	for (uint32_t i = h->nr_nodes; i-- > 1;) {
		uint32_t parent = h->nodes[i].parent;

		add(&b->sum[i], b->self[i]);
		add(&b->sum[parent], b->sum[i]);
		b->next[i] = b->first[parent];
		b->first[parent] = i;
	}
}

int tree_top_down(const struct heap *h, const struct selection *s, enum rank_key key,
		  const struct tree_limits *limits, struct tree *out)
{
	struct build b = { .h = h, .key = key, .limits = *limits, .expand = expand_down };
	size_t nr = (size_t)h->nr_nodes + 1;
	int rc = -ENOMEM;

	*out = (struct tree){ 0 };
	b.sum = calloc(nr, sizeof(*b.sum));
	b.self = calloc(nr, sizeof(*b.self));
	b.first = calloc(nr, sizeof(*b.first));
	b.next = calloc(nr, sizeof(*b.next));
	if (b.sum && b.self && b.first && b.next) {
		sum_up(&b, s);
		rc = emit(&b, NULL, 0);
	}
	free(b.sum);
	free(b.self);
	free(b.first);
	free(b.next);
	return finish(&b, rc, out);
}

/* ---- bottom-up ---- */

static int by_place(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void stand_at(struct stack *st, const struct heap *h, uint32_t node)
{
	st->at = node;
	st->pc = h->nodes[node].pc;
	st->module = h->nodes[node].module;
}

/* Move a slice to its callers; those without one go to its end. Returns where they begin. */
static size_t move_out(struct build *b, size_t from, size_t to)
{
	struct stack *st = b->stacks.v;

	while (from < to) {
		uint32_t parent = b->h->nodes[st[from].at].parent;

		if (parent) {
			stand_at(&st[from++], b->h, parent);
		} else {
			struct stack last = st[--to];

			st[to] = st[from];
			st[from] = last;
		}
	}
	return to;
}

static int expand_up(struct build *b, const struct child *parent, struct children *out)
{
	size_t from = parent ? parent->from : 0;
	size_t to = parent ? move_out(b, parent->from, parent->to) : b->stacks.nr;
	struct stack *st = b->stacks.v;

	if (from == to)
		return 0;
	vec_qsort(st + from, to - from, sizeof(*st), by_place);
	for (size_t i = from; i < to; i++) {
		bool begins =
			i == from || st[i].pc != st[i - 1].pc || st[i].module != st[i - 1].module;

		if (begins && vec_push(out, (struct child){ .node = st[i].at, .from = i }))
			return -ENOMEM;
		add(&vec_last(out)->weight, st[i].weight);
		vec_last(out)->to = i + 1;
	}
	return 0;
}

static int collect_stacks(struct build *b, const struct selection *s, uint8_t *inside)
{
	const struct heap *h = b->h;

	for (uint32_t i = 0; i < h->nr_modules; i++)
		inside[i] = i && role_of(h->modules[i].path, NULL) == FRAME_ALLOCATOR;
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		struct stack st = { .weight = rank_weight(h, s, b->key, i) };
		uint32_t node = h->sites[i].node;

		if (weight_is_nothing(st.weight))
			continue;
		add(&b->total, st.weight);
		while (inside[h->nodes[node].module] && h->nodes[node].parent)
			node = h->nodes[node].parent;
		stand_at(&st, h, node);
		if (vec_push(&b->stacks, st))
			return -ENOMEM;
	}
	return 0;
}

int tree_bottom_up(const struct heap *h, const struct selection *s, enum rank_key key,
		   const struct tree_limits *limits, struct tree *out)
{
	struct build b = { .h = h, .key = key, .limits = *limits, .expand = expand_up };
	uint8_t *inside = calloc((size_t)h->nr_modules + 1, 1);
	int rc = -ENOMEM;

	*out = (struct tree){ 0 };
	if (inside)
		rc = collect_stacks(&b, s, inside);
	if (!rc)
		rc = emit(&b, NULL, 0);
	free(inside);
	vec_fini(&b.stacks);
	return finish(&b, rc, out);
}

void tree_fini(struct tree *t)
{
	free(t->row);
	t->row = NULL;
	t->nr = 0;
}
