/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows one behind the other in one piece of memory. */
#include "src/kernel/kernel_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vec.h"

struct reading {
	struct kernel_rows *rows;
	const struct kernel_table_info *info;
};

static size_t padded(size_t bytes)
{
	return (bytes + 7) / 8 * 8;
}

static int add(void *arg, const void *key, const void *value)
{
	const struct reading *r = arg;
	struct kernel_rows *rows = r->rows;
	size_t row = rows->key_bytes + rows->value_bytes;
	char *bytes = vec_grow(rows->bytes, &rows->room, rows->nr + 1, row), *at;

	if (!bytes)
		return -ENOMEM;
	rows->bytes = bytes;
	at = bytes + rows->nr++ * row;
	memset(at, 0, row);
	memcpy(at, key, r->info->key_bytes);
	memcpy(at + rows->key_bytes, value, r->info->value_bytes);
	return 0;
}

int kernel_rows_read(struct kernel_rows *rows, struct kernel_source *s, enum kernel_table table)
{
	struct reading r = { rows, &kernel_tables[table] };
	int rc;

	rows->nr = 0;
	rows->key_bytes = padded(r.info->key_bytes);
	rows->value_bytes = padded(r.info->value_bytes);
	rc = kernel_source_table(s, table, add, &r);
	return rc == -ENOENT ? 0 : rc;
}

void kernel_rows_fini(struct kernel_rows *rows)
{
	free(rows->bytes);
	*rows = (struct kernel_rows){ 0 };
}
