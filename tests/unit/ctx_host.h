/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process whose threads are made up: a thread pointer is a place in `blocks`, with a thread id
 * where the C library would have it.
 */
#ifndef TESTS_UNIT_CTX_HOST_H
#define TESTS_UNIT_CTX_HOST_H

#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"

#include <pthread.h>

#include "agent/agent_core.h"

#define BLOCKS		(1u << 20)
#define TID_OFFSET	64
#define GONE		0x3ffffff0u	/* above all that kernels give out */
#define SLOT_BYTES	(64ull << 20)

extern uint64_t *blocks;

struct pmm_tree *tree(void);

int begin(void **state);
int end(void **state);

/* The pointer of the nr-th thread that is made up, which has this id now; its context. */
uint64_t thread(uint32_t nr, uint32_t tid);
struct tctx *ctx_of(uint32_t nr, uint32_t tid);

struct pmm_thread *record_of(uint32_t nr);
uint32_t own_tid(void);

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

#endif
