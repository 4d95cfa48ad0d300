/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a trace, table by table. */
#include "src/view/trace/trace_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/kernel/user_stack.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "src/view/trace/trace_stack.h"

/* ---- what was covered ---- */

static void sum_counts(const struct trace_result *t, struct trace_counts *sum)
{
	*sum = (struct trace_counts){ 0 };
	for (int kind = 0; kind < TRACE_NR_KINDS; kind++) {
		/* pmm's own need of who begins and ends is not counted */
		if (!trace_kinds[kind].name || !(t->classes >> trace_kinds[kind].event & 1))
			continue;
		sum->seen += t->counts[kind].seen;
		sum->lost += t->counts[kind].lost;
		sum->dropped += t->counts[kind].dropped;
		sum->unpaired += t->counts[kind].unpaired;
	}
}

static uint64_t sum_missed(const struct trace_result *t)
{
	uint64_t sum = 0;

	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		sum += t->groups[i].missed;
	return sum;
}

/* How complete user stacks are; nothing where there are none. */
static void add_stack_fact(struct table *facts, const struct trace_result *t)
{
	uint64_t all = 0;
	struct str s = STR_INIT;

	for (int i = 0; t->stack_ends && i < USER_STACK_NR_ENDS; i++)
		all += t->stack_ends[i];
	if (!all)
		return;
	str_addf(&s, "%s complete of %s", fmt_percent(t->stack_ends[USER_STACK_COMPLETE], all).s,
		 fmt_many(all, "user stack").s);
	for (int i = USER_STACK_COMPLETE + 1; i < USER_STACK_NR_ENDS; i++)
		if (t->stack_ends[i])
			str_addf(&s, "; of %s %s", fmt_count(t->stack_ends[i]).s,
				 user_stack_end_text(i));
	if (t->mappings_lost)
		str_addf(&s, "; %s of mappings lost", fmt_many(t->mappings_lost, "record").s);
	if (t->no_mappings)
		str_addf(&s, "; mappings are known from /proc only: %s", t->no_mappings);
	facts_text(facts, "stacks", &s);
	str_fini(&s);
}

/* Faults of which only some have a record. */
static void add_sample_fact(struct table *facts, const struct trace_result *t)
{
	uint64_t seen = t->counts[TRACE_FAULT].seen, samples = t->totals->samples;

	if (t->classes >> EVENT_FAULTS & 1 && samples && samples < seen)
		facts_add(facts, "sampled",
			  "%s of %s, one of %s on average: sums by stack are multiplied by it",
			  fmt_count(samples).s, fmt_many(seen, "page fault").s,
			  fmt_count((seen + samples / 2) / samples).s);
}

/* Processes are followed by class `life` also where its events are not shown. */
static unsigned lacks_of(const struct trace_result *t, struct event_lack *lacks)
{
	uint32_t classes = t->classes;

	if (t->groups[KERNEL_LIFE].status != KERNEL_GROUP_UNUSED)
		classes |= 1u << EVENT_LIFE;
	return event_classes_lacks(classes, t->groups, lacks);
}

static void add_lack_facts(struct table *facts, const struct trace_result *t)
{
	struct event_lack lack[EVENT_NR_CLASSES];
	unsigned nr = lacks_of(t, lack);
	const char *remedy = event_lacks_remedy(lack, nr);

	for (unsigned i = 0; i < nr; i++) {
		const struct kernel_group_state *s = lack[i].state;
		struct str names = STR_INIT;

		event_classes_names(&names, lack[i].classes);
		facts_add(facts,
			  lack[i].status == KERNEL_GROUP_PARTLY ? "seen in part" : "not seen",
			  "%s: %s%s%s", str_text(&names), s->why,
			  !remedy && *s->remedy ? "; " : "", remedy ? "" : s->remedy);
		str_fini(&names);
	}
	if (remedy)
		facts_add(facts, "to see all", "%s", remedy);
}

