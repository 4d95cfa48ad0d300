/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a result has of reclaim: time lost by processes, lists of pages, shrinkers. */
#include <inttypes.h>
#include <string.h>

#include "bpf/reclaim_abi.h"
#include "src/base/fmt.h"
#include "src/kernel/status_names.h"
#include "src/view/trace/trace_histogram.h"
#include "src/view/trace/trace_sections.h"
#include "src/view/trace/trace_vmstat.h"
#include "src/view/trace/trace_waits.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static const enum trace_kind waits[] = { TRACE_RECLAIM, TRACE_RECLAIM_MEMCG, TRACE_RECLAIM_SOFT,
					 TRACE_RECLAIM_NODE, TRACE_THROTTLED };

static const struct {
	enum trace_kind kind;
	const char *key, *title;
} histograms[] = {
	{ TRACE_RECLAIM, "direct_reclaim_latency", "Latency of direct reclaim" },
	{ TRACE_RECLAIM_MEMCG, "memcg_reclaim_latency", "Latency of reclaim in memory cgroups" },
	{ TRACE_RECLAIM_SOFT, "soft_reclaim_latency",
	  "Latency of reclaim over soft limits of memory cgroups" },
	{ TRACE_RECLAIM_NODE, "node_reclaim_latency", "Latency of reclaim in a node" },
	{ TRACE_THROTTLED, "throttled_latency", "Time throttled in reclaim" },
};

/* ---- lists of pages ---- */

static const struct column list_columns[] = {
	{ "pages", "pages of", UNIT_TEXT },
	{ "scans", "scans", UNIT_COUNT },
	{ "scanned", "scanned", UNIT_COUNT },
	{ "reclaimed", "reclaimed", UNIT_COUNT },
	{ "referenced", "in use", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "dirty", "dirty", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "writeback", "being written", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "written", "write begun", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "active_scanned", "active scanned", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "deactivated", "deactivated", UNIT_COUNT, COLUMN_ZERO_BLANK },
};

static void set_list(struct table *t, uint32_t which, const struct reclaim_list *l)
{
	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set_const(t, 0, which == RECLAIM_FILE ? "files" : "anonymous memory");
	table_set(t, 1, l->scans);
	table_set(t, 2, l->scanned);
	table_set(t, 3, l->reclaimed);
	table_set(t, 4, l->referenced);
	table_set(t, 5, l->dirty);
	table_set(t, 6, l->writeback);
	table_set(t, 7, l->written);
	table_set(t, 8, l->active_scanned);
	table_set(t, 9, l->deactivated);
}

static void add_lists(struct doc *d, const struct trace_result *t)
{
	const struct kernel_rows *rows = &t->rows[KERNEL_TABLE_LISTS];
	struct table *table = NULL;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct reclaim_list *l = kernel_rows_value(rows, i);
		uint32_t which;

		if (!l->scans && !l->active_scanned && !l->written)
			continue;
		if (!table)
			table = table_new(TABLE_ROWS, "reclaim_lists", "Pages looked at by reclaim",
					  list_columns, LENGTH(list_columns));
		if (!table)
			break;
		memcpy(&which, kernel_rows_key(rows, i), sizeof(which));
		set_list(table, which, l);
	}
	if (!table)
		return;
	table_note(table, "pages of 4 KiB; those of shared memory count as files where a write "
			  "was begun");
	doc_add(d, table);
}

/* ---- shrinkers ---- */

static const struct column shrinker_columns[] = {
	{ "calls", "calls", UNIT_COUNT },
	{ "asked", "objects asked for", UNIT_COUNT },
	{ "freed", "freed", UNIT_COUNT },
	{ "total_ns", "time", UNIT_DURATION },
	{ "average_ns", "average", UNIT_DURATION },
	{ "shrinker", "shrinker", UNIT_TEXT, COLUMN_LABEL },
	JSON_COLUMN("address", UNIT_ADDRESS),
};

struct shrinker {
	uint64_t function;
	const struct reclaim_shrinker *counts;
};

