/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The head of the verdict on leaks: how was searched, sums in memcheck's words, what must be known
 * before believing it.
 */
#include "src/analyze/leaks_tree.h"
#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/model/pools.h"
#include "src/view/coverage_view.h"
#include "src/document/facts.h"
#include "src/view/lost.h"
#include "src/view/leaks_priv.h"
#include "src/view/report_priv.h"

#define MUCH_HELD	(1u << 20)	/* takes a time that can be measured */

/* ---- the search ---- */

static void add_search(struct leaks_view *v)
{
	static const char *const how[HEAP_NR_SEARCHES] = {
		[HEAP_SEARCH_NONE] = "none",	   [HEAP_SEARCH_COPY] = "copy",
		[HEAP_SEARCH_STOPPED] = "stopped", [HEAP_SEARCH_EXIT] = "exit",
		[HEAP_SEARCH_CORE] = "core",
	};
	const struct heap_search *s = &v->heap->search;
	struct table *t = record_new("search");

	record_text(t, "how", s->how < HEAP_NR_SEARCHES ? how[s->how] : "unknown");
	record_bool(t, "complete", s->complete);
	if (!v->opt.tree)	/* else each process has its own */
		record_duration(t, "at_ns", heap_tick_time(v->heap, s->at_ns));
	record_duration(t, "pause_ns", s->pause_ns);
	record_duration(t, "took_ns", s->took_ns);
	record_bytes(t, "read_bytes", s->read_bytes);
	record_bytes(t, "unread_bytes", s->unread_bytes);
	record_text(t, "why_stopped", v->opt.why_stopped);
	record_bytes(t, "held_bytes", v->opt.held_bytes);
	record_bool(t, "late", v->opt.late);
	record_count(t, "slack_blocks", v->opt.slack_blocks);
	record_count(t, "unjudged_sites", v->leaks->nr_unjudged);
	doc_add(&v->doc, t);
}

/* ---- sums ---- */

enum {
	TOTAL_CLASS,
	TOTAL_BYTES,
	TOTAL_BLOCKS,
	TOTAL_SITES,
	TOTAL_NR,
};

static const struct column total_columns[TOTAL_NR] = {
	[TOTAL_CLASS] = { "class", NULL, UNIT_TEXT },
	[TOTAL_BYTES] = { "bytes", NULL, UNIT_COUNT },
	[TOTAL_BLOCKS] = { "blocks", NULL, UNIT_COUNT },
	[TOTAL_SITES] = { "sites", NULL, UNIT_COUNT },
};

static void add_total(struct table *t, const char *name, const struct leak_sum *s)
{
	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set_const(t, TOTAL_CLASS, name);
	table_set(t, TOTAL_BYTES, s->bytes);
	table_set(t, TOTAL_BLOCKS, s->blocks);
	table_set(t, TOTAL_SITES, s->sites);
}

static void add_totals(struct leaks_view *v)
{
	struct table *t = table_new(TABLE_ROWS, "totals", NULL, total_columns, TOTAL_NR);

	if (t) {
		t->json_only = true;
		for (int i = REACH_NR_CLASSES - 1; i >= 0; i--)
			add_total(t, leaks_class_name[i], &v->leaks->by_class[i]);
		add_total(t, "suppressed", &v->leaks->suppressed);
	}
	doc_add(&v->doc, t);
}

/* ---- for people ---- */

static const struct coverage_words leaks_looked = { "searched for leaks", "searched", true };

