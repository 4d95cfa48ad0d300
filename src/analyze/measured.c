/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a heap was not measured. */
#include "src/analyze/measured.h"

#include "include/pmm/ledger.h"

const char *measured_inexact(const struct heap *h)
{
	if (h->mode == HEAP_SAMPLED)
		return "figures are estimates, as it was sampled";
	if (h->kmod.logged)
		return "the kernel module's log has what is outstanding only";
	return NULL;
}

bool measured_to_the_end(const struct heap *h)
{
	if (h->import.tool && heap_import_history(h))
		return h->import.whole;
	return h->end != HEAP_RUNNING;
}

static const char *life_gap(const struct heap *h)
{
	if (!measured_to_the_end(h))
		return h->import.tool && heap_import_history(h)
			       ? "a file that is not packed may be cut off"
			       : "the program had not ended when it was captured";
	if (h->began == HEAP_BEGAN_ATTACH)
		return "what was allocated before it was attached to is not known";
	if (h->began == HEAP_BEGAN_FORK)
		return "what the parent had allocated before the fork is not known";
	return NULL;
}

const char *measured_gap(const struct heap *h, unsigned needs)
{
	const char *why = needs & MEASURED_LIFE ? life_gap(h) : NULL;

	if (why)
		return why;
	if (h->off_reason)
		return "recording stopped before the end";
	for (unsigned i = 0; i < HEAP_NR_DROPS; i++)
		if (h->dropped[i] && (i != PMM_DROP_SITE_FULL || needs & MEASURED_STACKS))
			return "not all blocks and stacks were recorded";
	if (h->skipped_allocs)
		return "blocks below --min-size were not recorded";
	if (heap_srclocs_only(h))
		return "only calls through pmm.h were recorded";
	if (needs & MEASURED_LEAKS && (!h->search.complete || h->search.unread_bytes))
		return "the search for leaks did not see all memory";
	return NULL;
}
