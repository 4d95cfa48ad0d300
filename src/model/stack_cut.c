/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where stacks are cut so that all of them together have room. */
#include "src/model/stack_cut.h"

#include <errno.h>
#include <stdlib.h>

/*
 * The level at which so many stacks fit: each level has the stacks that are at least as deep.
 * deep[i]: stacks of i frames.
 */
static uint32_t level(const uint64_t *deep, uint32_t deepest, uint64_t nr, uint64_t room)
{
	uint64_t taken = 0, left = nr;

	for (uint32_t i = 1; i <= deepest; i++) {
		left -= deep[i - 1];
		taken += left;
		if (taken > room && i > STACK_WHOLE)
			return i - 1;
	}
	return UINT32_MAX;
}

int stack_cut_within(const uint32_t *depth, size_t nr, uint64_t room, struct stack_cut *out)
{
	uint32_t deepest = 0;
	uint64_t *deep;

	*out = (struct stack_cut){ .frames = UINT32_MAX };
	for (size_t i = 0; i < nr; i++)
		deepest = depth[i] > deepest ? depth[i] : deepest;
	deep = calloc((size_t)deepest + 1, sizeof(*deep));
	if (!deep)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		deep[depth[i]]++;
	out->frames = level(deep, deepest, nr, room);
	for (size_t i = 0; i < nr; i++) {
		out->stacks += stack_cut_off(out, depth[i]) != 0;
		out->left_out += stack_cut_off(out, depth[i]);
	}
	free(deep);
	return 0;
}

int stack_cut(const uint32_t *depth, size_t nr, struct stack_cut *out)
{
	return stack_cut_within(depth, nr, STACKS_ROOM, out);
}
