/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user stack from a copy of it: registers and bytes that the kernel took at an event are unwound
 * here, by the call frame information of the files that the process had mapped. No frame pointers
 * are needed.
 *
 *	struct user_stacks *u = user_stacks_new(&images);
 *	user_stack_walk(u, tgid, time_ns, &copy, &stack);
 *	number = stack_table_add(&table, stack.frame, stack.nr, stack.end);
 *
 * A stack never has a wrong frame: it ends where the next one is not known, and says why. What is
 * in a copy is outside data: every read is inside it, every walk ends.
 */
#ifndef KERNEL_USER_STACK_H
#define KERNEL_USER_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/trace_abi.h"
#include "src/kernel/images.h"
#include "src/kernel/stack_table.h"

#define USER_STACK_MAX_FRAMES	128

/* Why a stack has no further frame. */
enum user_stack_end {
	USER_STACK_COMPLETE,	/* its outermost frame is there */
	USER_STACK_SHORT,	/* more of the stack was there than was copied */
	USER_STACK_ELSEWHERE,	/* it goes on in memory that is not in the copy: another stack */
	USER_STACK_NO_RULE,	/* code without unwind information */
	USER_STACK_NO_MODULE,	/* no code is known to be there */
	USER_STACK_ANONYMOUS,	/* code made at run time (JIT) */
	USER_STACK_FILE,	/* its file is gone, replaced, damaged, or out of reach */
	USER_STACK_ENDED,	/* the process ended before its mappings were read */
	USER_STACK_DENIED,	/* its mappings may not be read */
	USER_STACK_DEEP,	/* more than USER_STACK_MAX_FRAMES */
	USER_STACK_NO_ROOM,	/* nothing was copied, because the ring was filling */
	USER_STACK_NR_ENDS
};

/*
 * Where the registers were taken. After a system call the program counter is behind the instruction
 * that made it, which may be the last one of its function; at a fault it is the instruction that
 * was interrupted. A fault that the kernel runs into on behalf of a call is after a system call.
 */
enum user_stack_at { USER_STACK_AT_FAULT, USER_STACK_AFTER_CALL };

struct user_stack_copy {
	struct trace_regs regs;
	const void *bytes;	/* of the stack, from regs.sp + regs.skipped on */
	size_t nr_bytes;
	/*
	 * Pages that could not be read: bit k is the copy's page k. Their bytes mean
	 * nothing. A stack that has just grown has such pages, a large frame may.
	 */
	uint64_t missing;
	bool cut;		/* TRACE_CUT: there was more */
	bool no_room;		/* TRACE_NO_ROOM: nothing was copied */
	enum user_stack_at at;
};

struct user_stack {
	unsigned nr;
	enum user_stack_end end;
	uint64_t frame[USER_STACK_MAX_FRAMES];	/* stack_frame(); innermost first */
	/* the stack pointer as the caller had it: where each frame ends; 0: not known */
	uint64_t frame_end[USER_STACK_MAX_FRAMES];
	/* the innermost frame's other end, also where its function has not got there yet */
	uint64_t lowest;
};

struct user_stacks;

/* NULL: out of memory. The images are the caller's and must outlive it. */
struct user_stacks *user_stacks_new(struct images *images);
void user_stacks_free(struct user_stacks *u);

/* Unwind a copy of process `tgid`. *out is always set, and has the innermost frame at least. */
void user_stack_walk(struct user_stacks *u, pid_t tgid, uint64_t time_ns,
		     const struct user_stack_copy *copy, struct user_stack *out);

/* How many stacks ended so, of all that were walked. */
const uint64_t *user_stacks_ends(const struct user_stacks *u);

/* A name for machines ("copy_too_short"), and what to say to a person ("the copy is too short"). */
const char *user_stack_end_name(enum user_stack_end end);
const char *user_stack_end_text(enum user_stack_end end);

#endif
