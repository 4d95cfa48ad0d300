/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which classes of events have a section. */
#include "src/view/trace/trace_sections.h"

trace_section *const trace_sections[EVENT_NR_CLASSES] = {
	[EVENT_FAULTS] = trace_section_faults,
	[EVENT_MAJOR] = trace_section_major,
	[EVENT_SWAP] = trace_section_swap,
	[EVENT_RECLAIM] = trace_reclaim_section,
	[EVENT_COMPACTION] = trace_compaction_section,
	[EVENT_MIGRATE] = trace_migrate_section,
	[EVENT_THP] = trace_thp_section,
	[EVENT_STACK] = trace_section_stack,
	[EVENT_KERNEL] = trace_section_kernel,
	[EVENT_RSS] = trace_section_rss,
	[EVENT_CACHE] = trace_section_cache,
	[EVENT_PMC] = trace_section_pmc,
	[EVENT_HEAP] = trace_section_heap,
	[EVENT_LIBC] = trace_section_libc,
};
