/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of page faults, counted here in the form in which programs count them in the kernel
 * (bpf/faults_abi.h): by process, kind of memory, file and range of the file; paths of the files.
 */
#ifndef KERNEL_PERF_PERF_FAULTS_H
#define KERNEL_PERF_PERF_FAULTS_H

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/kernel_source.h"
#include "src/kernel/perf/areas.h"

#define PERF_MAX_ROWS	65536u

struct perf_fault_row {
	struct fault_key key;
	struct fault_row faults;
	struct major_row major;
};

struct perf_file {
	struct fault_file_key key;
	struct fault_file file;
	uint64_t bytes;			/* of the file, or what is known to be mapped of it */
	uint16_t shift;			/* of its ranges */
	bool shared_memory;		/* of tmpfs */
};

struct perf_faults {
	VEC(struct perf_fault_row) rows;
	VEC(struct perf_file) files;
	struct hash_map row_at, file_at;
	uint64_t left_out, major_left_out;	/* faults that found no room for a row */
};

/* A file that was mapped: its path is remembered. 0 or -ENOMEM. */
int perf_faults_file(struct perf_faults *f, const struct area_piece *p, const char *path);

/* Is it a file of tmpfs, as shared memory is? */
bool perf_faults_is_tmpfs(const struct perf_faults *f, const struct area_piece *p);

/*
 * Count the fault of a record: its process, name, a[] as TRACE_FAULT has it; offset in a[5]. With
 * `major` it is counted as such alone. 0 or -ENOMEM.
 */
int perf_faults_count(struct perf_faults *f, const struct trace_record *r, bool major);

/* As the operations of a source. */
int perf_faults_table(const struct perf_faults *f, enum kernel_table table, kernel_entry *entry,
		      void *arg);
int perf_faults_find(const struct perf_faults *f, enum kernel_table table, const void *key,
		     void *value);

void perf_faults_fini(struct perf_faults *f);

#endif
