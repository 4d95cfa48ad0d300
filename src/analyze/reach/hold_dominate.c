/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each of some pointers holds alone: dominators of the graph of blocks.
 *
 * A pointer holds what every way from the roots takes it to. So each pointer asked for becomes a
 * vertex of its own on its edge, and so does each set of root pointers; what would be cut off are
 * the blocks below it in the dominator tree. A vertex above all roots stands for the program.
 *
 * Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (TOPLAS 1, 1979),
 * in its simple form with path compression: O(m log n) whatever the graph. Without recursion: a
 * depth-first search goes back by the parents it noted, and the path that is compressed is written
 * down in memory that is not needed meanwhile. Vertices are numbered from 1 in the order of their
 * first visit; 0 is none. A parent serves as the ancestor of the paper's forest: a vertex is in the
 * forest when its number is not below `linked`.
 *
 * Memory for each vertex reached: 36 bytes and 4 for each pointer, and 8 for each block; then 12
 * for the sums.
 */
#include "src/analyze/reach/hold.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "src/base/hash.h"

#define ALL_VISITED	(UINT32_MAX - 1)	/* of `cursor`: no pointers are left */
#define ASIDE		UINT32_MAX		/* they are the last ones in `aside` */
#define END_ASIDE	UINT32_MAX
#define AHEAD		8		/* steps; pointers of a vertex */

_Static_assert(ALL_VISITED > REACH_MAX_EDGES, "a cursor is a place in the edges or one of these");

struct vertex {
	uint32_t number;		/* 0 = not visited */
	uint32_t in;			/* edges that lead to it, still to be written down */
};

struct dominating {
	struct hold *h;
	struct hold_cut *cuts;
	size_t nr_cuts;
	uint32_t nr_blocks, nr_vertices;	/* blocks, then the program, then cuts */
	struct hash_map routes;		/* from << 32 | to -> cut */
	uint64_t *routed;		/* bit by block: one of its pointers is a cut */
	struct vertex *vertices;
	uint32_t nr;			/* visited */
	/* by number */
	uint32_t *vertex, *parent, *label, *head;
	uint32_t *semi;			/* during the search: the cursor */
	uint32_t *idom;			/* before that is known: the next in the same bucket */
	uint64_t *start;		/* of its predecessors in `preds` */
	uint32_t *preds;
	uint64_t nr_preds;
	uint32_t pred;			/* whose edges are written down */
	uint32_t linked;
	/* pointers of vertices on the way whose pointers are not side by side in the graph */
	VEC(uint32_t) aside;
	uint64_t steps;
	int rc;
};

static uint32_t program(const struct dominating *d)
{
	return d->nr_blocks;
}

static uint32_t cut_vertex(const struct dominating *d, uint32_t cut)
{
	return d->nr_blocks + 1 + cut;
}

static bool is_routed(const struct dominating *d, uint32_t block)
{
	return d->routed[block / 64] >> (block & 63) & 1;
}

/* ---- edges out of a vertex, whatever it stands for ---- */

typedef void out_fn(struct dominating *d, uint32_t to);

struct going {
	struct dominating *d;
	uint32_t from;
	out_fn *fn;
};

static void go(void *arg, uint32_t to, uint32_t offset)
{
	const struct going *g = arg;
	const uint32_t *cut = NULL;

	(void)offset;
	if (is_routed(g->d, g->from))
		cut = hash_find(&g->d->routes, (uint64_t)g->from << 32 | to);
	g->fn(g->d, cut ? cut_vertex(g->d, *cut) : to);
}

static uint32_t behind_set(const struct dominating *d, const struct hold_edge *e)
{
	return e->cut ? cut_vertex(d, e->cut - 1u) : e->block;
}

static void go_from_program(struct dominating *d, out_fn *fn)
{
	unsigned before = 0;

	vec_each(&d->h->edges, e) {
		if (!e->set)
			fn(d, behind_set(d, e));
		else if (e->set != before)
			fn(d, cut_vertex(d, e->set - 1u));
		before = e->set;
	}
}

static void go_from_cut(struct dominating *d, uint32_t cut, out_fn *fn)
{
	const struct hold_cut *c = &d->cuts[cut];

	if (c->kind == HOLD_CUT_POINTER) {
		fn(d, c->to);
	} else if (c->kind == HOLD_CUT_EDGE) {
		fn(d, d->h->edges.v[c->from].block);
	} else {
		vec_each(&d->h->edges, e)
			if (e->set == cut + 1)
				fn(d, behind_set(d, e));
	}
}

