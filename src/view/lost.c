/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What could not be charged to its stack, in words. */
#include "src/view/lost.h"

#include "include/pmm/ledger.h"
#include "src/base/fmt.h"

/* the last piece that did not fit was smaller; and the last eighth is for blocks */
#define NEAR_BYTES (2ull << 20)

bool lost_any(const struct heap *h)
{
	return h->dropped[PMM_DROP_SITE_FULL] || h->dropped[PMM_DROP_BLOCK_FULL];
}

uint64_t lost_stacks(const struct heap *h)
{
	return h->dropped[PMM_DROP_SITE_FULL] ? h->sites[0].allocs : 0;
}

/* Why there was no room. */
static void add_reason(const struct heap *h, struct str *to)
{
	if (h->off_reason == PMM_OFF_NO_GROWTH)
		str_add(to, "the ledger could not grow any more");
	else if (h->nr_sites + h->nr_map_sites >= PMM_MAX_SITES)
		str_addf(to, "the ledger has room for %s stacks", fmt_count(PMM_MAX_SITES - 1).s);
	else if (h->ledger_bytes + NEAR_BYTES >= h->ledger_limit_bytes - h->ledger_limit_bytes / 8)
		str_addf(to, "the ledger was at its limit of %s; raise --ledger-limit",
			 fmt_bytes(h->ledger_limit_bytes).s);
	else
		str_add(to, "there was no memory left for the ledger");
}

void lost_stacks_text(const struct heap *h, struct str *to)
{
	const char *about = h->mode == HEAP_SAMPLED ? "about " : "";
	uint64_t allocs = lost_stacks(h), dropped = h->dropped[PMM_DROP_SITE_FULL];

	if (allocs)
		str_addf(to, "%s%s of %s (%s live) could not be charged to a stack: ", about,
			 fmt_count(allocs).s, fmt_many(h->allocs, "allocation").s,
			 fmt_bytes((uint64_t)h->sites[0].live_bytes).s);
	else
		str_addf(to, "%s could not be charged to a stack: ",
			 fmt_many(dropped, "event").s);
	add_reason(h, to);
	if (allocs && h->mode == HEAP_EXACT && dropped > allocs)
		str_addf(to, " (nor could %s or other %s)", fmt_many(dropped - allocs, "release").s,
			 fmt_agree(dropped - allocs, "event", "events"));
}
