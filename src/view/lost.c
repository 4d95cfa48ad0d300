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

/* ---- dropped events ---- */

struct agreeing {
	const char *one, *many; /* each with a %s, the count */
};

static const struct {
	const char *code;
	struct agreeing text[LOST_NR_READERS];
} drops[] = {
	[PMM_DROP_SITE_FULL] = { "stacks_dropped" },
	[PMM_DROP_BLOCK_FULL] = {
		"blocks_dropped",
		{ [LOST_REPORT] = {
			  "%s block was not recorded: the ledger reached its limit (pmm run "
			  "--ledger-limit)",
			  "%s blocks were not recorded: the ledger reached its limit (pmm run "
			  "--ledger-limit)" },
		  [LOST_SUMMARY] = { "%s block was not recorded: the ledger is full",
				     "%s blocks were not recorded: the ledger is full" } },
	},
	[PMM_DROP_CTX_FULL] = {
		"threads_dropped",
		{ [LOST_REPORT] = { "%s event of a thread was not recorded: too many at a time",
				    "%s events of threads were not recorded: too many at a time" },
		  [LOST_SUMMARY] = {
			  "%s event was not recorded: too many threads at once",
			  "%s events were not recorded: too many threads at once" } },
	},
	[PMM_DROP_NESTED] = {
		"nested_dropped",
		{ [LOST_REPORT] = { "%s event in nested signal handlers was not recorded",
				    "%s events in nested signal handlers were not recorded" },
		  [LOST_SUMMARY] = {
			  "%s event was not recorded: signal handlers nested too deep",
			  "%s events were not recorded: signal handlers nested too deep" } },
	},
	[PMM_DROP_MODULE_FULL] = {
		"modules_dropped",
		{ [LOST_REPORT] = { "%s library was not recorded: its frames have no names",
				    "%s libraries were not recorded: their frames have no names" },
		  [LOST_SUMMARY] = { "%s module was not recorded: there are too many",
				     "%s modules were not recorded: there are too many" } },
	},
	[PMM_DROP_ADDRESS] = {
		"addresses_dropped",
		{ [LOST_REPORT] = {
			  "%s block outside the usual address range was not recorded",
			  "%s blocks outside the usual address range were not recorded" },
		  [LOST_SUMMARY] = { "%s block was not recorded: unusual addresses",
				     "%s blocks were not recorded: unusual addresses" } },
	},
};
_Static_assert(sizeof(drops) / sizeof(*drops) == PMM_NR_DROPS, "words for each");

static const struct agreeing confined_text[LOST_NR_READERS] = {
	[LOST_REPORT] = { "%s block was not recorded", "%s blocks were not recorded" },
	[LOST_SUMMARY] = { "%s block was not recorded for this",
			   "%s blocks were not recorded for this" },
};

const char *lost_drop_code(unsigned drop)
{
	return drops[drop].code;
}

void lost_drop_text(struct str *to, unsigned drop, uint64_t count, bool confined,
		    enum lost_reader reader)
{
	const struct agreeing *text = confined ? &confined_text[reader]
					       : &drops[drop].text[reader];

	str_addf(to, fmt_agree(count, text->one, text->many), fmt_count(count).s);
}

/* ---- tracking that turned itself off ---- */

static const char *const off_text[][LOST_NR_READERS] = {
	[PMM_OFF_NO_ALLOCATOR] = { "no allocator was found",
				   "no allocator functions were found in it" },
	[PMM_OFF_NO_MEMORY] = { "no memory for the ledger", "there was no memory for the ledger" },
	[PMM_OFF_NO_SLOT] = { "too many processes at a time",
			      "more processes ran at once than there are ledgers" },
	[PMM_OFF_NOT_FOLLOWED] = { "children are not followed", "children are not followed" },
	[PMM_OFF_INTERNAL] = { "an internal error",
			       "the agent met something that it does not understand" },
	[PMM_OFF_MONITOR_GONE] = { "the pmm that was attached has ended or was stopped",
				   "pmm was stopped for too long" },
	[PMM_OFF_CONFINED] = { "the program put itself under seccomp",
			       "the program put itself under seccomp" },
};
_Static_assert(LOST_REPORT == 0 && LOST_SUMMARY == 1, "the order of each pair");

const char *lost_off_text(unsigned reason, enum lost_reader reader)
{
	return reason < sizeof(off_text) / sizeof(*off_text) ? off_text[reason][reader] : NULL;
}
