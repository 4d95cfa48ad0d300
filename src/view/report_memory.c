/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory around the sites: size classes, lifetimes, the allocator's own view, mappings, the
 * ledger.
 */
#include <string.h>

#include "src/analyze/lifetimes.h"
#include "src/analyze/sizes.h"
#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"

/* ---- size classes ---- */

#define Z COLUMN_ZERO_BLANK

static const struct column size_columns[] = {
	{ "class", "size", UNIT_TEXT },
	JSON_COLUMN("max_bytes", UNIT_BYTES),
	{ "malloc", "malloc", UNIT_COUNT, Z },
	{ "calloc", "calloc", UNIT_COUNT, Z },
	{ "realloc", "realloc", UNIT_COUNT, Z },
	{ "aligned", "aligned", UNIT_COUNT, Z },
	{ "new", "new", UNIT_COUNT, Z },
	JSON_COLUMN("other", UNIT_COUNT),
	JSON_COLUMN("calls", UNIT_COUNT),
	{ "free", "free", UNIT_COUNT, Z },
	{ "allocated_bytes", "allocated", UNIT_BYTES, Z },
	{ "freed_bytes", "freed", UNIT_BYTES, Z },
	{ "in_use_bytes", "in use", UNIT_BYTES, Z },
	{ "failed", "failed", UNIT_COUNT, Z },
};

static void add_size_row(struct table *t, const struct size_row *s, const char *name,
			 enum row_style style)
{
	const bool any = s->all_calls || s->frees || s->failed;
	unsigned c = 0;

	table_row(t, 0, style, any ? ROW_BOTH : ROW_JSON_ONLY);
	table_set_const(t, c++, name);
	if (s->max_bytes && s->max_bytes != UINT64_MAX)
		table_set(t, c, s->max_bytes);
	c++;
	for (unsigned i = 0; i < SIZE_NR_ENTRIES; i++)
		table_set(t, c++, s->calls[i]);
	table_set(t, c++, s->all_calls);
	table_set(t, c++, s->frees);
	table_set(t, c++, s->bytes_in);
	table_set(t, c++, s->bytes_out);
	table_set(t, c++, s->in_use_bytes);
	table_set(t, c++, s->failed);
}

void report_sizes(struct report *r)
{
	static const char *const name[HEAP_NR_CLASSES] = {
		"<=16", "<=256", "<=1024", "<=4096", "<=16384", "<=65536", "larger",
	};
	struct table *t = table_new(TABLE_ROWS, "size_classes", "Sizes of requests (bytes)",
				    size_columns, NR_COLUMNS(size_columns));
	static const char *const before_what[] = {
		[HEAP_BEGAN_EXEC] = "",
		[HEAP_BEGAN_FORK] = " (here also those made before fork)",
		[HEAP_BEGAN_ATTACH] = " (here also those from before the attach)",
	};
	struct sizes sizes;

	_Static_assert(NR_COLUMNS(before_what) == HEAP_NR_BEGAN, "a text for each");
	if (t) {
		sizes_sum(r->heap, &sizes);
		t->estimated = r->heap->mode == HEAP_SAMPLED;
		for (unsigned i = 0; i < HEAP_NR_CLASSES; i++)
			add_size_row(t, &sizes.row[i], name[i], ROW_PLAIN);
		add_size_row(t, &sizes.total, "total", ROW_TOTAL);
		table_row(t, 0, ROW_PLAIN, sizes.untracked_frees ? ROW_BOTH : ROW_JSON_ONLY);
		table_set_const(t, 0, "untracked");
		table_set(t, 9, sizes.untracked_frees);
		if (sizes.untracked_frees)
			table_note(t,
				   "untracked: frees of blocks that pmm did not see being made%s",
				   before_what[r->heap->began]);
		if (sizes.total.calls[SIZE_OTHER])
			table_note(t, "%s calls of other entries",
				   fmt_count(sizes.total.calls[SIZE_OTHER]).s);
		t->json_only = !sizes.total.all_calls && !sizes.total.frees &&
			       !sizes.total.failed && !sizes.untracked_frees;
	}
	doc_add(&r->doc, t);
}

/* ---- lifetimes ---- */

static const struct column lifetime_columns[] = {
	{ "from_ns", "lived from", UNIT_DURATION, COLUMN_MOMENT }, { "to_ns", "to", UNIT_DURATION },
	{ "frees", "frees", UNIT_COUNT },	    { "share_percent", "share", UNIT_PERCENT },
	TEXT_COLUMN("", UNIT_TEXT),
};

#define BAR_WIDTH 40

static void add_lifetime(struct table *t, const struct heap *h, unsigned k, uint64_t frees,
			 uint64_t all, uint64_t max)
{
	char bar[BAR_WIDTH + 1];
	unsigned width = (unsigned)((double)frees / (double)max * BAR_WIDTH + 0.5);

	width = width < 1 && frees ? 1 : width > BAR_WIDTH ? BAR_WIDTH : width;
	memset(bar, '#', width);
	bar[width] = '\0';
	table_row(t, 0, ROW_PLAIN, frees ? ROW_BOTH : ROW_JSON_ONLY);
	table_set(t, 0, lifetime_from_ns(h, k));
	if (k + 1 < HEAP_NR_LIFETIMES)
		table_set(t, 1, lifetime_from_ns(h, k + 1));
	table_set(t, 2, frees);
	table_set_float(t, 3, report_percent(frees, all));
	table_set_text(t, 4, bar);
}

