/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source of kernel events that gives what a test has put into it. */
#ifndef TESTS_FAKE_FAKE_KERNEL_H
#define TESTS_FAKE_FAKE_KERNEL_H

#include "src/kernel/kernel_source.h"

struct fake_record {
	struct trace_record r;
	const void *tail;
};

struct fake_kernel {
	const struct fake_record *records;
	size_t nr_records;
	size_t per_step;		/* records that a step gives; 0: all */
	struct trace_counts counts[TRACE_NR_KINDS];
	struct kernel_group_state groups[KERNEL_NR_GROUPS];
	const void *keys[KERNEL_NR_TABLES], *values[KERNEL_NR_TABLES];
	size_t nr_rows[KERNEL_NR_TABLES];
	int open_error, step_error, counts_error;	/* -errno that these answer */
	/* what was asked of it */
	struct kernel_options asked;
	size_t given;
	unsigned opened, closed;
	unsigned forgotten[KERNEL_NR_TABLES];
};

/* What fake_source is; set before it is opened. */
extern struct fake_kernel *fake_kernel;

extern const struct kernel_source_ops fake_source;

#endif
