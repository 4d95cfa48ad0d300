/* SPDX-License-Identifier: MIT */
/* The form of the agent that keeps no signals: programs inherit what the thread has. */
#include "agent/preload/inherit.h"

void inherit_begin_actions(struct inherit *h, bool lasting)
{
	(void)lasting;
	*h = (struct inherit){ .ignored = 0 };
}

void inherit_begin(struct inherit *h, bool lasting)
{
	inherit_begin_actions(h, lasting);
}

void inherit_end(const struct inherit *h)
{
	(void)h;
}

bool inherit_lasts(void)
{
	return false;
}

bool inherit_mask(uint64_t *mask)
{
	(void)mask;
	return false;
}
