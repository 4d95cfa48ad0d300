/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who holds blocks: the search, root by root. */
#include "src/session/leaks/leaks_hold.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/hash.h"
#include "src/session/leaks/leaks_hold_priv.h"
#include "src/session/leaks/leaks_live.h"
#include "src/names/naming.h"
#include "src/session/name_notes.h"

#define MOST_OTHERWISE	3u	/* of them it is looked who else would hold it: a search each */
/* reported, whatever --top says: each has a chain whose pointers are weighed */
#define MOST_ROOTS	128u

/* A root with what hangs on it. */
struct group {
	struct hold_root root;
	uint32_t edge, nearest;
	uint64_t blocks, bytes;
};

struct groups { struct group *v; size_t nr, room; };

/*
 * One process being looked at. `within`: of root i, the chain begins at a variable within a block,
 * and so does what it holds alone.
 */
struct looking {
	struct leaks_hold *k;
	struct roots *roots;
	struct hold hold;
	struct hold_target target;
	struct hold_names names;
	struct groups groups;
	struct hold_answer answer;
	bool within[MOST_ROOTS];
};

/* ---- groups: pointers of one root ---- */

static uint64_t key_of(const struct hold_root *r)
{
	const uint64_t parts[] = { r->kind, r->thread, r->start, r->end, (uint64_t)r->reg };

	return hash_bytes(parts, sizeof(parts));
}

static int group_add(struct groups *g, struct hash_map *known, const struct hold_root *r,
		     const struct hold_source *s)
{
	bool added;
	uint32_t *at = hash_add(known, key_of(r), (uint32_t)g->nr, &added);

	if (!at ||
	    (added &&
	     vec_push(g, (struct group){ .root = *r, .edge = s->edge, .nearest = s->nearest })))
		return -ENOMEM;
	g->v[*at].blocks += s->blocks;
	g->v[*at].bytes += s->bytes;
	return 0;
}

static bool is_in(const struct hold_edge *e, const struct hold_root *r)
{
	return e->place == HOLD_MEMORY && e->at >= r->start && e->at < r->end;
}

/* Most blocks first. */
static int by_blocks(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static int find_groups(struct looking *x)
{
	struct hold_sources sources = { 0 };
	struct hash_map known = { 0 };
	struct hold_root r = { 0 };
	int rc = hold_sources(&x->hold, x->target.wanted, &sources);

	for (size_t i = 0; !rc && i < sources.nr; i++) {
		const struct hold_edge *e = &x->hold.edges.v[sources.v[i].edge];

		if (!i || r.kind != HOLD_ROOT_VARIABLE || !is_in(e, &r))
			hold_root_find(&x->names, e, &r);
		rc = group_add(&x->groups, &known, &r, &sources.v[i]);
	}
	vec_sort(&x->groups, by_blocks);
	hash_fini(&known);
	vec_fini(&sources);
	return rc;
}

/* ---- what each pointer holds alone ---- */

struct cutting {
	VEC(struct hold_cut) cuts;
	VEC(struct hold_alone *) answers;	/* of cut i; sets first */
};

static int cut_add(struct cutting *c, struct hold_cut cut, struct hold_alone *answer)
{
	return vec_push(&c->cuts, cut) || vec_push(&c->answers, answer) ? -ENOMEM : 0;
}

static bool belongs(const struct looking *x, const struct hold_edge *e, const struct group *g)
{
	struct hold_root r;

	if (e->place == HOLD_MEMORY)
		return is_in(e, &g->root);
	if (e->place == HOLD_OWNED)
		return e == &x->hold.edges.v[g->edge];
	if (g->root.kind != HOLD_ROOT_REGISTER && g->root.kind != HOLD_ROOT_KERNEL)
		return false;
	hold_root_find(&((struct looking *)(uintptr_t)x)->names, e, &r);
	return hold_root_same(&r, &g->root);
}

/* Which root each root pointer is of; of those reported. */
static void set_sets(struct looking *x, size_t nr)
{
	vec_each(&x->hold.edges, e) {
		e->set = 0;
		for (size_t i = 0; i < nr && !e->set; i++)
			if (belongs(x, e, &x->groups.v[i]))
				e->set = (uint16_t)(i + 1);
	}
}

static int cut_chain(struct cutting *c, const struct hold_chain *chain, struct hold_view_root *root)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < chain->steps.nr; i++) {
		const struct hold_step *s = &chain->steps.v[i];

		if (s->before == HOLD_NONE)
			rc = cut_add(
				c, (struct hold_cut){ .kind = HOLD_CUT_EDGE, .from = chain->edge },
				&root->steps.v[i].alone);
		else if (s->same == 1)
			rc = cut_add(c,
				     (struct hold_cut){ .kind = HOLD_CUT_POINTER,
							.from = s->before,
							.to = s->block },
				     &root->steps.v[i].alone);
		else
			root->steps.v[i].alone.known =
				true; /* there is another one beside it: nothing */
	}
	return rc;
}