static void go_out(struct dominating *d, uint32_t vertex, out_fn *fn)
{
	struct going g = { d, vertex, fn };

	if (vertex < d->nr_blocks)
		reach_follow(&d->h->graph, &d->h->scanner, vertex, go, &g);
	else if (vertex == program(d))
		go_from_program(d, fn);
	else
		go_from_cut(d, vertex - d->nr_blocks - 1, fn);
}

/* ---- what is on its way from memory ---- */

/* The first few vertices that a block leads to, which are asked for one after the other soon. */
static void fetch_targets(const struct dominating *d, uint32_t vertex)
{
	uint32_t at = vertex < d->nr_blocks ? d->h->graph.first[vertex] : REACH_EMPTY, e;

	for (unsigned i = 0; at < REACH_MAX_EDGES && i < AHEAD; i++) {
		e = d->h->graph.edges[at];
		__builtin_prefetch(&d->vertices[e & REACH_INDEX]);
		at = e & REACH_LAST ? REACH_EMPTY : at + 1 + !!(e & REACH_INTERIOR);
	}
}

/* In order of numbers: where the pointers of a vertex are, then they, then where they lead. */
static void fetch_pointers(const struct dominating *d, uint32_t n)
{
	uint32_t far = n + 3 * AHEAD, nearer = n + 2 * AHEAD;

	if (far <= d->nr && d->vertex[far] < d->nr_blocks)
		__builtin_prefetch(&d->h->graph.first[d->vertex[far]]);
	if (nearer <= d->nr && d->vertex[nearer] < d->nr_blocks &&
	    d->h->graph.first[d->vertex[nearer]] < REACH_MAX_EDGES)
		__builtin_prefetch(&d->h->graph.edges[d->h->graph.first[d->vertex[nearer]]]);
	if (n + AHEAD <= d->nr)
		fetch_targets(d, d->vertex[n + AHEAD]);
}

/* Back from the last number: what is known of predecessors. */
static void fetch_predecessors(const struct dominating *d, uint32_t n)
{
	if (n <= AHEAD)
		return;
	n -= AHEAD;
	for (uint64_t i = d->start[n]; i < d->start[n + 1] && i < d->start[n] + AHEAD; i++) {
		__builtin_prefetch(&d->parent[d->preds[i]]);
		__builtin_prefetch(&d->label[d->preds[i]]);
	}
}

/* ---- depth first ---- */

static void put_aside(struct dominating *d, uint32_t to)
{
	d->vertices[to].in++;
	if (!d->vertices[to].number && vec_push(&d->aside, to))
		d->rc = -ENOMEM;
}

/* Number a vertex; from where its pointers are taken one by one. */
static uint32_t visit(struct dominating *d, uint32_t vertex, uint32_t parent)
{
	uint32_t n = ++d->nr;

	d->vertices[vertex].number = n;
	d->vertex[n] = vertex;
	d->parent[n] = parent;
	if (vertex < d->nr_blocks && !is_routed(d, vertex) &&
	    d->h->graph.first[vertex] < REACH_MAX_EDGES) {
		d->semi[n] = d->h->graph.first[vertex];
		fetch_targets(d, vertex);
	} else if (vertex < d->nr_blocks && d->h->graph.first[vertex] == REACH_EMPTY) {
		d->semi[n] = ALL_VISITED;
	} else {
		d->semi[n] = ASIDE;
		if (vec_push(&d->aside, END_ASIDE))
			d->rc = -ENOMEM;
		go_out(d, vertex, put_aside);
	}
	return n;
}

/* The next vertex that this one leads to. */
static uint32_t next(struct dominating *d, uint32_t n)
{
	uint32_t at = d->semi[n], e;

	if (at == ALL_VISITED)
		return HOLD_NONE;
	if (at == ASIDE)
		return d->aside.v[--d->aside.nr];	/* END_ASIDE is none as well */
	e = d->h->graph.edges[at];
	d->semi[n] = e & REACH_LAST ? ALL_VISITED : at + 1 + !!(e & REACH_INTERIOR);
	d->vertices[e & REACH_INDEX].in++;
	return e & REACH_INDEX;
}

static bool goes_on(struct dominating *d)
{
	if (!d->rc && !(++d->steps & 4095) && reach_stopped(&d->h->scanner))
		d->rc = -EINTR;
	return !d->rc;
}

static void search(struct dominating *d)
{
	uint32_t at = visit(d, program(d), 0), to;

	while (at && goes_on(d)) {
		to = next(d, at);
		if (to == HOLD_NONE)
			at = d->parent[at];
		else if (!d->vertices[to].number)
			at = visit(d, to, at);
	}
	vec_fini(&d->aside);
}

