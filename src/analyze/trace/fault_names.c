/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel hands over names from the file upwards; a path has them the other way round. */
#include "src/analyze/trace/fault_names.h"

#include <errno.h>
#include <string.h>

#include "src/base/str.h"

/* Scrambled, since both are numbers that start at 1: no two of a trace have had the same. */
static uint64_t key_of(uint32_t device, uint64_t inode)
{
	return hash_u64(inode) ^ hash_u64(~(uint64_t)device);
}

static int64_t path_add(struct intern *paths, const struct fault_file *f)
{
	struct str path = STR_INIT;
	size_t end = f->bytes < FAULT_PATH_BYTES ? f->bytes : FAULT_PATH_BYTES;
	int64_t number;

	if (f->cut)
		str_add(&path, "...");
	while (end) {			/* the NUL of a name is at end - 1 */
		size_t start = end - 1;

		while (start && f->names[start - 1])
			start--;
		str_addf(&path, "/%.*s", (int)(end - 1 - start), f->names + start);
		end = start;
	}
	if (f->deleted)
		str_add(&path, " (deleted)");
	number = str_error(&path) ? -ENOMEM : intern_add(paths, str_text(&path));
	str_fini(&path);
	return number;
}

int fault_names_add(struct fault_names *n, const struct fault_file_key *key,
		    const struct fault_file *file)
{
	uint64_t at = key_of(key->device, key->inode);
	int64_t number;

	if (hash_find(&n->at, at))
		return 0;
	number = path_add(&n->paths, file);
	return number < 0 ? -ENOMEM : hash_put(&n->at, at, number);
}

int fault_names_add_rows(struct fault_names *n, const struct kernel_rows *rows)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < rows->nr; i++)
		rc = fault_names_add(n, kernel_rows_key(rows, i), kernel_rows_value(rows, i));
	return rc;
}

const char *fault_names_find(const struct fault_names *n, uint32_t device, uint64_t inode)
{
	const uint32_t *number = hash_find(&n->at, key_of(device, inode));

	return number ? intern_text(&n->paths, *number) : NULL;
}

void fault_names_fini(struct fault_names *n)
{
	hash_fini(&n->at);
	intern_fini(&n->paths);
}
