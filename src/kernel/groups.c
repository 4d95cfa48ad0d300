/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of groups, with the objects that the build has embedded. */
#include "src/kernel/groups.h"

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

const struct kernel_group_info kernel_groups[KERNEL_NR_GROUPS] = {
	[KERNEL_LIFE] = { EMBEDDED(life) },
	[KERNEL_CALLS] = { EMBEDDED(calls) },
};

const struct kernel_table_info kernel_tables[KERNEL_NR_TABLES] = {
	[KERNEL_TABLE_NONE] = { KERNEL_NR_GROUPS, "", 0, 0, 0 },
};
