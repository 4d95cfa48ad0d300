/* SPDX-License-Identifier: MIT */
/*
 * Hooks of functions of any signature: who called them, and calling the function.
 */
#ifndef AGENT_INJECT_ANY_H
#define AGENT_INJECT_ANY_H

#include "agent/unwind/unwind.h"
#include "arch/inject_arch.h"
#include "include/pmm/inject.h"

static inline struct caller any_caller(const struct arch_call *call)
{
	return (struct caller){ .ra = call->ra,
				.sp = (uint64_t)(call + 1),
				.fp = call->saved[ARCH_CALL_FP] };
}

/*
 * Make the frame ready for the function to be called in; returns 1, which is what BEGIN says then.
 */
static inline int any_call(struct arch_call *call)
{
	for (unsigned i = 0; i < ARCH_CALL_SAVED; i++)
		if (arch_borrow.slot[i])
			*(uint64_t *)((char *)(call + 1) + arch_borrow.slot[i]) = call->saved[i];
	return 1;
}

static inline const struct pmm_entry *any_entry(const struct arch_call *call)
{
	return (const struct pmm_entry *)call->entry;
}

#endif
