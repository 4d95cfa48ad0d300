/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that programs in the kernel count in, read entry by entry. */
#ifndef KERNEL_BPF_TABLE_H
#define KERNEL_BPF_TABLE_H

#include "src/kernel/kernel_source.h"

/*
 * Hand over the entries of a map. Those that come or go meanwhile are handed over or not; no
 * other one is left out. 0, -errno, or what `entry` has returned.
 */
int bpf_table_read(int fd, const struct kernel_table_info *info, int nr_cpus, kernel_entry *entry,
		   void *arg);

/* Add up a value that each processor has its own of, as a list of uint64_t. */
void bpf_table_sum(uint64_t *sum, const char *values, size_t bytes, int nr_cpus);

#endif
