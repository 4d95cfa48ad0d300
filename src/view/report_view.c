/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: what is asked for is checked, everything is ranked once, then the parts add
 * themselves.
 */
#include "src/view/report_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/estimate.h"
#include "src/analyze/lifetimes.h"
#include "src/view/report_priv.h"

int report_check(const struct report_options *opt, struct err *e)
{
	int rc = 0;

	if (filter_by_block(&opt->filter) && opt->sort_given && opt->sort != RANK_LIVE) {
		rc = err_set(e, -EINVAL,
			     "'--sort %s' cannot be used with --thread, --size or --age",
			     rank_key_name[opt->sort]);
		err_hint(e, "those are known of live blocks only; leave out --sort or use '--sort "
			    "live'");
	} else if (opt->blocks && opt->shape != REPORT_LIST) {
		rc = err_set(e, -EINVAL,
			     "'--blocks' cannot be used with --top-down or --bottom-up");
		err_hint(e, "ask for one after the other");
	}
	if (rc && e)
		e->exit_code = 2;
	return rc;
}

int report_check_known(const struct heap *h, const struct report_options *o, struct err *e)
{
	if (h->import.tool && o->blocks) {
		err_set(e, -ENOTSUP, "the profile has no single blocks, which --blocks lists");
		err_hint(e, "its stacks are listed without it");
		return -ENOTSUP;
	}
	if (!heap_import_history(h) && o->sort_given &&
	    (o->sort == RANK_PEAK || o->sort == RANK_TEMPORARY)) {
		err_set(e, -ENOTSUP, "the profile has no figures for '--sort %s'",
			rank_key_name[o->sort]);
		err_hint(e, heap_import_allocated(h) ? "use '--sort live', allocated or calls"
						     : "use '--sort live'");
		return -ENOTSUP;
	}
	if (!heap_import_allocated(h) && o->sort_given &&
	    (o->sort == RANK_ALLOCATED || o->sort == RANK_CALLS)) {
		err_set(e, -ENOTSUP,
			"the profile has no allocations that were freed again, which '--sort %s' "
			"is about",
			rank_key_name[o->sort]);
		err_hint(e, "use '--sort live'");
		return -ENOTSUP;
	}
	return 0;
}

/* Frames of all stacks of a list together, of each of which the JSON has an object. */
#define LIST_ROOM	(1u << 20)

static int cut_list(const struct report *r, const struct heap_site *sites, const struct ranking *of,
		    struct stack_cut *out)
{
	uint32_t *listed = calloc((size_t)of->nr + 1, sizeof(*listed));
	int rc;

	if (!listed)
		return -ENOMEM;
	for (size_t i = 0; i < of->nr; i++)
		listed[i] = r->depth[sites[of->site[i]].node];
	rc = stack_cut_within(listed, of->nr, LIST_ROOM, out);
	free(listed);
	return rc;
}

static int cut_lists(struct report *r)
{
	int rc;

	r->depth = heap_depths(r->heap);
	rc = r->depth ? cut_list(r, r->heap->sites, &r->sites, &r->cut) : -ENOMEM;
	return rc ? rc : cut_list(r, r->heap->map_sites, &r->map_sites, &r->map_cut);
}

static int rank_all(struct report *r, struct err *e)
{
	const struct heap *h = r->heap;
	struct report_options *o = &r->opt;
	int rc = report_check_known(h, o, e);

	if (!rc)
		rc = selection_init(&r->selection, h, r->names, &o->filter, e);
	if (rc)
		return rc;
	o->sort = rank_chosen(h, &r->selection, o->sort_given, o->sort);
	rc = rank_sites(h, &r->selection, o->sort, o->top, &r->sites);
	if (!rc)
		rc = rank_map_sites(h, o->top, &r->map_sites);
	if (!rc)
		rc = cut_lists(r);
	if (!rc)
		rc = history_init(&r->history, h);
	if (!rc && o->blocks)
		rc = rank_blocks(h, &r->selection, o->top, &r->block, &r->nr_blocks);
	if (!rc && h->mode == HEAP_SAMPLED) {
		r->site_error_bytes = calloc((size_t)h->nr_sites + 1, sizeof(*r->site_error_bytes));
		rc = r->site_error_bytes ? 0 : -ENOMEM;
		if (!rc)
			estimate_site_errors(h, r->site_error_bytes);
	}
	lifetimes_sum(h, r->lifetime);
	return rc;
}

/*
 * What a filter leaves out is about the whole process and would only mislead beside filtered
 * figures.
 */
static void add_parts(struct report *r)
{
	bool filtered = filter_by_stack(&r->opt.filter) || filter_by_block(&r->opt.filter);

	report_head(r);
	report_selection(r);
	if (!filtered && heap_import_history(r->heap))
		report_history(r);
	report_lines(r);
	if (r->opt.functions)
		report_functions(r);
	if (r->opt.blocks)
		report_blocks(r);
	if (r->opt.shape == REPORT_LIST)
		report_sites(r);
	else
		report_tree(r);
	if (!filtered && !r->heap->import.tool) {
		report_map_sites(r);
		report_sizes(r);
		report_lifetimes(r);
		report_memory(r);
		report_kernel(r);
		report_threads(r);
	}
	report_modules(r);
	report_left_out(r);
}

int report_init(struct report *r, const struct heap *h, struct names *n,
		const struct report_options *opt, struct err *e)
{
	int rc;

	memset(r, 0, sizeof(*r));
	r->heap = h;
	r->names = n;
	r->opt = *opt;
	r->doc.schema = REPORT_SCHEMA;
	rc = rank_all(r, e);
	if (!rc) {
		add_parts(r);
		rc = doc_error(&r->doc);
	}
	return rc == -ENOMEM ? err_set(e, rc, "out of memory") : rc;
}

void report_fini(struct report *r)
{
	doc_fini(&r->doc);
	selection_fini(&r->selection);
	ranking_fini(&r->sites);
	ranking_fini(&r->map_sites);
	history_fini(&r->history);
	lines_fini(&r->lines);
	free(r->block);
	free(r->site_error_bytes);
	free(r->depth);
	kernel_fault_lines_fini(&r->fault_lines);
	free(r->fault_stack);
	kernel_lines_fini(&r->kernel_calls);
	kernel_lines_fini(&r->kernel_waits);
}
