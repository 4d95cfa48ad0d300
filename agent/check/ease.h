/* SPDX-License-Identifier: MIT */
/*
 * Errors that are met again and again: a page where that happens stays open for a while, so that
 * the program gets on. What is accessed there in the meantime is neither noticed nor counted; how
 * often a page was left open is (pmm_check_state.left_open).
 */
#ifndef AGENT_CHECK_EASE_H
#define AGENT_CHECK_EASE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/sys.h"

/* Number of pages left open. */
extern uint32_t ease_nr __attribute__((visibility("hidden")));

/* Was this finding (a number as of finding_add()) met too often to stop each access? */
bool ease_wanted(uint32_t finding);

/* Take over an open page, to be closed later. False: no room. */
bool ease_keep(uint64_t page);

/* Close those whose time is over. */
void ease_close(void);

/* To be called now and then where pages are dealt with. */
static inline void ease_tend(void)
{
	if (unlikely(LOAD(ease_nr)))
		ease_close();
}

#endif
