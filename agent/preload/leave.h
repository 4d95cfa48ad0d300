/* SPDX-License-Identifier: MIT */
/*
 * The process's end, where it is to be searched for leaks first (PMM_TREE_LEAKS;
 * include/pmm/ledger.h, enum pmm_leave_state).
 *
 * Asking and waiting: leave.c. Who notices the end: hooks_leave.c (the C library's ways out),
 * hooks_signal.c (death by a signal).
 */
#ifndef AGENT_PRELOAD_LEAVE_H
#define AGENT_PRELOAD_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "include/pmm/ledger.h"

/*
 * Ask the monitor for a search and wait until it is done; returns at once where there is no monitor
 * to ask, in children made by vfork, and when it has been done. The first of several threads gives
 * the record; all wait, and the others let that one end the process. Safe in signal handlers: true
 * when it was called from one that interrupted this thread's own wait, so that the end is under way
 * and continues when the handler returns.
 */
bool leave_ask(enum pmm_leave_cause cause, uint64_t sp, uint32_t number);

/*
 * Before exit() or quick_exit(): where another thread is in one of them wait until it asks; not for
 * ever, as one of its handlers may wait for this thread. True: some thread has asked.
 */
bool leave_in_turn(void);

/*
 * There is nothing left to wait for: this thread asked and is back, others have been waited for in
 * vain, or there is no monitor to ask.
 */
bool leave_over(void);

/* Is the end of processes of interest at all? Once the agent is on. */
bool leave_wanted(void);

/* The agent is on, nothing of the program has run: watch for the end. */
void leave_start(void);

/* The destructor runs; see hooks_leave.c. */
void leave_destructor(void);

/*
 * Is the process's end another thread's, or this thread's wait for the monitor under way? Then what
 * strikes here changes nothing.
 */
bool leave_is_others(void);

/*
 * What a form of the agent has to do in the handler of a signal that is about to end the process,
 * as it came; and where exit() or one of its kind was called, sp being the caller's with what the
 * hook saved.
 */
void leave_signal(int signal, void *info, void *context);
void leave_called(int status, uint64_t sp);

/*
 * What a form of the agent has to do at the end itself, where no destructors run (life.c has the
 * other ends). sp: the caller's.
 */
void leave_form(uint64_t sp);

/*
 * Catch signals whose default action is death; no longer catch them: the program is about to enter
 * seccomp.
 */
void signals_catch(void);
void signals_release(void);

#endif
