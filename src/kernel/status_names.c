/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * include/linux/compaction.h, migrate_mode.h, mmzone.h and mm/khugepaged.c; numbers have been the
 * same from 5.10 to 6.18, those of huge pages are made so in the kernel (bpf/huge_abi.h).
 */
#include "src/kernel/status_names.h"

#include <stddef.h>

#include "bpf/compaction_abi.h"
#include "bpf/huge_abi.h"

#define NAME_OF(names, i) name_of(names, sizeof(names) / sizeof(*(names)), i)

static const char *name_of(const char *const *names, size_t nr, uint64_t i)
{
	return i < nr && names[i] ? names[i] : "unknown";
}

const char *compaction_status_name(uint64_t status)
{
	static const char *const names[] = {
		"not_suitable_zone", "skipped", "deferred", "no_suitable_page", "continue",
		"complete", "partial_skipped", "contended", "success",
	};

	return NAME_OF(names, status);
}

const char *migrate_mode_name(uint64_t mode)
{
	static const char *const names[] = {
		"async", "sync_light", "sync", "sync_no_copy",
		[TRACE_MODE_SYNC] = "sync or sync_light",
	};

	return NAME_OF(names, mode);
}

const char *migrate_reason_name(uint64_t reason)
{
	static const char *const names[] = {
		"compaction", "memory_failure", "memory_hotplug", "syscall_or_cpuset",
		"mempolicy_mbind", "numa_misplaced", "contig_range", "longterm_pin", "demotion",
		"damon",
	};

	return NAME_OF(names, reason);
}

const char *throttle_reason_name(uint64_t reason)
{
	static const char *const names[] = {
		"writeback", "isolated", "noprogress", "congested",
	};

	return NAME_OF(names, reason);
}

const char *huge_status_name(uint64_t status)
{
	static const char *const names[HUGE_NR_STATUSES] = {
		[HUGE_FAIL] = "failed",
		[HUGE_SUCCEED] = "succeeded",
		[HUGE_PMD_NULL] = "pmd_null",
		[HUGE_PMD_NONE] = "pmd_none",
		[HUGE_PMD_MAPPED] = "page_pmd_mapped",
		[HUGE_EXCEED_NONE_PTE] = "exceed_none_pte",
		[HUGE_EXCEED_SWAP_PTE] = "exceed_swap_pte",
		[HUGE_EXCEED_SHARED_PTE] = "exceed_shared_pte",
		[HUGE_PTE_NON_PRESENT] = "pte_non_present",
		[HUGE_PTE_UFFD_WP] = "pte_uffd_wp",
		[HUGE_PTE_MAPPED_HUGEPAGE] = "pte_mapped_hugepage",
		[HUGE_PAGE_RO] = "no_writable_page",
		[HUGE_LACK_REFERENCED_PAGE] = "lack_referenced_page",
		[HUGE_PAGE_NULL] = "page_null",
		[HUGE_SCAN_ABORT] = "scan_aborted",
		[HUGE_PAGE_COUNT] = "not_suitable_page_count",
		[HUGE_PAGE_LRU] = "page_not_in_lru",
		[HUGE_PAGE_LOCK] = "page_locked",
		[HUGE_PAGE_ANON] = "page_not_anon",
		[HUGE_PAGE_COMPOUND] = "page_compound",
		[HUGE_ANY_PROCESS] = "no_process_for_page",
		[HUGE_VMA_NULL] = "vma_null",
		[HUGE_VMA_CHECK] = "vma_check_failed",
		[HUGE_ADDRESS_RANGE] = "not_suitable_address_range",
		[HUGE_SWAP_CACHE_PAGE] = "page_swap_cache",
		[HUGE_DEL_PAGE_LRU] = "could_not_delete_page_from_lru",
		[HUGE_ALLOC_HUGE_PAGE_FAIL] = "alloc_huge_page_failed",
		[HUGE_CGROUP_CHARGE_FAIL] = "cgroup_charge_failed",
		[HUGE_TRUNCATED] = "truncated",
		[HUGE_PAGE_HAS_PRIVATE] = "page_has_private",
		[HUGE_STORE_FAILED] = "store_failed",
		[HUGE_COPY_MC] = "copy_poisoned_page",
		[HUGE_PAGE_FILLED] = "page_filled",
	};

	return NAME_OF(names, status);
}
