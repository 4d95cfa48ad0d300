/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of the report about the kernel's events, see report_kernel.c. */
#ifndef VIEW_KERNEL_REPORT_KERNEL_PRIV_H
#define VIEW_KERNEL_REPORT_KERNEL_PRIV_H

#include "src/view/report_priv.h"

void report_kernel_fault_sites(struct report *r);	/* by the line that allocated */
void report_kernel_fault_stacks(struct report *r);	/* by the code that touches */
void report_kernel_calls(struct report *r);		/* mappings, by line */
void report_kernel_waits(struct report *r);		/* reclaim and compaction, by line */

/* Set a cell to what the kind is called: "mmap", "kind 99". */
void report_kernel_set_event(struct table *t, unsigned column, uint32_t kind);

/* Callers of a stack that text shows. */
uint64_t report_kernel_depth(const struct report *r);

/* The first `nr` of `all` rows of a list are shown: count and say how many are not. */
void report_kernel_cut(struct report *r, struct table *t, enum report_list list, uint64_t nr,
		       uint64_t all, const char *noun);

#endif
