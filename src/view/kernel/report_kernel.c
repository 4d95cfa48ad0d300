/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's events in the report: what was covered and lost, first; then all kinds, and what has
 * no section of its own.
 */
#include <stdlib.h>

#include "src/analyze/trace/kernel_rank.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/kernel/event_class.h"
#include "src/kernel/status_names.h"
#include "src/view/kernel/report_kernel_priv.h"
#include "src/view/lost.h"

/* ---- what was covered ---- */

struct coverage {
	const struct heap_kernel *k;
	uint64_t seen, by_agent, lost, dropped;
	struct kernel_sum faults;	/* what the rows of page faults have */
};

static void sum_kinds(struct coverage *c, const struct kernel_kind_sum *kinds, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		c->seen += kinds[i].events;
		c->by_agent += kinds[i].by_agent;
		c->lost += kinds[i].lost;
		c->dropped += kinds[i].dropped;
		if (kinds[i].kind == TRACE_FAULT)
			c->faults = kinds[i].rows;
	}
}

/* The names of classes, for as long as the table lives. */
static const char *class_names(struct table *t, uint64_t classes)
{
	struct str s = STR_INIT;
	const char *text;

	lost_kernel_classes(&s, classes);
	text = arena_strdup(&t->note_text, table_text(t, &s));
	str_fini(&s);
	return text ? text : "";
}

static void add_lost_facts(struct table *t, const struct coverage *c)
{
	if (c->lost || c->dropped)
		facts_add(t, "lost", "%s for want of room in the ring, %s for want of room in a "
			  "table or in programs interrupted by themselves",
			  fmt_many(c->lost, "event").s, fmt_count(c->dropped).s);
	else
		facts_add(t, "lost", "nothing");
	if (c->k->rows_lost || c->k->bins_lost)
		facts_add(t, "left out",
			  "%s of the tables below, %s of the time line: they are full",
			  fmt_many(c->k->rows_lost, "event").s, fmt_count(c->k->bins_lost).s);
}

/* How many there were, and what the tables by line and stack know of them. */
static void add_fault_fact(struct table *t, const struct coverage *c)
{
	const struct heap_kernel *k = c->k;
	uint64_t minor = k->faults > k->major_faults ? k->faults - k->major_faults : 0;
	struct str s = STR_INIT;

	if (k->faults_counted)
		str_addf(&s, "%s (exact), %s minor, %s major", fmt_count(k->faults).s,
			 fmt_count(minor).s, fmt_count(k->major_faults).s);
	else if (c->faults.records < c->faults.events)
		str_addf(&s, "about %s", fmt_count(c->faults.events).s);
	if (s.len && (c->faults.records < c->faults.events || c->faults.records < k->faults))
		str_addf(&s, "; by line and stack estimated from %s",
			 fmt_count(c->faults.records).s);
	if (s.len)
		facts_text(t, "page faults", &s);
	str_fini(&s);
}

static void add_stack_fact(struct table *t, const struct heap_kernel *k)
{
	struct str s = STR_INIT;

	if (!k->stacks)
		str_add(&s, "none were taken");
	else if (!k->all_stacks)
		str_add(&s, "none");
	else
		str_addf(&s, "%s complete of %s",
			 fmt_percent(k->complete_stacks, k->all_stacks).s,
			 fmt_many(k->all_stacks, "user stack").s);
	if (k->stacks && k->sample > 1)
		str_addf(&s, "; of page faults 1 in %s has one", fmt_count(k->sample).s);
	facts_text(t, "stacks", &s);
	str_fini(&s);
}

static void add_facts(struct doc *d, const struct coverage *c)
{
	const struct heap_kernel *k = c->k;
	struct table *t = facts_new("What the kernel did about its memory");

	if (t) {
		facts_add(t, "events", "%s", class_names(t, k->classes));
		if (k->unseen_classes)
			facts_add(t, "not seen", "%s%s%s", class_names(t, k->unseen_classes),
				  *k->unseen ? ": " : "", k->unseen);
		if (c->by_agent)
			facts_add(t, "seen", "%s, of them %s by pmm's own agent, which the tables "
				  "below leave out", fmt_many(c->seen, "event").s,
				  fmt_count(c->by_agent).s);
		else
			facts_add(t, "seen", "%s", fmt_many(c->seen, "event").s);
		add_fault_fact(t, c);
		add_lost_facts(t, c);
		add_stack_fact(t, k);
	}
	doc_add(d, t);
}