/* ---- predecessors ---- */

static void write_down(struct dominating *d, uint32_t to)
{
	struct vertex *v = &d->vertices[to];

	/*
	 * Memory that is read again may have changed: no more than was counted, and nothing that
	 * was not there.
	 */
	if (v->number && v->in)
		d->preds[d->start[v->number] + --v->in] = d->pred;
}

static int find_predecessors(struct dominating *d)
{
	for (uint32_t n = 1; n <= d->nr; n++) {
		d->start[n] = d->nr_preds;
		d->nr_preds += d->vertices[d->vertex[n]].in;
	}
	d->start[d->nr + 1] = d->nr_preds;
	d->preds = reach_take(&d->h->space, (d->nr_preds + 1) * sizeof(*d->preds));
	if (!d->preds)
		return -ENOMEM;
	for (uint32_t n = 1; n <= d->nr && goes_on(d); n++) {
		d->pred = n;
		fetch_pointers(d, n);
		go_out(d, d->vertex[n], write_down);
	}
	return d->rc;
}

/* ---- Lengauer and Tarjan ---- */

/*
 * The path from a vertex to its tree's root becomes one step. It is noted where the vertices are,
 * which are not needed now.
 */
static void compress(struct dominating *d, uint32_t n)
{
	uint32_t *path = (uint32_t *)(void *)d->vertices, nr = 0;

	for (; d->parent[n] >= d->linked; n = d->parent[n])
		path[nr++] = n;
	while (nr--) {
		uint32_t at = path[nr], above = d->parent[at];

		if (d->semi[d->label[above]] < d->semi[d->label[at]])
			d->label[at] = d->label[above];
		d->parent[at] = d->parent[above];
	}
}

/* The vertex with the lowest semidominator between one and its tree's root. */
static uint32_t eval(struct dominating *d, uint32_t n)
{
	if (n >= d->linked)
		compress(d, n);
	return d->label[n];
}

static void find_semidominator(struct dominating *d, uint32_t n)
{
	for (uint64_t i = d->start[n]; i < d->start[n + 1]; i++) {
		uint32_t u;

		if (!d->preds[i])
			continue;
		u = eval(d, d->preds[i]);
		if (d->semi[u] < d->semi[n])
			d->semi[n] = d->semi[u];
	}
}

static void empty_bucket(struct dominating *d, uint32_t n)
{
	for (uint32_t v = d->head[n], following; v; v = following) {
		uint32_t u = eval(d, v);

		following = d->idom[v];
		d->idom[v] = d->semi[u] < d->semi[v] ? u : n;
	}
	d->head[n] = 0;
}

static int find_dominators(struct dominating *d)
{
	for (uint32_t n = 1; n <= d->nr; n++)
		d->label[n] = d->semi[n] = n;
	d->linked = d->nr + 1;
	for (uint32_t n = d->nr; n > 1 && goes_on(d); n--) {
		uint32_t parent = d->parent[n];		/* nothing has been compressed here yet */

		fetch_predecessors(d, n);
		find_semidominator(d, n);
		d->idom[n] = d->head[d->semi[n]];
		d->head[d->semi[n]] = n;
		d->linked = n;
		empty_bucket(d, parent);
	}
	for (uint32_t n = 2; n <= d->nr; n++)
		if (d->idom[n] != d->semi[n])
			d->idom[n] = d->idom[d->idom[n]];
	return d->rc;
}

/* ---- sums ---- */

static int sum_up(struct dominating *d, const uint32_t *numbers)
{
	const size_t nr = (size_t)d->nr + 1;
	uint64_t *bytes = reach_take(&d->h->space, nr * sizeof(*bytes));
	uint32_t *blocks = reach_take(&d->h->space, nr * sizeof(*blocks));
	int rc = bytes && blocks ? 0 : -ENOMEM;

	for (uint32_t n = d->nr; !rc && n > 1; n--) {
		if (d->vertex[n] < d->nr_blocks) {
			bytes[n] += d->h->heap->blocks[d->vertex[n]].size_bytes;
			blocks[n]++;
		}
		bytes[d->idom[n]] += bytes[n];
		blocks[d->idom[n]] += blocks[n];
	}
	for (size_t i = 0; !rc && i < d->nr_cuts; i++) {
		d->cuts[i].bytes = numbers[i] ? bytes[numbers[i]] : 0;
		d->cuts[i].blocks = numbers[i] ? blocks[numbers[i]] : 0;
	}
	if (bytes)
		reach_give(&d->h->space, bytes, nr * sizeof(*bytes));
	if (blocks)
		reach_give(&d->h->space, blocks, nr * sizeof(*blocks));
	return rc;
}

