/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows by the hash of their keys. */
#include "src/kernel/perf/perf_faults.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "src/base/str.h"

#define MAX_RANGES	64u		/* of a file, as bpf/area.h */
#define MIN_SHIFT	16u
#define DELETED		" (deleted)"

static uint64_t file_key(uint32_t device, uint64_t inode)
{
	return hash_u64(inode) ^ hash_u64(~(uint64_t)device);
}

static struct perf_file *file_find(const struct perf_faults *f, uint32_t device, uint64_t inode)
{
	const uint32_t *at = hash_find(&f->file_at, file_key(device, inode));

	return at ? &f->files.v[*at] : NULL;
}

/* The last name first, each with its NUL. */
static void set_names(struct fault_file *file, const char *path, size_t length)
{
	while (length && file->bytes < FAULT_PATH_BYTES) {
		size_t start = length, n;

		while (start && path[start - 1] != '/')
			start--;
		n = length - start;
		if (n >= (size_t)FAULT_PATH_BYTES - file->bytes)
			break;
		if (n) {
			memcpy(file->names + file->bytes, path + start, n);
			file->names[file->bytes + n] = 0;
			file->bytes += n + 1;
		}
		length = start ? start - 1 : 0;
	}
	file->cut = length != 0;
}

/* How long it is, and of which file system, as long as the path leads to it. */
static void look_at(struct perf_file *file, const char *path)
{
	struct statfs fs;
	struct stat st;

	if (stat(path, &st) || st.st_ino != file->key.inode)
		return;
	if ((uint64_t)st.st_size > file->bytes)
		file->bytes = st.st_size;
	file->shared_memory = !statfs(path, &fs) && fs.f_type == TMPFS_MAGIC;
}

static void set_shift(struct perf_file *file)
{
	file->shift = MIN_SHIFT;
	while (file->bytes >> file->shift >= MAX_RANGES)
		file->shift++;
}

int perf_faults_file(struct perf_faults *f, const struct area_piece *p, const char *path)
{
	struct perf_file file = { .key = { .inode = p->ino, .device = p->device },
				  .bytes = p->offset + (p->end - p->start) };
	size_t length = strlen(path);
	bool added;

	if (!p->ino || !hash_add(&f->file_at, file_key(p->device, p->ino), f->files.nr, &added))
		return p->ino ? -ENOMEM : 0;
	if (!added)
		return 0;
	if (str_ends(path, DELETED)) {
		file.file.deleted = true;
		length -= strlen(DELETED);
	}
	set_names(&file.file, path, length);
	look_at(&file, path);
	set_shift(&file);
	return vec_push(&f->files, file);
}

bool perf_faults_is_tmpfs(const struct perf_faults *f, const struct area_piece *p)
{
	const struct perf_file *file = file_find(f, p->device, p->ino);

	return file && file->shared_memory;
}

/* ---- rows ---- */

static struct fault_key key_of(const struct perf_faults *f, const struct trace_record *r)
{
	const struct perf_file *file = r->a[4] ? file_find(f, r->a[3], r->a[4]) : NULL;
	struct fault_key key = {
		.inode = r->a[4],
		.device = r->a[4] ? r->a[3] : 0,
		.tgid = r->tgid,
		.area = fault_area_of(r),
	};

	if (file) {
		key.shift = file->shift;
		key.range = r->a[5] >> file->shift;
	}
	return key;
}

static struct perf_fault_row *row_of(struct perf_faults *f, const struct trace_record *r, int *rc)
{
	struct fault_key key = key_of(f, r);
	uint64_t hash = hash_bytes(&key, sizeof(key));
	uint32_t *at = hash_find(&f->row_at, hash);
	struct perf_fault_row row = { .key = key };

	*rc = 0;
	if (at)
		return &f->rows.v[*at];
	if (f->rows.nr >= PERF_MAX_ROWS)
		return NULL;
	memcpy(row.faults.comm, r->comm, sizeof(row.faults.comm));
	memcpy(row.major.comm, r->comm, sizeof(row.major.comm));
	*rc = hash_put(&f->row_at, hash, f->rows.nr);
	if (!*rc)
		*rc = vec_push(&f->rows, row);
	return *rc ? NULL : vec_last(&f->rows);
}

int perf_faults_count(struct perf_faults *f, const struct trace_record *r, bool major)
{
	int rc;
	struct perf_fault_row *row = row_of(f, r, &rc);

	if (!row && !rc)
		major ? f->major_left_out++ : f->left_out++;
	else if (row && major)
		row->major.faults++;
	else if (row)
		row->faults.faults[r->a[2] & TRACE_FAULT_FETCH ? FAULT_FETCH
								: FAULT_NO_ACCESS]++;
	return rc;
}

int perf_faults_table(const struct perf_faults *f, enum kernel_table table, kernel_entry *entry,
		      void *arg)
{
	bool major = table == KERNEL_TABLE_MAJOR;
	int rc = 0;

	for (size_t i = 0; !rc && table == KERNEL_TABLE_FAULT_FILES && i < f->files.nr; i++)
		rc = entry(arg, &f->files.v[i].key, &f->files.v[i].file);
	if (table != KERNEL_TABLE_FAULTS && !major)
		return rc;
	for (size_t i = 0; !rc && i < f->rows.nr; i++) {
		const struct perf_fault_row *row = &f->rows.v[i];

		if (!major || row->major.faults)
			rc = entry(arg, &row->key,
				   major ? (const void *)&row->major : (const void *)&row->faults);
	}
	return rc;
}

int perf_faults_find(const struct perf_faults *f, enum kernel_table table, const void *key,
		     void *value)
{
	const struct fault_file_key *k = key;
	const struct perf_file *file = NULL;

	if (table == KERNEL_TABLE_FAULT_FILES || table == KERNEL_TABLE_MAJOR_FILES ||
	    table == KERNEL_TABLE_CALL_FILES)
		file = file_find(f, k->device, k->inode);
	if (!file)
		return -ENOENT;
	memcpy(value, &file->file, sizeof(file->file));
	return 0;
}

void perf_faults_fini(struct perf_faults *f)
{
	vec_fini(&f->rows);
	vec_fini(&f->files);
	hash_fini(&f->row_at);
	hash_fini(&f->file_at);
}
