/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report's head: what ran, how it ended, the totals, and what must be known before believing
 * them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/analyze/estimate.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/heap_facts.h"
#include "src/view/import/import_facts.h"
#include "src/view/kmod/kmod_lost.h"
#include "src/view/lost.h"
#include "src/view/report_priv.h"
#include "src/view/resident.h"

#define SIGNAL_NAME_BYTES 24

static const char *const end_name[] = {
	[HEAP_RUNNING] = "running", [HEAP_EXITED] = "exited",	  [HEAP_KILLED] = "killed",
	[HEAP_GONE] = "gone",	    [HEAP_REPLACED] = "replaced",
};
_Static_assert(NR_COLUMNS(end_name) == HEAP_NR_ENDS, "a name for each");

static const char *const began_name[] = {
	[HEAP_BEGAN_EXEC] = "exec", [HEAP_BEGAN_FORK] = "fork", [HEAP_BEGAN_ATTACH] = "attach",
};
_Static_assert(NR_COLUMNS(began_name) == HEAP_NR_BEGAN, "a name for each");

static const char *const import_tool[] = {
	[HEAP_TOOL_PMM] = "pmm",	       [HEAP_TOOL_HEAPTRACK] = "heaptrack",
	[HEAP_TOOL_JEMALLOC] = "jemalloc",     [HEAP_TOOL_GPERFTOOLS] = "gperftools",
	[HEAP_TOOL_PPROF] = "pprof",
};
_Static_assert(NR_COLUMNS(import_tool) == HEAP_NR_TOOLS, "a name for each");

/* In place of the process, of which another tool's profile says less. */
static void record_import(struct doc *d, const struct heap *h)
{
	const struct heap_import *i = &h->import;
	struct table *t = record_new("import");

	record_text(t, "tool", import_tool[i->tool]);
	record_bool(t, "allocated", i->allocated);
	record_bool(t, "history", i->history);
	record_text(t, "comm", h->comm);
	record_text(t, "cmdline", h->cmdline);
	if (i->start)
		record_add(t, "start_realtime_ns", UNIT_TIME, h->start_realtime_ns);
	if (i->duration)
		record_duration(t, "run_ns", h->taken_ns);
	doc_add(d, t);
}

static const char *end_word(const struct heap *h)
{
	return h->end < HEAP_NR_ENDS && heap_end_known(h) ? end_name[h->end] : "unknown";
}

void report_process(struct doc *d, const struct heap *h)
{
	struct table *t;
	const char *signal = h->end == HEAP_KILLED ? sigabbrev_np(h->end_status) : NULL;
	char name[SIGNAL_NAME_BYTES];

	if (h->import.tool) {
		record_import(d, h);
		return;
	}
	t = record_new("process");
	record_number(t, "pid", h->pid);
	record_number(t, "ppid", h->ppid);
	record_text(t, "comm", h->comm);
	record_text(t, "exe", h->exe);
	record_text(t, "cmdline", h->cmdline);
	record_text(t, "host", h->host);
	record_add(t, "start_realtime_ns", UNIT_TIME, h->start_realtime_ns + h->attach_ns);
	record_add(t, "taken_realtime_ns", UNIT_TIME, h->start_realtime_ns + h->taken_ns);
	record_duration(t, "run_ns", report_run_ns(h));
	record_text(t, "end", end_word(h));
	if ((h->end == HEAP_EXITED || h->end == HEAP_GONE) && h->end_status >= 0)
		record_number(t, "exit_status", (uint64_t)h->end_status);
	if (h->end == HEAP_KILLED)
		record_number(t, "signal", (uint64_t)h->end_status);
	record_text(t, "began", began_name[h->began]);
	if (signal) {	/* a real-time signal has its number only */
		snprintf(name, sizeof(name), "SIG%s", signal);
		record_text(t, "signal_name", name);
	}
	doc_add(d, t);
}

/* Sites that asked for memory; others are known because heap errors name them. */
static uint64_t asking_sites(const struct heap *h)
{
	uint64_t nr = 1;	/* the unknown stack */

	for (uint32_t i = 1; i < h->nr_sites; i++) {
		const struct heap_site *s = &h->sites[i];

		nr += !h->nr_findings || s->allocs || s->frees || s->failed || s->live_blocks;
	}
	return nr;
}

static void record_peak(struct table *t, const struct heap *h)
{
	struct peak peak;

	peak_sum(h, &peak);
	record_bytes(t, "peak_bytes", h->kmod.sums ? h->kmod.peak_bytes : h->peak_bytes);
	if (!h->kmod.sums)
		record_duration(t, "peak_ns", heap_tick_time(h, h->peak_ns));
	record_bytes(t, "peak_accounted_bytes", peak.sites_bytes);
	record_count(t, "peak_accounted_blocks", peak.sites_blocks);
}

