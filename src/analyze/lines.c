/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines by refinement.
 *
 * Every site starts at its innermost frame outside run-time libraries, recognised by module alone.
 * Sites at the same address are a group, which gets a name: if its frame turns out to be the
 * program's the group is final (and joins a final one of the same line), else its sites move on to
 * their callers and are grouped again. All groups get one, however small: many small ones may make
 * a large line.
 */
#include "src/analyze/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/vec.h"

#define NO_SITE UINT32_MAX
#define KEY_FALLBACK                                                                               \
	(1ull << 47) /* beyond user addresses: groups of stacks without a program frame */

enum group_state { GROUP_OPEN, GROUP_FINAL, GROUP_GONE };

struct group {
	struct weight weight;
	const struct frame_name *frame; /* FINAL */
	uint32_t first;			/* site; the rest through next[] */
	uint32_t node;			/* one of those that make the group */
	uint32_t nr_sites;
	uint8_t state; /* enum group_state */
	bool fallback;
};

struct work {
	const struct heap *h;
	const struct selection *s;
	struct names *names;
	enum rank_key key;
	VEC(struct group) groups;
	struct hash_map by_key;
	struct hash_map by_line;	/* names_line_key() -> final group */
	uint32_t *next, *at; /* by site: next of its group; node it is at */
	uint8_t *skip;	     /* by module: run-time library */
};

/* From `node` on outward, the first node outside run-time libraries; 0: none. */
static uint32_t program_node(const struct work *w, uint32_t node)
{
	while (node && w->skip[w->h->nodes[node].module])
		node = w->h->nodes[node].parent;
	return node;
}

static int place(struct work *w, uint32_t site, uint32_t node)
{
	bool fallback = node == 0, added;
	const struct heap_node *at;
	struct weight weight = rank_weight(w->h, w->s, w->key, site);
	struct group *g;
	uint32_t *number;

	if (fallback)
		names_responsible(w->names, w->h->sites[site].node, &node);
	at = &w->h->nodes[node];
	number = hash_add(&w->by_key,
			  at->pc ^ (uint64_t)at->module << 48 ^ (fallback ? KEY_FALLBACK : 0),
			  (uint32_t)w->groups.nr, &added);
	if (!number)
		return -ENOMEM;
	if (added &&
	    vec_push(&w->groups,
		     (struct group){ .first = NO_SITE, .node = node, .fallback = fallback }))
		return -ENOMEM;
	g = &w->groups.v[*number];
	if (g->state == GROUP_GONE)
		g->state = GROUP_OPEN;	/* it goes the same way as those that were here before */
	w->at[site] = node;
	w->next[site] = g->first;
	g->first = site;
	g->nr_sites++;
	g->weight.bytes += weight.bytes;
	g->weight.count += weight.count;
	return 0;
}

/* Make a group final; join it to a final one of the same line if there is one. 0 or -ENOMEM. */
static int finish(struct work *w, struct group *g, const struct frame_name *frame)
{
	uint32_t number = (uint32_t)(g - w->groups.v);
	struct group *other = NULL;

	for (uint64_t key = names_line_key(frame);
	     !other || !names_same_line(frame, other->frame); key++) {
		uint32_t *at = hash_add(&w->by_line, key, number, NULL);

		if (!at)
			return -ENOMEM;
		other = &w->groups.v[*at];
		if (other == g)
			break;
	}
	g->state = GROUP_FINAL;
	g->frame = frame;
	if (other == g)
		return 0;
	other->weight.bytes += g->weight.bytes;
	other->weight.count += g->weight.count;
	other->nr_sites += g->nr_sites;
	g->weight = (struct weight){ 0, 0 };
	g->nr_sites = 0;
	g->state = GROUP_GONE;
	return 0;
}

static int dissolve(struct work *w, size_t number)
{
	struct group *g = &w->groups.v[number];
	uint32_t site = g->first, next;
	int rc = 0;

	*g = (struct group){ .first = NO_SITE, .node = g->node, .state = GROUP_GONE };
	for (; site != NO_SITE && !rc; site = next) {
		next = w->next[site];
		rc = place(w, site, program_node(w, w->h->nodes[w->at[site]].parent));
	}
	return rc;
}

static int settle(struct work *w, size_t number)
{
	struct group *g = &w->groups.v[number];
	const struct frame_name *frame;

	if (g->fallback)
		return finish(w, g, names_responsible(w->names, g->node, NULL));
	frame = names_of_program(w->names, g->node);
	if (!frame)
		return dissolve(w, number);
	return finish(w, g, frame);
}

static int by_weight(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->weight.bytes != y->weight.bytes)
		return x->weight.bytes < y->weight.bytes ? 1 : -1;
	if (x->weight.count != y->weight.count)
		return x->weight.count < y->weight.count ? 1 : -1;
	return x->frame && y->frame && x->frame->function && y->frame->function
		       ? strcmp(x->frame->function, y->frame->function)
		       : 0;
}

static int by_count(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->weight.count != y->weight.count)
		return x->weight.count < y->weight.count ? 1 : -1;
	return by_weight(a, b);
}

static int collect(struct work *w, uint64_t top, struct lines *out)
{
	VEC(struct line) lines = { 0 };

	vec_each (&w->groups, g)
		if (g->state == GROUP_FINAL &&
		    vec_push(&lines, (struct line){ g->frame, g->weight, g->nr_sites })) {
			vec_fini(&lines);
			return -ENOMEM;
		}
	vec_sort(&lines, rank_by_count(w->key) ? by_count : by_weight);
	out->line = lines.v;
	out->nr_all = (uint32_t)lines.nr;
	out->nr = top && top < lines.nr ? (uint32_t)top : (uint32_t)lines.nr;
	return 0;
}

static int run(struct work *w, uint64_t top, struct lines *out)
{
	int rc = 0;
	bool more = true;

	for (uint32_t i = 0; i < w->h->nr_modules; i++)
		w->skip[i] = i && role_of(w->h->modules[i].path, NULL) != FRAME_PROGRAM;
	for (uint32_t i = 0; i < w->h->nr_sites && !rc; i++) {
		struct weight weight = rank_weight(w->h, w->s, w->key, i);

		if (weight_is_nothing(weight))
			continue;
		out->total.bytes += weight.bytes;
		out->total.count += weight.count;
		rc = place(w, i, program_node(w, w->h->sites[i].node));
	}
	while (!rc && more) {
		more = false;
		for (size_t g = 0; !rc && g < w->groups.nr; g++) {
			if (w->groups.v[g].state != GROUP_OPEN || !w->groups.v[g].nr_sites)
				continue;
			rc = settle(w, g);
			more = true;
		}
	}
	return rc ? rc : collect(w, top, out);
}

int lines_rank(const struct heap *h, const struct selection *s, struct names *n, enum rank_key key,
	       uint64_t top, struct lines *out)
{
	struct work w = { .h = h, .s = s, .names = n, .key = key };
	int rc = -ENOMEM;

	*out = (struct lines){ 0 };
	w.next = malloc((h->nr_sites + 1) * sizeof(*w.next));
	w.at = malloc((h->nr_sites + 1) * sizeof(*w.at));
	w.skip = malloc(h->nr_modules + 1);
	if (w.next && w.at && w.skip)
		rc = run(&w, top, out);
	free(w.next);
	free(w.at);
	free(w.skip);
	vec_fini(&w.groups);
	hash_fini(&w.by_key);
	hash_fini(&w.by_line);
	return rc;
}

void lines_fini(struct lines *l)
{
	free(l->line);
	l->line = NULL;
}
