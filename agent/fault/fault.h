/* SPDX-License-Identifier: MIT */
/*
 * Accesses that the kernel stops: to the guard pool, and beyond the end of a stack.
 *
 * Our handler for SIGSEGV, SIGBUS and SIGTRAP is always in place; the program's own are called from
 * it as the kernel would have called them (agent/preload/hooks_signal.c hides this). An access to
 * the pool becomes a finding. To continue, its pages are opened, the one instruction is run with
 * the trap flag set and all signals blocked, and the pages are closed again in SIGTRAP.
 */
#ifndef AGENT_FAULT_FAULT_H
#define AGENT_FAULT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* The agent is on: handlers, and an alternate stack for this thread if it has none. */
void fault_start(void);

/* A thread has its context: an alternate stack for it; at its end that is undone. */
void fault_thread(void);

/*
 * The three signals, first thing in their handler. True: it was ours and is dealt with, return from
 * the handler. False: the program's.
 */
bool fault_handle(int signal, void *info, void *context);

#endif
