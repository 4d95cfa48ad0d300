/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel module's log lacks, in words. */
#include "src/view/kmod/kmod_lost.h"

#include <stddef.h>

#include "src/base/fmt.h"

static const struct {
	const char *code;
	size_t field;			/* in struct heap_kmod */
	const char *one, *many;		/* each with a %s, the count */
} lost[] = {
	[KMOD_LOST_OVERFLOWS] = {
		"ring_overflows", offsetof(struct heap_kmod, overflows),
		"%s record was lost: the ring was full. Its allocation or free is not in the "
		"log",
		"%s records were lost: the ring was full. Their allocations and frees are not in "
		"the log",
	},
	[KMOD_LOST_TORN] = {
		"records_torn", offsetof(struct heap_kmod, torn),
		"%s record was begun and never finished: its thread was killed or stopped",
		"%s records were begun and never finished: their threads were killed or stopped",
	},
	[KMOD_LOST_BAD] = {
		"records_bad", offsetof(struct heap_kmod, bad),
		"%s record made no sense and was left out",
		"%s records made no sense and were left out",
	},
	[KMOD_LOST_OVER_LIMIT] = {
		"entries_over_limit", offsetof(struct heap_kmod, over_limit),
		"%s allocation is not in the log: it had as many entries as it may",
		"%s allocations are not in the log: it had as many entries as it may",
	},
	[KMOD_LOST_EVICTED] = {
		"entries_evicted", offsetof(struct heap_kmod, evicted),
		"%s allocation is not in the log any more: memory was short, and the oldest entry "
		"gave way",
		"%s allocations are not in the log any more: memory was short, and the oldest "
		"entries gave way",
	},
	[KMOD_LOST_NO_MEMORY] = {
		"entries_no_memory", offsetof(struct heap_kmod, no_memory),
		"%s allocation is not in the log: the kernel had no memory for its entry",
		"%s allocations are not in the log: the kernel had no memory for their entries",
	},
	[KMOD_LOST_SITES] = {
		"places_lost", offsetof(struct heap_kmod, sites_lost),
		"%s record has no place in the source: there are more places than numbers",
		"%s records have no place in the source: there are more places than numbers",
	},
	[KMOD_LOST_REPLACED] = {
		"entries_replaced", offsetof(struct heap_kmod, replaced),
		"%s entry was replaced: its address was given out again, and no free of it had "
		"been logged",
		"%s entries were replaced: their addresses were given out again, and no frees of "
		"them had been logged",
	},
	[KMOD_LOST_FOREIGN] = {
		"foreign_frees", offsetof(struct heap_kmod, foreign_frees),
		"%s free was of memory that the log did not have: from before monitoring began, "
		"or a wrong pointer",
		"%s frees were of memory that the log did not have: from before monitoring began, "
		"or wrong pointers",
	},
	[KMOD_LOST_DOUBLE] = {
		"double_frees", offsetof(struct heap_kmod, double_frees),
		"%s free was of memory that had been freed shortly before",
		"%s frees were of memory that had been freed shortly before",
	},
};
_Static_assert(sizeof(lost) / sizeof(*lost) == KMOD_LOST_NR, "a sentence for each");

uint64_t kmod_lost(const struct heap_kmod *k, enum kmod_lost what)
{
	return *(const uint64_t *)((const char *)k + lost[what].field);
}

const char *kmod_lost_code(enum kmod_lost what)
{
	return lost[what].code;
}

void kmod_lost_text(struct str *to, enum kmod_lost what, uint64_t count)
{
	str_addf(to, fmt_agree(count, lost[what].one, lost[what].many), fmt_count(count).s);
}

bool kmod_lost_any(const struct heap_kmod *k)
{
	for (enum kmod_lost i = 0; i <= KMOD_LOST_NO_MEMORY; i++)
		if (kmod_lost(k, i))
			return true;
	return false;
}