static void add_totals(struct report *r)
{
	const struct heap *h = r->heap;
	struct table *t = record_new("totals");
	struct heap_resident resident;

	record_text(t, "mode", h->kmod.logged		 ? "log"
			       : h->mode == HEAP_SAMPLED ? "sampled"
							 : "exact");
	record_bytes(t, "sample_bytes", h->sample_bytes);
	record_bytes(t, "min_size_bytes", h->min_size_bytes);
	record_bytes(t, "warn_size_bytes", h->warn_size_bytes);
	record_bytes(t, "live_bytes", h->live_bytes);
	record_count(t, "live_blocks", h->live_blocks);
	record_bytes(t, "live_error_bytes", estimate_round(estimate_live_error(h)));
	if (heap_import_history(h))
		record_peak(t, h);
	if (heap_import_allocated(h)) {
		record_count(t, "allocs", h->allocs);
		record_count(t, "frees", h->frees);
	}
	if (heap_import_allocated(h) && (!h->kmod.logged || h->kmod.sums)) {
		record_bytes(t, "allocated_bytes", h->bytes_in);
		record_bytes(t, "freed_bytes", h->bytes_out);
	}
	if (h->kmod.sums)
		record_bytes(t, "lost_bytes", h->kmod.lost_bytes);
	if (heap_import_allocated(h))
		record_float(t, "allocs_per_second", UNIT_FLOAT, report_rate(h));
	if (heap_import_history(h)) {
		record_count(t, "temporary", h->temporary);
		record_float(t, "temporary_percent", UNIT_PERCENT,
			     report_percent(h->temporary, h->allocs));
	}
	record_count(t, "failed", h->failed);
	record_count(t, "zero_size", h->zero_size);
	record_count(t, "huge", h->huge);
	record_count(t, "untracked_frees", h->untracked_frees);
	record_count(t, "missed_frees", h->missed_frees);
	record_count(t, "skipped_allocs", h->skipped_allocs);
	record_bytes(t, "skipped_bytes", h->skipped_bytes);
	record_count(t, "sites", asking_sites(h));
	record_count(t, "heap_errors", h->nr_findings);
	if (heap_resident(h, &resident)) {
		record_bytes(t, "resident_bytes", resident.bytes);
		record_duration(t, "resident_ns", heap_tick_time(h, resident.at_ns));
		record_bytes(t, "resident_peak_bytes", resident.peak_bytes);
		if (resident.peak_ns != UINT64_MAX) {
			record_duration(t, "resident_peak_ns", heap_tick_time(h, resident.peak_ns));
			record_bytes(t, "resident_peak_live_bytes", resident.peak_live_bytes);
		}
	}
	doc_add(&r->doc, t);
}

/* ---- for people ---- */

static const char *exact_text(const struct heap *h)
{
	if (h->min_size_bytes)
		return "exact, of large enough blocks";
	if (heap_srclocs_only(h))
		return "exact: every call through pmm.h, and no others";
	if (h->own_calls)
		return "exact, but calls of the allocator's own functions are missing";
	switch (h->off_reason) {
	case PMM_OFF_NONE:
	case PMM_OFF_NO_CHILDREN:
	case PMM_OFF_OWN_ALLOCATOR:	/* which leads to ours, as some are recorded */
		return "exact: every call";
	case PMM_OFF_NO_GROWTH:
		return "exact, as far as the ledger had room";
	default:
		return "exact: every call until tracking stopped";
	}
}

/* Is there a malloc before ours, so that none of its calls is recorded? */
static bool sees_nothing(const struct heap *h)
{
	return h->off_reason == PMM_OFF_OWN_ALLOCATOR && !h->allocs;
}

static void exact_row(struct table *t, const struct heap *h)
{
	uint64_t lost = lost_calls(h);

	if (lost)
		facts_add(t, "mode", "exact%s, but at least %s %s missing",
			  h->min_size_bytes ? ", of large enough blocks" : "",
			  fmt_many(lost, "call").s, fmt_agree(lost, "is", "are"));
	else
		facts_add(t, "mode", "%s", exact_text(h));
}