static int weigh(struct looking *x, struct cutting *c, struct err *e)
{
	int rc = hold_dominate(&x->hold, c->cuts.v, c->cuts.nr, e);

	for (size_t i = 0; !rc && i < c->cuts.nr; i++)
		*c->answers.v[i] = (struct hold_alone){ true, c->cuts.v[i].blocks,
							c->cuts.v[i].bytes };
	for (size_t i = 0; !rc && i < x->answer.roots.nr; i++)
		if (x->within[i])
			x->answer.roots.v[i].alone = x->answer.roots.v[i].steps.v[0].alone;
	return rc;
}

/* ---- chains ---- */

static int find_chains(struct looking *x, size_t nr, struct cutting *c)
{
	struct hold_chain *chains = calloc(nr + 1, sizeof(*chains));
	int rc = chains && !vec_resize(&x->answer.roots, nr) ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < nr; i++)
		rc = cut_add(c, (struct hold_cut){ .kind = HOLD_CUT_SET },
			     &x->answer.roots.v[i].alone);
	for (size_t i = 0; !rc && i < nr; i++) {
		const struct group *g = &x->groups.v[i];
		struct hold_view_root *root = &x->answer.roots.v[i];
		struct hold_root r = g->root;

		root->blocks = g->blocks;
		root->bytes = g->bytes;
		if (x->hold.edges.v[g->edge].place == HOLD_MEMORY)
			root->address = x->hold.edges.v[g->edge].at;
		rc = hold_chain(&x->hold, g->nearest, &chains[i]);
		if (!rc)
			x->within[i] = hold_chain_begin(&x->names, &x->hold, &chains[i], &r);
		root->chain_blocks = chains[i].nr;
		if (!rc)
			hold_root_text(&x->names, &r, root);
		if (!rc)
			rc = hold_chain_text(&x->names, &x->hold, &chains[i], &r, root);
		if (!rc)
			rc = cut_chain(c, &chains[i], root);
	}
	for (size_t i = 0; chains && i < nr; i++)
		hold_chain_fini(&chains[i]);
	free(chains);
	return rc;
}

/* Who would hold the block at the end of each chain if its root were cleared. */
static int find_others(struct looking *x, size_t nr)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < nr && i < MOST_OTHERWISE; i++) {
		struct hold_view_root other = { 0 };
		struct hold_root r;
		uint32_t edge;

		rc = hold_otherwise(&x->hold, (unsigned)i + 1, x->groups.v[i].nearest, &edge);
		if (rc || edge == HOLD_NONE)
			continue;
		hold_root_find(&x->names, &x->hold.edges.v[edge], &r);
		hold_root_text(&x->names, &r, &other);
		x->answer.roots.v[i].otherwise = other.text;
		free(other.name);
		free(other.function);
		free(other.module);
		free(other.file);
	}
	return rc;
}

