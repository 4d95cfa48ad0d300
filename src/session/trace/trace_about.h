/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an event of a tracked process is about: which of its blocks or mappings. */
#ifndef SESSION_TRACE_TRACE_ABOUT_H
#define SESSION_TRACE_TRACE_ABOUT_H

#include <sys/types.h>

#include "src/analyze/trace/kernel_sums.h"
#include "src/ledger/ledger_at.h"

/*
 * The block of a process at an address, as ledger_at_find(). -ESRCH, -EAGAIN: its ledger cannot be
 * read (yet).
 */
typedef int trace_block_at(void *arg, pid_t pid, uint64_t address, struct ledger_at_block *out);

/* What is not known. */
#define TRACE_ABOUT_UNKNOWN ((struct kernel_about){ HEAP_KERNEL_OF_UNKNOWN, HEAP_NO_SITE })

/*
 * Look up what a page fault is about; `by_agent`: pmm's agent has caused the event. What is no page
 * fault, or where there are no blocks, is about nothing. 0, or -EAGAIN: not known, but it may be
 * later.
 */
int trace_about_find(struct kernel_about *about, const struct trace_record *r, bool by_agent,
		     trace_block_at *block_at, void *arg);

#endif
