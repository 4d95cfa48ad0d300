/* SPDX-License-Identifier: MIT */
/*
 * The table for programs that have pmm.h's full form in them: looking for errors, we want their
 * calls to come by the allocator's functions.
 */
#include "agent/preload/agent_preload.h"
#include "include/pmm/shim.h"

struct pmm_shim_table pmm_shim_table = { .version = 0, .bytes = sizeof(pmm_shim_table) };

PMM_SHIM_NOTE(PMM_SHIM_NOTE_AGENT, pmm_shim_table);
