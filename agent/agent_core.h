/* SPDX-License-Identifier: MIT */
/*
 * The agent's life: start at the first hook, entry and exit of hooks, the end of the program.
 */
#ifndef AGENT_AGENT_CORE_H
#define AGENT_AGENT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/ctx.h"

struct caller;

/* in numbers of a context's seqlock, two for each event; a power of two */
#define AGENT_CHECK_EVERY	8192

/* Make the agent ready; called by the first hook. True when it records. Safe to call again. */
bool agent_start(void);

/* Stop recording for good and say why in the ledger (enum pmm_off_reason). */
void agent_off(uint32_t reason);

/* The program leaves through exit(), which calls this from there. */
void agent_finish(const struct caller *from);

/* Note where the program break is. */
void agent_note_break(void);

/* What need not be looked at in each event. locked: as below. */
void agent_look(struct tctx *c, bool locked);

/*
 * Is it time to? Not at the first event, which looks at it anyway. For some numbers in a row, as a
 * hook may use several: realloc four, and six where it fails.
 */
static inline bool agent_check_due(const struct tctx *c)
{
	return (c->pub.seq & (AGENT_CHECK_EVERY - 16)) == AGENT_CHECK_EVERY / 2;
}

/* An event begins on a context that is not busy. */
static inline struct tctx *agent_begin(struct tctx *c, uintptr_t sp, bool locked)
{
	ctx_busy(c, sp);
	if (unlikely(agent_check_due(c) || LOAD(agent.ledger->want_view)))
		agent_look(c, locked);
	return c;
}

/*
 * Hook entry: the context to record with, marked busy, or NULL when this event is not to be
 * recorded. sp: the hook's frame.
 */
static inline struct tctx *agent_enter(uintptr_t sp)
{
	struct tctx *c = ctx_find();

	if (unlikely(c && c->busy))
		c = ctx_nested(c, sp);
	return likely(c) ? agent_begin(c, sp, false) : NULL;
}

/*
 * The same where the allocator's own calls come by here too: NULL also for a call that the real
 * function of another hook makes, which is that hook's to record. A signal handler that interrupted
 * the allocator is recorded. locked: the allocator may be calling, with its locks held and
 * from a function that began before it was hooked; it is not asked for its figures then.
 */
struct tctx *agent_enter_outermost(const struct caller *from, bool locked);

/* ... and with the context found, which is busy. */
struct tctx *agent_enter_busy(struct tctx *c, struct caller from, bool locked);

/* Hook exit. */
static inline void agent_leave(struct tctx *c)
{
	STORE(c->busy, TCTX_IDLE);
	STORE(c->pub.busy_sp, 0);
}

/* Is the agent on? Starts it at the very first call. */
static inline bool agent_on(void)
{
	return likely(agent_is_on()) ||
	       (LOAD(agent.state) == AGENT_UNKNOWN && agent_start());
}

#endif