static int tell_roots(struct looking *x, struct err *e)
{
	const uint64_t top = x->k->job->report.view.top;
	struct cutting c = { 0 };
	size_t nr;
	int rc = find_groups(x);

	nr = top && top < x->groups.nr ? (size_t)top : x->groups.nr;
	nr = nr < MOST_ROOTS ? nr : MOST_ROOTS;
	for (size_t i = nr; i < x->groups.nr; i++) {
		x->answer.rest.blocks += x->groups.v[i].blocks;
		x->answer.rest.bytes += x->groups.v[i].bytes;
		x->answer.nr_rest++;
	}
	if (!rc)
		rc = find_chains(x, nr, &c);
	if (rc) {
		err_set(e, rc, "not enough memory to find who holds what");
	} else if (nr) {
		set_sets(x, nr);
		rc = weigh(x, &c, e);
		if (!rc && find_others(x, nr))
			rc = err_set(e, -ENOMEM, "not enough memory to find who holds what");
	}
	vec_fini(&c.cuts);
	vec_fini(&c.answers);
	return rc;
}

/* ---- what is lost ---- */

static bool is_wanted(const struct looking *x, uint64_t i)
{
	return x->target.wanted[i / 64] >> (i & 63) & 1;
}

static void count(struct looking *x, unsigned class, uint64_t i)
{
	x->answer.by_class[class].blocks++;
	x->answer.by_class[class].bytes += x->roots->heap->blocks[i].size_bytes;
}

static void add_part(struct str *s, const struct hold_sum *sum, const char *what, const char *more)
{
	if (sum->blocks)
		str_addf(s, "%s%s, %s, %s: %s", s->len ? "; " : "",
			 fmt_many(sum->blocks, "block").s, fmt_bytes(sum->bytes).s, what, more);
}

static void set_verdict(struct hold_answer *a)
{
	struct str s = STR_INIT;

	add_part(&s, &a->by_class[REACH_DEFINITE], "definitely lost",
		 fmt_agree(a->by_class[REACH_DEFINITE].blocks, "no pointer to it is left",
			   "no pointer to them is left"));
	add_part(&s, &a->by_class[REACH_INDIRECT], "indirectly lost",
		 "only lost blocks point to them");
	a->verdict = s.len ? str_steal(&s) : NULL;
	str_fini(&s);
}

/* Classes of the blocks asked for: of those that are held by the order in which they were found. */
static bool count_held(struct looking *x)
{
	const struct hold *h = &x->hold;
	uint64_t held = 0;

	memset(x->answer.by_class, 0, sizeof(x->answer.by_class));
	for (uint32_t i = 0; i < h->nr_order; i++)
		if (is_wanted(x, h->order[i])) {
			count(x, i < h->nr_firm ? REACH_REACHED : REACH_POSSIBLE, h->order[i]);
			held++;
		}
	return held == x->target.sum.blocks;
}

static void count_lost(struct looking *x, const struct reach *r)
{
	for (uint64_t i = 0; i < r->nr; i++) {
		if (!is_wanted(x, i) || x->hold.origin[i] != HOLD_NONE)
			continue;
		count(x, r->class[i], i);
		if (r->class[i] <= REACH_POSSIBLE) {
			x->answer.unreported.blocks++;
			x->answer.unreported.bytes += x->roots->heap->blocks[i].size_bytes;
		}
	}
	set_verdict(&x->answer);
}

/*
 * Nothing leads to some of them. Of a running process the threads are asked for their alternate
 * stacks first, as in every search for leaks.
 */
static int classify(struct looking *x, const struct reach *r, struct err *e)
{
	const struct reach_options *o = &x->k->job->search.reach;
	struct reach own = { 0 };
	int rc = r ? 0 : reach_run(x->roots->heap, &x->roots->memory, o, &own, e);
	int found = rc || r ? 0 : roots_ask(x->roots, own.class);

	if (found < 0)
		rc = err_set(e, found, "not enough memory to search for holders");
	if (!rc && found > 0) {
		hold_close(&x->hold);
		reach_fini(&own);
		rc = hold_open(&x->hold, x->roots->heap, &x->roots->memory, o, e);
		if (!rc && !count_held(x))
			rc = reach_run(x->roots->heap, &x->roots->memory, o, &own, e);
	}
	if (!rc && (r || own.class))
		count_lost(x, r ? r : &own);
	reach_fini(&own);
	return rc;
}

