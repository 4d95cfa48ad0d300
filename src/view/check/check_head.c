/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The head of a report on heap errors: how many, what was looked at and how, what must be known
 * before believing it.
 */
#include "include/pmm/check.h"
#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/view/check/check_coverage.h"
#include "src/view/check/check_priv.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"

/* the first: by Valgrind */
static const char *const level_name[PMM_NR_CHECK_LEVELS] = {
	[PMM_CHECK_NONE] = "uninit",
	[PMM_CHECK_LIGHT] = "light",
	[PMM_CHECK_GUARD] = "guard",
	[PMM_CHECK_SAMPLED] = "sampled",
};
static const char *const mechanism_name[] = {
	[PMM_GUARD_NONE] = "none",
	[PMM_GUARD_MADVISE] = "madvise",
	[PMM_GUARD_MPROTECT] = "mprotect",
};
_Static_assert(NR_COLUMNS(mechanism_name) == HEAP_NR_MECHANISMS, "a name for each");

static const struct column line_columns[] = { { NULL, NULL, UNIT_TEXT,
						COLUMN_TEXT_ONLY | COLUMN_LABEL } };

static void record_death(struct table *t, const struct heap *h)
{
	unsigned signal = check_death_signal(h);
	char name[CHECK_SIGNAL_BYTES];

	if (!signal)
		return;
	check_signal_name(name, signal);
	record_text(t, "ended_by", name);
	if (h->death.known && h->death.sender)
		record_number(t, "sender_pid", h->death.sender);
}

void check_record(struct check_view *v)
{
	const struct heap_check *c = &v->heap->check;
	struct table *t = record_new("check");
	struct str coverage = STR_INIT;

	if (c->level) {
		check_coverage(&coverage, c);
		check_left_out(&coverage, c);
	}
	record_text(t, "level", c->level < PMM_NR_CHECK_LEVELS ? level_name[c->level] : "unknown");
	record_text(t, "mechanism",
		    c->mechanism < NR_COLUMNS(mechanism_name) ? mechanism_name[c->mechanism]
							      : "unknown");
	record_count(t, "findings", v->heap->nr_findings);
	record_count(t, "findings_lost", c->findings_lost);
	record_count(t, "left_open", c->left_open);
	record_count(t, "guarded_blocks", c->guarded);
	record_count(t, "guarded_most_blocks", c->guarded_most);
	record_count(t, "canaried_blocks", c->canaried);
	record_count(t, "unchecked_blocks", c->passed);
	record_count(t, "unguarded_for_limit", c->unguarded_limit);
	record_count(t, "unguarded_for_budget", c->unguarded_budget);
	record_count(t, "unguarded_for_size", c->unguarded_large);
	record_count(t, "unguarded_refused", c->unguarded_refused);
	record_count(t, "failed_on_purpose", c->failed_on_purpose);
	record_count(t, "sweeps", c->scans);
	record_count(t, "other_processes", v->opt.others);
	record_count(t, "blocks", check_blocks(c));
	record_count(t, "unchecked_before_start", c->passed_early);
	record_count(t, "unkept_for_size", c->unkept_large);
	record_count(t, "unkept_in_use", c->unkept_busy);
	if (t)
		record_text(t, "coverage", table_text(t, &coverage));
	record_death(t, v->heap);
	str_fini(&coverage);
	doc_add(&v->doc, t);
}

static void blocks_row(struct table *t, const struct heap *h)
{
	struct str s = STR_INIT;

	check_coverage(&s, &h->check);
	check_left_out(&s, &h->check);
	facts_wrap(t, "blocks", table_text(t, &s), FACT_WIDTH);
	str_fini(&s);
}