void report_lifetimes(struct report *r)
{
	struct table *t = table_new(TABLE_ROWS, "lifetimes", "Lifetimes of freed blocks",
				    lifetime_columns, NR_COLUMNS(lifetime_columns));
	uint64_t all = 0, max = 0;
	unsigned last = 0;

	if (t) {
		t->tick_ns = r->heap->tick_ns;
		t->estimated = r->heap->mode == HEAP_SAMPLED;
	}
	for (unsigned k = 0; k < HEAP_NR_LIFETIMES; k++) {
		all += r->lifetime[k];
		max = r->lifetime[k] > max ? r->lifetime[k] : max;
		last = r->lifetime[k] ? k : last;
	}
	for (unsigned k = 0; t && all && k <= last; k++)
		add_lifetime(t, r->heap, k, r->lifetime[k], all, max);
	if (t)
		t->json_only = all == 0;
	doc_add(&r->doc, t);
}

/* ---- the allocator, mappings, the ledger ---- */

static void add_records(struct report *r)
{
	const struct heap *h = r->heap;
	const struct heap_mapping *m = &h->mapping;
	struct table *t;

	report_allocator_record(r);
	t = record_new("mapping");
	if (!heap_srclocs_only(h)) {
		record_count(t, "mmap_calls", m->mmap_calls);
		record_bytes(t, "mmap_bytes", m->mmap_bytes);
		record_count(t, "mmap_failed", m->mmap_failed);
		record_count(t, "munmap_calls", m->munmap_calls);
		record_bytes(t, "munmap_bytes", m->munmap_bytes);
		record_count(t, "mremap_calls", m->mremap_calls);
		record_bytes(t, "mremap_grown_bytes", m->mremap_grown_bytes);
		record_bytes(t, "mremap_shrunk_bytes", m->mremap_shrunk_bytes);
		record_count(t, "brk_calls", m->brk_calls);
		record_bytes(t, "brk_growth_bytes", m->brk_growth_bytes);
		record_bytes(t, "brk_peak_bytes", m->brk_peak_bytes);
	}
	doc_add(&r->doc, t);
	t = record_new("ledger");
	record_bytes(t, "ledger_bytes", h->ledger_bytes);
	record_bytes(t, "limit_bytes", h->ledger_limit_bytes);
	record_count(t, "slots_used", h->ledger_slots_used);
	record_count(t, "slots", h->ledger_slots);
	doc_add(&r->doc, t);
}

static void mapping_rows(struct table *t, const struct heap *h)
{
	const struct heap_mapping *m = &h->mapping;
	const char *name = "mappings";

	if (heap_srclocs_only(h)) {
		facts_add(t, name, "not known: only calls through pmm.h were recorded");
		return;
	}
	if (m->mmap_calls || m->munmap_calls) {
		facts_add(t, name, "mmap %s, %s%s%s%s; munmap %s, %s",
			  fmt_many(m->mmap_calls, "call").s, fmt_bytes(m->mmap_bytes).s,
			  m->mmap_failed ? ", " : "",
			  m->mmap_failed ? fmt_count(m->mmap_failed).s : "",
			  m->mmap_failed ? " failed" : "", fmt_many(m->munmap_calls, "call").s,
			  fmt_bytes(m->munmap_bytes).s);
		name = "";
	}
	if (m->mremap_calls) {
		facts_add(t, name, "mremap %s, %s grown, %s shrunk",
			  fmt_many(m->mremap_calls, "call").s, fmt_bytes(m->mremap_grown_bytes).s,
			  fmt_bytes(m->mremap_shrunk_bytes).s);
		name = "";
	}
	if (m->brk_calls)
		facts_add(t, name, "brk %s, grown by %s, at most %s",
			  fmt_many(m->brk_calls, "call").s, fmt_bytes(m->brk_growth_bytes).s,
			  fmt_bytes(m->brk_peak_bytes).s);
	else if (m->brk_peak_bytes) /* the C library's own calls do not pass a hook */
		facts_add(t, name, "brk at most %s; calls by the C library itself are not counted",
			  fmt_bytes(m->brk_peak_bytes).s);
}

void report_memory(struct report *r)
{
	const struct heap *h = r->heap;
	struct table *t;

	add_records(r);
	if (h->kmod.logged || h->import.tool)
		return;		/* they know nothing of that */
	t = facts_new("Memory around it");
	if (t) {
		report_allocator_rows(t, h);
		mapping_rows(t, h);
		facts_add(t, "ledger", "%s of at most %s; %s of %s slots used",
			  fmt_bytes(h->ledger_bytes).s, fmt_bytes(h->ledger_limit_bytes).s,
			  fmt_count(h->ledger_slots_used).s, fmt_count(h->ledger_slots).s);
	}
	doc_add(&r->doc, t);
}