static void mode_row(struct table *t, const struct heap *h)
{
	double error = estimate_live_error(h);

	if (h->kmod.logged)
		facts_add(t, "mode", "the kernel module's log: what is outstanding of what the "
				     "process logged; of what was freed only %s known",
			  h->kmod.sums ? "number and bytes are" : "the number is");
	else if (sees_nothing(h))
		facts_add(t, "mode", "no call is recorded: they go to the program's own malloc");
	else if (h->mode != HEAP_SAMPLED)
		exact_row(t, h);
	else if (!h->live_blocks)
		facts_add(t, "mode",
			  "sampled every %s: no live block was in the sample, so less than %s is "
			  "live in 19 of 20 cases",
			  fmt_bytes(h->sample_bytes).s, fmt_bytes(estimate_round(error)).s);
	else
		facts_add(t, "mode",
			  "sampled every %s: figures are estimates, live bytes within %s (%.1f%%) "
			  "in 19 of 20 cases",
			  fmt_bytes(h->sample_bytes).s, fmt_bytes(estimate_round(error)).s,
			  h->live_bytes ? 100 * error / (double)h->live_bytes : 0);
}

static void unusual_row(struct table *t, const struct heap *h)
{
	struct str s = STR_INIT;

	report_unusual(&s, h->failed, h->zero_size, h->huge);
	if (s.len)
		facts_text(t, "unusual", &s);
	str_fini(&s);
}

static void head_rows(struct table *t, const struct heap *h)
{
	struct str end = STR_INIT;

	report_end_text(&end, h);
	facts_add(t, "process", "%s, pid %u, %s %s from %s, %s", h->comm, h->pid,
		  h->began == HEAP_BEGAN_ATTACH ? "watched while it ran for" : "ran",
		  report_run_time(h).s, fmt_time(h->start_realtime_ns + h->attach_ns).s,
		  table_text(t, &end));
	facts_add(t, "peak", "%s%s", heap_about(h), report_peak(h).s);
	facts_add(t, "live", "%s%s in %s %s", heap_about(h), fmt_bytes(h->live_bytes).s,
		  fmt_many(h->live_blocks, "block").s,
		  h->end == HEAP_RUNNING ? report_when(h) : "at the end");
	heap_facts_mapped(t, h);
	heap_facts_resident(t, h);
	heap_facts_calls(t, h, false);
	unusual_row(t, h);
	mode_row(t, h);
	str_fini(&end);
}

static void add_errors_row(struct table *t, const struct report *r)
{
	if (!r->heap->nr_findings)
		return;
	facts_add(t, "errors", "%s, see 'pmm check %s'",
		  fmt_many(r->heap->nr_findings, "heap error").s,
		  r->opt.source ? r->opt.source : "FILE");
}

static void add_head(struct report *r)
{
	const struct heap *h = r->heap;
	struct table *t = facts_new(h->cmdline[0] ? h->cmdline : h->comm[0] ? h->comm : NULL);

	if (t) {
		if (h->import.tool)
			import_facts(t, h);
		else
			head_rows(t, h);
		add_errors_row(t, r);
		report_filter_row(t, &r->opt.filter, report_passes_none(r));
	}
	doc_add(&r->doc, t);
}

/* ---- what was not recorded ---- */

enum {
	WARNING_MARK,
	WARNING_CODE,
	WARNING_COUNT,
	WARNING_TEXT,
	WARNING_NR,
};

static const struct column warning_columns[WARNING_NR] = {
	[WARNING_MARK] = TEXT_COLUMN(NULL, UNIT_TEXT),
	[WARNING_CODE] = JSON_COLUMN("code", UNIT_TEXT),
	[WARNING_COUNT] = JSON_COLUMN("count", UNIT_COUNT),
	[WARNING_TEXT] = { "text", NULL, UNIT_TEXT },
};

static void warn_row(struct table *t, const char *code, uint64_t count)
{
	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set_const(t, WARNING_MARK, "!");
	table_set_const(t, WARNING_CODE, code);
	table_set(t, WARNING_COUNT, count);
}

static void warn(struct table *t, const char *code, uint64_t count, const char *text)
{
	warn_row(t, code, count);
	table_setf(t, WARNING_TEXT, text, fmt_count(count).s);
}

/* Frees the text. */
static void warn_text(struct table *t, const char *code, uint64_t count, struct str *text)
{
	warn_row(t, code, count);
	table_setf(t, WARNING_TEXT, "%s", table_text(t, text));
	str_fini(text);
}

static void warn_stacks(struct table *t, const struct heap *h)
{
	uint64_t allocs = lost_stacks(h);
	struct str text = STR_INIT;

	lost_stacks_text(h, &text);
	warn_text(t, lost_drop_code(PMM_DROP_SITE_FULL),
		  allocs ? allocs : h->dropped[PMM_DROP_SITE_FULL], &text);
}

