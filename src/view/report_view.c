/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: what is asked for is checked, everything is ranked once, then the parts add
 * themselves.
 */
#include "src/view/report_view.h"

#include <errno.h>
#include <inttypes.h>
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

static uint64_t whole_ticks(const struct heap *h, uint64_t ns)
{
	return h->tick_ns ? ns - ns % h->tick_ns : ns;
}

uint64_t report_time(const struct heap *h, uint64_t ns)
{
	return ns > h->attach_ns ? whole_ticks(h, ns) - whole_ticks(h, h->attach_ns) : 0;
}

uint64_t report_age(const struct heap *h, uint64_t now_ns, uint64_t birth_ns)
{
	return now_ns > birth_ns ? whole_ticks(h, now_ns) - whole_ticks(h, birth_ns) : 0;
}

uint64_t report_run_ns(const struct heap *h)
{
	return h->taken_ns > h->attach_ns ? h->taken_ns - h->attach_ns : 0;
}

struct fmt report_run(const struct heap *h)
{
	uint64_t ns = report_run_ns(h);

	return h->tick_ns && ns % h->tick_ns ? fmt_duration(ns) : report_duration(h, ns);
}

struct fmt report_duration(const struct heap *h, uint64_t ns)
{
	return fmt_duration_step(ns, h->tick_ns);
}

struct fmt report_after(const struct heap *h, uint64_t ns)
{
	uint64_t after_ns = report_time(h, ns);
	struct fmt f;

	if (after_ns < h->tick_ns)
		snprintf(f.s, sizeof(f.s), "in the first %.26s",
			 fmt_duration_step(h->tick_ns, h->tick_ns).s);
	else
		snprintf(f.s, sizeof(f.s), "after %.33s", report_duration(h, after_ns).s);
	return f;
}

struct fmt report_peak(const struct heap *h)
{
	struct fmt f = fmt_bytes(h->peak_bytes), bytes = f;

	if (h->peak_bytes)
		snprintf(f.s, sizeof(f.s), "%.12s %.26s", bytes.s, report_after(h, h->peak_ns).s);
	return f;
}

double report_rate(const struct heap *h)
{
	uint64_t run_ns = report_run_ns(h);

	return run_ns ? (double)h->allocs * 1e9 / (double)run_ns : 0;
}

double report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

void report_unusual(struct str *s, uint64_t failed, uint64_t zero_size, uint64_t huge)
{
	const struct {
		uint64_t n;
		const char *what;
	} all[] = { { failed, "failed" }, { zero_size, "of size zero" }, { huge, "huge" } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].n)
			str_addf(s, "%s%s %s", s->len ? ", " : "", fmt_count(all[i].n).s,
				 all[i].what);
}

const char *report_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void report_frame_label(struct str *s, const struct frame_name *f)
{
	if (!f)
		str_add(s, "[stack unknown]");
	else if (f->function)
		str_add(s, f->function);
	else if (f->module && f->offset)
		str_addf(s, "%s+0x%" PRIx64, report_basename(f->module), f->offset);
	else if (f->address)
		str_addf(s, "0x%" PRIx64, f->address);
	else
		str_addc(s, '?');	/* a line outside functions, that pmm.h named */
}

void report_set_label(struct table *t, unsigned label, const struct frame_name *f)
{
	struct str s = STR_INIT;

	report_frame_label(&s, f);
	table_set_text(t, label, table_text(t, &s));
	str_fini(&s);
	if (!f || f->role == FRAME_MARK)
		return;
	if (f->file && f->line)
		table_setf(t, label + 1, "%s:%u", report_basename(f->file), f->line);
	else if (f->file)
		table_set_text(t, label + 1, report_basename(f->file));
	else if (f->function && f->module)
		table_setf(t, label + 1, "[%s]", report_basename(f->module));
}

void report_set_frame(struct table *t, unsigned first, const struct frame_name *f)
{
	if (!f)
		return;
	table_set_text(t, first, f->function);
	table_set_text(t, first + 1, f->file);
	if (f->file && f->line)
		table_set(t, first + 2, f->line);
	table_set_text(t, first + 3, f->module);
	if (f->module && f->offset)
		table_set(t, first + 4, f->offset);
	if (f->address)
		table_set(t, first + 5, f->address);
}

static int rank_all(struct report *r, struct err *e)
{
	const struct heap *h = r->heap;
	struct report_options *o = &r->opt;
	int rc = selection_init(&r->selection, h, r->names, &o->filter, e);

	if (rc)
		return rc;
	if (!o->sort_given)
		o->sort = r->selection.from_blocks ? RANK_LIVE : rank_default(h);
	rc = rank_sites(h, &r->selection, o->sort, o->top, &r->sites);
	if (!rc)
		rc = rank_map_sites(h, o->top, &r->map_sites);
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
	if (!filtered)
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
	if (!filtered) {
		report_map_sites(r);
		report_sizes(r);
		report_lifetimes(r);
		report_memory(r);
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
}
