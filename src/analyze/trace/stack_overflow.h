/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a signal of memory is a stack overflow: from its record (TRACE_SEGV) and the stack that
 * was unwound from its copy.
 *
 * It is one if the access is near the stack pointer, below the end of a stack that is known, and
 * the innermost frame belongs to that stack. A stack pointer that points anywhere is none.
 */
#ifndef ANALYZE_TRACE_STACK_OVERFLOW_H
#define ANALYZE_TRACE_STACK_OVERFLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "src/kernel/kernel_rows.h"
#include "src/kernel/user_stack.h"

enum overflow_cause {
	OVERFLOW_NONE,
	OVERFLOW_GUARD,		/* the guard below the stack was hit */
	OVERFLOW_BEYOND,	/* what lies below the stack and its guard, if it has one */
	OVERFLOW_LIMIT,		/* RLIMIT_STACK */
	OVERFLOW_NEIGHBOUR,	/* another mapping is too near */
	OVERFLOW_REFUSED,	/* the kernel did not let it grow, for another reason */
	OVERFLOW_PROTECTED,	/* its own frame may not be accessed; areas are not known */
	OVERFLOW_NR_CAUSES
};

struct stack_overflow {
	int signal;
	int32_t code;			/* si_code */
	uint32_t flags;			/* enum stack_flags */
	enum stack_sort sort;		/* STACK_UNKNOWN: nothing below is known of the stack */
	enum overflow_cause cause;
	bool in_guard;			/* the address is, whether it is an overflow or not */
	bool near;			/* the address is near the stack pointer */
	uint64_t limit_bytes;		/* 0: unlimited, or not known */
	uint64_t used_bytes;		/* by the callers of the innermost function; 0: not known */
	uint64_t guard_bytes;		/* 0: none, or not known */
	uint64_t neighbour_bytes;	/* from its end to the address */
	uint64_t frame_bytes;		/* of the innermost function; 0: not known */
	/* how often frame[repeated] is on the stack, if that repeats; 0: it does not */
	uint64_t repeats;
	unsigned repeated;
	bool exact, computed;		/* counted; by the size of the stack; neither: at least */
};

/* `walked`: NULL: there is no copy. */
void stack_overflow_judge(struct stack_overflow *o, const struct trace_record *r,
			  const struct user_stack *walked);

#endif
