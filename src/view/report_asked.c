/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report was asked for and what that leaves out: for programs, which cannot see it from a
 * list alone.
 */
#include "src/document/doc_record.h"
#include "src/view/report_priv.h"

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
