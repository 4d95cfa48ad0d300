/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of a process's kernel events made part of its heap: stacks become nodes of its call tree,
 * the ledger's sites its own.
 */
#ifndef ANALYZE_TRACE_KERNEL_JOIN_H
#define ANALYZE_TRACE_KERNEL_JOIN_H

#include "src/analyze/trace/kernel_sums.h"
#include "src/kernel/modules.h"
#include "src/kernel/stack_table.h"

/*
 * Move the sums into h->kernel_rows, h->kernel_bins and, as far as they can be summed up, events of
 * h->kernel_kinds, which has the kinds that were asked for; page faults are as the kernel counted
 * them, if it has. The sums are empty then. h->kernel has all but what is counted here. 0 or
 * -ENOMEM, and the heap has no rows.
 */
int kernel_join(struct heap *h, struct kernel_sums *s, const struct stack_table *stacks,
		const struct modules *modules);

/* Is a file, by its path as the process sees it, pmm's own agent? */
bool kernel_is_agent(const char *path);

#endif
