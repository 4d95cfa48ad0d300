/* SPDX-License-Identifier: MIT */
/*
 * Whether blocks are guarded, in a process that runs already: as long as our handler gets what
 * guarded pages stop.
 */
#ifndef AGENT_INJECT_GUARDS_FAULT_H
#define AGENT_INJECT_GUARDS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * May one more block be guarded, for this thread? SIGSEGV's handler is put in place at the first
 * call. Where that is not possible, or it is ours no longer, no block is guarded any more.
 */
bool guards_ready(void);

/* Stop for good: no more blocks, all pages open. why: enum pmm_check_stop. */
void guards_stop(uint32_t why);

/* The end of watching: all pages open, the handler given back. How many blocks are left. */
long guards_rest(void *unused);

#endif
