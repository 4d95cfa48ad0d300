/* SPDX-License-Identifier: MIT */
/*
 * Letting one instruction through to closed pages of the pool: they are opened, it is run by itself
 * with all signals blocked, they are closed again. Called in the handlers of the signals that it
 * makes, with the context that they return to.
 */
#ifndef AGENT_FAULT_STEP_H
#define AGENT_FAULT_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/agent_signal.h"

/* Is this thread's instruction under way? */
bool step_active(void);

/*
 * The instruction was stopped at `page`: open it, and begin or continue. leave_open: its pages are
 * left open for a while (agent/check/left_open.h). False: the kernel refused; all is closed, the
 * context is the program's.
 */
bool step_open(struct arch_ucontext *uc, uint64_t page, bool leave_open);

/*
 * SIGTRAP that an instruction made. True: it is through, the context is the program's. *traced: the
 * program itself wanted the trap.
 */
bool step_done(struct arch_ucontext *uc, bool *traced);

/*
 * agent.no_guards was set, all pages are open: wait until no instruction of any thread is under
 * way.
 */
void step_wait(void);

/*
 * Something else happened first: close the pages, the context is the program's and still before the
 * instruction.
 */
void step_cancel(struct arch_ucontext *uc);

#endif
