/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report's head: what ran, how it ended, the totals, and what must be known before believing
 * them.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/analyze/estimate.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/document/facts.h"
#include "src/view/heap_facts.h"
#include "src/view/lost.h"
#include "src/view/report_priv.h"
#include "src/view/resident.h"

static const char *const end_name[] = {
	[HEAP_RUNNING] = "running", [HEAP_EXITED] = "exited",	  [HEAP_KILLED] = "killed",
	[HEAP_GONE] = "gone",	    [HEAP_REPLACED] = "replaced",
};
_Static_assert(NR_COLUMNS(end_name) == HEAP_NR_ENDS, "a name for each");

static const char *const began_name[] = {
	[HEAP_BEGAN_EXEC] = "exec", [HEAP_BEGAN_FORK] = "fork", [HEAP_BEGAN_ATTACH] = "attach",
};
_Static_assert(NR_COLUMNS(began_name) == HEAP_NR_BEGAN, "a name for each");

enum {
	PROCESS_PID,
	PROCESS_PPID,
	PROCESS_COMM,
	PROCESS_EXE,
	PROCESS_CMDLINE,
	PROCESS_HOST,
	PROCESS_START_REALTIME_NS,
	PROCESS_TAKEN_REALTIME_NS,
	PROCESS_RUN_NS,
	PROCESS_END,
	PROCESS_EXIT_STATUS,
	PROCESS_SIGNAL,
	PROCESS_BEGAN,
	PROCESS_SIGNAL_NAME,
	PROCESS_NR,
};

static const struct column process_columns[PROCESS_NR] = {
	[PROCESS_PID] = { "pid", NULL, UNIT_NUMBER },
	[PROCESS_PPID] = { "ppid", NULL, UNIT_NUMBER },
	[PROCESS_COMM] = { "comm", NULL, UNIT_TEXT },
	[PROCESS_EXE] = { "exe", NULL, UNIT_TEXT },
	[PROCESS_CMDLINE] = { "cmdline", NULL, UNIT_TEXT },
	[PROCESS_HOST] = { "host", NULL, UNIT_TEXT },
	[PROCESS_START_REALTIME_NS] = { "start_realtime_ns", NULL, UNIT_TIME },
	[PROCESS_TAKEN_REALTIME_NS] = { "taken_realtime_ns", NULL, UNIT_TIME },
	[PROCESS_RUN_NS] = { "run_ns", NULL, UNIT_DURATION },
	[PROCESS_END] = { "end", NULL, UNIT_TEXT },
	[PROCESS_EXIT_STATUS] = { "exit_status", NULL, UNIT_NUMBER },
	[PROCESS_SIGNAL] = { "signal", NULL, UNIT_NUMBER },
	[PROCESS_BEGAN] = { "began", NULL, UNIT_TEXT },
	[PROCESS_SIGNAL_NAME] = { "signal_name", NULL, UNIT_TEXT },
};

/* "SIGSEGV"; a real-time signal has its number only. */
static void set_signal_name(struct table *t, unsigned column, const struct heap *h)
{
	const char *name = h->end == HEAP_KILLED ? sigabbrev_np(h->end_status) : NULL;

	if (name)
		table_setf(t, column, "SIG%s", name);
}

void report_process(struct doc *d, const struct heap *h)
{
	struct table *t = table_new(TABLE_RECORD, "process", NULL, process_columns, PROCESS_NR);

	if (t) {
		t->json_only = true;
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set(t, PROCESS_PID, h->pid);
		table_set(t, PROCESS_PPID, h->ppid);
		table_set_const(t, PROCESS_COMM, h->comm);
		table_set_const(t, PROCESS_EXE, h->exe);
		table_set_const(t, PROCESS_CMDLINE, h->cmdline);
		table_set_const(t, PROCESS_HOST, h->host);
		table_set(t, PROCESS_START_REALTIME_NS, h->start_realtime_ns + h->attach_ns);
		table_set(t, PROCESS_TAKEN_REALTIME_NS, h->start_realtime_ns + h->taken_ns);
		table_set(t, PROCESS_RUN_NS, report_run_ns(h));
		table_set_const(t, PROCESS_END,
				h->end < HEAP_NR_ENDS ? end_name[h->end] : "unknown");
		if ((h->end == HEAP_EXITED || h->end == HEAP_GONE) && h->end_status >= 0)
			table_set(t, PROCESS_EXIT_STATUS, (uint64_t)h->end_status);
		if (h->end == HEAP_KILLED)
			table_set(t, PROCESS_SIGNAL, (uint64_t)h->end_status);
		table_set_const(t, PROCESS_BEGAN, began_name[h->began]);
		set_signal_name(t, PROCESS_SIGNAL_NAME, h);
	}
	doc_add(d, t);
}

