/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows one behind the other in one piece of memory. */
#include "src/kernel/kernel_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
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

/* Rows by the hash of their keys. Two that have the same are as likely as a broken processor. */
static int index_rows(struct hash_map *at, const struct kernel_rows *rows)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < rows->nr; i++)
		rc = hash_put(at, hash_bytes(kernel_rows_key(rows, i), rows->key_bytes), i);
	return rc;
}

static int subtract(struct kernel_rows *rows, const struct kernel_rows *before, size_t bytes)
{
	struct hash_map at = { 0 };
	int rc = index_rows(&at, before);

	for (size_t i = 0; !rc && i < rows->nr; i++) {
		uint64_t *now = (uint64_t *)kernel_rows_value(rows, i);
		uint32_t *known = hash_find(&at, hash_bytes(kernel_rows_key(rows, i),
							    rows->key_bytes));
		const uint64_t *old = known ? kernel_rows_value(before, *known) : NULL;

		for (size_t k = 0; old && k < bytes / sizeof(*now); k++)
			now[k] -= old[k];
	}
	hash_fini(&at);
	return rc;
}

static int copy(struct kernel_rows *to, const struct kernel_rows *from)
{
	size_t row = from->key_bytes + from->value_bytes;
	char *bytes = vec_grow(to->bytes, &to->room, from->nr, row);

	if (!bytes)
		return from->nr ? -ENOMEM : 0;
	if (from->nr)
		memcpy(bytes, from->bytes, from->nr * row);
	to->bytes = bytes;
	to->nr = from->nr;
	to->key_bytes = from->key_bytes;
	to->value_bytes = from->value_bytes;
	return 0;
}

int kernel_rows_since(struct kernel_rows *rows, struct kernel_rows *before,
		      enum kernel_table table)
{
	const struct kernel_table_info *info = &kernel_tables[table];
	size_t bytes = info->lasting ? 0 : info->summed ? rows->value_bytes : info->counted_bytes;
	struct kernel_rows now = { 0 };
	int rc;

	if (!bytes)
		return 0;
	rc = copy(&now, rows);
	if (rc)
		return rc;
	rc = subtract(rows, before, bytes);
	kernel_rows_fini(before);
	*before = now;
	return rc;
}

void kernel_rows_fini(struct kernel_rows *rows)
{
	free(rows->bytes);
	*rows = (struct kernel_rows){ 0 };
}
