/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of groups, with the objects that the build has embedded. */
#include "src/kernel/groups.h"

#include <linux/perf_event.h>

#include "bpf/faults_abi.h"
#include "bpf/kmem_abi.h"
#include "bpf/pages_abi.h"
#include "bpf/reclaim_abi.h"
#include "bpf/stack_abi.h"

#ifdef PMM_BPF
#define OBJECT(name)                                                                               \
	extern const unsigned char bpf_object_##name[], bpf_object_##name##_end[]
#define EMBEDDED(name_) .name = #name_, .object = bpf_object_##name_,                              \
			.object_end = bpf_object_##name_##_end
#else
#define OBJECT(name)	struct name
#define EMBEDDED(name_) .name = #name_
#endif

OBJECT(life);
OBJECT(calls);
OBJECT(reclaim);
OBJECT(compaction);
OBJECT(migrate);
OBJECT(thp);
OBJECT(oom);
OBJECT(files);
OBJECT(stack);
OBJECT(kmem);
OBJECT(rss);
OBJECT(cache);
OBJECT(libc);

static const char *const reclaim_spare[] = { "mm_vmscan_write_folio", "mm_vmscan_writepage", NULL };
static const char *const kmem_spare[] = { "kmalloc_node", "kmem_cache_alloc_node",
					  "rcu_invoke_kfree_bulk_callback", NULL };
OBJECT(faults);
OBJECT(major);
OBJECT(pmc);

static const struct group_helper find_vma = {
	"BPF_FUNC_find_vma", "_with_areas", "_without_areas",
	"this kernel (before 5.17) cannot look up areas of memory: faults are of the heap, of the "
	"stack, or of an area that is not known, and have no file",
};

static const struct group_helper find_stack = {
	"BPF_FUNC_find_vma", "_with_areas", "_without_areas",
	"this kernel (before 5.17) cannot look up areas of memory: of stacks, the first thread's "
	"is known, without what the kernel writes to it",
};

static const struct group_perf major_perf[] = {
	{ "major_with_areas", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1 },
	{ "major_without_areas", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1 },
	{ 0 }
};