enum {
	TOTAL_MODE,
	TOTAL_SAMPLE_BYTES,
	TOTAL_MIN_SIZE_BYTES,
	TOTAL_WARN_SIZE_BYTES,
	TOTAL_LIVE_BYTES,
	TOTAL_LIVE_BLOCKS,
	TOTAL_LIVE_ERROR_BYTES,
	TOTAL_PEAK_BYTES,
	TOTAL_PEAK_NS,
	TOTAL_PEAK_ACCOUNTED_BYTES,
	TOTAL_PEAK_ACCOUNTED_BLOCKS,
	TOTAL_ALLOCS,
	TOTAL_FREES,
	TOTAL_ALLOCATED_BYTES,
	TOTAL_FREED_BYTES,
	TOTAL_ALLOCS_PER_SECOND,
	TOTAL_TEMPORARY,
	TOTAL_TEMPORARY_PERCENT,
	TOTAL_FAILED,
	TOTAL_ZERO_SIZE,
	TOTAL_HUGE,
	TOTAL_UNTRACKED_FREES,
	TOTAL_MISSED_FREES,
	TOTAL_SKIPPED_ALLOCS,
	TOTAL_SKIPPED_BYTES,
	TOTAL_SITES,
	TOTAL_HEAP_ERRORS,
	TOTAL_RESIDENT_BYTES,
	TOTAL_RESIDENT_NS,
	TOTAL_RESIDENT_PEAK_BYTES,
	TOTAL_RESIDENT_PEAK_NS,
	TOTAL_RESIDENT_PEAK_LIVE_BYTES,
	TOTAL_NR,
};

static const struct column totals_columns[TOTAL_NR] = {
	[TOTAL_MODE] = { "mode", NULL, UNIT_TEXT },
	[TOTAL_SAMPLE_BYTES] = { "sample_bytes", NULL, UNIT_BYTES },
	[TOTAL_MIN_SIZE_BYTES] = { "min_size_bytes", NULL, UNIT_BYTES },
	[TOTAL_WARN_SIZE_BYTES] = { "warn_size_bytes", NULL, UNIT_BYTES },
	[TOTAL_LIVE_BYTES] = { "live_bytes", NULL, UNIT_BYTES },
	[TOTAL_LIVE_BLOCKS] = { "live_blocks", NULL, UNIT_COUNT },
	[TOTAL_LIVE_ERROR_BYTES] = { "live_error_bytes", NULL, UNIT_BYTES },
	[TOTAL_PEAK_BYTES] = { "peak_bytes", NULL, UNIT_BYTES },
	[TOTAL_PEAK_NS] = { "peak_ns", NULL, UNIT_DURATION },
	[TOTAL_PEAK_ACCOUNTED_BYTES] = { "peak_accounted_bytes", NULL, UNIT_BYTES },
	[TOTAL_PEAK_ACCOUNTED_BLOCKS] = { "peak_accounted_blocks", NULL, UNIT_COUNT },
	[TOTAL_ALLOCS] = { "allocs", NULL, UNIT_COUNT },
	[TOTAL_FREES] = { "frees", NULL, UNIT_COUNT },
	[TOTAL_ALLOCATED_BYTES] = { "allocated_bytes", NULL, UNIT_BYTES },
	[TOTAL_FREED_BYTES] = { "freed_bytes", NULL, UNIT_BYTES },
	[TOTAL_ALLOCS_PER_SECOND] = { "allocs_per_second", NULL, UNIT_FLOAT },
	[TOTAL_TEMPORARY] = { "temporary", NULL, UNIT_COUNT },
	[TOTAL_TEMPORARY_PERCENT] = { "temporary_percent", NULL, UNIT_PERCENT },
	[TOTAL_FAILED] = { "failed", NULL, UNIT_COUNT },
	[TOTAL_ZERO_SIZE] = { "zero_size", NULL, UNIT_COUNT },
	[TOTAL_HUGE] = { "huge", NULL, UNIT_COUNT },
	[TOTAL_UNTRACKED_FREES] = { "untracked_frees", NULL, UNIT_COUNT },
	[TOTAL_MISSED_FREES] = { "missed_frees", NULL, UNIT_COUNT },
	[TOTAL_SKIPPED_ALLOCS] = { "skipped_allocs", NULL, UNIT_COUNT },
	[TOTAL_SKIPPED_BYTES] = { "skipped_bytes", NULL, UNIT_BYTES },
	[TOTAL_SITES] = { "sites", NULL, UNIT_COUNT },
	[TOTAL_HEAP_ERRORS] = { "heap_errors", NULL, UNIT_COUNT },
	[TOTAL_RESIDENT_BYTES] = { "resident_bytes", NULL, UNIT_BYTES },
	[TOTAL_RESIDENT_NS] = { "resident_ns", NULL, UNIT_DURATION },
	[TOTAL_RESIDENT_PEAK_BYTES] = { "resident_peak_bytes", NULL, UNIT_BYTES },
	[TOTAL_RESIDENT_PEAK_NS] = { "resident_peak_ns", NULL, UNIT_DURATION },
	[TOTAL_RESIDENT_PEAK_LIVE_BYTES] = { "resident_peak_live_bytes", NULL, UNIT_BYTES },
};

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