static void add_record(struct doc *d, const struct coverage *c)
{
	const struct heap_kernel *k = c->k;
	struct table *t = record_new("kernel");

	if (t) {
		record_text(t, "events", class_names(t, k->classes));
		if (k->unseen_classes)
			record_text(t, "not_seen", class_names(t, k->unseen_classes));
		if (*k->unseen)
			record_text(t, "why_not_seen", k->unseen);
	}
	record_count(t, "seen", c->seen);
	record_count(t, "by_agent", c->by_agent);
	if (k->faults_counted) {
		record_count(t, "page_faults", k->faults);
		record_count(t, "major_faults", k->major_faults);
	}
	record_count(t, "lost_in_ring", c->lost);
	record_count(t, "lost_in_tables", c->dropped);
	record_count(t, "left_out_of_tables", k->rows_lost);
	record_count(t, "left_out_of_time", k->bins_lost);
	if (k->stacks) {
		record_count(t, "stacks", k->all_stacks);
		record_count(t, "complete_stacks", k->complete_stacks);
	}
	if (k->sample)
		record_count(t, "fault_sample", k->sample);
	record_duration(t, "bin_ns", k->bin_ns);
	doc_add(d, t);
}

/* ---- all kinds ---- */

enum {
	KIND_EVENT,
	KIND_COUNT,
	KIND_RECORDS,
	KIND_FAILED,
	KIND_BYTES,
	KIND_TIME,
	KIND_LONGEST,
	KIND_BY_AGENT,
	KIND_LOST,
	KIND_IN_RING,
	KIND_IN_TABLES,
	KIND_NR,
};

static const struct column kind_columns[KIND_NR] = {
	[KIND_EVENT] = { "event", "event", UNIT_TEXT },
	[KIND_COUNT] = { "count", "count", UNIT_COUNT },
	[KIND_RECORDS] = JSON_COLUMN("records", UNIT_COUNT),
	[KIND_FAILED] = { "failed", "failed", UNIT_COUNT, COLUMN_ZERO_BLANK },
	[KIND_BYTES] = { "size_bytes", "bytes", UNIT_BYTES, COLUMN_ZERO_BLANK },
	[KIND_TIME] = { "total_ns", "time", UNIT_DURATION, COLUMN_ZERO_BLANK },
	[KIND_LONGEST] = { "longest_ns", "longest", UNIT_DURATION, COLUMN_ZERO_BLANK },
	[KIND_BY_AGENT] = { "by_agent", "by pmm", UNIT_COUNT, COLUMN_ZERO_BLANK },
	[KIND_LOST] = { NULL, "lost", UNIT_COUNT, COLUMN_TEXT_ONLY | COLUMN_ZERO_BLANK },
	[KIND_IN_RING] = JSON_COLUMN("lost_in_ring", UNIT_COUNT),
	[KIND_IN_TABLES] = JSON_COLUMN("lost_in_tables", UNIT_COUNT),
};

static void add_kinds(struct doc *d, const struct kernel_kind_sum *kinds, size_t nr)
{
	struct table *t = table_new(TABLE_ROWS, "kernel_events", "Kernel events", kind_columns,
				    KIND_NR);

	for (size_t i = 0; t && i < nr; i++) {
		const struct kernel_kind_sum *k = &kinds[i];

		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		report_kernel_set_event(t, KIND_EVENT, k->kind);
		table_set(t, KIND_COUNT, k->events);
		table_set(t, KIND_RECORDS, k->rows.records);
		table_set(t, KIND_FAILED, k->rows.failed);
		table_set(t, KIND_BYTES, k->rows.bytes);
		table_set(t, KIND_TIME, k->rows.ns);
		table_set(t, KIND_LONGEST, k->rows.max_ns);
		table_set(t, KIND_BY_AGENT, k->by_agent);
		table_set(t, KIND_LOST, k->lost + k->dropped);
		table_set(t, KIND_IN_RING, k->lost);
		table_set(t, KIND_IN_TABLES, k->dropped);
	}
	doc_add(d, t);
}

