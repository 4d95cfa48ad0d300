/* SPDX-License-Identifier: MIT */
/*
 * What a new program inherits: the mask of the thread that begins it, and which signals are
 * ignored. The kernel's differ from what the program has set where a form of the agent keeps
 * signals (agent/fault/reserved.h), so they are made the same for the time of the call, and put
 * back if the call returns. The form that keeps none does nothing here (inherit_none.c).
 */
#ifndef AGENT_PRELOAD_INHERIT_H
#define AGENT_PRELOAD_INHERIT_H

#include <stdbool.h>
#include <stdint.h>

struct inherit {
	uint64_t ignored;		/* signals that are truly ignored meanwhile */
	uint64_t mask;			/* the kernel's, as it was */
	bool masked, lasting;
};

/*
 * Begin. lasting: all threads continue meanwhile, and what is ignored is so for them, too; a signal
 * that would kill them at an access to the pool is then left as it is. Nothing happens where there
 * is nothing to do.
 */
void inherit_begin(struct inherit *h, bool lasting);

/* The same without the mask, which is passed in another way. */
void inherit_begin_actions(struct inherit *h, bool lasting);

/* The call is back: everything as it was. errno stays. */
void inherit_end(const struct inherit *h);

/*
 * Is the calling thread in the middle of a call that lasts, with the program's own mask in place?
 */
bool inherit_lasts(void);

/* The calling thread's mask, as the program has set it; false: the kernel has the same. */
bool inherit_mask(uint64_t *mask);

#endif
