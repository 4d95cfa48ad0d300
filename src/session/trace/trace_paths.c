/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file is in its table before the first record of it is in the ring. */
#include "src/session/trace/trace_paths.h"

bool trace_paths_has(const struct trace_record *r)
{
	return (r->kind == TRACE_FAULT || r->kind == TRACE_FAULT_MAJOR) && r->a[4];
}

const char *trace_paths_find(struct fault_names *n, struct kernel_source *source,
			     const struct trace_record *r)
{
	enum kernel_table table = r->kind == TRACE_FAULT ? KERNEL_TABLE_FAULT_FILES
							 : KERNEL_TABLE_MAJOR_FILES;
	struct fault_file_key key = { .inode = r->a[4], .device = r->a[3] };
	const char *path = fault_names_find(n, key.device, key.inode);
	struct fault_file file;

	/* want of memory: lines lack the path, and the result says so */
	if (!path && !kernel_source_find(source, table, &key, &file) &&
	    !fault_names_add(n, &key, &file))
		path = fault_names_find(n, key.device, key.inode);
	return path ? path : "";
}
