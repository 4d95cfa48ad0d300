/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What could not be charged to its stack, in words. */
#include "src/view/lost.h"

#include "include/pmm/ledger.h"
#include "src/base/fmt.h"
#include "src/kernel/event_class.h"

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

static const struct {
	const char *code;
	const char *one, *many; /* each with a %s, the count */
} drops[] = {
	[PMM_DROP_SITE_FULL] = { "stacks_dropped", NULL, NULL },
	[PMM_DROP_BLOCK_FULL] = {
		"blocks_dropped",
		"%s block was not recorded: the ledger reached its limit (--ledger-limit)",
		"%s blocks were not recorded: the ledger reached its limit (--ledger-limit)",
	},
	[PMM_DROP_CTX_FULL] = {
		"threads_dropped",
		"%s event was not recorded: too many threads at a time",
		"%s events were not recorded: too many threads at a time",
	},
	[PMM_DROP_NESTED] = {
		"nested_dropped",
		"%s event was not recorded: signal handlers nested too deep",
		"%s events were not recorded: signal handlers nested too deep",
	},
	[PMM_DROP_MODULE_FULL] = {
		"modules_dropped",
		"%s library was not recorded: its frames have no names",
		"%s libraries were not recorded: their frames have no names",
	},
	[PMM_DROP_ADDRESS] = {
		"addresses_dropped",
		"%s block was not recorded: its address is outside the usual range",
		"%s blocks were not recorded: their addresses are outside the usual range",
	},
};
_Static_assert(sizeof(drops) / sizeof(*drops) == PMM_NR_DROPS, "a sentence for each");

const char *lost_drop_code(unsigned drop)
{
	return drops[drop].code;
}

/* There may be so many contexts; one takes room in the ledger. */
static bool no_room_for_threads(const struct heap *h)
{
	return h->nr_threads < PMM_MAX_CTX;
}

void lost_drop_text(const struct heap *h, unsigned drop, struct str *to)
{
	const char *one = drops[drop].one, *many = drops[drop].many;
	const uint64_t count = h->dropped[drop];

	if (drop == PMM_DROP_CTX_FULL && no_room_for_threads(h)) {
		str_addf(to, fmt_agree(count, "%s event was not recorded, of a thread ",
				       "%s events were not recorded, of threads "),
			 fmt_count(count).s);
		str_add(to, "that the ledger had no room for: ");
		add_reason(h, to);
		return;
	}
	if (drop == PMM_DROP_BLOCK_FULL && h->off_reason == PMM_OFF_NO_GROWTH) {
		one = "%s block was not recorded: the ledger could not grow any more";
		many = "%s blocks were not recorded: the ledger could not grow any more";
	}
	str_addf(to, fmt_agree(count, one, many), fmt_count(count).s);
}

uint64_t lost_calls(const struct heap *h)
{
	return h->dropped[PMM_DROP_BLOCK_FULL] + h->dropped[PMM_DROP_CTX_FULL] +
	       h->dropped[PMM_DROP_NESTED] + h->dropped[PMM_DROP_ADDRESS];
}

void lost_space_text(struct str *to, uint64_t taken_bytes)
{
	str_addf(to,
		 "the limit on address space (ulimit -v) cannot be raised; %s of it go to the "
		 "ledger, and allocations that would need them fail",
		 fmt_bytes(taken_bytes).s);
}

void lost_own_text(struct str *to, const struct heap *h)
{
	const char *function = h->own_function;

	if (h->own_calls < 2)
		str_add(to, "the program");
	else if (h->own_caller && h->own_caller[0])
		str_addf(to, "%s, loaded later,", str_basename(h->own_caller));
	else
		str_add(to, "a library, loaded later,");
	str_addf(to,
		 " calls %s%s of its allocator's own: what it allocates and releases so is not "
		 "recorded",
		 function ? function : "functions", function ? "(), a function" : "");
}

/* ---- tracking that ended early ---- */

static const char *const off_reason[] = {
	[PMM_OFF_NO_ALLOCATOR] = "no allocator functions were found in the program",
	[PMM_OFF_NO_MEMORY] = "no memory for the ledger",
	[PMM_OFF_NO_SLOT] = "too many processes at a time",
	[PMM_OFF_NOT_FOLLOWED] = "children are not followed",
	[PMM_OFF_INTERNAL] = "an internal error",
	[PMM_OFF_MONITOR_GONE] = "pmm has ended or was stopped for too long",
	[PMM_OFF_CONFINED] = "the program put itself under seccomp",
};

