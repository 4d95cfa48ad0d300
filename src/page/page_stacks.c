/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap's stacks as a call tree of named frames, with their figures, and the sites in it. */
#include <errno.h>
#include <stdlib.h>

#include "src/analyze/reach/reach.h"
#include "src/base/json.h"
#include "src/model/heap_lifetimes.h"
#include "src/page/page_priv.h"

#define FORM_PROFILE	1
#define FORM_SITES	1

static int add_leaks(struct page_stacks *k, const struct page_source *s)
{
	const struct heap *h = s->heap;

	if (h->search.how == HEAP_SEARCH_NONE || s->selection->from_blocks)
		return 0;
	k->leaked_bytes = calloc((size_t)h->nr_sites + 1, sizeof(*k->leaked_bytes));
	k->leaked_blocks = calloc((size_t)h->nr_sites + 1, sizeof(*k->leaked_blocks));
	if (!k->leaked_bytes || !k->leaked_blocks)
		return -ENOMEM;
	for (uint64_t i = 0; i < h->nr_leaks; i++) {
		const struct heap_leak *l = &h->leaks[i];

		if (l->site >= h->nr_sites ||
		    (l->class != REACH_DEFINITE && l->class != REACH_INDIRECT))
			continue;
		k->leaked_bytes[l->site] += l->bytes;
		k->leaked_blocks[l->site] += l->blocks;
	}
	return 0;
}

/* The frames that answer for the sites. */
static int find_answers(struct page_stacks *k, const struct page_source *s)
{
	for (uint32_t i = 0; i < s->heap->nr_sites; i++) {
		const struct frame_name *f;
		int64_t frame;

		if (k->node[i] == UINT32_MAX)
			continue;
		f = names_responsible(s->names, s->heap->sites[i].node, NULL);
		if (!f)
			continue;
		frame = profile_frame(
			k->profile,
			&(struct profile_frame){ f->function, f->file, f->module, f->line });
		if (frame < 0)
			return (int)frame;
		k->answer[i] = (uint32_t)frame;
	}
	return 0;
}

int page_stacks_init(struct page_stacks *k, const struct page_source *s)
{
	const size_t nr = (size_t)s->heap->nr_sites + 1;
	int rc;

	*k = (struct page_stacks){ 0 };
	k->node = malloc(nr * sizeof(*k->node));
	k->answer = calloc(nr, sizeof(*k->answer));
	if (!k->node || !k->answer || intern_add(&k->strings, "") < 0)
		return -ENOMEM;
	rc = heap_profile_nodes(s->heap, s->names, s->selection, k->node, &k->profile);
	if (!rc)
		rc = find_answers(k, s);
	return rc ? rc : add_leaks(k, s);
}

void page_stacks_fini(struct page_stacks *k)
{
	profile_free(k->profile);
	intern_fini(&k->strings);
	free(k->node);
	free(k->answer);
	free(k->leaked_bytes);
	free(k->leaked_blocks);
}

/* ---- the part "profile" ---- */

static void put_string(struct page *p, struct intern *strings, const char *text, FILE *f)
{
	int64_t n = intern_add(strings, text ? text : "");

	if (n < 0 && !p->rc)
		p->rc = -ENOMEM;
	page_number(f, n < 0 ? 0 : (uint64_t)n);
}

static void put_tree(struct page *p, struct page_stacks *k, FILE *f)
{
	const struct profile *profile = k->profile;

	page_number(f, profile->frames.nr ? profile->frames.nr : 1);
	for (size_t i = 1; i < profile->frames.nr; i++) {
		const struct profile_frame *frame = &profile->frames.v[i];

		put_string(p, &k->strings, frame->function, f);
		put_string(p, &k->strings, frame->file, f);
		put_string(p, &k->strings, frame->module, f);
		page_number(f, frame->line);
	}
	page_number(f, profile->nodes.nr);
	for (size_t i = 1; i < profile->nodes.nr; i++) {
		page_number(f, i - profile->nodes.v[i].parent);
		page_number(f, profile->nodes.v[i].frame);
	}
}

/* By node, of the sites that are there. NULL = no memory. */
static uint64_t *by_node(const struct page_stacks *k, const struct heap *h, const uint64_t *of_site)
{
	uint64_t *sum = calloc(k->profile->nodes.nr + 1, sizeof(*sum));

	for (uint32_t i = 0; sum && i < h->nr_sites; i++)
		if (k->node[i] != UINT32_MAX)
			sum[k->node[i]] += of_site[i];
	return sum;
}

static bool any(const struct profile *p, size_t node)
{
	for (uint32_t m = 0; m < p->nr_metrics; m++)
		if (p->self.v[node * p->nr_metrics + m])
			return true;
	return false;
}

