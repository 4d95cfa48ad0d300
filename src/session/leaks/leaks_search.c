/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One search for leaks from roots: reachability, entries, rows in the heap. */
#include "src/session/leaks/leaks_search.h"

#include <errno.h>
#include <stdlib.h>

#include "include/pmm/ledger.h"
#include "src/base/nanotime.h"

#define MOST_ROOT_BYTES	(16ull << 20)	/* read in a few milliseconds */

const struct leaks_search_options leaks_search_default = LEAKS_SEARCH_DEFAULT;

/* The first bytes of an example of each entry, while the memory is there. */
static void keep_contents(const struct roots *s, struct leaks *l)
{
	vec_each(&l->entries, e) {
		size_t want = e->example_bytes < sizeof(e->contents) ? (size_t)e->example_bytes
								     : sizeof(e->contents);

		if (e->example && want)
			e->nr_contents = (uint8_t)s->memory.ops->read(s->memory.arg, e->example,
								      e->contents, want);
	}
}

/*
 * What of the roots are to be known later. Takes its heap, releases it. A caller that waits for
 * that is notified before the process may run.
 */
static void leave_roots(struct roots *s, const struct leaks_search_options *o,
			struct leaks_found *out)
{
	struct heap_search search = {
		.how = o->how ? o->how : s->stopped ? HEAP_SEARCH_STOPPED : HEAP_SEARCH_COPY,
		.complete = s->complete,
		.at_ns = s->heap->taken_ns,
		.read_bytes = out->reach.stats.read_bytes,
		.unread_bytes = s->unread_bytes + out->reach.stats.unread_bytes,
	};

	out->held_bytes = s->held_bytes;
	out->late = s->late;
	if (s->stopped)
		out->why_stopped = s->why_stopped;
	out->heap = s->heap;
	s->heap = NULL;
	if (o->left)
		o->left(o->left_arg);
	search.pause_ns = roots_free(s);
	out->heap->search = search;
}

/* One search for pointers, in blocks as large as the program knows them to be. */
static int reach_blocks(struct roots *s, bool all, const struct reach_options *o, struct reach *r,
			struct err *e)
{
	struct heap wide;
	int64_t nr = roots_widen(s, all, &wide);
	int rc = nr < 0 ? err_set(e, (int)nr, "not enough memory to search for leaks") : 0;

	if (!rc)
		rc = reach_run(nr ? &wide : s->heap, &s->memory, o, r, e);
	roots_wide_free(&wide);
	return rc;
}

static bool is_lost(uint8_t class)
{
	return class == REACH_DEFINITE || class == REACH_INDIRECT;
}

/*
 * The program asks how much of its blocks can be used, and it is not known of which: what only the
 * end of such a block points to may be in use, or what is left there of older blocks. It is
 * possibly lost. How many blocks.
 */
static int64_t classify_slack(struct roots *s, const struct reach_options *o, struct reach *r,
			      struct err *e)
{
	struct reach more;
	int64_t nr = 0;
	bool any = false;
	int rc;

	for (uint64_t i = 0; i < r->nr && !any; i++)
		any = is_lost(r->class[i]);
	if (!any || !s->asks_usable)
		return 0;
	rc = reach_blocks(s, true, o, &more, e);
	if (rc)
		return rc;
	for (uint64_t i = 0; i < r->nr; i++)
		if (is_lost(r->class[i]) && !is_lost(more.class[i])) {
			r->class[i] = REACH_POSSIBLE;
			r->parent[i] = more.parent[i];
			nr++;
		}
	reach_fini(&more);
	return nr;
}

/*
 * Where blocks were freed that may still be in the table, nothing points to them either: no block
 * is certainly lost.
 */
static void classify_unsure(const struct heap *h, struct reach *r)
{
	for (uint64_t i = 0; leaks_hide_frees(h) && i < r->nr; i++) {
		if (!is_lost(r->class[i]) || h->blocks[i].kind == PMM_KIND_OTHER)
			continue;
		if (r->class[i] == REACH_DEFINITE)
			r->parent[i] = UINT32_MAX;
		r->class[i] = REACH_POSSIBLE;
	}
}

/* Again where the program's threads, asked, name as theirs what seemed lost. */
static int classify(struct roots *s, const struct reach_options *o, struct reach *r, struct err *e)
{
	int rc = reach_blocks(s, false, o, r, e), found;

	if (rc)
		return rc;
	found = roots_ask(s, r->class);
	if (found < 0)
		return err_set(e, found, "not enough memory to search for leaks");
	if (!found)
		return 0;
	reach_fini(r);
	return reach_blocks(s, false, o, r, e);
}

static void set_roots(struct leaks *l, const struct hold_first *first)
{
	vec_each(&l->entries, e)
		if (first && e->class <= REACH_POSSIBLE)
			e->root = first[e->site];
}

int leaks_search(struct roots *s, const struct leaks_search_options *o, struct leaks_found *out,
		 struct err *e)
{
	struct reach_options options = o->reach;
	const uint64_t begun_ns = s->begun_ns;
	int64_t slack = 0;
	struct hold_first *first = NULL;
	int rc;

	*out = (struct leaks_found){ 0 };
	options.want_parents = true;
	rc = classify(s, &options, &out->reach, e);
	if (!rc)
		slack = classify_slack(s, &options, &out->reach, e);
	if (!rc)
		rc = slack < 0 ? (int)slack : roots_intact(s, e);
	if (!rc)
		classify_unsure(s->heap, &out->reach);
	if (rc) {
		roots_free(s);
		return rc;
	}
	out->slack_blocks = (uint64_t)slack;
	if (o->roots)
		first = hold_first(s->heap, &s->memory, &out->reach, MOST_ROOT_BYTES);
	if (o->inspect)
		o->inspect(o->inspect_arg, s, &out->reach);
	if (o->contents) {
		rc = leaks_collect(&out->leaks, s->heap, &out->reach, o->seen);
		keep_contents(s, &out->leaks);
		leave_roots(s, o, out);
	} else {
		leave_roots(s, o, out);
		rc = leaks_collect(&out->leaks, out->heap, &out->reach, o->seen);
	}
	set_roots(&out->leaks, first);
	free(first);
	if (!rc)
		rc = leaks_store(&out->leaks, out->heap);
	out->heap->search.took_ns = nanotime() - begun_ns;
	return rc ? err_set(e, rc, "not enough memory to sum up what was found") : 0;
}

void leaks_found_fini(struct leaks_found *f)
{
	leaks_fini(&f->leaks);
	reach_fini(&f->reach);
	heap_free(f->heap);
	*f = (struct leaks_found){ 0 };
}
