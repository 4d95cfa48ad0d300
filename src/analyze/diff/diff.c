/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap added to a comparison: its sites are weighed, its frames named, matched, and each site's
 * figures added to a row of each list.
 */
#include "src/analyze/diff/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/diff/diff_priv.h"
#include "src/analyze/heap_profile.h"
#include "src/analyze/reach/reach.h"

#define PLACE_OFFSET_BITS	44	/* of an offset in a module; the build is above it */

static int push_special(struct diff *d)
{
	for (unsigned i = 0; i <= DIFF_RESIDUE; i++)
		if (vec_push(&d->functions, (struct diff_function){ .side = DIFF_NO_SIDE,
								    .first_line = i,
								    .module_row = i }) ||
		    vec_push(&d->lines, (struct diff_line){ .function = i, .side = DIFF_NO_SIDE,
							    .next = DIFF_NONE }) ||
		    vec_push(&d->modules, (struct diff_module){ .side = DIFF_NO_SIDE }) ||
		    vec_push(&d->stacks, (struct diff_stack){ .side = DIFF_NO_SIDE }))
			return -ENOMEM;
	for (unsigned level = 0; level < NR_LEVELS; level++)
		if (vec_push(&d->trie[level].nodes, (struct diff_trie_node){ 0 }))
			return -ENOMEM;
	return 0;
}

struct diff *diff_new(void)
{
	struct diff *d = calloc(1, sizeof(*d));

	if (d && push_special(d)) {
		diff_free(d);
		return NULL;
	}
	return d;
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	intern_fini(&d->texts);
	vec_fini(&d->functions);
	vec_fini(&d->lines);
	vec_fini(&d->modules);
	vec_fini(&d->stacks);
	for (unsigned i = 0; i < NR_LEVELS; i++) {
		vec_fini(&d->trie[i].nodes);
		hash_fini(&d->trie[i].child);
	}
	hash_fini(&d->places);
	hash_fini(&d->builds);
	vec_fini(&d->place_build);
	for (unsigned i = 0; i < DIFF_NR_LISTS; i++) {
		vec_each(&d->figures[i], f)
			vec_fini(&f->value);
		vec_fini(&d->figures[i]);
	}
	vec_fini(&d->totals);
	free(d);
}

/* ---- one heap -------------------------------------------------------------------------------- */

/* A node of the heap's call tree: where its stack is in the trees of the comparison. */
struct place {
	uint32_t at[NR_LEVELS];
	bool used, exact;
};

struct adding {
	struct diff *d;
	const struct heap *h;
	struct names *names;
	const struct selection *s;
	bool none;
	struct diff_local local;
	struct place *place;		/* by node */
	int64_t *value;			/* [site * DIFF_NR_METRICS + metric] */
	bool *weighs;			/* by site */
	struct diff_local_stack *stack;	/* of sites that weigh */
	size_t nr_stacks;
};

/* The first metrics of a row are those of a profile, in its order. */
_Static_assert((unsigned)DIFF_LIVE_BYTES == HEAP_PROFILE_LIVE_BYTES &&
	       (unsigned)DIFF_LIVE_BLOCKS == HEAP_PROFILE_LIVE_BLOCKS &&
	       (unsigned)DIFF_PEAK_BYTES == HEAP_PROFILE_PEAK_BYTES &&
	       (unsigned)DIFF_PEAK_BLOCKS == HEAP_PROFILE_PEAK_BLOCKS &&
	       (unsigned)DIFF_ALLOCATED_BYTES == HEAP_PROFILE_ALLOCATED_BYTES &&
	       (unsigned)DIFF_ALLOCATIONS == HEAP_PROFILE_ALLOCATIONS &&
	       (unsigned)DIFF_TEMPORARY == HEAP_PROFILE_TEMPORARY, "the same places");

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

