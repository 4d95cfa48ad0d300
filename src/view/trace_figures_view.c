/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences of two looks at /proc: of processes, of the machine. */
#include "src/view/trace_figures_view.h"

#include <stdlib.h>

#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/kernel/event_class.h"
#include "src/view/trace/trace_vmstat.h"

/* Counters of /proc/vmstat that say something about a class of events. */
static const struct {
	enum event_class event;
	const char *prefix;
} counters[] = {
	{ EVENT_FAULTS, "pgfault" },	    { EVENT_FAULTS, "pgmajfault" },
	{ EVENT_MAJOR, "pgmajfault" },	    { EVENT_SWAP, "pswp" },
	{ EVENT_RECLAIM, "pgscan_" },	    { EVENT_RECLAIM, "pgsteal_" },
	{ EVENT_RECLAIM, "allocstall" },    { EVENT_RECLAIM, "kswapd_" },
	{ EVENT_RECLAIM, "slabs_scanned" }, { EVENT_COMPACTION, "compact_" },
	{ EVENT_MIGRATE, "pgmigrate_" },    { EVENT_THP, "thp_" },
};

#define NR_COUNTERS	(sizeof(counters) / sizeof(*counters))

static int64_t change(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from);
}

uint64_t trace_figure_faults(const struct trace_figure *f)
{
	return f->last.minor_faults - f->first.minor_faults + f->last.major_faults -
	       f->first.major_faults;
}

static void add_nothing(struct table *facts, uint32_t classes)
{
	struct str names = STR_INIT;

	event_classes_names(&names, classes);
	facts_text(facts, "nothing about", &names);
	str_fini(&names);
}

static void add_facts(struct doc *d, const struct trace_figures_result *r)
{
	const struct machine_pressure *from = &r->machine_before->pressure,
				      *to = &r->machine_after->pressure;
	struct table *facts = facts_new(NULL);

	facts_add(facts, "no events", "%s%s%s", r->why->text, *r->why->hint ? "; " : "",
		  r->why->hint);
	facts_add(facts, "instead", "what counters of the kernel have gained in the time; they do "
				    "not say when, where or in which code");
	if (r->nothing_of)
		add_nothing(facts, r->nothing_of);
	facts_add(facts, "of", "%s, for %s", r->scope, fmt_duration(r->duration_ns).s);
	if (r->command)
		facts_add(facts, "the command", "%s with its children, %s of them major",
			  fmt_many(r->minor_faults + r->major_faults, "page fault").s,
			  fmt_count(r->major_faults).s);
	if (from->known && to->known)
		facts_add(facts, "waits", "for memory, on the whole machine: some process %s, all "
					  "of them %s",
			  fmt_duration(to->some_ns - from->some_ns).s,
			  fmt_duration(to->full_ns - from->full_ns).s);
	doc_add(d, facts);
}

static void add_records(struct doc *d, const struct trace_figures_result *r)
{
	const struct machine_pressure *from = &r->machine_before->pressure,
				      *to = &r->machine_after->pressure;
	struct table *t = record_new("no_events");
	struct str names = STR_INIT;

	record_text(t, "why", r->why->text);
	if (*r->why->hint)
		record_text(t, "remedy", r->why->hint);
	event_classes_names(&names, r->nothing_of);
	if (r->nothing_of)
		record_text(t, "nothing_about", str_text(&names));
	str_fini(&names);
	doc_add(d, t);
	t = record_new("coverage");
	record_text(t, "scope", r->scope);
	record_duration(t, "duration_ns", r->duration_ns);
	doc_add(d, t);
	if (r->command) {
		t = record_new("command");
		record_count(t, "minor_faults", r->minor_faults);
		record_count(t, "major_faults", r->major_faults);
		doc_add(d, t);
	}
	if (!from->known || !to->known)
		return;
	t = record_new("pressure");
	record_duration(t, "some_ns", to->some_ns - from->some_ns);
	record_duration(t, "full_ns", to->full_ns - from->full_ns);
	doc_add(d, t);
}

