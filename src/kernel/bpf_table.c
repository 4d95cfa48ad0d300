/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashes are read in batches, bucket by bucket: going from key to key begins again at the first
 * whenever the last one has been removed, which in a busy table has no end. Arrays have keys that
 * stay; not all kernels read those in batches.
 */
#include "src/kernel/bpf_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH		1024	/* entries; a bucket must fit */
#define MAX_VALUE_BYTES	2048

struct reading {
	const struct kernel_table_info *info;
	int fd, nr_cpus;
	size_t each;		/* bytes of an entry's value, all processors' */
	char *keys, *values;	/* BATCH of them */
	kernel_entry *entry;
	void *arg;
};

void bpf_table_sum(uint64_t *sum, const char *values, size_t bytes, int nr_cpus)
{
	memset(sum, 0, bytes);
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		for (size_t i = 0; i < bytes / sizeof(*sum); i++) {
			uint64_t word;

			memcpy(&word, values + cpu * bytes + i * sizeof(word), sizeof(word));
			sum[i] += word;
		}
}

static int hand_over(const struct reading *r, const char *key, const char *values)
{
	uint64_t value[MAX_VALUE_BYTES / 8];

	if (r->info->summed)
		bpf_table_sum(value, values, r->info->value_bytes, r->nr_cpus);
	else
		memcpy(value, values, r->info->value_bytes);
	return r->entry(r->arg, key, value);
}

/* -ENOTSUP: not of this sort of map. */
static int read_batches(const struct reading *r)
{
	uint32_t at, nr;
	bool begun = false, more = true;
	int rc = 0;

	while (more && !rc) {
		nr = BATCH;
		rc = bpf_map_lookup_batch(r->fd, begun ? &at : NULL, &at, r->keys, r->values, &nr,
					  NULL);
		if (rc && errno != ENOENT)
			return begun ? -errno : -ENOTSUP;
		more = !rc;
		begun = true;
		rc = 0;
		for (uint32_t i = 0; i < nr && !rc; i++)
			rc = hand_over(r, r->keys + i * r->info->key_bytes,
				       r->values + i * r->each);
	}
	return rc;
}

static int read_keys(const struct reading *r)
{
	char *last = NULL, *next = r->keys;
	int rc = 0;

	while (!rc && !bpf_map_get_next_key(r->fd, last, next)) {
		last = next;
		next = last == r->keys ? r->keys + r->info->key_bytes : r->keys;
		if (!bpf_map_lookup_elem(r->fd, last, r->values))	/* else it is gone by now */
			rc = hand_over(r, last, r->values);
	}
	return rc;
}

int bpf_table_read(int fd, const struct kernel_table_info *info, int nr_cpus, kernel_entry *entry,
		   void *arg)
{
	struct reading r = {
		.info = info,
		.fd = fd,
		.nr_cpus = nr_cpus,
		.each = info->value_bytes * (info->summed ? nr_cpus : 1),
		.entry = entry,
		.arg = arg,
	};
	int rc = -ENOMEM;

	r.keys = malloc(BATCH * info->key_bytes);
	r.values = malloc(BATCH * r.each);
	if (r.keys && r.values)
		rc = read_batches(&r);
	if (rc == -ENOTSUP)
		rc = read_keys(&r);
	free(r.keys);
	free(r.values);
	return rc;
}
