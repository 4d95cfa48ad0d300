/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocations of the kernel that are outstanding, by sort, cache and stack; the slab caches. */
#include <errno.h>
#include <string.h>

#include "src/analyze/trace/kmem_sums.h"
#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"

static const char *const sort_names[KMEM_NR_SORTS] = {
	[KMEM_KMALLOC] = "kmalloc",
	[KMEM_SLAB] = "slab cache",
	[KMEM_PAGES] = "pages",
	[KMEM_PERCPU] = "per-CPU",
};

void trace_describe_kernel(struct str *text, struct event *e, const struct trace_record *r,
			   const char *tail)
{
	const char *sort = r->a[3] < KMEM_NR_SORTS ? sort_names[r->a[3]] : "unknown";

	event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[1]);
	event_text(e, "sort", sort);
	str_addf(text, "%s, %s", fmt_bytes(r->a[1]).s, sort);
	if (!r->a[2])
		return;
	event_u64(e, "caller", UNIT_ADDRESS, r->a[2]);
	if (*tail) {
		event_text(e, "function", tail);
		str_addf(text, ", for %s", tail);
	} else {
		str_addf(text, ", for 0x%llx", (unsigned long long)r->a[2]);
	}
}

/* ---- names ---- */

/* The address where there is no name. */
static void add_frame(struct str *s, const struct trace_result *t, uint64_t ip)
{
	if (!t->ksyms || !ksyms_add(t->ksyms, ip, s))
		str_addf(s, "0x%llx", (unsigned long long)ip);
}

