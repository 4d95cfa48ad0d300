/* SPDX-License-Identifier: MIT */
/*
 * Errors that recur: a page where the same error is found too often stays open for a while, so that
 * the program makes progress. What is accessed there in the meantime is neither found nor counted;
 * how often a page was left open is counted (pmm_check_state.left_open).
 *
 * This is no token bucket as agent/guard/budget.h is: nothing is refilled. A finding that has
 * passed a fixed number of stops stays past it, and each open page has a deadline of its own.
 */
#ifndef AGENT_CHECK_LEFT_OPEN_H
#define AGENT_CHECK_LEFT_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/sys.h"

/* Number of pages left open. */
extern uint32_t left_open_nr __attribute__((visibility("hidden")));

/* Was this finding (a number as of finding_add()) met too often to stop each access? */
bool left_open_wanted(uint32_t finding);

/* Take over an open page, to be closed later. False: no room. */
bool left_open_add(uint64_t page);

/* Close those whose time is over. */
void left_open_close(void);

/* To be called now and then where pages are dealt with. */
static inline void left_open_tend(void)
{
	if (unlikely(LOAD(left_open_nr)))
		left_open_close();
}

#endif