/* ---- what has no section of its own ---- */

enum {
	OTHER_EVENT,
	OTHER_COUNT,
	OTHER_FAILED,
	OTHER_BYTES,
	OTHER_TIME,
	OTHER_LONGEST,
	OTHER_DETAIL,
	OTHER_NR,
};

static const struct column other_columns[OTHER_NR] = {
	[OTHER_EVENT] = { "event", "event", UNIT_TEXT },
	[OTHER_COUNT] = { "count", "count", UNIT_COUNT },
	[OTHER_FAILED] = { "failed", "failed", UNIT_COUNT, COLUMN_ZERO_BLANK },
	[OTHER_BYTES] = { "size_bytes", "bytes", UNIT_BYTES, COLUMN_ZERO_BLANK },
	[OTHER_TIME] = { "total_ns", "time", UNIT_DURATION, COLUMN_ZERO_BLANK },
	[OTHER_LONGEST] = { "longest_ns", "longest", UNIT_DURATION, COLUMN_ZERO_BLANK },
	[OTHER_DETAIL] = { "detail", NULL, UNIT_TEXT, COLUMN_ZERO_BLANK },
};

/* How it came about or ended, as trace_detail() has put it together. */
static void set_detail(struct table *t, const struct kernel_detail *d)
{
	switch (d->kind) {
	case TRACE_MIGRATE:
		table_setf(t, OTHER_DETAIL, "%s, %s", migrate_reason_name(d->detail >> 8),
			   migrate_mode_name(d->detail & 0xff));
		break;
	case TRACE_COLLAPSE:
	case TRACE_KHUGEPAGED:
		table_setf(t, OTHER_DETAIL, "%s, %s, %s",
			   huge_status_name(d->detail >> 2), d->detail & 2 ? "file" : "anonymous",
			   d->detail & 1 ? "madvise" : "khugepaged");
		break;
	}
}

static void report_kernel_others(struct report *r)
{
	struct table *t = table_new(TABLE_ROWS, "kernel_others", "Other kernel events",
				    other_columns, OTHER_NR);
	struct kernel_detail *all = NULL;
	size_t nr = 0;

	if (t && kernel_details_sum(r->heap, &all, &nr))
		t->failed = true;
	for (size_t i = 0; t && i < nr; i++) {
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		report_kernel_set_event(t, OTHER_EVENT, all[i].kind);
		table_set(t, OTHER_COUNT, all[i].sum.events);
		table_set(t, OTHER_FAILED, all[i].sum.failed);
		table_set(t, OTHER_BYTES, all[i].sum.bytes);
		table_set(t, OTHER_TIME, all[i].sum.ns);
		table_set(t, OTHER_LONGEST, all[i].sum.max_ns);
		set_detail(t, &all[i]);
	}
	free(all);
	doc_add(&r->doc, t);
}

void report_kernel(struct report *r)
{
	struct coverage c = { .k = &r->heap->kernel };
	struct kernel_kind_sum *kinds;
	size_t nr;

	if (!c.k->traced)
		return;
	if (kernel_kinds_sum(r->heap, &kinds, &nr)) {
		doc_add(&r->doc, NULL);
		return;
	}
	sum_kinds(&c, kinds, nr);
	add_facts(&r->doc, &c);
	add_record(&r->doc, &c);
	add_kinds(&r->doc, kinds, nr);
	free(kinds);
	report_kernel_fault_sites(r);
	report_kernel_fault_stacks(r);
	report_kernel_calls(r);
	report_kernel_waits(r);
	report_kernel_others(r);
}
