/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two heaps compared: what must be known first. Other programs, other ways of recording, what
 * either heap lacks, what has no counterpart that could be found.
 */
#include <string.h>

#include "src/analyze/estimate.h"
#include "src/view/diff/diff_view_priv.h"
#include "src/view/report_priv.h"

enum {
	WARN_MARK,
	WARN_SIDE,
	WARN_CODE,
	WARN_COUNT,
	WARN_TEXT,
	WARN_NR
};

static const struct column warn_columns[WARN_NR] = {
	[WARN_MARK] = TEXT_COLUMN(NULL, UNIT_TEXT),
	[WARN_SIDE] = JSON_COLUMN("side", UNIT_TEXT),
	[WARN_CODE] = JSON_COLUMN("code", UNIT_TEXT),
	[WARN_COUNT] = JSON_COLUMN("count", UNIT_COUNT),
	[WARN_TEXT] = { "text", NULL, UNIT_TEXT },
};

#define BOTH	2u

/* Begin a warning on a side, or BOTH; its text is set afterwards. */
static void warn(struct table *t, unsigned side, const char *code, uint64_t count)
{
	static const char *const name[] = { "before", "after", NULL };

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set_const(t, WARN_MARK, "!");
	if (name[side])
		table_set_const(t, WARN_SIDE, name[side]);
	table_set_const(t, WARN_CODE, code);
	table_set(t, WARN_COUNT, count);
}

static void warn_programs(struct table *t, const struct diff_view *v)
{
	const struct heap *a = v->side[0].heap, *b = v->side[1].heap;

	if (!strcmp(a->comm, b->comm) ||
	    (a->exe[0] && !strcmp(report_basename(a->exe), report_basename(b->exe))))
		return;
	warn(t, BOTH, "other_program", 1);
	table_setf(t, WARN_TEXT, "compares '%s' with '%s': two programs", a->comm, b->comm);
}

static const char *mode_of(const struct heap *h)
{
	return h->kmod.logged		 ? "the kernel module's log"
	       : h->mode == HEAP_SAMPLED ? "sampled"
					 : "exact";
}

static void warn_modes(struct table *t, const struct diff_view *v)
{
	const struct heap *a = v->side[0].heap, *b = v->side[1].heap;

	if (strcmp(mode_of(a), mode_of(b)) != 0) {
		warn(t, BOTH, "other_mode", 1);
		table_setf(t, WARN_TEXT, "'%s' is %s and '%s' is %s: differences may be no more "
					 "than that",
			   v->side[0].source, mode_of(a), v->side[1].source, mode_of(b));
	}
	if (a->min_size_bytes != b->min_size_bytes) {
		warn(t, BOTH, "other_min_size", 1);
		table_setf(t, WARN_TEXT, "blocks were recorded from %s on in '%s', from %s on in "
					 "'%s'",
			   fmt_bytes(a->min_size_bytes).s, v->side[0].source,
			   fmt_bytes(b->min_size_bytes).s, v->side[1].source);
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct heap *h = v->side[i].heap;

		if (h->mode != HEAP_SAMPLED)
			continue;
		warn(t, i, "estimates", 1);
		table_setf(t, WARN_TEXT, "figures of '%s' are estimates, live bytes within %s in "
					 "19 of 20 cases",
			   v->side[i].source,
			   fmt_bytes(estimate_round(estimate_live_error(h))).s);
	}
	for (unsigned i = 0; i < 2; i++)
		if (v->side[i].heap->began == HEAP_BEGAN_ATTACH &&
		    v->side[!i].heap->began != HEAP_BEGAN_ATTACH) {
			warn(t, i, "attached", 1);
			table_setf(t, WARN_TEXT, "'%s' lacks what was allocated before pmm "
						 "attached, '%s' has all",
				   v->side[i].source, v->side[!i].source);
		}
}

static int column_of(const struct table *t, const char *key)
{
	for (unsigned c = 0; c < t->nr_columns; c++)
		if (t->column[c].key && !strcmp(t->column[c].key, key))
			return (int)c;
	return -1;
}

/* What the report of one of them would say. */
static void warn_losses(struct table *t, const struct diff_view *v, unsigned side)
{
	struct doc d = { 0 };
	const struct table *from;

	report_warnings(&d, v->side[side].heap);
	if (doc_error(&d)) {
		t->failed = true;
		doc_fini(&d);
		return;
	}
	from = d.sections.v[0].table;
	for (size_t i = 0; i < from->rows.nr; i++) {
		const struct cell *cell = table_cells(from, i);

		warn(t, side, NULL, cell[column_of(from, "count")].u);
		table_set_text(t, WARN_CODE, cell[column_of(from, "code")].text);
		table_setf(t, WARN_TEXT, "'%s': %s", v->side[side].source,
			   cell[column_of(from, "text")].text);
	}
	doc_fini(&d);
}

/* Of figures: those that rows are sorted by. */
static struct fmt figure(const struct diff_view *v, const int64_t *value)
{
	enum diff_metric bytes = diff_bytes_of(v->opt.key);

	return bytes == DIFF_NR_METRICS
		       ? fmt_many((uint64_t)value[diff_count_of(v->opt.key)], "call")
		       : fmt_bytes((uint64_t)value[bytes]);
}

static bool any(const struct diff_view *v, const int64_t *value)
{
	return value[diff_metric_of(v->opt.key)] > 0;
}

static void warn_unmatched(struct table *t, const struct diff_view *v, unsigned side)
{
	struct diff_unmatched u = diff_unmatched(v->diff, side);
	enum diff_metric m = diff_metric_of(v->opt.key);
	const char *source = v->side[side].source;

	if (any(v, u.unnamed)) {
		warn(t, side, "unmatched", (uint64_t)u.unnamed[m]);
		table_setf(t, WARN_TEXT,
			   "%s of '%s' could not be matched: functions have no names, and the "
			   "other build of '%s' has other addresses",
			   figure(v, u.unnamed).s, source,
			   u.module ? report_basename(u.module) : "?");
	}
	if (side && any(v, u.guessed)) {
		warn(t, side, "guessed", (uint64_t)u.guessed[m]);
		table_setf(t, WARN_TEXT, "%s of '%s' were matched by offset alone: there are "
					 "neither names nor build IDs",
			   figure(v, u.guessed).s, source);
	}
	if (any(v, u.unknown)) {
		warn(t, side, "unknown_stacks", (uint64_t)u.unknown[m]);
		table_setf(t, WARN_TEXT, "%s of '%s' have no known stack", figure(v, u.unknown).s,
			   source);
	}
}

static void warn_search(struct table *t, const struct diff_view *v)
{
	bool a = v->side[0].heap->search.how != HEAP_SEARCH_NONE,
	     b = v->side[1].heap->search.how != HEAP_SEARCH_NONE;

	if (a == b)
		return;
	warn(t, a, "not_searched", 1);
	table_setf(t, WARN_TEXT, "'%s' was not searched for leaks: lost bytes are not compared",
		   v->side[a].source);
}

void diff_warnings(struct diff_view *v)
{
	struct table *t = table_new(TABLE_ROWS, "warnings", NULL, warn_columns, WARN_NR);

	if (t) {
		warn_programs(t, v);
		warn_modes(t, v);
		warn_search(t, v);
		for (unsigned i = 0; i < 2; i++)
			warn_losses(t, v, i);
		for (unsigned i = 0; i < 2; i++)
			warn_unmatched(t, v, i);
		t->json_only = !t->rows.nr;
	}
	doc_add(&v->doc, t);
}