static void add_facts(struct doc *d, const struct trace_result *t)
{
	struct table *facts = facts_new(NULL);
	struct trace_counts sum;
	uint64_t missed = sum_missed(t);

	sum_counts(t, &sum);
	facts_add(facts, "traced", "%s, for %s from %s", t->scope, fmt_duration(t->duration_ns).s,
		  fmt_time(t->start_realtime_ns).s);
	if (t->classes != 1u << EVENT_HEAP)	/* which is no event of the kernel */
		facts_add(facts, "seen", "%s", fmt_many(sum.seen, "event").s);
	if (sum.lost || sum.dropped || missed)
		facts_add(facts, "lost",
			  "%s for want of room in the ring, %s for want of room in a table, "
			  "%s in programs interrupted by themselves",
			  fmt_many(sum.lost, "event").s, fmt_count(sum.dropped).s,
			  fmt_count(missed).s);
	else if (t->classes != 1u << EVENT_HEAP)
		facts_add(facts, "lost", "nothing");
	if (t->totals->left_out)
		facts_add(facts, "left out", "%s of tables by process and by stack, which are full",
			  fmt_many(t->totals->left_out, "event").s);
	add_sample_fact(facts, t);
	add_stack_fact(facts, t);
	add_lack_facts(facts, t);
	doc_add(d, facts);
}

static const struct column lack_columns[] = {
	JSON_COLUMN("events", UNIT_TEXT),
	JSON_COLUMN("partly", UNIT_BOOL),
	JSON_COLUMN("why", UNIT_TEXT),
	JSON_COLUMN("remedy", UNIT_TEXT),
};

/* What add_lack_facts() says to people. */
static void add_lacks(struct doc *d, const struct trace_result *t)
{
	struct table *lacks = table_new(TABLE_ROWS, "not_seen", NULL, lack_columns,
					sizeof(lack_columns) / sizeof(*lack_columns));
	struct event_lack lack[EVENT_NR_CLASSES];
	unsigned nr = lacks_of(t, lack);

	if (lacks)
		lacks->json_only = true;
	for (unsigned i = 0; lacks && i < nr; i++) {
		const struct kernel_group_state *s = lack[i].state;
		struct str names = STR_INIT;

		event_classes_names(&names, lack[i].classes);
		table_row(lacks, 0, ROW_PLAIN, ROW_JSON_ONLY);
		table_set_text(lacks, 0, str_text(&names));
		table_set(lacks, 1, lack[i].status == KERNEL_GROUP_PARTLY);
		table_set_text(lacks, 2, s->why);
		if (*s->remedy)
			table_set_text(lacks, 3, s->remedy);
		str_fini(&names);
	}
	doc_add(d, lacks);
}

static void add_record(struct doc *d, const struct trace_result *t)
{
	struct table *r = record_new("coverage");
	struct trace_counts sum;

	sum_counts(t, &sum);
	record_text(r, "scope", t->scope);
	record_add(r, "start_realtime_ns", UNIT_TIME, t->start_realtime_ns);
	record_text(r, "source", t->source);
	record_duration(r, "duration_ns", t->duration_ns);
	record_count(r, "seen", sum.seen);
	record_count(r, "lost_in_ring", sum.lost);
	record_count(r, "lost_in_tables", sum.dropped);
	record_count(r, "missed_by_recursion", sum_missed(t));
	record_count(r, "left_out_of_tables", t->totals->left_out);
	record_count(r, "unpaired", sum.unpaired);
	if (t->classes >> EVENT_FAULTS & 1)
		record_count(r, "sampled_faults", t->totals->samples);
	if (t->stack_ends) {
		uint64_t all = 0;

		for (int i = 0; i < USER_STACK_NR_ENDS; i++)
			all += t->stack_ends[i];
		record_count(r, "stacks", all);
		record_count(r, "complete_stacks", t->stack_ends[USER_STACK_COMPLETE]);
		record_count(r, "mappings_lost", t->mappings_lost);
	}
	doc_add(d, r);
}

/* ---- sums ---- */

