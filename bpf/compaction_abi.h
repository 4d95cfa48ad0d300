/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in records of compaction beyond the kernel's own. */
#ifndef BPF_COMPACTION_ABI_H
#define BPF_COMPACTION_ABI_H

#define TRACE_ORDER_WHOLE	((__u64)-1)	/* the kernel's: a whole zone, for no allocation */
#define TRACE_ORDER_UNKNOWN	((__u64)-2)

/* Synchronous, light or full is not known; others are the kernel's enum migrate_mode. */
#define TRACE_MODE_SYNC		16

#endif
