/* SPDX-License-Identifier: MIT */
/*
 * Guarded blocks as the ledger knows them: the same in every form of the agent that has a guard
 * pool.
 */
#ifndef AGENT_GUARD_GUARDED_H
#define AGENT_GUARD_GUARDED_H

#include "agent/check/agent_check.h"
#include "agent/guard/guard.h"

/*
 * A guarded block, entered and counted: its run; UINT32_MAX when there is none to be had, and then
 * the counter of why in *why. align as check_alloc() has it; site: of the call.
 */
uint32_t guarded_alloc(struct tctx *c, size_t size, size_t align, uint32_t kind, uint32_t site,
		       uint64_t **why);

/* ... counted, only when there is a block: a request that failed left nothing unguarded. */
void guarded_refused(struct tctx *c, uint64_t *why);

/* What is known of the block in a run. */
void guard_describe(uint32_t run, struct check_block *out);

/*
 * The block that an access of `bytes` bytes (0 = not known) to an address of the pool concerns:
 * guard_owner(). False: there never was one near.
 */
bool guarded_find(uint64_t address, uint64_t bytes, struct check_block *out);

/*
 * Release a block that guard_release() has taken out: its canary checked (reported: what is wrong
 * with it has been said), its pages closed. how: enum pmm_release; site: of the call.
 */
void guarded_release(struct tctx *c, uint32_t run, uint32_t how, uint32_t site, bool reported);

/*
 * The two parts of it. Out of all sums, before it is known whether it goes: record_restore_apart()
 * takes that back. False: it was in none. And the rest.
 */
bool guarded_uncount(struct tctx *c, uint32_t run, struct block_info *was);
void guarded_end(struct tctx *c, uint32_t run, uint32_t how, uint32_t site, bool reported);

/* A pointer into the pool that no live block begins at is released: a finding. */
void guarded_stray(struct tctx *c, uint64_t address, uint32_t how, uint32_t site);

#endif