const char *lost_off_text(const struct heap *h, struct str *to)
{
	const unsigned off = (unsigned)h->off_reason;
	const char *reason = off < sizeof(off_reason) / sizeof(*off_reason) ? off_reason[off]
									    : NULL;

	switch (off) {
	case PMM_OFF_NONE:
		return NULL;
	case PMM_OFF_OWN_ALLOCATOR:
		if (h->allocs)	/* its malloc leads to ours after all */
			return NULL;
		str_add(to, "the program has its own malloc, which precedes pmm's: its heap is "
			    "not recorded");
		return "own_allocator";
	case PMM_OFF_NO_GROWTH:
		str_add(to, "the ledger could not grow any more: the program put itself under "
			    "seccomp, and its filter does not simply allow mprotect and madvise");
		return "confined";
	case PMM_OFF_NO_CHILDREN:
		str_add(to, "the program put itself under seccomp, and its filter does not allow "
			    "what a ledger takes: processes that it started since, and programs "
			    "that it or they executed, are not tracked");
		return "children_closed";
	default:
		str_addf(to, "tracking stopped early%s%s%s; what came after is missing",
			 reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
		return "tracking_stopped";
	}
}

/* ---- events of the kernel ---- */

static const struct {
	const char *code;
	const char *one, *many; /* each with a %s, the count */
} kernel[LOST_KERNEL_NR] = {
	[LOST_KERNEL_UNSEEN] = { "kernel_events_not_seen", NULL, NULL },
	[LOST_KERNEL_RING] = {
		"kernel_events_lost",
		"%s kernel event was lost: pmm did not read the ring in time, and it was full",
		"%s kernel events were lost: pmm did not read the ring in time, and it was full",
	},
	[LOST_KERNEL_TABLE] = {
		"kernel_events_dropped",
		"%s kernel event was lost: a table was full, or a program interrupted itself",
		"%s kernel events were lost: a table was full, or a program interrupted itself",
	},
	[LOST_KERNEL_ROWS] = {
		"kernel_rows_full",
		"%s kernel event is in no table by line or stack: they are full",
		"%s kernel events are in no table by line or stack: they are full",
	},
	[LOST_KERNEL_BINS] = {
		"kernel_bins_full",
		"%s kernel event is not on the time line, which is full",
		"%s kernel events are not on the time line, which is full",
	},
};

const char *lost_kernel_code(enum lost_kernel what)
{
	return kernel[what].code;
}

uint64_t lost_kernel(const struct heap *h, enum lost_kernel what)
{
	uint64_t lost = 0, dropped = 0;

	for (uint32_t i = 0; i < h->nr_kernel_kinds; i++) {
		lost += h->kernel_kinds[i].lost;
		dropped += h->kernel_kinds[i].dropped;
	}
	switch (what) {
	case LOST_KERNEL_UNSEEN:
		return (uint64_t)__builtin_popcountll(h->kernel.unseen_classes);
	case LOST_KERNEL_RING:
		return lost;
	case LOST_KERNEL_TABLE:
		return dropped;
	case LOST_KERNEL_ROWS:
		return h->kernel.rows_lost;
	case LOST_KERNEL_BINS:
		return h->kernel.bins_lost;
	}
	return 0;
}

void lost_kernel_classes(struct str *to, uint64_t classes)
{
	const uint32_t known = (1u << EVENT_NR_CLASSES) - 1;

	event_classes_names(to, (uint32_t)classes & known);
	if (classes >> EVENT_NR_CLASSES) /* of a newer pmm */
		str_addf(to, "%sothers", classes & known ? ", " : "");
}

void lost_kernel_text(const struct heap *h, enum lost_kernel what, struct str *to)
{
	uint64_t nr = lost_kernel(h, what);

	if (what != LOST_KERNEL_UNSEEN) {
		str_addf(to, fmt_agree(nr, kernel[what].one, kernel[what].many), fmt_count(nr).s);
		return;
	}
	str_add(to, "kernel events that were not seen, or in part: ");
	lost_kernel_classes(to, h->kernel.unseen_classes);
	if (*h->kernel.unseen)
		str_addf(to, " (%s)", h->kernel.unseen);
}
