/* SPDX-License-Identifier: MIT */
/*
 * An access that the kernel stopped, as a finding; in its signal's handler.
 */
#ifndef AGENT_GUARD_GUARD_ACCESS_H
#define AGENT_GUARD_GUARD_ACCESS_H

#include "agent/check/agent_check.h"
#include "arch/agent_signal.h"
#include "include/pmm/ledger.h"

/*
 * A context for the event, or NULL; sp: where the interrupted code's stack ends, which may be a
 * hook of ours. agent_leave() follows.
 */
struct tctx *access_enter(uint64_t sp);

/*
 * Note `f`, of which type and address are set, with the interrupted stack; b: the block concerned,
 * NULL = none known. Then what is to be done on errors. The finding's number.
 */
uint32_t access_note(struct tctx *c, struct pmm_finding *f, const struct check_block *b,
		     const struct arch_ucontext *uc);

/* What the instruction was about to do, by what a page fault says. */
enum pmm_access access_of(const struct arch_ucontext *uc);

/*
 * Of that, what is known of block, instruction and interrupted stack; uc->err of no page fault is
 * 0.
 */
void access_describe(struct tctx *c, struct pmm_finding *f, const struct check_block *b,
		     const struct arch_ucontext *uc);

/* What an access beside or after a block is: enum pmm_finding_type. */
uint32_t access_type(const struct check_block *b, uint64_t address);

#endif
