/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file is in its table before the first record of it is in the ring. */
#include "src/session/trace/trace_paths.h"

bool trace_paths_has(const struct trace_record *r)
{
	if (r->kind == TRACE_MMAP)
		return r->a[7];
	return (r->kind == TRACE_FAULT || r->kind == TRACE_FAULT_MAJOR) && r->a[4];
}

const char *trace_paths_find(struct fault_names *n, struct kernel_source *source,
			     const struct trace_record *r)
{
	enum kernel_table table = r->kind == TRACE_FAULT ? KERNEL_TABLE_FAULT_FILES
				: r->kind == TRACE_MMAP	 ? KERNEL_TABLE_CALL_FILES
							 : KERNEL_TABLE_MAJOR_FILES;
	struct fault_file_key key = { .inode = r->a[4], .device = r->a[3] };
	struct fault_file file;
	const char *path;

	if (r->kind == TRACE_MMAP)
		key = (struct fault_file_key){ .inode = r->a[7], .device = r->a[4] >> 32 };
	path = fault_names_find(n, key.device, key.inode);

	/* want of memory: lines lack the path, and the result says so */
	if (!path && !kernel_source_find(source, table, &key, &file) &&
	    !fault_names_add(n, &key, &file))
		path = fault_names_find(n, key.device, key.inode);
	return path ? path : "";
}
