/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines and tables about transparent huge pages. */
#include "bpf/huge_abi.h"
#include "src/base/fmt.h"
#include "src/kernel/gfp.h"
#include "src/kernel/status_names.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "src/view/trace/trace_vmstat.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* ---- lines ---- */

static void describe_fault(struct str *text, struct event *e, const struct trace_record *r)
{
	struct str names = STR_INIT;

	gfp_add(&names, (uint32_t)r->a[1]);
	event_u64(e, "order", UNIT_NUMBER, r->a[0]);
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[2]);
	event_u64(e, "allocated", UNIT_BOOL, !r->a[3]);
	event_text(e, "gfp", str_text(&names));
	if (r->a[3])
		str_addf(text, "none was free, order %llu", (unsigned long long)r->a[0]);
	else
		str_addf(text, "%s", fmt_bytes(r->a[2]).s);
	str_addf(text, ", %s", str_text(&names));
	e->failed |= str_error(&names) != 0;
	str_fini(&names);
}

static void describe_collapse(struct str *text, struct event *e, const struct trace_record *r)
{
	event_text(e, "status", huge_status_name(r->a[0]));
	event_u64(e, "of_pid", UNIT_NUMBER, r->a[1]);
	event_text(e, "by", r->a[2] ? "madvise" : "khugepaged");
	event_text(e, "memory", r->a[3] ? "file" : "anonymous");
	str_addf(text, "%s, %s memory of process %llu%s", huge_status_name(r->a[0]),
		 r->a[3] ? "file" : "anonymous", (unsigned long long)r->a[1],
		 r->a[2] ? ", by madvise" : "");
	if (r->kind == TRACE_KHUGEPAGED)
		event_u64(e, "swapped_out_pages", UNIT_COUNT, r->a[4]);
	if (r->a[4])
		str_addf(text, ", %s swapped out", fmt_many(r->a[4], "page").s);
}

void trace_describe_huge(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail)
{
	(void)tail;
	switch (r->kind) {
	case TRACE_HUGE_FAULT:
		describe_fault(text, e, r);
		break;
	case TRACE_COLLAPSE:
	case TRACE_KHUGEPAGED:
		describe_collapse(text, e, r);
		break;
	case TRACE_HUGE_SPLIT:
		event_u64(e, "huge_pages", UNIT_COUNT, r->a[0]);
		str_addf(text, "%s, to be moved", fmt_many(r->a[0], "huge page").s);
		break;
	}
}

/* ---- tables ---- */

static const struct column status_columns[] = {
	{ "by", "by", UNIT_TEXT },
	{ "memory", "memory", UNIT_TEXT },
	{ "step", "step", UNIT_TEXT },
	{ "count", "count", UNIT_COUNT },
	{ "status", "status", UNIT_TEXT, COLUMN_LABEL },
};

static void add_statuses(struct doc *d, const struct trace_result *t)
{
	struct table *table;

	if (!t->totals->kind[TRACE_COLLAPSE].sum.events &&
	    !t->totals->kind[TRACE_KHUGEPAGED].sum.events)
		return;
	table = table_new(TABLE_ROWS, "collapses", "Small pages made into huge ones",
			  status_columns, LENGTH(status_columns));
	vec_each(&t->totals->details, row) {
		bool collapse = row->kind == TRACE_COLLAPSE;

		if (!table || (!collapse && row->kind != TRACE_KHUGEPAGED))
			continue;
		table_row(table, 0, ROW_PLAIN, ROW_BOTH);
		table_set_const(table, 0, row->id & 1 ? "madvise" : "khugepaged");
		table_set_const(table, 1, row->id & 2 ? "file" : "anonymous");
		table_set_const(table, 2, collapse ? "collapse" : "scan");
		table_set(table, 3, row->sum.events);
		table_set_const(table, 4, huge_status_name(row->id >> 2));
	}
	if (table)
		table_note(table, "ranges of 2 MiB; each is scanned, and collapsed where that "
				  "looks possible");
	doc_add(d, table);
}

void trace_thp_section(struct doc *d, const struct trace_result *t)
{
	static const char *const counters[] = { "thp_", NULL };

	add_statuses(d, t);
	trace_vmstat(d, t, "thp_vmstat", "Huge pages of the whole machine", counters);
}
