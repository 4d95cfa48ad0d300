/* SPDX-License-Identifier: MIT */
/*
 * Findings: identical ones are one and counted, the first is shown to the monitor at once. Any
 * thread, signal handlers included.
 */
#ifndef AGENT_GUARD_FINDING_H
#define AGENT_GUARD_FINDING_H

#include <stdint.h>

#include "agent/check/agent_check.h"
#include "include/pmm/ledger.h"

/*
 * Memory for the first findings, so that there is some when it is needed. on_error: enum
 * pmm_on_error.
 */
void finding_start(uint32_t on_error);

/* In a forked child: its ledger has none yet. */
void finding_forked(void);

/*
 * Note `f`; count, ticks and thread are filled in here. Then what on_error says: does not return
 * when the process is to end. Returns the number it has in the ledger, UINT32_MAX when there was no
 * room (counted).
 */
uint32_t finding_add(struct tctx *c, struct pmm_finding *f);

/* The same of what ends the process anyway: does return. */
uint32_t finding_note(struct tctx *c, struct pmm_finding *f);

/* A core file whatever the soft limit says, if that is what on_error asks for. */
void finding_allow_core(void);

/* What is known of a block, into a finding. NULL = nothing. */
void finding_block(struct pmm_finding *f, const struct check_block *b);

/* The function that was called, into a finding; cut to what fits. */
void finding_function(struct pmm_finding *f, const char *name);

/*
 * Memory from `at` to `end`, but no more than fits, into a finding: what is where canary or
 * poison was.
 */
void finding_bytes(struct pmm_finding *f, uint64_t at, uint64_t end);

/*
 * A block's canary, from `at` on and at most to `end`, was found overwritten at its release: how
 * (enum pmm_release), site: of the call.
 */
void finding_damaged(struct tctx *c, const struct check_block *b, uint64_t at, uint64_t end,
		     uint32_t how, uint32_t site);

#endif
