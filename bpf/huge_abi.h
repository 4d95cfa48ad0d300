/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a range became a huge page or did not: the kernel's enum scan_result by name, because its
 * numbers differ between kernels.
 */
#ifndef BPF_HUGE_ABI_H
#define BPF_HUGE_ABI_H

/* Of all kernels from 5.10 to 6.18; only ever appended to. */
#define HUGE_STATUSES(X)                                                                           \
	X(FAIL) X(SUCCEED) X(PMD_NULL) X(PMD_NONE) X(PMD_MAPPED) X(EXCEED_NONE_PTE)                \
	X(EXCEED_SWAP_PTE) X(EXCEED_SHARED_PTE) X(PTE_NON_PRESENT) X(PTE_UFFD_WP)                  \
	X(PTE_MAPPED_HUGEPAGE) X(PAGE_RO) X(LACK_REFERENCED_PAGE) X(PAGE_NULL) X(SCAN_ABORT)       \
	X(PAGE_COUNT) X(PAGE_LRU) X(PAGE_LOCK) X(PAGE_ANON) X(PAGE_COMPOUND) X(ANY_PROCESS)        \
	X(VMA_NULL) X(VMA_CHECK) X(ADDRESS_RANGE) X(SWAP_CACHE_PAGE) X(DEL_PAGE_LRU)               \
	X(ALLOC_HUGE_PAGE_FAIL) X(CGROUP_CHARGE_FAIL) X(TRUNCATED) X(PAGE_HAS_PRIVATE)             \
	X(STORE_FAILED) X(COPY_MC) X(PAGE_FILLED)

#define HUGE_STATUS(name) HUGE_##name,
enum huge_status {
	HUGE_UNKNOWN,		/* none of these */
	HUGE_STATUSES(HUGE_STATUS)
	HUGE_NR_STATUSES
};
#undef HUGE_STATUS

#endif