static void set_totals(struct table *t, const struct heap *h)
{
	struct heap_resident resident;
	struct peak peak;

	peak_sum(h, &peak);
	table_set_const(t, TOTAL_MODE, h->mode == HEAP_SAMPLED ? "sampled" : "exact");
	table_set(t, TOTAL_SAMPLE_BYTES, h->sample_bytes);
	table_set(t, TOTAL_MIN_SIZE_BYTES, h->min_size_bytes);
	table_set(t, TOTAL_WARN_SIZE_BYTES, h->warn_size_bytes);
	table_set(t, TOTAL_LIVE_BYTES, h->live_bytes);
	table_set(t, TOTAL_LIVE_BLOCKS, h->live_blocks);
	table_set(t, TOTAL_LIVE_ERROR_BYTES, estimate_round(estimate_live_error(h)));
	table_set(t, TOTAL_PEAK_BYTES, h->peak_bytes);
	table_set(t, TOTAL_PEAK_NS, report_time(h, h->peak_ns));
	table_set(t, TOTAL_PEAK_ACCOUNTED_BYTES, peak.sites_bytes);
	table_set(t, TOTAL_PEAK_ACCOUNTED_BLOCKS, peak.sites_blocks);
	table_set(t, TOTAL_ALLOCS, h->allocs);
	table_set(t, TOTAL_FREES, h->frees);
	table_set(t, TOTAL_ALLOCATED_BYTES, h->bytes_in);
	table_set(t, TOTAL_FREED_BYTES, h->bytes_out);
	table_set_float(t, TOTAL_ALLOCS_PER_SECOND, report_rate(h));
	table_set(t, TOTAL_TEMPORARY, h->temporary);
	table_set_float(t, TOTAL_TEMPORARY_PERCENT, report_percent(h->temporary, h->allocs));
	table_set(t, TOTAL_FAILED, h->failed);
	table_set(t, TOTAL_ZERO_SIZE, h->zero_size);
	table_set(t, TOTAL_HUGE, h->huge);
	table_set(t, TOTAL_UNTRACKED_FREES, h->untracked_frees);
	table_set(t, TOTAL_MISSED_FREES, h->missed_frees);
	table_set(t, TOTAL_SKIPPED_ALLOCS, h->skipped_allocs);
	table_set(t, TOTAL_SKIPPED_BYTES, h->skipped_bytes);
	table_set(t, TOTAL_SITES, asking_sites(h));
	table_set(t, TOTAL_HEAP_ERRORS, h->nr_findings);
	if (!heap_resident(h, &resident))
		return;
	table_set(t, TOTAL_RESIDENT_BYTES, resident.bytes);
	table_set(t, TOTAL_RESIDENT_NS, report_time(h, resident.at_ns));
	table_set(t, TOTAL_RESIDENT_PEAK_BYTES, resident.peak_bytes);
	if (resident.peak_ns == UINT64_MAX)
		return;
	table_set(t, TOTAL_RESIDENT_PEAK_NS, report_time(h, resident.peak_ns));
	table_set(t, TOTAL_RESIDENT_PEAK_LIVE_BYTES, resident.peak_live_bytes);
}

static void add_totals(struct report *r)
{
	struct table *t =
		table_new(TABLE_RECORD, "totals", NULL, totals_columns, TOTAL_NR);

	if (t) {
		t->json_only = true;
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		set_totals(t, r->heap);
	}
	doc_add(&r->doc, t);
}