static void weigh_leaks(const struct adding *a)
{
	for (uint64_t i = 0; i < a->h->nr_leaks && !a->none; i++) {
		const struct heap_leak *leak = &a->h->leaks[i];
		int64_t *v = &a->value[(size_t)leak->site * DIFF_NR_METRICS];

		if (leak->class != REACH_DEFINITE && leak->class != REACH_INDIRECT)
			continue;
		if (a->s && (a->s->from_blocks || (a->s->site && !a->s->site[leak->site])))
			continue;
		v[DIFF_LEAKED_BYTES] = plus(v[DIFF_LEAKED_BYTES], heap_profile_value(leak->bytes));
		v[DIFF_LEAKED_BLOCKS] =
			plus(v[DIFF_LEAKED_BLOCKS], heap_profile_value(leak->blocks));
	}
}

/* The heap's own figures, where nothing is filtered: what no site accounts for is a row, too. */
static void whole(const struct adding *a, int64_t *v)
{
	const struct heap *h = a->h;

	v[DIFF_LIVE_BYTES] = heap_profile_value(h->live_bytes);
	v[DIFF_LIVE_BLOCKS] = heap_profile_value(h->live_blocks);
	v[DIFF_PEAK_BYTES] = heap_profile_value(h->kmod.sums ? h->kmod.peak_bytes : h->peak_bytes);
	v[DIFF_ALLOCATED_BYTES] = heap_profile_value(h->bytes_in);
	v[DIFF_ALLOCATIONS] = heap_profile_value(h->allocs);
	v[DIFF_TEMPORARY] = heap_profile_value(h->temporary);
}

static bool filtered(const struct selection *s)
{
	return s && (filter_by_stack(s->filter) || filter_by_block(s->filter));
}

/* Weigh all sites; *total: their sum. `residue`: what the heap has beyond it. */
static void weigh(struct adding *a, int64_t *total, int64_t *residue)
{
	int64_t all[DIFF_NR_METRICS];

	for (uint32_t i = 0; i < a->h->nr_sites && !a->none; i++)
		heap_profile_weigh(a->h, a->s, i, &a->value[(size_t)i * DIFF_NR_METRICS]);
	weigh_leaks(a);
	for (uint32_t i = 0; i < a->h->nr_sites; i++)
		for (unsigned m = 0; m < DIFF_NR_METRICS; m++) {
			int64_t v = a->value[(size_t)i * DIFF_NR_METRICS + m];

			total[m] = plus(total[m], v);
			a->weighs[i] |= v != 0;
		}
	memcpy(all, total, sizeof(all));
	if (!a->none && !filtered(a->s))
		whole(a, all);
	for (unsigned m = 0; m < DIFF_NR_METRICS; m++) {
		residue[m] = all[m] - total[m];
		total[m] = all[m];
	}
}

static int64_t place_key(struct diff *d, uint32_t build, uint64_t offset)
{
	bool added;
	uint32_t *at = hash_add(&d->places, (uint64_t)build << PLACE_OFFSET_BITS ^ offset,
				(uint32_t)d->place_build.nr, &added);

	if (!at || (added && vec_push(&d->place_build, build)))
		return -ENOMEM;
	return *at;
}

static int step(struct adding *a, struct place *p, unsigned level, uint32_t key)
{
	int64_t n = diff_trie_step(&a->d->trie[level], p->at[level], key);

	if (n < 0)
		return (int)n;
	p->at[level] = (uint32_t)n;
	return 0;
}

/* Step all levels by the frames of a node, outermost first. */
static int place_frames(struct adding *a, struct place *p, uint32_t node)
{
	unsigned nr;
	const struct frame_name *f = names_find(a->names, node, &nr);
	int rc = 0;

	for (unsigned i = nr; i-- > 0 && !rc;) {
		int64_t local = diff_local_frame(&a->local, a->h, node, &f[i]);
		uint32_t line, function;

		if (local < 0)
			return (int)local;
		line = a->local.lines.v[local].line;
		function = a->d->lines.v[line].function;
		rc = step(a, p, LEVEL_LINES, line);
		if (!rc)
			rc = step(a, p, LEVEL_NAMES, function);
		if (!rc && !f[i].inlined)
			rc = step(a, p, LEVEL_REAL, function);
		if (!rc && !f[i].inlined && f[i].role == FRAME_PROGRAM)
			rc = step(a, p, LEVEL_PROGRAM, function);
	}
	return rc;
}