/* An error reported at once had the count of that moment; here is the last count. */
static void found_text(struct str *s, const struct heap *h)
{
	uint64_t times = 0;

	for (uint64_t i = 0; i < h->nr_findings; i++)
		times += h->findings[i].count;
	if (h->nr_findings)
		check_counts(s, h);
	else if (check_death_signal(h))
		str_add(s, "nothing until ");
	else
		str_add(s, check_covers_none(&h->check) ? "nothing" : "no heap errors");
	if (!h->nr_findings)
		check_death(s, h);
	if (times > h->nr_findings)
		str_addf(s, "; met %s times", fmt_count(times).s);
	if (h->check.scans)
		str_addf(s, "; %s of all live blocks", fmt_many(h->check.scans, "canary scan").s);
}

static void add_head(struct check_view *v)
{
	const struct heap *h = v->heap;
	struct table *t = facts_new(h->cmdline[0] ? h->cmdline : h->comm);
	struct str found = STR_INIT;

	if (t) {
		if (v->opt.runs)
			check_runs_rows(t, v);
		else if (h->check.level)
			blocks_row(t, h);
		report_process_row(t, h);
		if (h->check.failed_on_purpose)
			facts_add(t, "failed", "%s made to fail",
				  fmt_many(h->check.failed_on_purpose, "request").s);
		found_text(&found, h);
		facts_wrap(t, "found", table_text(t, &found), FACT_WIDTH);
		str_fini(&found);
	}
	doc_add(&v->doc, t);
}

static void add_note(struct table *t, const char *text)
{
	facts_wrap(t, "!", text, FACT_WIDTH);
}

static void add_notes(struct check_view *v)
{
	const struct heap_check *c = &v->heap->check;
	struct table *t = facts_new(NULL);
	struct str s = STR_INIT;

	if (t && c->findings_lost) {
		str_addf(&s,
			 "%s more met, but not listed: there is room for %s different ones a "
			 "process",
			 fmt_many(c->findings_lost, "error").s, fmt_count(PMM_MAX_FINDINGS).s);
		add_note(t, table_text(t, &s));
		str_clear(&s);
	}
	if (t && c->left_open) {
		str_addf(&s,
			 "the most frequent errors are counted too low: pages where they are met "
			 "were left open %s",
			 fmt_many(c->left_open, "time").s);
		add_note(t, table_text(t, &s));
		str_clear(&s);
	}
	if (t && c->level && !c->scans && v->heap->end != HEAP_RUNNING)
		add_note(t, "its live blocks were not scanned at its end: it was killed, or how "
			    "it ended was not seen");
	if (t && v->opt.runs)
		check_runs_notes(&s, v);
	if (t && s.len)
		add_note(t, table_text(t, &s));
	str_fini(&s);
	doc_add(&v->doc, t);
}

/* All is well: one line is enough. */
static void add_line(struct check_view *v)
{
	const struct heap *h = v->heap;
	struct table *t = table_new(TABLE_ROWS, NULL, NULL, line_columns, NR_COLUMNS(line_columns));
	struct str s = STR_INIT;

	str_addf(&s, "pmm: %s, pid %u: ", h->comm[0] ? h->comm : h->cmdline, h->pid);
	check_coverage(&s, &h->check);
	if (check_death_signal(h))
		str_add(&s, "; nothing found until ");
	else if (!check_covers_none(&h->check))
		str_add(&s, "; no heap errors");
	check_death(&s, h);
	check_left_out(&s, &h->check);
	if (h->check.failed_on_purpose)
		str_addf(&s, "; %s made to fail",
			 fmt_many(h->check.failed_on_purpose, "request").s);
	if (t) {
		t->no_margin = true;
		table_wrap(t, 0, table_text(t, &s), CHECK_LINE_WIDTH, 0, ROW_STRONG, false);
	}
	str_fini(&s);
	doc_add(&v->doc, t);
}

void check_head(struct check_view *v)
{
	report_process(&v->doc, v->heap);
	check_record(v);
	if (v->opt.runs)
		check_runs_record(v);
	if (v->opt.brief && !v->heap->nr_findings && v->heap->check.level) {
		add_line(v);
		report_warnings(&v->doc, v->heap);
		add_notes(v);
		return;
	}
	add_head(v);
	report_warnings(&v->doc, v->heap);
	add_notes(v);
}