/* ---- all ---- */

static void open_names(struct naming *n, const struct leaks_hold *k, const struct heap *h)
{
	const struct leaks_report_options *o = &k->job->report;

	naming_open(n, h, &(struct naming_options){ .none = o->no_symbols,
						    .full = true,
						    .debuginfod = o->debuginfod,
						    .pid = k->pid,
						    .max_bytes = o->memory_bytes });
}

static int inspect(struct looking *x, const struct reach *r, struct err *e)
{
	int rc = hold_root_paint(&x->names, &x->roots->memory);

	rc = rc ? err_set(e, rc, "not enough memory to search for holders") :
		hold_open(&x->hold, x->roots->heap, &x->roots->memory, &x->k->job->search.reach, e);
	if (!rc && !count_held(x))
		rc = classify(x, r, e);
	if (!rc)
		rc = tell_roots(x, e);
	if (!rc)
		rc = roots_intact(x->roots, e);
	return rc;
}

static int look_for(struct looking *x, const struct reach *r, struct hold_answer *a, struct err *e)
{
	struct naming naming;
	int rc;

	open_names(&naming, x->k, x->roots->heap);
	hold_names_init(&x->names, x->roots, naming.sym);
	rc = hold_target_find(&x->target, x->k->what, x->roots->heap, &naming.names, e);
	if (!rc)
		rc = inspect(x, r, e);
	*a = x->answer;
	a->asked = x->target.asked;
	a->sum = x->target.sum;
	x->target.asked = NULL;
	if (!rc && naming.sym)
		symbolizer_save(naming.sym);
	hold_close(&x->hold);
	hold_target_fini(&x->target);
	hold_names_fini(&x->names);
	vec_fini(&x->groups);
	naming_close(&naming);
	return rc;
}

int leaks_hold_look(struct leaks_hold *k, struct roots *s, const struct reach *r,
		    struct hold_answer *a, struct err *e)
{
	struct looking *x = calloc(1, sizeof(*x));
	int rc;

	*a = (struct hold_answer){ 0 };
	if (!x)
		return err_set(e, -ENOMEM, "out of memory");
	x->k = k;
	x->roots = s;
	rc = look_for(x, r, a, e);
	free(x);
	return rc;
}

static int give(struct leaks_hold *k, const struct hold_answer *a)
{
	struct naming naming;
	struct doc d = { 0 };
	int rc;

	open_names(&naming, k, a->heap);
	rc = hold_view(&d, a, &naming.names);
	if (!rc)
		rc = session_document(k->to, &d, k->nr_answers > 0);
	if (!rc)
		name_notes(k->to, &naming, "--memory-limit");
	doc_fini(&d);
	naming_close(&naming);
	return rc;
}

int leaks_hold_give(struct leaks_hold *k, const struct hold_answer *a, struct err *e)
{
	int rc = give(k, a);

	k->nr_answers += !rc;
	k->lost |= a->verdict != NULL;
	return rc ? err_set(e, rc, "cannot find who holds what: %s", strerror(-rc)) : 0;
}

void leaks_hold_at_end(void *arg, struct roots *s, const struct reach *r)
{
	struct leaks_hold *k = arg;
	const struct heap_search before = s->heap->search;
	struct hold_answer a;
	struct err e = { 0 };
	int rc = leaks_hold_look(k, s, r, &a, &e);

	if (!rc) {
		a.heap = s->heap;
		a.heap->search = (struct heap_search){ .how = HEAP_SEARCH_EXIT,
						       .complete = s->complete,
						       .at_ns = s->heap->taken_ns };
		rc = leaks_hold_give(k, &a, &e);
		s->heap->search = before;
		a.heap = NULL;
	}
	hold_answer_fini(&a);
	if (rc) {
		k->code = rc;
		k->error = e;
	}
}

int leaks_hold_end(const struct leaks_hold *k, struct err *e)
{
	if (k->nr_answers)
		return k->lost;
	if (e && k->code)
		*e = k->error;
	return k->code ? k->code
		       : err_set(e, -ENOENT, "no process was searched for who holds '%s'", k->what);
}
