/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report was asked for and what that leaves out: for programs, which cannot see it from a
 * list alone.
 */
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"

/* "size 16 B to any, " */
static void add_range(struct str *s, const char *what, struct fmt from, struct fmt to, bool open)
{
	str_addf(s, "%s %s to %s, ", what, from.s, open ? "any" : to.s);
}

bool report_filter_text(struct str *s, const struct filter *f)
{
	struct str parts = STR_INIT;
	bool any;

	if (f && f->function)
		str_addf(&parts, "function '%s', ", f->function);
	if (f && f->file)
		str_addf(&parts, "file '%s', ", f->file);
	if (f && f->module)
		str_addf(&parts, "module '%s', ", f->module);
	if (f && f->thread)
		str_addf(&parts, "thread '%s', ", f->thread);
	if (f && f->by_size)
		add_range(&parts, "size", fmt_bytes(f->size_bytes.min),
			  fmt_bytes(f->size_bytes.max), f->size_bytes.max == UINT64_MAX);
	if (f && f->by_age)
		add_range(&parts, "age", fmt_duration_given(f->age_ns.min),
			  fmt_duration_given(f->age_ns.max), f->age_ns.max == UINT64_MAX);
	any = parts.len > 0;
	if (any)
		str_addf(s, "%.*s%s", (int)parts.len - 2, str_text(&parts),
			 filter_by_block(f) ? " (of live blocks)" : "");
	s->failed |= parts.failed;
	str_fini(&parts);
	return any;
}

bool report_passes_none(const struct report *r)
{
	return (filter_by_stack(&r->opt.filter) || filter_by_block(&r->opt.filter)) &&
	       !rank_passes_any(r->heap, &r->selection);
}

void report_filter_row(struct table *t, const struct filter *f, bool passes_none)
{
	struct str s = STR_INIT;

	if (passes_none)
		str_add(&s, "nothing passes the filter: ");
	if (report_filter_text(&s, f) || str_error(&s))
		facts_text(t, "only", &s);
	str_fini(&s);
}

void report_filter_record(struct table *t, const struct filter *f)
{
	record_text(t, "function", f->function);
	record_text(t, "file", f->file);
	record_text(t, "module", f->module);
	record_text(t, "thread", f->thread);
	if (f->by_size)
		record_bytes(t, "size_min_bytes", f->size_bytes.min);
	if (f->by_size && f->size_bytes.max != UINT64_MAX)
		record_bytes(t, "size_max_bytes", f->size_bytes.max);
	if (f->by_age)
		record_duration(t, "age_min_ns", f->age_ns.min);
	if (f->by_age && f->age_ns.max != UINT64_MAX)
		record_duration(t, "age_max_ns", f->age_ns.max);
}

void report_selection(struct report *r)
{
	static const char *const shape[] = {
		[REPORT_LIST] = "stacks",
		[REPORT_TOP_DOWN] = "top-down",
		[REPORT_BOTTOM_UP] = "bottom-up",
	};
	struct table *t = record_new("selection");

	_Static_assert(NR_COLUMNS(shape) == REPORT_NR_SHAPES, "a name for each");
	record_text(t, "sort", rank_key_name[r->opt.sort]);
	record_text(t, "shape", shape[r->opt.shape]);
	if (r->opt.top)
		record_count(t, "top", r->opt.top);
	if (r->opt.depth)
		record_count(t, "depth", r->opt.depth);
	report_filter_record(t, &r->opt.filter);
	if (filter_by_stack(&r->opt.filter) || filter_by_block(&r->opt.filter))
		record_bool(t, "passes_any", !report_passes_none(r));
	doc_add(&r->doc, t);
}

void report_left_out(struct report *r)
{
	static const char *const key[] = {
		[REPORT_LINES] = "lines",   [REPORT_FUNCTIONS] = "functions",
		[REPORT_BLOCKS] = "blocks", [REPORT_SITES] = "sites",
		[REPORT_TREE] = "tree",	    [REPORT_MAP_SITES] = "map_sites",
		[REPORT_KERNEL_FAULT_SITES] = "kernel_fault_sites",
		[REPORT_KERNEL_FAULT_STACKS] = "kernel_fault_stacks",
		[REPORT_KERNEL_CALLS] = "kernel_calls",
		[REPORT_KERNEL_WAITS] = "kernel_waits",
	};
	unsigned nr = r->heap->kernel.traced ? REPORT_NR_LISTS : REPORT_KERNEL_FAULT_SITES;
	struct table *t = record_new("left_out");

	_Static_assert(NR_COLUMNS(key) == REPORT_NR_LISTS, "a key for each");
	for (unsigned i = 0; i < nr; i++)
		record_count(t, key[i], r->left_out[i]);
	doc_add(&r->doc, t);
}
