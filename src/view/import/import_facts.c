/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a heap that another tool recorded. */
#include "src/view/import/import_facts.h"

#include "src/analyze/estimate.h"
#include "src/base/fmt.h"
#include "src/document/facts.h"
#include "src/view/heap_facts.h"
#include "src/view/report_priv.h"

static void add_tool(struct str *s, const struct heap_import *i)
{
	static const char *const name[HEAP_NR_TOOLS] = {
		[HEAP_TOOL_PMM] = "pmm",
		[HEAP_TOOL_HEAPTRACK] = "heaptrack",
		[HEAP_TOOL_JEMALLOC] = "jemalloc's profiler",
		[HEAP_TOOL_GPERFTOOLS] = "gperftools' profiler",
		[HEAP_TOOL_PPROF] = "a profiler that writes pprof's form",
	};

	str_add(s, name[i->tool]);
	if (i->tool == HEAP_TOOL_HEAPTRACK && i->version)
		str_addf(s, " %u.%u.%u", i->version >> 16, i->version >> 8 & 0xff,
			 i->version & 0xff);
}

void import_process(struct str *s, const struct heap *h)
{
	str_addf(s, "%s, recorded by ", h->comm[0] ? h->comm : "not named");
	add_tool(s, &h->import);
	if (h->import.duration)
		str_addf(s, "%s for %s",
			 h->began == HEAP_BEGAN_ATTACH ? ", watched while it ran" : "",
			 report_run_time(h).s);
	if (h->import.start)
		str_addf(s, ", from %s", fmt_time(h->start_realtime_ns).s);
}

void import_lacks(struct str *s, const struct heap *h)
{
	str_add(s, "what another tool recorded does not have single blocks with addresses and "
		   "ages, threads, mappings, leaks");
	if (!h->import.history)
		str_add(s, "; nor when anything happened, the peak, temporary blocks");
	if (!h->import.allocated)
		str_add(s, "; nor allocations that were freed again");
}

static void mode_row(struct table *t, const struct heap *h)
{
	if (h->mode == HEAP_SAMPLED)
		facts_add(t, "mode",
			  "sampled every %s: figures are estimates, live bytes within %s in 19 of "
			  "20 cases",
			  fmt_bytes(h->sample_bytes).s,
			  fmt_bytes(estimate_round(estimate_live_error(h))).s);
	else
		facts_add(t, "mode", "every call that the tool recorded");
}

void import_facts(struct table *t, const struct heap *h)
{
	struct str s = STR_INIT;

	import_process(&s, h);
	facts_text(t, "process", &s);
	str_fini(&s);
	if (h->import.history)
		facts_add(t, "peak", "%s", report_peak(h).s);
	facts_add(t, "live", "%s%s in %s %s", heap_about(h), fmt_bytes(h->live_bytes).s,
		  fmt_many(h->live_blocks, "block").s,
		  h->import.history ? "at the end" : "when the profile was taken");
	heap_facts_resident(t, h);
	if (h->import.history)
		heap_facts_calls(t, h, false);
	else if (h->import.allocated)
		facts_add(t, "calls", "%s%s of %s, %s", heap_about(h),
			  fmt_many(h->allocs, "allocation").s, fmt_bytes(h->bytes_in).s,
			  fmt_many(h->frees, "free").s);
	mode_row(t, h);
}