static int place_node(struct adding *a, uint32_t node)
{
	const struct heap_node *n = &a->h->nodes[node];
	const struct heap_module *m = &a->h->modules[n->module];
	struct place *p = &a->place[node];
	uint32_t build = a->local.module_build[n->module];
	int64_t key;

	memcpy(p->at, a->place[n->parent].at, sizeof(p->at));
	p->exact = build && a->place[n->parent].exact;
	if (p->exact) {
		key = place_key(a->d, build, n->pc - m->bias);
		if (key < 0)
			return (int)key;
		if (step(a, p, LEVEL_EXACT, (uint32_t)key))
			return -ENOMEM;
	} else {
		p->at[LEVEL_EXACT] = 0;
	}
	return place_frames(a, p, node);
}

/* Enter the frames of all stacks that weigh, match them, then find the stacks' places. */
static int place_all(struct adding *a)
{
	const struct heap *h = a->h;
	int64_t n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < h->nr_sites; i++)
		for (uint32_t at = h->sites[i].node; a->weighs[i] && at && !a->place[at].used;
		     at = h->nodes[at].parent)
			a->place[at].used = true;
	for (uint32_t i = 1; i < h->nr_nodes && n >= 0; i++) {
		unsigned nr;
		const struct frame_name *f;

		if (!a->place[i].used)
			continue;
		f = names_find(a->names, i, &nr);
		for (unsigned k = 0; k < nr && n >= 0; k++)
			n = diff_local_frame(&a->local, h, i, &f[k]);
	}
	if (n < 0)
		return (int)n;
	rc = diff_match_functions(&a->local);
	if (!rc)
		rc = diff_match_lines(&a->local);
	a->place[0].exact = true;
	for (uint32_t i = 1; i < h->nr_nodes && !rc; i++)
		if (a->place[i].used)
			rc = place_node(a, i);
	return rc;
}

/* Which line answers for a stack. */
static int set_line(struct adding *a, struct diff_local_stack *s, uint32_t site)
{
	uint32_t node;
	const struct frame_name *f = names_responsible(a->names, a->h->sites[site].node, &node);
	int64_t local = f ? diff_local_frame(&a->local, a->h, node, f) : -ENOMEM;

	/* all frames were named: what is new here is so for want of memory */
	if (local < 0 || a->local.lines.v[local].line == DIFF_NONE)
		return -ENOMEM;
	s->line = (uint32_t)local;
	s->inlined = f->inlined;
	return 0;
}

static int find_stacks(struct adding *a)
{
	const struct heap *h = a->h;
	int rc = 0;

	for (uint32_t i = 0; i < h->nr_sites && !rc; i++) {
		struct diff_local_stack *s = &a->stack[a->nr_stacks];

		if (!a->weighs[i] || !h->sites[i].node)
			continue;
		memcpy(s->at, a->place[h->sites[i].node].at, sizeof(s->at));
		s->row = DIFF_NONE;
		rc = set_line(a, s, i);
		a->nr_stacks++;
	}
	return rc ? rc : diff_match_stacks(&a->local, a->stack, a->nr_stacks);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_to(struct diff *d, unsigned list, uint32_t row, const int64_t *value)
{
	int64_t *to = &vec_last(&d->figures[list])->value.v[(size_t)row * DIFF_NR_METRICS];

	for (unsigned m = 0; m < DIFF_NR_METRICS; m++)
		to[m] = plus(to[m], value[m]);
}

static void add_rows(struct diff *d, uint32_t line, uint32_t stack, const int64_t *value)
{
	uint32_t function = d->lines.v[line].function;

	add_to(d, DIFF_LINES, line, value);
	add_to(d, DIFF_FUNCTIONS, function, value);
	add_to(d, DIFF_MODULES, d->functions.v[function].module_row, value);
	add_to(d, DIFF_STACKS, stack, value);
}

static int make_room(struct diff *d)
{
	for (unsigned i = 0; i < DIFF_NR_LISTS; i++)
		if (vec_push(&d->figures[i], (struct diff_figures){ { 0 } }) ||
		    vec_resize(&vec_last(&d->figures[i])->value,
			       (size_t)diff_rows(d, i) * DIFF_NR_METRICS))
			return -ENOMEM;
	return vec_resize(&d->totals, (size_t)(d->nr_sides + 1) * DIFF_NR_METRICS);
}

static int add_figures(struct adding *a, const int64_t *total, const int64_t *residue)
{
	struct diff *d = a->d;
	const struct heap *h = a->h;
	size_t next = 0;

	if (make_room(d))
		return -ENOMEM;
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		const int64_t *value = &a->value[(size_t)i * DIFF_NR_METRICS];
		const struct diff_local_stack *s = &a->stack[next];

		if (!a->weighs[i])
			continue;
		next += h->sites[i].node != 0;
		if (h->sites[i].node)
			add_rows(d, a->local.lines.v[s->line].line, s->row, value);
		else
			add_rows(d, DIFF_UNKNOWN, DIFF_UNKNOWN, value);
	}
	add_rows(d, DIFF_RESIDUE, DIFF_RESIDUE, residue);
	memcpy(&d->totals.v[(size_t)d->nr_sides * DIFF_NR_METRICS], total,
	       DIFF_NR_METRICS * sizeof(*total));
	return 0;
}

