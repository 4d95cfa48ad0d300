/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of files that page faults were of, by device and inode. */
#ifndef ANALYZE_TRACE_FAULT_NAMES_H
#define ANALYZE_TRACE_FAULT_NAMES_H

#include "src/base/hash.h"
#include "src/kernel/fault_area.h"
#include "src/kernel/kernel_rows.h"

struct fault_names {
	struct hash_map at;		/* of device and inode: number of the path */
	struct intern paths;
};

/* Add a file. 0 or -ENOMEM. */
int fault_names_add(struct fault_names *n, const struct fault_file_key *key,
		    const struct fault_file *file);

/* Add the files of a table (KERNEL_TABLE_FAULT_FILES, KERNEL_TABLE_MAJOR_FILES). 0 or -ENOMEM. */
int fault_names_add_rows(struct fault_names *n, const struct kernel_rows *rows);

/* The path; NULL: not known. */
const char *fault_names_find(const struct fault_names *n, uint32_t device, uint64_t inode);

void fault_names_fini(struct fault_names *n);

#endif