static void warn_drop(struct table *t, const struct heap *h, unsigned drop)
{
	struct str text = STR_INIT;

	lost_drop_text(h, drop, &text);
	warn_text(t, lost_drop_code(drop), h->dropped[drop], &text);
}

static void warn_off(struct table *t, const struct heap *h)
{
	struct str text = STR_INIT;
	const char *code = lost_off_text(h, &text);

	if (code)
		warn_text(t, code, 1, &text);
}

static void warn_own(struct table *t, const struct heap *h)
{
	struct str text = STR_INIT;

	lost_own_text(&text, h);
	warn_text(t, LOST_OWN_CODE, 1, &text);
}

static void warn_space(struct table *t, const struct heap *h)
{
	struct str text = STR_INIT;

	lost_space_text(&text, h->space_taken_bytes);
	warn_text(t, LOST_SPACE_CODE, h->space_taken_bytes, &text);
}

static void warn_kernel(struct table *t, const struct heap *h, enum lost_kernel what)
{
	struct str text = STR_INIT;

	lost_kernel_text(h, what, &text);
	warn_text(t, lost_kernel_code(what), lost_kernel(h, what), &text);
}

static void warn_kmod(struct table *t, const struct heap *h, enum kmod_lost what)
{
	uint64_t count = kmod_lost(&h->kmod, what);
	struct str text = STR_INIT;

	kmod_lost_text(&text, what, count);
	warn_text(t, kmod_lost_code(what), count, &text);
}

static void warn_import(struct table *t, const struct heap *h)
{
	struct str text = STR_INIT;

	import_lacks(&text, h);
	warn_text(t, "not_in_profile", 1, &text);
}

/* `all`: also of the kernel's events. */
static void add_warnings(struct doc *d, const struct heap *h, bool all)
{
	struct table *t = table_new(TABLE_ROWS, "warnings", NULL, warning_columns, WARNING_NR);

	if (!t) {
		doc_add(d, NULL);
		return;
	}
	if (h->import.tool)
		warn_import(t, h);
	for (enum kmod_lost i = 0; i < KMOD_LOST_NR; i++)
		if (kmod_lost(&h->kmod, i))
			warn_kmod(t, h, i);
	if (h->dropped[PMM_DROP_SITE_FULL])
		warn_stacks(t, h);
	warn_off(t, h);
	if (h->space_taken_bytes)
		warn_space(t, h);
	if (h->own_calls)
		warn_own(t, h);
	for (unsigned i = 0; i < HEAP_NR_DROPS; i++)
		if (h->dropped[i] && i != PMM_DROP_SITE_FULL)
			warn_drop(t, h, i);
	if (h->drift_blocks)
		warn(t, "drift", h->drift_blocks,
		     fmt_agree(h->drift_blocks,
			       "%s block changed while the running process was read: sums may "
			       "differ",
			       "%s blocks changed while the running process was read: sums may "
			       "differ"));
	if (h->missed_frees)
		warn(t, "missed_frees", h->missed_frees,
		     fmt_agree(h->missed_frees,
			       "%s block was freed past pmm's hooks, which its memory shows; it "
			       "counts as freed. Others may have been that do not show",
			       "%s blocks were freed past pmm's hooks, which their memory shows; "
			       "they count as freed. Others may have been that do not show"));
	if (h->skipped_allocs) {
		warn(t, "skipped", h->skipped_allocs,
		     "%s allocations below --min-size were skipped");
		table_setf(t, WARNING_TEXT, "%s below %s %s skipped (%s in all)",
			   fmt_many(h->skipped_allocs, "allocation").s,
			   fmt_bytes(h->min_size_bytes).s,
			   fmt_agree(h->skipped_allocs, "was", "were"),
			   fmt_bytes(h->skipped_bytes).s);
	}
	for (enum lost_kernel i = 0; all && i < LOST_KERNEL_NR; i++)
		if (lost_kernel(h, i))
			warn_kernel(t, h, i);
	t->json_only = t->rows.nr == 0;
	doc_add(d, t);
}

void report_warnings(struct doc *d, const struct heap *h)
{
	add_warnings(d, h, false);
}

void report_head(struct report *r)
{
	bool first = lost_any(r->heap) || kmod_lost_any(&r->heap->kmod) || r->heap->import.tool;

	report_process(&r->doc, r->heap);
	if (first)
		add_warnings(&r->doc, r->heap, true);
	add_totals(r);
	add_head(r);
	if (!first)
		add_warnings(&r->doc, r->heap, true);
}
