/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of the kernel's, read into memory: keys and values as bpf/trace_abi.h has them. */
#ifndef KERNEL_KERNEL_ROWS_H
#define KERNEL_KERNEL_ROWS_H

#include "bpf/kmem_abi.h"
#include "bpf/pages_abi.h"
#include "bpf/stack_abi.h"
#include "src/kernel/kernel_source.h"

struct kernel_rows {
	size_t nr;
	size_t key_bytes, value_bytes;	/* each padded to a multiple of 8 */
	char *bytes;			/* nr times key, value */
	size_t room;
};

/* Read it; rows of before are gone. No rows where its group does not run. 0 or -ENOMEM. */
int kernel_rows_read(struct kernel_rows *rows, struct kernel_source *s, enum kernel_table table);

/*
 * What they have gained since `before`, of a table whose values are summed numbers or begin with
 * counts; of others nothing changes. `before` becomes what they were now. 0 or -ENOMEM.
 */
int kernel_rows_since(struct kernel_rows *rows, struct kernel_rows *before,
		      enum kernel_table table);

static inline const void *kernel_rows_key(const struct kernel_rows *rows, size_t i)
{
	return rows->bytes + i * (rows->key_bytes + rows->value_bytes);
}

static inline const void *kernel_rows_value(const struct kernel_rows *rows, size_t i)
{
	return rows->bytes + i * (rows->key_bytes + rows->value_bytes) + rows->key_bytes;
}

void kernel_rows_fini(struct kernel_rows *rows);

#endif
