/* SPDX-License-Identifier: MIT */
/*
 * The functions that come after ours: the real allocator and what else is interposed.
 */
#ifndef AGENT_NEXT_H
#define AGENT_NEXT_H

#include <stddef.h>
#include <stdint.h>

#include "agent/hook_entries.h"

/* struct rlimit of 64-bit machines. */
struct limit {
	uint64_t now, most;
};

/* struct sigaction as the C library has it on 64-bit machines. */
typedef void sig_handler(int);

struct sig_action {
	sig_handler *handler;
	uint64_t mask[16];
	int flags;
	void (*restorer)(void);
};

/* stack_t. */
struct sig_stack {
	void *start;
	int flags;
	uint64_t bytes;
};

/*
 * The real functions: the next definition of each entry after ours, in the order of
 * agent/hook_entries.h. NULL where there is none.
 */
struct next_functions {
#define NEXT_MEMBER(RET, NAME, ...) RET (*NAME)(__VA_ARGS__);
	AGENT_ENTRIES(NEXT_MEMBER)
#undef NEXT_MEMBER
	void *mallinfo2;
	void *cxx[32];		/* by enum cxx_which */
};

_Static_assert((int)CXX_NR <= 32, "next_functions.cxx[] has room for all operators");

#endif