static void search_row(struct table *t, const struct heap *h, const struct leaks_view_options *o)
{
	const struct heap_search *s = &h->search;
	const char *why_stopped = o->why_stopped;
	struct fmt pause = fmt_duration(s->pause_ns), took = fmt_duration(s->took_ns),
		   bytes = fmt_bytes(s->read_bytes);

	if (s->how == HEAP_SEARCH_COPY && o->held_bytes >= MUCH_HELD)
		facts_add(t, "searched",
			  "%s in %s, in a copy; the program was stopped for %s, while %s were read "
			  "that a copy does not get or shares",
			  bytes.s, took.s, pause.s, fmt_bytes(o->held_bytes).s);
	else if (s->how == HEAP_SEARCH_COPY)
		facts_add(t, "searched", "%s in %s, in a copy; the program was stopped for %s",
			  bytes.s, took.s, pause.s);
	else if (s->how == HEAP_SEARCH_STOPPED)
		facts_add(t, "searched", "%s in %s; the program was stopped for %s%s%s", bytes.s,
			  took.s, pause.s, why_stopped ? ", as no copy could be made: " : "",
			  why_stopped ? why_stopped : "");
	else if (s->how == HEAP_SEARCH_EXIT && o->tree)
		facts_add(t, "searched",
			  "%s in %s, at the processes' ends; none was held up for more than %s",
			  bytes.s, took.s, pause.s);
	else if (s->how == HEAP_SEARCH_EXIT)
		facts_add(t, "searched", "%s in %s, at the program's end; it was held up for %s",
			  bytes.s, took.s, pause.s);
	else
		facts_add(t, "searched", "%s in %s, in the core file", bytes.s, took.s);
}

static void sum_row(struct table *t, const char *name, const struct leak_sum *s)
{
	facts_add(t, name, "%s in %s%s%s", fmt_many(s->bytes, "byte").s,
		  fmt_many(s->blocks, "block").s, s->blocks ? ", " : "",
		  s->blocks ? fmt_many(s->sites, "site").s : "");
}

/* Why memcheck would say less of what is reachable. */
static void habit_row(struct table *t, const struct leaks *l)
{
	const struct leak_entry *const end = l->entries.v + l->entries.nr;
	uint64_t blocks = 0, bytes = 0;

	for (const struct leak_entry *e = l->entries.v; e < end; e++) {
		blocks += e->habit_blocks;
		bytes += e->habit_bytes;
	}
	if (!blocks)
		return;
	facts_add(t, "of these", "%s in %s by pointers behind headers or into pools only",
		  fmt_bytes(bytes).s, fmt_many(blocks, "block").s);
}

static void add_head(struct leaks_view *v)
{
	const struct heap *h = v->heap;
	struct table *t = facts_new(h->cmdline[0] ? h->cmdline : h->comm);

	if (t) {
		if (v->opt.coverage)
			coverage_rows(t, v->opt.coverage, &leaks_looked, v->opt.untracked_reported);
		if (h->comm[0])
			report_process_row(t, h);
		if (!v->opt.tree || v->opt.tree->nr)
			search_row(t, h, &v->opt);
		for (int i = REACH_NR_CLASSES - 1; i >= 0 && (!v->opt.tree || v->opt.tree->nr); i--)
			sum_row(t, leaks_class_text((unsigned)i), &v->leaks->by_class[i]);
		habit_row(t, v->leaks);
		if (v->leaks->suppressed.blocks)
			sum_row(t, "suppressed", &v->leaks->suppressed);
	}
	doc_add(&v->doc, t);
}

uint64_t leaks_or_freed(const struct leaks *l)
{
	const struct leak_entry *const end = l->entries.v + l->entries.nr;
	uint64_t blocks = 0;

	for (const struct leak_entry *e = l->entries.v; e < end; e++)
		blocks += e->reason == LEAK_OR_FREED ? e->blocks : 0;
	return blocks;
}

static unsigned view_pools(const struct leaks_view *v)
{
	return v->opt.tree ? v->opt.tree->pools : pools_of(v->heap);
}

enum {
	POOL_LANGUAGE,
	POOL_SETTING,
	POOL_COLUMNS,
};

static const struct column pool_columns[POOL_COLUMNS] = {
	[POOL_LANGUAGE] = { "language", NULL, UNIT_TEXT },
	[POOL_SETTING] = { "setting", NULL, UNIT_TEXT },
};

static void add_pools(struct leaks_view *v)
{
	struct table *t = table_new(TABLE_ROWS, "pools", NULL, pool_columns, POOL_COLUMNS);
	const unsigned pools = view_pools(v);

	for (unsigned i = 0; t && i < POOL_NR; i++)
		if (pools & 1u << i) {
			table_row(t, 0, ROW_PLAIN, ROW_BOTH);
			table_set_const(t, POOL_LANGUAGE, pool_language(i));
			table_set_const(t, POOL_SETTING, pool_setting(i));
		}
	if (t)
		t->json_only = true;
	doc_add(&v->doc, t);
}

