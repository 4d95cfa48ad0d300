/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's events over time: rows of marks below a graph of the heap, a list for programs. */
#include "src/analyze/trace/kernel_rank.h"
#include "src/kernel/event_class.h"
#include "src/view/kernel/report_kernel_priv.h"

/* Rows of marks, in this order. */
static const struct {
	const char *name;
	uint32_t first, last;		/* kinds, unless they are in another row too */
} rows[] = {
	{ "faults", TRACE_FAULT, TRACE_FAULT },
	{ "major", TRACE_FAULT_MAJOR, TRACE_FAULT_MAJOR },
	{ "swap-ins", TRACE_SWAP_IN, TRACE_SWAP_IN },
	{ "mappings", TRACE_MMAP, TRACE_SHM_UNLINK },
	{ "reclaim", TRACE_RECLAIM, TRACE_RECLAIM_NODE },
	{ "throttled", TRACE_THROTTLED, TRACE_THROTTLED },
	{ "compaction", TRACE_COMPACTION, TRACE_COMPACTION },
	{ "huge pages", TRACE_HUGE_FAULT, TRACE_HUGE_SPLIT },
	{ "OOM kills", TRACE_OOM, TRACE_OOM },
};

int report_kernel_marks(struct series *s, const struct heap *h)
{
	for (size_t k = 0; k < NR_COLUMNS(rows); k++) {
		int row = -1;

		for (uint32_t i = 0; i < h->nr_kernel_bins; i++) {
			const struct heap_kernel_bin *b = &h->kernel_bins[i];
			uint64_t middle = b->time_ns + h->kernel.bin_ns / 2;

			if (b->kind < rows[k].first || b->kind > rows[k].last || !b->events)
				continue;
			if (row < 0)
				row = series_add_row(s, rows[k].name);
			if (row < 0 || series_mark(s, (unsigned)row, heap_since(h, middle),
						   b->events))
				return -ENOMEM;
		}
	}
	return 0;
}

enum { BIN_TIME, BIN_EVENT, BIN_COUNT, BIN_BYTES, BIN_NS, BIN_NR };

static const struct column bin_columns[BIN_NR] = {
	[BIN_TIME] = { "time_ns", NULL, UNIT_DURATION },
	[BIN_EVENT] = { "event", NULL, UNIT_TEXT },
	[BIN_COUNT] = { "count", NULL, UNIT_COUNT },
	[BIN_BYTES] = { "size_bytes", NULL, UNIT_BYTES },
	[BIN_NS] = { "total_ns", NULL, UNIT_DURATION },
};

static void fill_bin(struct table *t, uint64_t i)
{
	const struct report *r = t->ctx;
	const struct heap_kernel_bin *b = &r->heap->kernel_bins[i];

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, BIN_TIME, heap_since(r->heap, b->time_ns));
	report_kernel_set_event(t, BIN_EVENT, b->kind);
	table_set(t, BIN_COUNT, b->events);
	table_set(t, BIN_BYTES, b->bytes);
	table_set(t, BIN_NS, b->ns);
}

void report_kernel_bins(struct report *r)
{
	struct table *t;

	if (!r->heap->kernel.traced)
		return;
	t = table_new(TABLE_ROWS, "kernel_bins", NULL, bin_columns, BIN_NR);
	if (t) {
		t->json_only = true;
		t->fill = fill_bin;
		t->nr_groups = r->heap->nr_kernel_bins;
		t->ctx = r;
	}
	doc_add(&r->doc, t);
}