/* Is it a function of tracing itself, which is in each stack? */
static bool is_tracing(const struct trace_result *t, uint64_t ip)
{
	static const char *const prefixes[] = { "bpf_", "__bpf_trace_", "__traceiter_",
						"perf_trace_", "__perf_" };
	struct ksym_name name = { 0 };

	if (t->ksyms)
		ksyms_find(t->ksyms, ip, &name, NULL);
	for (size_t i = 0; name.name && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name.name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static unsigned first_frame(const struct trace_result *t, const struct kmem_site *site)
{
	unsigned i = kmem_first_frame(site);

	while (i + 1 < site->depth && i + 1 < KMEM_DEPTH && is_tracing(t, site->ips[i]))
		i++;
	return i;
}

static const char *cache_name(const struct trace_result *t, const struct kmem_site *site)
{
	const struct kernel_rows *caches = &t->rows[KERNEL_TABLE_KMEM_CACHES];

	for (size_t i = 0; site->cache && i < caches->nr; i++)
		if (*(const uint64_t *)kernel_rows_key(caches, i) == site->cache)
			return ((const struct kmem_cache_info *)kernel_rows_value(caches, i))->name;
	return NULL;
}

/* ---- how it was counted ---- */

static void sum_counts(const struct trace_result *t, struct kmem_counts sums[KMEM_NR_SORTS])
{
	const struct kernel_rows *counts = &t->rows[KERNEL_TABLE_KMEM_COUNTS];

	memset(sums, 0, KMEM_NR_SORTS * sizeof(*sums));
	for (size_t i = 0; i < counts->nr; i++) {
		uint32_t sort = *(const uint32_t *)kernel_rows_key(counts, i);

		if (sort < KMEM_NR_SORTS)
			sums[sort] = *(const struct kmem_counts *)kernel_rows_value(counts, i);
	}
}

static void add_coverage(struct doc *d, const struct trace_result *t, const struct kmem_sums *s)
{
	struct table *facts = facts_new("Memory of the kernel"), *r = record_new("kernel");
	struct kmem_counts each[KMEM_NR_SORTS], all = { 0 };
	uint64_t no_room, unknown;
	struct ksym_name name;
	struct err e = { 0 };

	sum_counts(t, each);
	for (int i = 0; i < KMEM_NR_SORTS; i++) {
		all.no_room += each[i].no_room;
		all.failed += each[i].failed;
		all.unknown += i == KMEM_PAGES ? 0 : each[i].unknown;
	}
	no_room = all.no_room * t->kmem_sample;
	unknown = all.unknown * t->kmem_sample;
	if (t->kmem_sample > 1)
		facts_add(facts, "counted", "1 object in %u, chosen by its address; numbers are "
			  "multiplied by %u: estimates (--sample=1 counts all, and costs more)",
			  t->kmem_sample, t->kmem_sample);
	else
		facts_add(facts, "counted", "every object");
	facts_add(facts, "left out", "what was allocated before the trace; pages that can be moved "
		  "(memory of processes, cached files)");
	if (no_room)
		facts_add(facts, "no room", "%s not followed: --objects=N makes more room",
			  fmt_many(no_room, "object").s);
	facts_add(facts, "unknown", "%s freed that %s not seen allocated, from before the trace or "
		  "of others; of pages not known, because movable ones are freed alike",
		  fmt_many(unknown, "object").s, fmt_agree(unknown, "was", "were"));
	facts_add(facts, "unseen", "%s allocated again though no free was seen: frees in bulk "
		  "(kfree_rcu) have no tracepoint, and count as outstanding until then",
		  fmt_many(s->all.reused, "object").s);
	if (all.failed)
		facts_add(facts, "failed", "%s", fmt_many(all.failed, "allocation").s);
	if (t->ksyms && ksyms_find(t->ksyms, 0, &name, &e))
		facts_add(facts, "names", "not known, because %s%s%s", e.text, *e.hint ? "; " : "",
			  e.hint);
	doc_add(d, facts);
	record_count(r, "sample", t->kmem_sample);
	record_count(r, "not_followed", no_room);
	record_count(r, "unknown_frees", unknown);
	record_count(r, "unseen_frees", s->all.reused);
	record_count(r, "failed", all.failed);
	doc_add(d, r);
}

/* ---- tables ---- */

#define SUM_COLUMNS                                                                                \
	{ "size_bytes", "bytes", UNIT_BYTES },                                                     \
	{ "objects", "objects", UNIT_COUNT },                                                      \
	TEXT_COLUMN("grown by", UNIT_TEXT),                                                        \
	JSON_COLUMN("grown_bytes", UNIT_SIGNED),                                                   \
	JSON_COLUMN("grown_objects", UNIT_SIGNED),                                                 \
	{ "old_objects", "older", UNIT_COUNT, COLUMN_ZERO_BLANK },                                 \
	JSON_COLUMN("old_bytes", UNIT_BYTES),                                                      \
	{ "allocated", "allocated", UNIT_COUNT },                                                  \
	{ "freed", "freed", UNIT_COUNT },                                                          \
	{ "unseen_frees", "unseen", UNIT_COUNT, COLUMN_ZERO_BLANK }

enum {
	SUM_BYTES, SUM_OBJECTS, SUM_GROWN, SUM_GROWN_BYTES, SUM_GROWN_OBJECTS, SUM_OLD,
	SUM_OLD_BYTES, SUM_ALLOCATED, SUM_FREED, SUM_UNSEEN, SUM_NR
};

static void set_signed(struct table *t, unsigned column, int64_t bytes)
{
	uint64_t much = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;

	table_setf(t, column, "%s%s", bytes < 0 ? "-" : bytes ? "+" : "", fmt_bytes(much).s);
}

static void set_sum(struct table *t, const struct kmem_sum *s, bool ages)
{
	table_set(t, SUM_BYTES, s->bytes);
	table_set(t, SUM_OBJECTS, s->objects);
	set_signed(t, SUM_GROWN, s->grown_bytes);
	table_set(t, SUM_GROWN_BYTES, (uint64_t)s->grown_bytes);
	table_set(t, SUM_GROWN_OBJECTS, (uint64_t)s->grown_objects);
	if (ages) {
		table_set(t, SUM_OLD, s->old_objects);
		table_set(t, SUM_OLD_BYTES, s->old_bytes);
	}
	table_set(t, SUM_ALLOCATED, s->allocated);
	table_set(t, SUM_FREED, s->freed);
	table_set(t, SUM_UNSEEN, s->reused);
}

static void note_more(struct table *t, size_t rows, uint64_t top)
{
	if (t && top && rows > top)
		table_note(t, "%s (--top=0 shows all)", fmt_many(rows - top, "more row").s);
}

static const struct column sort_columns[] = { SUM_COLUMNS,
	{ "sort", "sort", UNIT_TEXT, COLUMN_LABEL } };

static void add_sorts(struct doc *d, const struct trace_result *t, const struct kmem_sums *s)
{
	struct table *table = table_new(TABLE_ROWS, "kernel_sorts", "Outstanding, by sort",
					sort_columns, sizeof(sort_columns) / sizeof(*sort_columns));

	for (int i = 0; table && i < KMEM_NR_SORTS; i++) {
		table_row(table, 0, ROW_PLAIN, ROW_BOTH);
		set_sum(table, &s->sort[i], t->older_ns);
		table_set_const(table, SUM_NR, sort_names[i]);
	}
	doc_add(d, table);
}

static const struct column cache_columns[] = { SUM_COLUMNS,
	{ "object_bytes", "each", UNIT_BYTES },
	{ "cache", "cache", UNIT_TEXT, COLUMN_LABEL } };

static void add_caches(struct doc *d, const struct trace_result *t, const struct kmem_sums *s)
{
	struct table *table = table_new(TABLE_ROWS, "kernel_caches",
					"Outstanding, by cache and size", cache_columns,
					sizeof(cache_columns) / sizeof(*cache_columns));
	uint64_t shown = 0;

	vec_each(&s->caches, row) {
		const char *name;

		if (!table || (t->top && shown++ == t->top))
			break;
		name = cache_name(t, row->site);
		table_row(table, 0, ROW_PLAIN, ROW_BOTH);
		set_sum(table, &row->sum, t->older_ns);
		table_set(table, SUM_NR, row->site->object_bytes);
		if (name)
			table_set_text(table, SUM_NR + 1, name);
		else if (row->site->sort == KMEM_SLAB)
			table_set_const(table, SUM_NR + 1, "slab cache, not known on this kernel");
		else
			table_set_const(table, SUM_NR + 1, sort_names[row->site->sort]);
	}
	note_more(table, s->caches.nr, t->top);
	doc_add(d, table);
}

static const struct column stack_columns[] = { SUM_COLUMNS,
	JSON_COLUMN("stack", UNIT_TEXT),
	{ "caller", "allocated by", UNIT_TEXT, COLUMN_LABEL } };

/* Its frames below, one a line; in JSON folded: outermost first, with semicolons. */
static void add_stack(struct table *table, const struct trace_result *t, const struct kmem_row *row)
{
	const struct kmem_site *site = row->site;
	unsigned nr = site->depth < KMEM_DEPTH ? site->depth : KMEM_DEPTH;
	unsigned first = first_frame(t, site);
	struct str folded = STR_INIT, frame = STR_INIT;

	for (unsigned i = nr; i-- > first;) {
		add_frame(&folded, t, site->ips[i]);
		if (i > first)
			str_addc(&folded, ';');
	}
	table_row(table, 0, ROW_PLAIN, ROW_BOTH);
	set_sum(table, &row->sum, t->older_ns);
	table_set_text(table, SUM_NR, table_text(table, &folded));
	for (unsigned i = first; i < nr; i++) {
		str_clear(&frame);
		add_frame(&frame, t, site->ips[i]);
		if (i > first)
			table_row(table, 1, ROW_DIM, ROW_TEXT_ONLY);
		table_set_text(table, SUM_NR + 1, table_text(table, &frame));
	}
	if (first >= nr)
		table_set_const(table, SUM_NR + 1, "(no stack)");
	str_fini(&folded);
	str_fini(&frame);
}

static void add_stacks(struct doc *d, const struct trace_result *t, const struct kmem_sums *s)
{
	struct table *table = table_new(TABLE_ROWS, "kernel_stacks",
					"Outstanding, by kernel stack", stack_columns,
					sizeof(stack_columns) / sizeof(*stack_columns));
	uint64_t shown = 0;

	vec_each(&s->stacks, row) {
		if (!table || (t->top && shown++ == t->top))
			break;
		add_stack(table, t, row);
	}
	note_more(table, s->stacks.nr, t->top);
	doc_add(d, table);
}

/* ---- /proc/slabinfo ---- */

static const struct column slab_columns[] = {
	{ "size_bytes", "bytes", UNIT_BYTES },
	{ "used", "used", UNIT_COUNT },
	{ "objects", "objects", UNIT_COUNT },
	{ "object_bytes", "each", UNIT_BYTES },
	TEXT_COLUMN("grown by", UNIT_TEXT),
	JSON_COLUMN("grown_bytes", UNIT_SIGNED),
	JSON_COLUMN("grown_used", UNIT_SIGNED),
	{ "cache", "cache", UNIT_TEXT, COLUMN_LABEL },
};

static uint64_t slabs_bytes(const struct slab_cache *c)
{
	return c->slabs * c->slab_bytes;
}

static int by_size(const void *a, const void *b)
{
	const struct slab_cache *const *x = a, *const *y = b;
	uint64_t p = slabs_bytes(*x), q = slabs_bytes(*y);

	return p != q ? (p < q ? 1 : -1) : strcmp((*x)->name, (*y)->name);
}

static void set_slab(struct table *table, const struct trace_result *t, const struct slab_cache *c)
{
	static const struct slab_cache none;
	const struct slab_cache *former = slabinfo_find(t->slabs_before, c->name);
	int64_t bytes;

	if (!former)
		former = &none;
	bytes = (int64_t)(slabs_bytes(c) - slabs_bytes(former));
	table_row(table, 0, ROW_PLAIN, ROW_BOTH);
	table_set(table, 0, slabs_bytes(c));
	table_set(table, 1, c->used);
	table_set(table, 2, c->objects);
	table_set(table, 3, c->object_bytes);
	set_signed(table, 4, bytes);
	table_set(table, 5, (uint64_t)bytes);
	table_set(table, 6, (uint64_t)(c->used - former->used));
	table_set_text(table, 7, c->name);
}

static void add_slabs(struct doc *d, const struct trace_result *t)
{
	struct table *table = table_new(TABLE_ROWS, "slabs",
					"Slab caches (/proc/slabinfo), grown since the start",
					slab_columns, sizeof(slab_columns) / sizeof(*slab_columns));
	VEC(const struct slab_cache *) rows = { 0 };
	uint64_t shown = 0;

	vec_each(&t->slabs->v, c)
		if (vec_push(&rows, c) && table)
			table->failed = true;
	vec_sort(&rows, by_size);
	vec_each(&rows, c) {
		if (!table || (t->top && shown++ == t->top))
			break;
		set_slab(table, t, *c);
	}
	note_more(table, rows.nr, t->top);
	vec_fini(&rows);
	doc_add(d, table);
}

/* ---- */

void trace_section_kernel(struct doc *d, const struct trace_result *t)
{
	const struct kernel_rows *objects = &t->rows[KERNEL_TABLE_KMEM_OBJECTS];
	struct kmem_tables tables = {
		.sites = &t->rows[KERNEL_TABLE_KMEM_SITES],
		.before = t->sites_before,
		.objects = t->older_ns ? objects : NULL,
		.born_before_ns = t->now_ns > t->older_ns ? t->now_ns - t->older_ns : 0,
		.sample = t->kmem_sample,
	};
	struct kmem_sums s;

	if (kmem_sums_make(&s, &tables)) {
		kmem_sums_fini(&s);
		doc_add(d, NULL);
		return;
	}
	add_coverage(d, t, &s);
	add_sorts(d, t, &s);
	add_caches(d, t, &s);
	add_stacks(d, t, &s);
	if (t->slabs && t->slabs->v.nr)
		add_slabs(d, t);
	kmem_sums_fini(&s);
}
