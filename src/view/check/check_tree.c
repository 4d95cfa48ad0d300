/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors of a tree of processes: how many were checked and how, and each error in a line with
 * its processes. Its stacks were reported when it was met.
 */
#include "src/analyze/coverage.h"
#include "src/analyze/findings_tree.h"
#include "src/base/fmt.h"
#include "src/view/check/check_coverage.h"
#include "src/view/check/check_priv.h"
#include "src/view/coverage_view.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"

#define TREE_WIDTH	62	/* with the names before it: below 80 */

static const struct coverage_words checked = { "checked", "checked", false };

static const struct column line_columns[] = { { NULL, NULL, UNIT_TEXT,
						COLUMN_TEXT_ONLY | COLUMN_LABEL } };

void check_set_processes(struct table *t, const struct check_view *v, uint64_t i)
{
	const struct findings_tree *tree = v->opt.tree;
	const struct merge_group *g = &tree->entries.v[i].group;

	table_set_const(t, FOUND_PROGRAM, merge_program(&tree->merge, g->program));
	table_set(t, FOUND_PROCESSES, g->processes);
	table_set_bars(t, FOUND_PIDS, g->pids);
}

static void row(struct table *t, const char *name, struct str *s)
{
	facts_wrap(t, name, table_text(t, s), TREE_WIDTH);
	str_clear(s);
}

static void add_found(struct table *t, const struct check_view *v)
{
	const struct heap *h = v->heap;
	struct str s = STR_INIT;

	check_counts(&s, h);
	if (v->opt.tree->times > h->nr_findings)
		str_addf(&s, "; met %s times", fmt_count(v->opt.tree->times).s);
	if (v->opt.tree->nr_more)
		str_addf(&s, "; there was no room to keep %s more apart",
			 fmt_count(v->opt.tree->nr_more).s);
	row(t, "found", &s);
	str_fini(&s);
}

static void add_head(struct check_view *v)
{
	const struct heap *h = v->heap;
	struct table *t = facts_new(h->cmdline[0] ? h->cmdline : h->comm);
	struct str s = STR_INIT;

	if (t) {
		if (v->opt.coverage)
			coverage_rows(t, v->opt.coverage, &checked, false);
		check_coverage(&s, &h->check);
		check_left_out(&s, &h->check);
		row(t, "blocks", &s);
		add_found(t, v);
	}
	str_fini(&s);
	doc_add(&v->doc, t);
}

/* Coverage first, then what was found in that. */
static void add_verdict(struct str *s, const struct check_view *v, bool all)
{
	const struct coverage *c = v->opt.coverage;

	str_add(s, "pmm: ");
	if (!all)
		str_addf(s, "%s of ", c->covered ? fmt_count(c->covered).s : "none");
	str_addf(s, "%s%s checked%s: ", fmt_many(c ? c->processes : 1, "process").s,
		 all || c->covered ? "" : " was", coverage_to_end(c));
	check_coverage(s, &v->heap->check);
	if (!check_covers_none(&v->heap->check))
		str_add(s, all ? "; no heap errors" : "; no heap errors in those");
	if (c && c->killed)
		str_addf(s, ", but a signal ended %s of them", fmt_count(c->killed).s);
	check_left_out(s, &v->heap->check);
}

static void add_wrapped(struct table *t, struct str *s)
{
	table_wrap(t, 0, table_text(t, s), CHECK_LINE_WIDTH, 0, ROW_STRONG, false);
	str_clear(s);
}

static void add_missed(struct table *t, struct coverage *c)
{
	uint64_t missed = c ? coverage_missed(c, false) : 0;
	struct str s = STR_INIT;

	if (missed) {
		str_addf(&s, "pmm: %s not checked%s: ", fmt_many(missed, "process").s,
			 coverage_to_end(c));
		coverage_names(&s, c, false);
		add_wrapped(t, &s);
	}
	str_fini(&s);
}

/* One line, for all is well as far as it was looked at; where that ended, this comes first. */
static void add_line(struct check_view *v)
{
	struct table *t = table_new(TABLE_ROWS, NULL, NULL, line_columns, NR_COLUMNS(line_columns));
	struct coverage *c = v->opt.coverage;
	struct str s = STR_INIT;
	const bool all = !c || c->covered == c->processes;

	if (c && !c->covered && !c->partly)
		str_addf(&s, "pmm: none of %s was checked", fmt_many(c->processes, "process").s);
	else
		add_verdict(&s, v, all);
	if (t) {
		t->no_margin = true;
		if (c && c->partly)
			add_missed(t, c);
		add_wrapped(t, &s);
		if (c && !c->partly)
			add_missed(t, c);
	}
	str_fini(&s);
	doc_add(&v->doc, t);
}

static void fill_line(struct table *t, uint64_t i)
{
	struct check_view *v = t->ctx;
	const struct heap_finding *f = &v->heap->findings[i];
	struct str s = STR_INIT;

	if (v->opt.turn)
		v->opt.turn(v->opt.turn_ctx, i);
	check_title(&s, v->names, f, false);
	table_row(t, 0, ROW_STRONG, ROW_TEXT_ONLY);
	table_wrap(t, 0, table_text(t, &s), CHECK_LINE_WIDTH, 0, ROW_STRONG, true);
	str_clear(&s);
	if (f->count > 1)
		str_addf(&s, "%s times, ", fmt_count(f->count).s);
	merge_group_text(&s, &v->opt.tree->merge, &v->opt.tree->entries.v[i].group);
	table_wrap(t, 0, table_text(t, &s), CHECK_LINE_WIDTH, 1, ROW_PLAIN, false);
	str_fini(&s);
}

static void add_lines(struct check_view *v)
{
	uint64_t nr = v->heap->nr_findings, shown = v->opt.top && nr > v->opt.top ? v->opt.top : nr;
	struct table *t = table_new(TABLE_TREE, NULL, "Errors, the worst first", line_columns,
				    NR_COLUMNS(line_columns));

	if (t) {
		t->ctx = v;
		t->fill = fill_line;
		t->nr_groups = shown;
		if (shown < nr)
			table_note(t, "%s more (--top 0 shows all)", fmt_count(nr - shown).s);
	}
	doc_add(&v->doc, t);
}

void check_tree(struct check_view *v)
{
	if (v->opt.coverage)
		coverage_record(&v->doc, v->opt.coverage);
	report_process(&v->doc, v->heap);
	check_record(v);
	if (v->heap->nr_findings) {
		add_head(v);
		add_lines(v);
	} else {
		add_line(v);
	}
	report_warnings(&v->doc, v->heap);
}
