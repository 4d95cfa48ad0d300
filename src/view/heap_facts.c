/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process did with its heap, as facts. */
#include "src/view/heap_facts.h"

#include <string.h>

#include "src/analyze/estimate.h"
#include "src/base/fmt.h"
#include "src/view/report_priv.h"
#include "src/view/resident.h"

/*
 * What of it the allocator's own code has mapped, to make blocks of. glibc's calls no function of
 * that name for it.
 */
static uint64_t allocators(const struct heap *h)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < h->nr_map_sites && !heap_allocator_is_glibc(h); i++) {
		const struct heap_site *s = &h->map_sites[i];
		const struct heap_module *m = &h->modules[h->nodes[s->node].module];

		if (s->live_bytes > 0 && !strcmp(m->path, h->allocator.path))
			bytes += (uint64_t)s->live_bytes;
	}
	return bytes;
}

void heap_facts_mapped(struct table *t, const struct heap *h)
{
	uint64_t nr, bytes = heap_mapped_bytes(h, &nr), own = allocators(h);
	struct str s = STR_INIT;

	if (!bytes)
		return;
	str_addf(&s, "%s of address space in %s by mmap, ", fmt_bytes(bytes).s,
		 fmt_many(nr, "mapping").s);
	if (own)
		str_addf(&s, "%s by the allocator itself", own == bytes ? "all" : fmt_bytes(own).s);
	else
		str_add(&s, "beside the heap");
	facts_text(t, "mapped", &s);
	str_fini(&s);
}

void heap_facts_resident(struct table *t, const struct heap *h)
{
	struct heap_resident r;
	struct str s = STR_INIT;

	if (!heap_resident(h, &r))
		return;
	resident_text(h, &r, &s);
	facts_text(t, "RSS", &s);
	if (!h->import.tool) {	/* with another tool in it, whose part is not known */
		str_clear(&s);
		resident_parts_text(h, &r, &s);
		facts_text(t, "", &s);
	}
	str_clear(&s);
	resident_swap_text(h, &s);
	if (s.len)
		facts_text(t, "swapped", &s);
	str_clear(&s);
	resident_pss_text(h, &s);
	if (s.len)
		facts_text(t, "PSS", &s);
	str_fini(&s);
}

const char *heap_about(const struct heap *h)
{
	return h->mode == HEAP_SAMPLED ? "about " : "";
}

void heap_facts_calls(struct table *t, const struct heap *h, bool brief)
{
	/* a shorter run has none */
	double rate = !brief && report_run_ns(h) > h->tick_ns ? report_rate(h) : 0;
	struct str s = STR_INIT;

	if (h->kmod.sums) {
		str_addf(&s, "%s of %s, %s of %s", fmt_many(h->allocs, "allocation").s,
			 fmt_bytes(h->bytes_in).s, fmt_many(h->frees, "free").s,
			 fmt_bytes(h->bytes_out).s);
		if (h->kmod.lost_bytes)
			str_addf(&s, "; %s lost", fmt_bytes(h->kmod.lost_bytes).s);
	} else if (h->kmod.logged) {
		str_addf(&s, "%s, %s", fmt_many(h->allocs, "allocation").s,
			 fmt_many(h->frees, "free").s);
	} else if (h->allocs) {
		str_addf(&s, "%s%s of %s", heap_about(h),
			 fmt_many(h->allocs, "allocation").s, fmt_bytes(h->bytes_in).s);
		if (rate > 0)
			str_addf(&s, " (%s/s)", fmt_count_short(estimate_round(rate)).s);
		str_addf(&s, ", %s; %s temporary", fmt_many(h->frees, "free").s,
			 fmt_percent(h->temporary, h->allocs).s);
		if (!brief)
			str_addf(&s, ", mean %s", fmt_bytes(h->bytes_in / h->allocs).s);
	} else {
		str_addf(&s, "%s, %s",
			 h->mode == HEAP_SAMPLED ? "no allocation was in the sample"
						 : "no allocations",
			 fmt_many(h->frees, "free").s);
	}
	facts_text(t, "calls", &s);
	str_fini(&s);
}

static void unusual_rows(struct table *t, const struct heap *h)
{
	if (h->failed)
		facts_add(t, "failed", "%s answered with NULL", fmt_many(h->failed, "request").s);
	if (h->huge)
		facts_add(t, "huge", "%s of at least %s", fmt_many(h->huge, "request").s,
			  fmt_bytes(h->warn_size_bytes).s);
	if (h->skipped_allocs)
		facts_add(t, "skipped", "%s (%s) below %s", fmt_many(h->skipped_allocs, "block").s,
			  fmt_bytes(h->skipped_bytes).s, fmt_bytes(h->min_size_bytes).s);
}

struct table *heap_facts_summary(const struct heap *h)
{
	struct table *t = facts_new(NULL);

	if (!t)
		return NULL;
	facts_add(t, "peak", "%s%s", heap_about(h), report_peak(h).s);
	facts_add(t, "live at end", "%s%s in %s", heap_about(h), fmt_bytes(h->live_bytes).s,
		  fmt_many(h->live_blocks, "block").s);
	/* less than what is live is no more than the allocator's own */
	if (heap_mapped_bytes(h, NULL) > h->live_bytes)
		heap_facts_mapped(t, h);
	heap_facts_resident(t, h);
	heap_facts_calls(t, h, true);
	unusual_rows(t, h);
	return t;
}

struct table *heap_facts_summary_mapped(const struct heap *h)
{
	struct table *t = facts_new(NULL);

	if (!t)
		return NULL;
	if (heap_mapped_bytes(h, NULL) > h->live_bytes)
		heap_facts_mapped(t, h);
	heap_facts_resident(t, h);
	return t;
}
