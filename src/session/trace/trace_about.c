/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page fault's address, asked of a ledger. */
#include "src/session/trace/trace_about.h"

#include <errno.h>

#include "src/kernel/fault_area.h"

static bool has_blocks(enum fault_area area)
{
	return area != FAULT_STACK && area != FAULT_STACK_GROWTH && area != FAULT_SPECIAL &&
	       area != FAULT_NOWHERE;
}

int trace_about_find(struct kernel_about *about, const struct trace_record *r, bool by_agent,
		     trace_block_at *block_at, void *arg)
{
	struct ledger_at_block block;
	int rc;

	*about = (struct kernel_about){ .site = HEAP_NO_SITE };
	if (by_agent)
		about->of = HEAP_KERNEL_OF_AGENT;
	if (by_agent || !trace_is_fault(r) || !has_blocks(fault_area_of(r)))
		return 0;
	rc = block_at(arg, (pid_t)r->tgid, r->a[0], &block);
	if (rc > 0) {
		about->of = block.mapping ? HEAP_KERNEL_OF_MAPPING : HEAP_KERNEL_OF_BLOCK;
		about->site = block.site;
	} else if (rc < 0) {
		*about = TRACE_ABOUT_UNKNOWN;
	}
	return rc == -ESRCH || rc == -EAGAIN ? -EAGAIN : 0;
}
