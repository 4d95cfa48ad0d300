/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the figures of a log promise (kmod/pmm_log.h), for its tests and fuzzers. */
#ifndef TESTS_UNIT_KMOD_SUM_H
#define TESTS_UNIT_KMOD_SUM_H

#include "kmod/pmm_log.h"

static inline bool kmod_adds_up(const struct pmm_log *log)
{
	const struct pmm_log_counts *c = &log->counts;

	return c->allocations == log->entries + c->frees + c->replaced + c->evicted +
					 c->over_limit + c->no_memory &&
	       c->allocated_bytes == log->bytes + c->freed_bytes + c->lost_bytes &&
	       c->peak_entries >= log->entries && c->evicted_frees <= c->evicted;
}

#endif