/* Objects that no search speaks of. */
static void pool_rows(struct table *t, unsigned pools)
{
	for (unsigned i = 0; i < POOL_NR; i++)
		if (pools & 1u << i)
			facts_add(t, "!",
				  "objects that %s makes in pools of its own are not searched, unless %s "
				  "is in its environment",
				  pool_language(i), pool_setting(i));
}

/* What must be known before believing it. */
static void add_notes(struct leaks_view *v)
{
	const struct heap *h = v->heap;
	struct table *t = facts_new(NULL);
	uint64_t unsure = leaks_or_freed(v->leaks);

	if (unsure)
		facts_add(t, "!",
			  "%s %s possibly lost, not certainly: %s freed past pmm's hooks, and "
			  "this allocator does not show which (glibc does)",
			  fmt_many(unsure, "block").s, fmt_agree(unsure, "is", "are"),
			  h->missed_frees ? "blocks were" : "blocks may have been");
	if (!h->search.complete && v->opt.tree)
		facts_add(t, "!",
			  "of %s not all blocks are known (of forked children those from before "
			  "the fork, for example): what they point to "
			  "counts as reachable",
			  fmt_many(v->opt.tree->nr_incomplete, "process").s);
	if (v->opt.tree && v->opt.tree->merge.nr_unkept)
		facts_add(t, "!",
			  "%s of too many different ones were not kept: their blocks are counted "
			  "as of an unknown stack",
			  fmt_many(v->opt.tree->merge.nr_unkept, "stack").s);
	if (!h->search.complete && !v->opt.tree)
		facts_add(
			t, "!", "%s",
			h->mode == HEAP_SAMPLED
				? "only a sample of the blocks is known: what the others point to "
				  "counts as reachable, the figures are the sample's"
			: h->began == HEAP_BEGAN_ATTACH
				? "blocks from before the attach are not known: what they point to "
				  "counts as reachable"
			: h->began == HEAP_BEGAN_FORK
				? "blocks from before the fork are not known: what they point to "
				  "counts as reachable"
				: "not all blocks are known: what the others point to counts as "
				  "reachable");
	pool_rows(t, view_pools(v));
	if (v->leaks->nr_unjudged)
		facts_add(t, "!",
			  "whether %s %s is not known: they are beyond the %d that are followed",
			  fmt_many(v->leaks->nr_unjudged, "call site").s,
			  fmt_agree(v->leaks->nr_unjudged, "grows", "grow"), GROWING_MAX_SITES);
	if (h->search.unread_bytes)
		facts_add(t, "!", "%s could not be read: pointers in there are not known",
			  fmt_bytes(h->search.unread_bytes).s);
	if (v->opt.late && v->leaks->by_class[REACH_DEFINITE].blocks)
		facts_add(t, "!",
			  "part of the memory that a copy shares or gets empty was read "
			  "after the pause: a block to which the program moved the only "
			  "pointer there meanwhile can seem lost; be sure with '--stop'");
	if (v->opt.slack_blocks)
		facts_add(t, "!",
			  "%s possibly lost: only the bytes behind what other blocks were asked "
			  "for point there, and the program may use those "
			  "(it calls malloc_usable_size); start it with 'pmm run' to know",
			  fmt_many(v->opt.slack_blocks, "block").s);
	doc_add(&v->doc, t);
}

bool leaks_all_searched(const struct leaks_view *v)
{
	return !v->opt.coverage || (!coverage_missed(v->opt.coverage, true) &&
				    !coverage_missed(v->opt.coverage, false));
}

void leaks_head(struct leaks_view *v)
{
	bool first = lost_any(v->heap);

	if (v->opt.coverage)
		coverage_record(&v->doc, v->opt.coverage);
	report_process(&v->doc, v->heap);
	if (first)
		report_warnings(&v->doc, v->heap);
	add_search(v);
	add_totals(v);
	add_pools(v);
	add_head(v);
	if (!first)
		report_warnings(&v->doc, v->heap);
	add_notes(v);
}
