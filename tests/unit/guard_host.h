/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pool of guarded blocks in a test program, with a ledger in ordinary memory. A pool cannot be
 * given back: each test runs in a forked child, which says by its exit status how it went.
 */
#ifndef TESTS_UNIT_GUARD_HOST_H
#define TESTS_UNIT_GUARD_HOST_H

#include "tests/unit/agent_host.h"
#include "tests/unit/unit.h"

#include <unistd.h>

#include "agent/guard/area.h"
#include "agent/guard/guard.h"
#include "agent/guard/guard_pages.h"

#define PAGE 4096ul
#define SECRET 0x123456789abcdefull

/* enum pmm_check_flags of the test that runs. */
extern uint32_t guard_flags;

extern const struct pmm_check guard_usual;

/* In a child: ends it when the condition does not hold. */
#define CHECK(condition) do {								\
	if (!(condition)) {								\
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);		\
		_exit(1);								\
	}										\
} while (0)

/*
 * Run a test with these flags in a child; skipped where the kernel has no guard markers and they
 * are wanted.
 */
void in_child(void (*test)(void), uint32_t flags);

/* Set up the pool, with guard_flags as well. */
void start_with(struct pmm_check options);
void start(void);

/* A block, published; NO_RUN when it is refused, which block() does not expect. */
uint32_t block_try(size_t size, size_t align, enum guard_refusal *why);
uint32_t block(size_t size, size_t align);

/* Release it. */
void give(uint32_t run);

/* Where it begins. */
uint8_t *at(uint32_t run);

/* Is a read, and a write, of this byte stopped? Both or none. */
bool stops(const volatile uint8_t *p);

/* Are a block's pages, its neighbours' first bytes and its canary as they are to be? */
void look_at(uint32_t run, size_t size, size_t align);

/*
 * TEST_madvise and TEST_mprotect, and their entries in a list of tests; the same with blocks at the
 * left.
 */
#define WITH(TEST, NAME, FLAGS)								\
static void TEST##_##NAME(void **state)							\
{											\
	(void)state;									\
	in_child(TEST, FLAGS);								\
}

#define BOTH(TEST) WITH(TEST, madvise, 0) WITH(TEST, mprotect, PMM_CHECK_MPROTECT)
#define LEFT(TEST)                                                                                 \
	WITH(TEST, left, PMM_CHECK_LEFT)                                                           \
	WITH(TEST, left_mprotect, PMM_CHECK_LEFT | PMM_CHECK_MPROTECT)
#define TESTS(TEST) cmocka_unit_test(TEST##_madvise), cmocka_unit_test(TEST##_mprotect)
#define LEFT_TESTS(TEST) cmocka_unit_test(TEST##_left), cmocka_unit_test(TEST##_left_mprotect)

#endif