#define DTLB_LOAD_MISSES                                                                           \
	(PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 |                             \
	 PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

/* Some hundred to thousand samples a second of a busy processor. */
const struct group_perf kernel_counters[KERNEL_NR_COUNTERS + 1] = {
	{ "pmc_cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 10000000, TRACE_CYCLES },
	{ "pmc_instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 10000000,
	  TRACE_INSTRUCTIONS },
	{ "pmc_llc_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 100000,
	  TRACE_LLC_REFERENCES },
	{ "pmc_llc_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 10000,
	  TRACE_LLC_MISSES },
	{ "pmc_dtlb_misses", PERF_TYPE_HW_CACHE, DTLB_LOAD_MISSES, 10000, TRACE_DTLB_MISSES },
	{ "pmc_cpu_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000, TRACE_CPU_CLOCK },
	{ "pmc_page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, TRACE_PAGE_FAULTS },
	{ 0 }
};

uint32_t kernel_hardware_counters(void)
{
	uint32_t counters = 0;

	for (unsigned i = 0; i < KERNEL_NR_COUNTERS; i++)
		if (kernel_counters[i].type != PERF_TYPE_SOFTWARE)
			counters |= 1u << i;
	return counters;
}

const struct kernel_group_info kernel_groups[KERNEL_NR_GROUPS] = {
	[KERNEL_LIFE] = { EMBEDDED(life) },
	[KERNEL_CALLS] = { EMBEDDED(calls) },
	[KERNEL_RECLAIM] = { EMBEDDED(reclaim), .spare = reclaim_spare },
	[KERNEL_COMPACTION] = { EMBEDDED(compaction), .varying = "mm_compaction_end" },
	[KERNEL_MIGRATE] = { EMBEDDED(migrate), .varying = "mm_migrate_pages" },
	[KERNEL_THP] = { EMBEDDED(thp), .varying = "mm_khugepaged_scan_pmd" },
	[KERNEL_STACK] = { EMBEDDED(stack), .helper = &find_stack, .meets_itself = true },
	[KERNEL_FILES] = { EMBEDDED(files) },
	[KERNEL_OOM] = { EMBEDDED(oom), .varying = "mark_victim" },
	[KERNEL_KMEM] = { EMBEDDED(kmem), .spare = kmem_spare },
	[KERNEL_RSS] = { EMBEDDED(rss), .varying = "rss_stat" },
	[KERNEL_CACHE] = { EMBEDDED(cache) },
	[KERNEL_FAULTS] = { EMBEDDED(faults), .helper = &find_vma, .meets_itself = true },
	[KERNEL_MAJOR] = { EMBEDDED(major), .perf = major_perf, .helper = &find_vma },
	[KERNEL_PMC] = { EMBEDDED(pmc), .perf = kernel_counters },
	[KERNEL_LIBC] = { EMBEDDED(libc), .libc_probes = true },
};

const struct kernel_table_info kernel_tables[KERNEL_NR_TABLES] = {
	[KERNEL_TABLE_NONE] = { .group = KERNEL_NR_GROUPS, .map = "" },
	[KERNEL_TABLE_SHRINKERS] = { KERNEL_RECLAIM, "reclaim_shrinkers", sizeof(uint64_t),
				     sizeof(struct reclaim_shrinker), .summed = true },
	[KERNEL_TABLE_LISTS] = { KERNEL_RECLAIM, "reclaim_lists", sizeof(uint32_t),
				 sizeof(struct reclaim_list), .summed = true },
	[KERNEL_TABLE_KMEM_SITES] = { KERNEL_KMEM, "kmem_sites", sizeof(uint64_t),
				      sizeof(struct kmem_site) },
	[KERNEL_TABLE_KMEM_CACHES] = { KERNEL_KMEM, "kmem_caches", sizeof(uint64_t),
				       sizeof(struct kmem_cache_info) },
	[KERNEL_TABLE_KMEM_COUNTS] = { KERNEL_KMEM, "kmem_counts", sizeof(uint32_t),
				       sizeof(struct kmem_counts), .summed = true,
				       .lasting = true },
	[KERNEL_TABLE_KMEM_OBJECTS] = { KERNEL_KMEM, "kmem_objects", sizeof(uint64_t),
					sizeof(struct kmem_object), .large = true },
	[KERNEL_TABLE_RSS] = { KERNEL_RSS, "rss_processes", sizeof(uint32_t),
			       sizeof(struct rss_process) },
	[KERNEL_TABLE_CACHE_FILES] = { KERNEL_CACHE, "cache_files", sizeof(struct cache_file_key),
				       sizeof(struct cache_file) },
	[KERNEL_TABLE_CACHE_USERS] = { KERNEL_CACHE, "cache_users", sizeof(struct cache_user_key),
				       sizeof(struct cache_user) },
	[KERNEL_TABLE_FAULTS] = { KERNEL_FAULTS, "fault_rows", sizeof(struct fault_key),
				  sizeof(struct fault_row),
				  .counted_bytes = offsetof(struct fault_row, comm) },
	/* libbpf calls a shared map as it was created */
	[KERNEL_TABLE_FAULT_PROGRAMS] = { KERNEL_FAULTS, "pmm_programs",
					  sizeof(struct fault_program_key),
					  sizeof(struct fault_program), .large = true },
	[KERNEL_TABLE_FAULT_FILES] = { KERNEL_FAULTS, "files", sizeof(struct fault_file_key),
				       sizeof(struct fault_file) },
	[KERNEL_TABLE_MAJOR] = { KERNEL_MAJOR, "major_rows", sizeof(struct fault_key),
				 sizeof(struct major_row),
				 .counted_bytes = offsetof(struct major_row, comm) },
	[KERNEL_TABLE_STACKS] = { KERNEL_STACK, "stack_threads", sizeof(struct stack_key),
				  sizeof(struct stack_row) },
	[KERNEL_TABLE_CALL_FILES] = { KERNEL_CALLS, "files", sizeof(struct fault_file_key),
				      sizeof(struct fault_file) },
	[KERNEL_TABLE_MAJOR_FILES] = { KERNEL_MAJOR, "files", sizeof(struct fault_file_key),
				       sizeof(struct fault_file) },
};
