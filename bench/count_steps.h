/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions counted one by one: the processor traps after each (its trap flag), and a signal
 * handler looks where it is. Exact, and no other load on the machine changes it; some 2 us each.
 */
#ifndef BENCH_COUNT_STEPS_H
#define BENCH_COUNT_STEPS_H

/*
 * Count the calling thread's instructions in the agent's code from now on. The monitor is stopped
 * meanwhile, so that no time passes for the agent. 0, or -1 and a message: there is no agent, or
 * the parent is not `pmm`.
 */
int step_begin(void);

/* How many there were. */
unsigned long step_end(void);

#endif