/* The next heap finds this one's builds among those of all before it. */
static int keep_builds(struct adding *a)
{
	for (uint32_t i = 0; i < a->h->nr_modules; i++)
		if (a->local.module_build[i] &&
		    hash_put(&a->d->builds,
			     (uint64_t)DIFF_NO_SIDE << 32 | a->local.module_build[i], 0))
			return -ENOMEM;
	return 0;
}

static int run(struct adding *a)
{
	int64_t total[DIFF_NR_METRICS] = { 0 }, residue[DIFF_NR_METRICS];
	int rc;

	weigh(a, total, residue);
	rc = diff_match_modules(&a->local, a->h);
	if (!rc)
		rc = place_all(a);
	if (!rc)
		rc = find_stacks(a);
	if (!rc)
		rc = add_figures(a, total, residue);
	if (!rc)
		rc = keep_builds(a);
	if (!rc)
		a->d->nr_sides++;
	return rc;
}

int diff_add(struct diff *d, const struct heap *h, struct names *n, const struct selection *s,
	     bool none)
{
	struct adding a = { .d = d, .h = h, .names = n, .s = s, .none = none,
			    .local = { .d = d, .side = d->nr_sides } };
	int rc = -ENOMEM;

	if (d->nr_sides >= DIFF_MAX_SIDES)
		return -ENOSPC;
	a.place = calloc((size_t)h->nr_nodes + 1, sizeof(*a.place));
	a.value = calloc((size_t)h->nr_sites + 1, DIFF_NR_METRICS * sizeof(*a.value));
	a.weighs = calloc((size_t)h->nr_sites + 1, sizeof(*a.weighs));
	a.stack = calloc((size_t)h->nr_sites + 1, sizeof(*a.stack));
	if (a.place && a.value && a.weighs && a.stack)
		rc = run(&a);
	free(a.place);
	free(a.value);
	free(a.weighs);
	free(a.stack);
	vec_fini(&a.local.functions);
	vec_fini(&a.local.lines);
	intern_fini(&a.local.function_of);
	hash_fini(&a.local.line_of);
	hash_fini(&a.local.frame_of);
	free(a.local.module_row);
	free(a.local.module_build);
	free(a.local.module_key);
	return rc;
}

bool diff_known(const struct heap *h, enum diff_key key)
{
	switch (key) {
	case DIFF_LEAKED:
		return h->search.how != HEAP_SEARCH_NONE;
	case DIFF_PEAK:
	case DIFF_TEMPORARIES:
		return heap_import_history(h);
	case DIFF_ALLOCATED:
	case DIFF_CALLS:
		return heap_import_allocated(h);
	default:
		return true;
	}
}