static const struct column kind_columns[] = {
	{ "event", "event", UNIT_TEXT },
	{ "count", "count", UNIT_COUNT },
	{ "failed", "failed", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "size_bytes", "bytes", UNIT_BYTES, COLUMN_ZERO_BLANK },
	{ "total_ns", "time", UNIT_DURATION, COLUMN_ZERO_BLANK },
	{ "longest_ns", "longest", UNIT_DURATION, COLUMN_ZERO_BLANK },
};

/* What events of a kind do not have, or this kernel does not say, is null. */
static void set_sum(struct table *t, unsigned from, uint32_t kind, const struct trace_sum *s)
{
	table_set(t, from, s->events);
	if (trace_kinds[kind].call || trace_kinds[kind].failed)
		table_set(t, from + 1, s->failed);
	if (trace_kinds[kind].bytes >= 0)
		table_set(t, from + 2, s->bytes);
	if (!s->ns)
		return;
	table_set(t, from + 3, s->ns);
	table_set(t, from + 4, s->max_ns);
}

static void add_kinds(struct doc *d, const struct trace_result *t)
{
	struct table *table = table_new(TABLE_ROWS, "events", "Events", kind_columns,
					sizeof(kind_columns) / sizeof(*kind_columns));

	for (int kind = 0; table && kind < TRACE_NR_KINDS; kind++) {
		const struct trace_sum *s = &t->totals->kind[kind].sum;

		if (!s->events)
			continue;
		table_row(table, 0, ROW_PLAIN, ROW_BOTH);
		table_set_const(table, 0, trace_kinds[kind].name);
		set_sum(table, 1, kind, s);
	}
	doc_add(d, table);
}

static const struct column process_columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "event", "event", UNIT_TEXT },
	{ "count", "count", UNIT_COUNT },
	{ "failed", "failed", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "size_bytes", "bytes", UNIT_BYTES, COLUMN_ZERO_BLANK },
	{ "total_ns", "time", UNIT_DURATION, COLUMN_ZERO_BLANK },
	{ "longest_ns", "longest", UNIT_DURATION, COLUMN_ZERO_BLANK },
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

static void add_processes(struct doc *d, const struct trace_result *t)
{
	struct table *table = table_new(TABLE_ROWS, "processes", "Processes", process_columns,
					sizeof(process_columns) / sizeof(*process_columns));
	size_t nr = t->totals->processes.nr;
	const struct trace_row **rows = trace_rank(t->totals->processes.v, nr, t->sort);

	if (!rows && table)
		table->failed = true;
	for (size_t i = 0; rows && table && i < nr && !(t->top && i == t->top); i++) {
		table_row(table, 0, ROW_PLAIN, ROW_BOTH);
		table_set(table, 0, rows[i]->id);
		table_set_const(table, 1, trace_kinds[rows[i]->kind].name);
		set_sum(table, 2, rows[i]->kind, &rows[i]->sum);
		table_setf(table, 7, "%.*s", TRACE_COMM_BYTES, rows[i]->comm);
	}
	if (table && t->top && nr > t->top)
		table_note(table, "%s (--top=0 shows all)", fmt_many(nr - t->top, "more row").s);
	free(rows);
	doc_add(d, table);
}

/* ---- */

/* A class of which nothing can be seen has nothing to say. */
static bool has_section(const struct trace_result *t, enum event_class event)
{
	enum kernel_group_status status;

	event_class_state(event, t->groups, &status);
	return t->classes >> event & 1 && trace_sections[event] && status != KERNEL_GROUP_FAILED;
}

void trace_document(struct doc *d, const struct trace_result *t)
{
	d->schema = TRACE_SCHEMA;
	d->one_line = true;
	add_facts(d, t);
	add_record(d, t);
	add_lacks(d, t);
	add_kinds(d, t);
	add_processes(d, t);
	for (int i = 0; i < EVENT_NR_CLASSES; i++)
		if (has_section(t, i))
			trace_sections[i](d, t);
	trace_fault_blocks(d, t);
	trace_stack_section(d, t);
}