/* ---- all ---- */

/* The same pointer is cut once; a later request for it gets the first one's answer. */
static int route(struct dominating *d)
{
	vec_each(&d->h->edges, e)
		e->cut = 0;
	for (size_t i = 0; i < d->nr_cuts; i++) {
		struct hold_cut *c = &d->cuts[i];

		c->blocks = c->bytes = 0;
		if (c->kind == HOLD_CUT_EDGE && !d->h->edges.v[c->from].cut)
			d->h->edges.v[c->from].cut = (uint16_t)(i + 1);
		if (c->kind != HOLD_CUT_POINTER)
			continue;
		if (!hash_add(&d->routes, (uint64_t)c->from << 32 | c->to, (uint32_t)i, NULL))
			return -ENOMEM;
		d->routed[c->from / 64] |= (uint64_t)1 << (c->from & 63);
	}
	return 0;
}

static size_t first_of(const struct dominating *d, size_t i)
{
	const struct hold_cut *c = &d->cuts[i];

	if (c->kind == HOLD_CUT_POINTER)
		return *hash_find(&d->routes, (uint64_t)c->from << 32 | c->to);
	return c->kind == HOLD_CUT_EDGE ? d->h->edges.v[c->from].cut - 1u : i;
}

#define EACH_ARRAY(d, do_)                                                                         \
	do_((d)->vertex) do_((d)->parent) do_((d)->label) do_((d)->head) do_((d)->semi)            \
		do_((d)->idom) do_((d)->start)

static int reserve_arrays(struct dominating *d)
{
	struct reach_space *space = &d->h->space;
	const size_t nr = (size_t)d->h->nr_order + d->nr_cuts + 3;
	bool failed;

	d->nr_vertices = d->nr_blocks + 1 + (uint32_t)d->nr_cuts;
	d->routed = reach_take(space, reach_bits_bytes(d->nr_blocks));
	d->vertices = reach_take(space, (size_t)d->nr_vertices * sizeof(*d->vertices));
	failed = !d->routed || !d->vertices;
#define TAKE(array) failed |= !((array) = reach_take(space, nr * sizeof(*(array))));
	EACH_ARRAY(d, TAKE)
	return failed ? -ENOMEM : 0;
}

static void give(struct dominating *d)
{
	struct reach_space *space = &d->h->space;
	const size_t nr = (size_t)d->h->nr_order + d->nr_cuts + 3;

#define GIVE(array) if (array) reach_give(space, array, nr * sizeof(*(array)));
	EACH_ARRAY(d, GIVE)
	if (d->routed)
		reach_give(space, d->routed, reach_bits_bytes(d->nr_blocks));
	if (d->vertices)
		reach_give(space, d->vertices, (size_t)d->nr_vertices * sizeof(*d->vertices));
	if (d->preds)
		reach_give(space, d->preds, (d->nr_preds + 1) * sizeof(*d->preds));
	vec_fini(&d->aside);
	hash_fini(&d->routes);
}

static int dominate(struct dominating *d)
{
	uint32_t *numbers = calloc(d->nr_cuts + 1, sizeof(*numbers));
	int rc = numbers ? reserve_arrays(d) : -ENOMEM;

	if (!rc)
		rc = route(d);
	if (!rc) {
		search(d);
		rc = d->rc ? d->rc : find_predecessors(d);
	}
	for (size_t i = 0; !rc && i < d->nr_cuts; i++)
		numbers[i] = d->vertices[cut_vertex(d, (uint32_t)first_of(d, i))].number;
	if (!rc)
		rc = find_dominators(d);
	if (!rc)
		rc = sum_up(d, numbers);
	free(numbers);
	return rc;
}

int hold_dominate(struct hold *h, struct hold_cut *cuts, size_t nr, struct err *e)
{
	struct dominating d = { .h = h, .cuts = cuts, .nr_cuts = nr, .nr_blocks = h->index.nr };
	int rc = nr <= HOLD_MAX_CUTS ? dominate(&d) : -E2BIG;

	give(&d);
	if (rc == -EINTR)
		return err_set(e, rc, "the search was interrupted");
	if (rc) {
		err_set(e, rc,
			"out of memory to find what each pointer holds among %" PRIu32 " blocks",
			h->nr_order);
		err_hint(e, "it needs about 100 bytes for each block, %" PRIu64 " MiB here",
			 (uint64_t)h->nr_order * 100 >> 20);
	}
	return rc;
}