/* ---- for people ---- */

static void mode_row(struct table *t, const struct heap *h)
{
	double error = estimate_live_error(h);

	facts_row(t, "mode");
	if (h->mode != HEAP_SAMPLED) {
		table_set_const(t, FACT_TEXT,
				h->min_size_bytes ? "exact, of large enough blocks"
				: heap_srclocs_only(h)
					? "exact: every call through pmm.h, and no others"
					: "exact: every call");
		return;
	}
	if (!h->live_blocks) {
		table_setf(t, FACT_TEXT,
			   "sampled every %s: no live block was in the sample, so less than %s is "
			   "live in 19 of 20 cases",
			   fmt_bytes(h->sample_bytes).s, fmt_bytes(estimate_round(error)).s);
		return;
	}
	table_setf(t, FACT_TEXT,
		   "sampled every %s: figures are estimates, live bytes within %s (%.1f%%) in 19 "
		   "of 20 cases",
		   fmt_bytes(h->sample_bytes).s, fmt_bytes(estimate_round(error)).s,
		   h->live_bytes ? 100 * error / (double)h->live_bytes : 0);
}

static void unusual_row(struct table *t, const struct heap *h)
{
	struct str s = STR_INIT;

	report_unusual(&s, h->failed, h->zero_size, h->huge);
	if (s.len) {
		facts_row(t, "unusual");
		table_setf(t, FACT_TEXT, "%s", table_text(t, &s));
	}
	str_fini(&s);
}

static void head_rows(struct table *t, const struct heap *h)
{
	struct str end = STR_INIT;

	report_end_text(&end, h);
	facts_row(t, "process");
	table_setf(t, FACT_TEXT, "%s, pid %u, %s %s from %s, %s", h->comm, h->pid,
		   h->began == HEAP_BEGAN_ATTACH ? "watched while it ran for" : "ran",
		   report_run(h).s,
		   fmt_time(h->start_realtime_ns + h->attach_ns).s, table_text(t, &end));
	facts_row(t, "peak");
	table_setf(t, FACT_TEXT, "%s", report_peak(h).s);
	facts_row(t, "live");
	table_setf(t, FACT_TEXT, "%s in %s %s", fmt_bytes(h->live_bytes).s,
		   fmt_many(h->live_blocks, "block").s,
		   h->end == HEAP_RUNNING ? "now" : "at the end");
	heap_facts_mapped(t, h);
	heap_facts_resident(t, h);
	heap_facts_calls(t, h, false);
	unusual_row(t, h);
	mode_row(t, h);
	str_fini(&end);
}

static void add_filter_row(struct table *t, const struct report_options *o)
{
	const struct filter *f = &o->filter;
	struct str s = STR_INIT;

	if (f->function)
		str_addf(&s, "function '%s', ", f->function);
	if (f->file)
		str_addf(&s, "file '%s', ", f->file);
	if (f->module)
		str_addf(&s, "module '%s', ", f->module);
	if (f->thread)
		str_addf(&s, "thread '%s', ", f->thread);
	if (f->by_size) {
		str_addf(&s, "size %s to ", fmt_bytes(f->size_bytes.min).s);
		str_addf(&s, "%s, ",
			 f->size_bytes.max == UINT64_MAX ? "any" : fmt_bytes(f->size_bytes.max).s);
	}
	if (f->by_age) {
		str_addf(&s, "age %s to ", fmt_duration_given(f->age_ns.min).s);
		str_addf(&s, "%s, ",
			 f->age_ns.max == UINT64_MAX ? "any" : fmt_duration_given(f->age_ns.max).s);
	}
	if (s.len || str_error(&s)) {
		facts_row(t, "only");
		table_setf(t, FACT_TEXT, "%.*s%s", (int)s.len - 2, table_text(t, &s),
			   filter_by_block(f) ? " (of live blocks)" : "");
	}
	str_fini(&s);
}

static void add_errors_row(struct table *t, const struct report *r)
{
	if (!r->heap->nr_findings)
		return;
	facts_row(t, "errors");
	table_setf(t, FACT_TEXT, "%s, see 'pmm check %s'",
		   fmt_many(r->heap->nr_findings, "heap error").s,
		   r->opt.source ? r->opt.source : "FILE");
}

