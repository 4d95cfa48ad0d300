/* SPDX-License-Identifier: MIT */
/*
 * Memory that stands in for a buffer of the guard pool.
 */
#include "agent/fault/bounce.h"

#include "agent/agent.h"
#include "agent/strings/bounds.h"
#include "agent/sys.h"

void *bounce_begin(struct bounce *b, const void *block, size_t bytes, size_t filled)
{
	*b = (struct bounce){ .block = (void *)block, .bytes = bytes };
	if (!bounds_guarded(block) || LOAD(agent.confined))
		return b->block;
	b->memory = sys_mmap(bytes, SYS_PROT_READ | SYS_PROT_WRITE,
			     SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS | SYS_MAP_NORESERVE, -1);
	if (!b->memory)
		return b->block;
	memcpy(b->memory, block, filled);
	return b->memory;
}

void bounce_end(struct bounce *b, size_t back)
{
	if (!b->memory)
		return;
	memcpy(b->block, b->memory, back);
	sys2(munmap, b->memory, b->bytes);
}
