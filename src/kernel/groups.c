/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of groups, with the objects that the build has embedded. */
#include "src/kernel/groups.h"

#include "bpf/reclaim_abi.h"

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

static const char *const reclaim_spare[] = { "mm_vmscan_write_folio", "mm_vmscan_writepage", NULL };
OBJECT(oom);
OBJECT(files);

const struct kernel_group_info kernel_groups[KERNEL_NR_GROUPS] = {
	[KERNEL_LIFE] = { EMBEDDED(life) },
	[KERNEL_CALLS] = { EMBEDDED(calls) },
	[KERNEL_RECLAIM] = { EMBEDDED(reclaim), .spare = reclaim_spare },
	[KERNEL_COMPACTION] = { EMBEDDED(compaction), .varying = "mm_compaction_end" },
	[KERNEL_MIGRATE] = { EMBEDDED(migrate), .varying = "mm_migrate_pages" },
	[KERNEL_THP] = { EMBEDDED(thp), .varying = "mm_khugepaged_scan_pmd" },
	[KERNEL_FILES] = { EMBEDDED(files) },
	[KERNEL_OOM] = { EMBEDDED(oom), .varying = "mark_victim" },
};

const struct kernel_table_info kernel_tables[KERNEL_NR_TABLES] = {
	[KERNEL_TABLE_NONE] = { KERNEL_NR_GROUPS, "", 0, 0, 0 },
	[KERNEL_TABLE_SHRINKERS] = { KERNEL_RECLAIM, "reclaim_shrinkers", sizeof(uint64_t),
				     sizeof(struct reclaim_shrinker), 1 },
	[KERNEL_TABLE_LISTS] = { KERNEL_RECLAIM, "reclaim_lists", sizeof(uint32_t),
				 sizeof(struct reclaim_list), 1 },
};
