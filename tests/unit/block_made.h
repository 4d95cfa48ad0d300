/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of the agent that are entered by hand, by one thread. */
#ifndef TESTS_UNIT_BLOCK_MADE_H
#define TESTS_UNIT_BLOCK_MADE_H

#include "tests/unit/agent_host.h"

#include "agent/block_words.h"
#include "tests/unit/unit.h"

#define HEAP 0x555555600000ull

static struct block_stamp stamp;

/* By thread `thread`, the only one with a stamp here, at `tick`. */
static inline bool add_by(uint64_t address, uint64_t size, uint32_t site, uint32_t kind,
			  uint32_t thread, uint32_t tick)
{
	return block_add(address, block_place(address),
			 &(struct block_new){ size, site, kind, tick, thread, &stamp });
}

static inline bool add(uint64_t address, uint64_t size, uint32_t site)
{
	return add_by(address, size, site, PMM_KIND_MALLOC, 0, 0);
}

static inline bool del(uint64_t address, struct block_info *b)
{
	return block_del(address, &stamp, b);
}

static inline void start(size_t arena_bytes)
{
	agent_host_init(arena_bytes);
	stamp = (struct block_stamp){ .now = BLOCK_NEVER };
}

#endif
