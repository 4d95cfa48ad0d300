/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines and tables about compaction and migration. */
#include "bpf/compaction_abi.h"
#include "src/base/fmt.h"
#include "src/kernel/gfp.h"
#include "src/kernel/status_names.h"
#include "src/view/trace/trace_histogram.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"
#include "src/view/trace/trace_vmstat.h"
#include "src/view/trace/trace_waits.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* ---- lines ---- */

static void describe_compaction(struct str *text, struct event *e, const struct trace_record *r)
{
	struct str names = STR_INIT;

	event_u64(e, "latency_ns", UNIT_DURATION, r->a[0]);
	event_text(e, "status", compaction_status_name(r->a[2]));
	event_text(e, "mode", migrate_mode_name(r->a[4]));
	str_addf(text, "%s waited, %s, %s, ", fmt_duration(r->a[0]).s,
		 compaction_status_name(r->a[2]), migrate_mode_name(r->a[4]));
	if (r->a[1] == TRACE_ORDER_WHOLE) {
		event_u64(e, "whole_zone", UNIT_BOOL, true);
		str_add(text, "the whole zone");
	} else if (r->a[1] == TRACE_ORDER_UNKNOWN) {
		str_add(text, "order not known on this kernel");
	} else {
		gfp_add(&names, (uint32_t)r->a[3]);
		event_u64(e, "order", UNIT_NUMBER, r->a[1]);
		event_text(e, "gfp", str_text(&names));
		str_addf(text, "order %llu, %s", (unsigned long long)r->a[1], str_text(&names));
	}
	e->failed |= str_error(&names) != 0;
	str_fini(&names);
}

static void describe_kcompactd(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "node", UNIT_NUMBER, r->a[0]);
	str_addf(text, "node %llu", (unsigned long long)r->a[0]);
	if (r->kind == TRACE_KCOMPACTD_SLEEP)
		return;
	event_u64(e, "order", UNIT_SIGNED, r->a[1]);
	str_addf(text, ", order %lld", (long long)r->a[1]);
}

static void describe_migrate(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "moved_bytes", UNIT_BYTES, r->a[0]);
	event_u64(e, "not_moved_bytes", UNIT_BYTES, r->a[1]);
	event_text(e, "mode", migrate_mode_name(r->a[2]));
	event_text(e, "reason", migrate_reason_name(r->a[3]));
	event_u64(e, "huge_pages_split", UNIT_COUNT, r->a[4]);
	str_addf(text, "%s moved, %s not, %s, %s", fmt_bytes(r->a[0]).s, fmt_bytes(r->a[1]).s,
		 migrate_reason_name(r->a[3]), migrate_mode_name(r->a[2]));
	if (r->a[4])
		str_addf(text, ", %s split", fmt_many(r->a[4], "huge page").s);
	if (!r->a[5])
		return;
	event_u64(e, "latency_ns", UNIT_DURATION, r->a[5]);
	str_addf(text, ", in %s", fmt_duration(r->a[5]).s);
}

void trace_describe_compaction(struct str *text, struct event *e, const struct trace_record *r,
			       const char *tail)
{
	(void)tail;
	switch (r->kind) {
	case TRACE_COMPACTION:
		describe_compaction(text, e, r);
		break;
	case TRACE_MIGRATE:
		describe_migrate(text, e, r);
		break;
	default:
		describe_kcompactd(text, e, r);
		break;
	}
}

/* ---- tables ---- */

static const struct column status_columns[] = {
	{ "status", "status", UNIT_TEXT },
	TEXT_COLUMN("order", UNIT_TEXT),
	JSON_COLUMN("order", UNIT_NUMBER),
	JSON_COLUMN("whole_zone", UNIT_BOOL),
	{ "count", "count", UNIT_COUNT },
	{ "total_ns", "time", UNIT_DURATION },
	{ "longest_ns", "longest", UNIT_DURATION },
};

static void set_order(struct table *t, unsigned column, uint8_t order)
{
	table_set(t, column + 2, order == (uint8_t)TRACE_ORDER_WHOLE);
	if (order == (uint8_t)TRACE_ORDER_WHOLE) {
		table_set_const(t, column, "whole zone");
	} else if (order == (uint8_t)TRACE_ORDER_UNKNOWN) {
		table_set_const(t, column, "not known");
	} else {
		table_setf(t, column, "%u", order);
		table_set(t, column + 1, order);
	}
}

void trace_compaction_section(struct doc *d, const struct trace_result *t)
{
	static const enum trace_kind kinds[] = { TRACE_COMPACTION };
	static const char *const counters[] = { "compact_", NULL };
	struct table *table;

	if (trace_any(t, kinds, LENGTH(kinds))) {
		trace_waits(d, t, "compaction_waits", "Time lost in compaction", kinds,
			    LENGTH(kinds));
		trace_histogram(d, "compaction_latency", "Latency of compaction",
				t->totals->kind[TRACE_COMPACTION].histogram,
				TRACE_HISTOGRAM_SLOTS);
		table = table_new(TABLE_ROWS, "compaction", "How compaction ended", status_columns,
				  LENGTH(status_columns));
		vec_each(&t->totals->details, row) {
			if (!table || row->kind != TRACE_COMPACTION)
				continue;
			table_row(table, 0, ROW_PLAIN, ROW_BOTH);
			table_set_const(table, 0, compaction_status_name(row->id >> 8));
			set_order(table, 1, (uint8_t)row->id);
			table_set(table, 4, row->sum.events);
			table_set(table, 5, row->sum.ns);
			table_set(table, 6, row->sum.max_ns);
		}
		doc_add(d, table);
	}
	trace_vmstat(d, t, "compaction_vmstat", "Compaction on the whole machine", counters);
}

static const struct column migrate_columns[] = {
	{ "reason", "reason", UNIT_TEXT },
	{ "mode", "mode", UNIT_TEXT },
	{ "count", "count", UNIT_COUNT },
	{ "incomplete", "incomplete", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "moved_bytes", "moved", UNIT_BYTES },
	{ "total_ns", "time", UNIT_DURATION, COLUMN_ZERO_BLANK },
	{ "longest_ns", "longest", UNIT_DURATION, COLUMN_ZERO_BLANK },
};

void trace_migrate_section(struct doc *d, const struct trace_result *t)
{
	static const enum trace_kind kinds[] = { TRACE_MIGRATE };
	static const char *const counters[] = {
		"pgmigrate_", "thp_migration_", "numa_pages_migrated", NULL,
	};
	struct table *table;

	if (trace_any(t, kinds, LENGTH(kinds))) {
		table = table_new(TABLE_ROWS, "migration", "Pages moved", migrate_columns,
				  LENGTH(migrate_columns));
		vec_each(&t->totals->details, row) {
			if (!table || row->kind != TRACE_MIGRATE)
				continue;
			table_row(table, 0, ROW_PLAIN, ROW_BOTH);
			table_set_const(table, 0, migrate_reason_name(row->id >> 8));
			table_set_const(table, 1, migrate_mode_name(row->id & 0xff));
			table_set(table, 2, row->sum.events);
			table_set(table, 3, row->sum.failed);
			table_set(table, 4, row->sum.bytes);
			if (!row->sum.ns)
				continue;	/* not known on this kernel */
			table_set(table, 5, row->sum.ns);
			table_set(table, 6, row->sum.max_ns);
		}
		doc_add(d, table);
	}
	trace_vmstat(d, t, "migrate_vmstat", "Migration on the whole machine", counters);
}