static int by_time(const void *a, const void *b)
{
	const struct shrinker *x = a, *y = b;

	if (x->counts->ns != y->counts->ns)
		return x->counts->ns < y->counts->ns ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static void set_shrinker(struct table *t, const struct trace_result *of, const struct shrinker *s)
{
	const struct reclaim_shrinker *c = s->counts;
	struct ksym_name name = { 0 };

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, 0, c->calls);
	table_set(t, 1, c->asked);
	table_set(t, 2, c->freed);
	table_set(t, 3, c->ns);
	table_set(t, 4, c->ns / c->calls);
	if (of->ksyms && !ksyms_find(of->ksyms, s->function, &name, NULL) && name.name)
		table_setf(t, 5, "%s%s%s%s", name.name, name.module ? " [" : "",
			   name.module ? name.module : "", name.module ? "]" : "");
	else
		table_setf(t, 5, "0x%" PRIx64, s->function);
	table_set(t, 6, s->function);
}

static void add_shrinkers(struct doc *d, const struct trace_result *t)
{
	const struct kernel_rows *rows = &t->rows[KERNEL_TABLE_SHRINKERS];
	VEC(struct shrinker) list = { 0 };
	uint64_t slots[RECLAIM_SLOTS] = { 0 };
	struct table *table;

	for (size_t i = 0; i < rows->nr; i++) {
		struct shrinker s = { .counts = kernel_rows_value(rows, i) };

		memcpy(&s.function, kernel_rows_key(rows, i), sizeof(s.function));
		if (s.counts->calls && vec_push(&list, s))
			d->failed = true;
		for (int k = 0; k < RECLAIM_SLOTS; k++)
			slots[k] += s.counts->slots[k];
	}
	if (!list.nr)
		return;
	table = table_new(TABLE_ROWS, "shrinkers", "Shrinkers of the kernel's caches",
			  shrinker_columns, LENGTH(shrinker_columns));
	vec_sort(&list, by_time);
	for (size_t i = 0; table && i < list.nr && (!t->top || i < t->top); i++)
		set_shrinker(table, t, &list.v[i]);
	if (table && t->top && list.nr > t->top)
		table_note(table, "%s (--top=0 shows all)",
			   fmt_many(list.nr - t->top, "more row").s);
	doc_add(d, table);
	trace_histogram(d, "shrinker_latency", "Latency of shrinkers", slots, RECLAIM_SLOTS);
	vec_fini(&list);
}

/* ---- throttling ---- */

static const struct column throttle_columns[] = {
	{ "reason", "throttled for", UNIT_TEXT },
	{ "count", "count", UNIT_COUNT },
	{ "total_ns", "time", UNIT_DURATION },
	{ "longest_ns", "longest", UNIT_DURATION },
};

static void add_throttling(struct doc *d, const struct trace_result *t)
{
	struct table *table;

	if (!t->totals->kind[TRACE_THROTTLED].sum.events)
		return;
	table = table_new(TABLE_ROWS, "throttling", "Throttled in reclaim", throttle_columns,
			  LENGTH(throttle_columns));
	vec_each(&t->totals->details, row) {
		if (!table || row->kind != TRACE_THROTTLED)
			continue;
		table_row(table, 0, ROW_PLAIN, ROW_BOTH);
		table_set_const(table, 0, throttle_reason_name(row->id));
		table_set(table, 1, row->sum.events);
		table_set(table, 2, row->sum.ns);
		table_set(table, 3, row->sum.max_ns);
	}
	doc_add(d, table);
}

void trace_reclaim_section(struct doc *d, const struct trace_result *t)
{
	static const char *const counters[] = {
		"pgscan_", "pgsteal_", "allocstall_", "pageoutrun", "slabs_scanned", "kswapd_",
		"pswpin", "pswpout", "zone_reclaim", "drop_", "pgrefill", "pgdeactivate",
		"nr_vmscan_write", NULL,
	};

	trace_waits(d, t, "reclaim_waits", "Time lost in reclaim", waits, LENGTH(waits));
	for (size_t i = 0; i < LENGTH(histograms); i++)
		trace_histogram(d, histograms[i].key, histograms[i].title,
				t->totals->kind[histograms[i].kind].histogram,
				TRACE_HISTOGRAM_SLOTS);
	add_lists(d, t);
	add_throttling(d, t);
	add_shrinkers(d, t);
	trace_vmstat(d, t, "reclaim_vmstat", "Reclaim on the whole machine", counters);
}
