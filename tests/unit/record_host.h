/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A context in a ledger of this process's own, whose records (agent/record.c) are looked at.
 */
#ifndef TESTS_UNIT_RECORD_HOST_H
#define TESTS_UNIT_RECORD_HOST_H

#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"

#include "agent/record.h"

#define HEAP	0x555555600000ull
#define PAGE	4096ull
#define NOTHING	UINT32_MAX

extern struct tctx *c;
extern struct block_info was;	/* for what is released */

struct pmm_tree *tree(void);

/* Setup and teardown of a test; the first with that much room. */
int begin_with(size_t arena_bytes);
int begin(void **state);
int end(void **state);

/* The record of a site, NULL when the context has none. */
struct pmm_record *record(uint32_t site);

/* Of its blocks: those released with that lifetime, and all of which that is known. */
uint64_t released_after(uint32_t site, unsigned bucket);
uint64_t all_released(uint32_t site);

/* malloc() returned a block, and the event is a usual one: see agent/record.h. */
void usual_alloc(uint64_t address, uint64_t size, uint32_t site);

/*
 * Each event is one that readers can tell: it begins with an odd number and ends with an even one.
 */
void events_were(uint64_t nr);

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

#endif
