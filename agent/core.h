/*
 * The agent's life: start at the first hook, entry and exit of hooks, the end of the program.
 */
#ifndef AGENT_CORE_H
#define AGENT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/ctx.h"

struct caller;

/* Make the agent ready; called by the first hook. True when it records. Safe to call again. */
bool agent_start(void);

/* Stop recording for good and say why in the ledger (enum pmm_off_reason). */
void agent_off(uint32_t reason);

/* The program leaves through exit(), which calls this from there. */
void agent_finish(const struct caller *from);

/* Note where the program break is. */
void agent_note_break(void);

/* Hook entry: the context to record with, marked busy, or NULL when this event is not to be recorded. sp: the hook's frame. */
struct tctx *agent_enter(uintptr_t sp);

/* Hook exit. */
static inline void agent_leave(struct tctx *c)
{
	STORE(c->busy, TCTX_IDLE);
}

/* Is the agent on? Starts it at the very first call. */
static inline bool agent_on(void)
{
	return likely(LOAD(A.state) == AGENT_ON) || (LOAD(A.state) == AGENT_UNKNOWN && agent_start());
}

#endif
