/*
 * The head of what is told of heap errors: how many, what was looked at and how, what must be known before believing it.
 */
#include "include/pmm/check.h"
#include "src/base/fmt.h"
#include "src/view/check_part.h"
#include "src/view/facts.h"
#include "src/view/report_part.h"

static const char *const level_name[PMM_NR_CHECK_LEVELS] = { "none", "light", "guard", "sampled" };
static const char *const mechanism_name[] = { "none", "madvise", "mprotect" };

static const struct column check_columns[] = {
	{ "level", NULL, UNIT_TEXT },
	{ "mechanism", NULL, UNIT_TEXT },
	{ "findings", NULL, UNIT_COUNT },
	{ "findings_lost", NULL, UNIT_COUNT },
	{ "left_open", NULL, UNIT_COUNT },
	{ "guarded_blocks", NULL, UNIT_COUNT },
	{ "guarded_most_blocks", NULL, UNIT_COUNT },
	{ "canaried_blocks", NULL, UNIT_COUNT },
	{ "unchecked_blocks", NULL, UNIT_COUNT },
	{ "unguarded_for_limit", NULL, UNIT_COUNT },
	{ "unguarded_for_budget", NULL, UNIT_COUNT },
	{ "unguarded_for_size", NULL, UNIT_COUNT },
	{ "unguarded_refused", NULL, UNIT_COUNT },
	{ "failed_on_purpose", NULL, UNIT_COUNT },
	{ "sweeps", NULL, UNIT_COUNT },
};

static void add_record(struct check_view *v)
{
	const struct heap_check *c = &v->heap->check;
	struct table *t = table_new(TABLE_RECORD, "check", NULL, check_columns, NR_COLUMNS(check_columns));

	if (t) {
		unsigned i = 0;

		t->json_only = true;
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set_const(t, i++, c->level < PMM_NR_CHECK_LEVELS ? level_name[c->level] : "unknown");
		table_set_const(t, i++, c->mechanism < NR_COLUMNS(mechanism_name) ? mechanism_name[c->mechanism] : "unknown");
		table_set(t, i++, v->heap->nr_findings);
		table_set(t, i++, c->findings_lost);
		table_set(t, i++, c->left_open);
		table_set(t, i++, c->guarded);
		table_set(t, i++, c->guarded_most);
		table_set(t, i++, c->canaried);
		table_set(t, i++, c->passed);
		table_set(t, i++, c->unguarded_limit);
		table_set(t, i++, c->unguarded_budget);
		table_set(t, i++, c->unguarded_large);
		table_set(t, i++, c->unguarded_refused);
		table_set(t, i++, c->failed_on_purpose);
		table_set(t, i++, c->sweeps);
	}
	doc_add(&v->doc, t);
}

static void process_row(struct table *t, const struct heap *h)
{
	struct str end = STR_INIT;

	report_end_text(&end, h);
	facts_row(t, "process");
	table_setf(t, FACT_TEXT, "%s, pid %u, ran %s, %s", h->comm, h->pid, fmt_duration(report_time(h, h->taken_ns)).s, str_text(&end));
	str_fini(&end);
}

/* What was guarded, what was not, and why. */
static void blocks_row(struct table *t, const struct heap *h)
{
	const struct heap_check *c = &h->check;
	struct str s = STR_INIT;

	str_addf(&s, "%s guarded", fmt_count(c->guarded).s);
	if (c->level == PMM_CHECK_SAMPLED)
		str_add(&s, ", a random sample");
	else
		str_addf(&s, ", %s with canaries", fmt_count(c->canaried).s);
	if (c->unguarded_budget)
		str_addf(&s, "; %s for their cost (--budget)", fmt_count(c->unguarded_budget).s);
	if (c->unguarded_limit)
		str_addf(&s, "; %s above the limit (--max-guarded)", fmt_count(c->unguarded_limit).s);
	if (c->unguarded_large)
		str_addf(&s, "; %s for their size", fmt_count(c->unguarded_large).s);
	if (c->unguarded_refused)
		str_addf(&s, "; %s as the kernel refused", fmt_count(c->unguarded_refused).s);
	facts_row(t, "blocks");
	table_set_text(t, FACT_TEXT, str_text(&s));
	str_fini(&s);
}

static void add_head(struct check_view *v)
{
	const struct heap *h = v->heap;
	struct table *t = facts_new(h->cmdline[0] ? h->cmdline : h->comm);

	if (t) {
		process_row(t, h);
		if (h->check.level)
			blocks_row(t, h);
		if (h->check.failed_on_purpose) {
			facts_row(t, "failed");
			table_setf(t, FACT_TEXT, "%s made to fail", report_many(h->check.failed_on_purpose, "request").s);
		}
		facts_row(t, "errors");
		table_set_text(t, FACT_TEXT, h->nr_findings ? fmt_count(h->nr_findings).s : "none were found");
	}
	doc_add(&v->doc, t);
}

static void add_notes(struct check_view *v)
{
	const struct heap_check *c = &v->heap->check;
	struct table *t = facts_new(NULL);

	if (t && c->findings_lost) {
		facts_row(t, "!");
		table_setf(t, FACT_TEXT, "%s more had no room", report_many(c->findings_lost, "different error").s);
	}
	if (t && c->left_open) {
		facts_row(t, "!");
		table_setf(t, FACT_TEXT, "the most frequent errors are counted too low: pages where they are met were left open %s",
			   report_many(c->left_open, "time").s);
	}
	if (t && c->passed) {
		facts_row(t, "!");
		table_setf(t, FACT_TEXT, "%s not checked at all", report_many(c->passed, "block").s);
	}
	doc_add(&v->doc, t);
}

void check_head(struct check_view *v)
{
	report_process(&v->doc, v->heap);
	add_record(v);
	add_head(v);
	report_warnings(&v->doc, v->heap);
	add_notes(v);
}
