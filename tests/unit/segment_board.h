/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A board that asks for a ledger of one slot, in a file of its own for each test. */
#ifndef TESTS_UNIT_SEGMENT_BOARD_H
#define TESTS_UNIT_SEGMENT_BOARD_H

#include "tests/unit/agent_host.h"

#include "tests/unit/test_child.h"

#include "agent/segment.h"

#define PAGE		4096ul
#define SLOT_BYTES	(64ull << 20)
#define FILE_BYTES	(2 * PAGE + SLOT_BYTES)

static struct pmm_tree board;
static char scratch[64 << 10];

/* What the real forms do. */
static inline int file_of_memory(void)
{
	return segment_map(-1, FILE_BYTES);
}

static inline int begin(void **state)
{
	(void)state;
	agent = (struct agent){ 0 };
	agent_host_form = (struct agent_host_form){ .file = file_of_memory };
	board = (struct pmm_tree){
		.magic = PMM_TREE_MAGIC,
		.version = PMM_LEDGER_VERSION,
		.byte_order = PMM_BYTE_ORDER_MARK,
		.word_bytes = 8,
		.nr_slots = 1,
		.slot_bytes = SLOT_BYTES,
		.slots_off = 2 * PAGE,
		.max_frames = 64,
		.limit_bytes = 1ull << 40,
		.tick = 12,
		.cookie = 99,
		.life = { 1, 2 },
		.warn_size_bytes = 777,
	};
	agent.tree = &board;
	agent.scratch = scratch;
	agent.pid = getpid();
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	segment_unmap();
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

#endif
