/* SPDX-License-Identifier: MIT */
/*
 * Waiting for another thread: briefly without a system call, then giving way.
 */
#ifndef AGENT_WAIT_H
#define AGENT_WAIT_H

#include "agent/agent.h"
#include "agent/sys.h"

#define WAIT_PAUSES	100u

/*
 * Between try number `tries` (from 0) and the next. The waiting code bounds the tries: the other
 * may be the code that this signal handler interrupted.
 */
static inline void wait_between(unsigned tries)
{
	if (tries < WAIT_PAUSES || LOAD(agent.confined))
		arch_pause();
	else
		sys0(sched_yield);
}

#endif