static void add_head(struct report *r)
{
	const struct heap *h = r->heap;
	struct table *t = facts_new(h->cmdline[0] ? h->cmdline : h->comm);

	if (t) {
		head_rows(t, h);
		add_errors_row(t, r);
		add_filter_row(t, &r->opt);
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

static void warn(struct table *t, const char *code, uint64_t count, const char *text)
{
	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set_const(t, WARNING_MARK, "!");
	table_set_const(t, WARNING_CODE, code);
	table_set(t, WARNING_COUNT, count);
	table_setf(t, WARNING_TEXT, text, fmt_count(count).s);
}

static void warn_stacks(struct table *t, const struct heap *h)
{
	uint64_t allocs = lost_stacks(h);
	struct str text = STR_INIT;

	lost_stacks_text(h, &text);
	warn(t, lost_drop_code(PMM_DROP_SITE_FULL),
	     allocs ? allocs : h->dropped[PMM_DROP_SITE_FULL], "%s");
	table_setf(t, WARNING_TEXT, "%s", str_text(&text));
	str_fini(&text);
}

static void warn_drop(struct table *t, const struct heap *h, unsigned drop)
{
	bool confined = drop == PMM_DROP_BLOCK_FULL && h->off_reason == PMM_OFF_NO_GROWTH;
	struct str text = STR_INIT;

	lost_drop_text(&text, drop, h->dropped[drop], confined, LOST_REPORT);
	warn(t, lost_drop_code(drop), h->dropped[drop], "%s");
	table_setf(t, WARNING_TEXT, "%s", table_text(t, &text));
	str_fini(&text);
}

void report_warnings(struct doc *d, const struct heap *h)
{
	struct table *t = table_new(TABLE_ROWS, "warnings", NULL, warning_columns, WARNING_NR);

	if (!t) {
		doc_add(d, NULL);
		return;
	}
	if (h->dropped[PMM_DROP_SITE_FULL])
		warn_stacks(t, h);
	if (h->off_reason == PMM_OFF_OWN_ALLOCATOR) {
		if (!h->allocs) /* else its malloc leads to ours after all */
			warn(t, "own_allocator", 1,
			     "the program has a malloc of its own, which goes before pmm's: its "
			     "heap is not seen");
	} else if (h->off_reason == PMM_OFF_NO_GROWTH) {
		warn(t, "confined", 1,
		     "the program put itself under seccomp, whose filter did not let the ledger "
		     "grow any more");
	} else if (h->off_reason == PMM_OFF_NO_CHILDREN) {
		warn(t, "children_closed", 1, CONFINED_CHILDREN);
	} else if (h->off_reason) {
		const char *reason = lost_off_text((unsigned)h->off_reason, LOST_REPORT);

		warn(t, "tracking_stopped", 1,
		     "tracking stopped early; what came after is missing");
		if (reason)
			table_setf(t, WARNING_TEXT,
				   "tracking stopped early (%s); what came after is missing",
				   reason);
	}
	for (unsigned i = 0; i < HEAP_NR_DROPS; i++)
		if (h->dropped[i] && i != PMM_DROP_SITE_FULL)
			warn_drop(t, h, i);
	if (h->drift_blocks)
		warn(t, "drift", h->drift_blocks,
		     h->drift_blocks == 1 ? "%s block changed while the running process was read: "
					    "sums may differ"
					  : "%s blocks changed while the running process was read: "
					    "sums may differ");
	if (h->missed_frees)
		warn(t, "missed_frees", h->missed_frees,
		     h->missed_frees == 1
			     ? "%s block was freed past pmm's hooks, which its memory shows; it "
			       "counts as freed. Others may have been that do not show"
			     : "%s blocks were freed past pmm's hooks, which their memory shows; "
			       "they count as freed. Others may have been that do not show");
	if (h->skipped_allocs) {
		warn(t, "skipped", h->skipped_allocs,
		     "%s allocations below --min-size were skipped");
		table_setf(t, WARNING_TEXT, "%s below %s %s skipped (%s in all)",
			   fmt_many(h->skipped_allocs, "allocation").s,
			   fmt_bytes(h->min_size_bytes).s,
			   fmt_agree(h->skipped_allocs, "was", "were"),
			   fmt_bytes(h->skipped_bytes).s);
	}
	t->json_only = t->rows.nr == 0;
	doc_add(d, t);
}

void report_head(struct report *r)
{
	bool first = lost_any(r->heap);

	report_process(&r->doc, r->heap);
	if (first)
		report_warnings(&r->doc, r->heap);
	add_totals(r);
	add_head(r);
	if (!first)
		report_warnings(&r->doc, r->heap);
}
