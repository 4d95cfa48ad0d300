/* SPDX-License-Identifier: MIT */
/*
 * Which function releases what which one allocated.
 */
#include "agent/check/pair.h"

#include "agent/sys.h"
#include "include/pmm/check.h"
#include "include/pmm/ledger.h"

enum family {
	FAMILY_NONE,
	FAMILY_MALLOC,
	FAMILY_NEW,
	FAMILY_NEW_ARRAY,
	FAMILY_NEW_ALIGNED,
	FAMILY_NEW_ARRAY_ALIGNED
};

static const uint8_t family_of_kind[PMM_NR_KINDS] = {
	[PMM_KIND_MALLOC] = FAMILY_MALLOC,
	[PMM_KIND_CALLOC] = FAMILY_MALLOC,
	[PMM_KIND_REALLOC] = FAMILY_MALLOC,
	[PMM_KIND_REALLOCARRAY] = FAMILY_MALLOC,
	[PMM_KIND_POSIX_MEMALIGN] = FAMILY_MALLOC,
	[PMM_KIND_ALIGNED_ALLOC] = FAMILY_MALLOC,
	[PMM_KIND_MEMALIGN] = FAMILY_MALLOC,
	[PMM_KIND_VALLOC] = FAMILY_MALLOC,
	[PMM_KIND_PVALLOC] = FAMILY_MALLOC,
	[PMM_KIND_NEW] = FAMILY_NEW,
	[PMM_KIND_NEW_ARRAY] = FAMILY_NEW_ARRAY,
	[PMM_KIND_NEW_ALIGNED] = FAMILY_NEW_ALIGNED,
	[PMM_KIND_NEW_ARRAY_ALIGNED] = FAMILY_NEW_ARRAY_ALIGNED,
};

static const uint8_t family_of_release[PMM_NR_RELEASES] = {
	[PMM_RELEASE_FREE] = FAMILY_MALLOC,
	[PMM_RELEASE_REALLOC] = FAMILY_MALLOC,
	[PMM_RELEASE_DELETE] = FAMILY_NEW,
	[PMM_RELEASE_DELETE_SIZED] = FAMILY_NEW,
	[PMM_RELEASE_DELETE_ARRAY] = FAMILY_NEW_ARRAY,
	[PMM_RELEASE_DELETE_ARRAY_SIZED] = FAMILY_NEW_ARRAY,
	[PMM_RELEASE_DELETE_ALIGNED] = FAMILY_NEW_ALIGNED,
	[PMM_RELEASE_DELETE_SIZED_ALIGNED] = FAMILY_NEW_ALIGNED,
	[PMM_RELEASE_DELETE_ARRAY_ALIGNED] = FAMILY_NEW_ARRAY_ALIGNED,
	[PMM_RELEASE_DELETE_ARRAY_SIZED_ALIGNED] = FAMILY_NEW_ARRAY_ALIGNED,
};

/*
 * Sizes of arrays are not compared: what compilers say of one without an element count before it
 * differs.
 */
bool pair_disagrees(uint32_t kind, size_t size, size_t align, const struct check_said *said,
		    uint64_t *other)
{
	*other = 0;
	if (unlikely(family_of_kind[kind] != family_of_release[said->how]))
		return kind != PMM_KIND_NONE;
	if (likely(kind < PMM_KIND_NEW))
		return false;
	if (kind != PMM_KIND_NEW_ARRAY && kind != PMM_KIND_NEW_ARRAY_ALIGNED &&
	    said->size != SIZE_MAX && said->size != size)
		return *other = said->size, true;
	if (said->align && align && said->align != align)
		return *other = said->align, true;
	return false;
}