/* Nodes that have figures of their own, as distances, each with its figures. */
static void put_values(const struct profile *p, const uint64_t *leaked[2], FILE *f)
{
	size_t nr = 0, last = 0;

	for (size_t i = 0; i < p->nodes.nr; i++)
		nr += any(p, i);
	page_number(f, p->nr_metrics + (leaked[0] ? 2 : 0));
	page_number(f, nr);
	for (size_t i = 0; i < p->nodes.nr; i++) {
		if (!any(p, i))
			continue;
		page_number(f, i - last);
		last = i;
		for (uint32_t m = 0; m < p->nr_metrics; m++)
			page_signed(f, p->self.v[i * p->nr_metrics + m]);
		for (unsigned m = 0; leaked[0] && m < 2; m++)
			page_signed(f, heap_profile_value(leaked[m][i]));
	}
}

static void put_strings(struct page *p, const struct intern *strings)
{
	FILE *f = page_part(p, "strings");
	struct json j;

	if (!f)
		return;
	json_init(&j, f);
	json_array_flat(&j, NULL);
	for (size_t i = 0; i < strings->nr; i++)
		json_str(&j, NULL, strings->text[i]);
	json_end(&j);
	if (json_finish(&j) && !p->rc)
		p->rc = -EIO;
	page_part_end(p, f);
}

void page_put_profile(struct page *p, struct page_stacks *k, const uint64_t *leaked[2])
{
	FILE *f = page_part(p, "profile");

	if (!f)
		return;
	page_number(f, FORM_PROFILE);
	put_tree(p, k, f);
	put_values(k->profile, leaked, f);
	page_part_end(p, f);
	put_strings(p, &k->strings);
}

void page_put_stacks(struct page *p, struct page_stacks *k, const struct page_source *s)
{
	uint64_t *bytes = k->leaked_bytes ? by_node(k, s->heap, k->leaked_bytes) : NULL;
	uint64_t *blocks = k->leaked_bytes ? by_node(k, s->heap, k->leaked_blocks) : NULL;

	if (k->leaked_bytes && (!bytes || !blocks) && !p->rc)
		p->rc = -ENOMEM;
	page_put_profile(p, k, (const uint64_t *[2]){ bytes, blocks });
	free(bytes);
	free(blocks);
}

/* ---- the part "sites" ---- */

static void put_counters(FILE *f, const struct heap *h, const struct heap_site *s)
{
	page_number(f, s->frees);
	page_number(f, s->bytes_out);
	page_number(f, s->max_bytes);
	page_number(f, s->failed);
	page_number(f, heap_tick_time(h, s->first_ns));
	page_number(f, heap_tick_time(h, s->last_ns));
	for (unsigned i = 0; i < HEAP_NR_LIFETIMES; i++)
		page_number(f, heap_lifetime(h, s, i));
}

static void put_site(FILE *f, const struct page_stacks *k, const struct page_source *s, uint32_t i)
{
	const struct weight live = rank_weight(s->heap, s->selection, RANK_LIVE, i),
			    peak = rank_weight(s->heap, s->selection, RANK_PEAK, i),
			    all = rank_weight(s->heap, s->selection, RANK_ALLOCATED, i),
			    temporary = rank_weight(s->heap, s->selection, RANK_TEMPORARY, i);

	page_number(f, k->node[i]);
	page_number(f, k->answer[i]);
	page_number(f, live.bytes);
	page_number(f, live.count);
	page_number(f, peak.bytes);
	page_number(f, peak.count);
	page_number(f, all.bytes);
	page_number(f, all.count);
	page_number(f, temporary.count);
	page_number(f, k->leaked_bytes ? k->leaked_bytes[i] : 0);
	page_number(f, k->leaked_bytes ? k->leaked_blocks[i] : 0);
	if (!s->selection->from_blocks)
		put_counters(f, s->heap, &s->heap->sites[i]);
}

void page_put_sites(struct page *p, const struct page_stacks *k, const struct page_source *s)
{
	FILE *f = page_part(p, "sites");
	uint32_t nr = 0, last = 0;

	if (!f)
		return;
	for (uint32_t i = 0; i < s->heap->nr_sites; i++)
		nr += k->node[i] != UINT32_MAX;
	page_number(f, FORM_SITES);
	page_number(f, nr);
	page_number(f, s->selection->from_blocks ? 0 : HEAP_NR_LIFETIMES);
	for (uint32_t i = 0; i < s->heap->nr_sites; i++) {
		if (k->node[i] == UINT32_MAX)
			continue;
		page_number(f, i - last);
		last = i;
		put_site(f, k, s, i);
	}
	page_part_end(p, f);
}
