/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of the kinds of memory. */
#include "src/kernel/fault_area.h"

#include <stddef.h>

static const struct {
	const char *name, *text;
	bool swapped;
} areas[] = {
	[FAULT_UNKNOWN] = { "unknown", "not known", false },
	[FAULT_NOWHERE] = { "nowhere", "nothing mapped", false },
	[FAULT_ANONYMOUS] = { "anonymous", "anonymous", true },
	[FAULT_ADVISED] = { "anonymous_huge", "anonymous, huge pages advised", true },
	[FAULT_HEAP] = { "heap", "heap (brk)", true },
	[FAULT_STACK] = { "stack", "stack", true },
	[FAULT_STACK_GROWTH] = { "stack_growth", "stack, growing", true },
	[FAULT_FILE_PRIVATE] = { "private_file", "private file", false },
	[FAULT_FILE_SHARED] = { "shared_file", "shared file", false },
	[FAULT_SHMEM] = { "shared_memory", "shared memory", false },
	[FAULT_HUGETLB] = { "hugetlb", "hugetlb", false },
	[FAULT_SPECIAL] = { "special", "of the kernel's making", false },
};

_Static_assert(sizeof(areas) / sizeof(*areas) == FAULT_NR_AREAS, "each area has its names");

const char *fault_area_name(enum fault_area area)
{
	return areas[area].name;
}

const char *fault_area_text(enum fault_area area)
{
	return areas[area].text;
}

bool fault_area_is_swapped(enum fault_area area)
{
	return areas[area].swapped;
}

enum fault_area fault_area_of(const struct trace_record *r)
{
	uint64_t area = r->a[2] >> TRACE_FAULT_AREA_SHIFT;

	return area < FAULT_NR_AREAS ? (enum fault_area)area : FAULT_UNKNOWN;
}