static const struct column columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "minor_faults", "minor faults", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "major_faults", "major faults", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "resident_bytes", "resident", UNIT_BYTES },
	TEXT_COLUMN("change", UNIT_TEXT),
	JSON_COLUMN("resident_change_bytes", UNIT_SIGNED),
	{ "swapped_bytes", "swapped", UNIT_BYTES, COLUMN_ZERO_BLANK },
	JSON_COLUMN("swapped_change_bytes", UNIT_SIGNED),
	{ "mappings", "mappings", UNIT_COUNT },
	JSON_COLUMN("mappings_change", UNIT_SIGNED),
	JSON_COLUMN("began", UNIT_BOOL),
	JSON_COLUMN("ended", UNIT_BOOL),
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

enum {
	PID, MINOR, MAJOR, RESIDENT, CHANGE, RESIDENT_CHANGE, SWAPPED, SWAPPED_CHANGE, MAPPINGS,
	MAPPINGS_CHANGE, BEGAN, ENDED, COMMAND
};

static void add_row(struct table *t, const struct trace_figure *f)
{
	const struct process_usage *a = &f->first, *b = &f->last;
	int64_t grown = change(a->resident_bytes, b->resident_bytes);

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, PID, (uint64_t)f->pid);
	table_set(t, MINOR, b->minor_faults - a->minor_faults);
	table_set(t, MAJOR, b->major_faults - a->major_faults);
	table_set(t, RESIDENT, b->resident_bytes);
	if (grown)
		table_setf(t, CHANGE, "%c%s", grown < 0 ? '-' : '+',
			   fmt_bytes(grown < 0 ? -(uint64_t)grown : (uint64_t)grown).s);
	table_set(t, RESIDENT_CHANGE, (uint64_t)grown);
	table_set(t, SWAPPED, b->swapped_bytes);
	table_set(t, SWAPPED_CHANGE, (uint64_t)change(a->swapped_bytes, b->swapped_bytes));
	if (b->nr_mappings) {
		table_set(t, MAPPINGS, b->nr_mappings);
		table_set(t, MAPPINGS_CHANGE, (uint64_t)change(a->nr_mappings, b->nr_mappings));
	}
	table_set(t, BEGAN, f->began);
	table_set(t, ENDED, f->ended);
	table_setf(t, COMMAND, "%s", b->comm);
}

static void add_processes(struct doc *d, const struct trace_figures_result *r)
{
	struct table *t = table_new(TABLE_ROWS, "processes", "Processes", columns,
				    sizeof(columns) / sizeof(*columns));
	size_t i = 0;

	for (; t && i < r->nr_rows && !(r->top && i == r->top); i++)
		add_row(t, &r->rows[i]);
	if (t && i < r->nr_rows)
		table_note(t, "%s more rows (--top=0 shows all)", fmt_count(r->nr_rows - i).s);
	if (t)
		table_note(t, "sizes are the last ones seen; processes that ran for less than "
			      "0.2 s may be missing");
	doc_add(d, t);
}

static void add_counters(struct doc *d, const struct trace_figures_result *r)
{
	struct trace_result t = { .before = r->before, .after = r->after };
	const char *prefixes[NR_COUNTERS + 1];
	size_t nr = 0;

	for (size_t i = 0; i < NR_COUNTERS; i++)
		if (r->classes >> counters[i].event & 1)
			prefixes[nr++] = counters[i].prefix;
	prefixes[nr] = NULL;
	trace_vmstat(d, &t, "machine", "The whole machine", prefixes);
}

void trace_figures_document(struct doc *d, const struct trace_figures_result *r)
{
	d->schema = "pmm-trace-figures/1.0";
	d->one_line = true;
	add_facts(d, r);
	add_records(d, r);
	add_processes(d, r);
	add_counters(d, r);
}
