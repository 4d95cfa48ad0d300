/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One x86-64 instruction as far as moving it is concerned: length, where it goes, what it refers
 * to.
 */
#ifndef ENTRIES_INSN_H
#define ENTRIES_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_MAX_BYTES		15
#define INSN_MAX_MOVED_BYTES	24	/* what one can become elsewhere */

enum insn_flow {
	INSN_FLOW_ON,			/* continues with the next */
	INSN_FLOW_NOP,			/* ... and does nothing */
	INSN_FLOW_BRANCH,		/* may go to `target` */
	INSN_FLOW_JUMP,			/* goes to `target` */
	INSN_FLOW_JUMP_INDIRECT,
	INSN_FLOW_CALL,			/* calls `target` */
	INSN_FLOW_CALL_INDIRECT,
	INSN_FLOW_RETURN,
	INSN_FLOW_TRAP,			/* int3, ud2, hlt and the like */
};

struct insn {
	uint64_t address;
	const uint8_t *bytes;		/* not owned */
	uint8_t length;
	uint8_t opcode;			/* the last byte of it */
	enum insn_flow flow;
	bool has_target;		/* a relative one */
	uint64_t target;
	bool refers;			/* has a memory operand relative to the instruction */
	uint64_t reference;		/* its address */
	uint8_t disp_at;		/* offset of the 32-bit displacement in `bytes` */
	uint8_t modrm_at;		/* offset of the ModRM byte, 0 = none */
	/* depends on its place in a way that cannot be carried over */
	bool odd;
	bool uses_sp;			/* as base of its memory operand, or as the operand */
};

/*
 * Decode what is at `address`, of which `nr` bytes are known. false = not an instruction (or not
 * all of it is there).
 */
bool insn_decode(const uint8_t *bytes, size_t nr, uint64_t address, struct insn *in);

/*
 * Encode it anew for `at`. It does there what it did at its place: relative operands keep their
 * meaning, a call returns to its original place. Number of bytes, 0 with *why (a constant) when it
 * cannot be.
 */
unsigned insn_move(const struct insn *in, uint64_t at, uint8_t out[INSN_MAX_MOVED_BYTES],
		   const char **why);

/* Is `to` within the reach of a 32-bit displacement that is relative to `from`? */
bool insn_reaches(uint64_t from, uint64_t to);

/* jmp rel32 at `at` to `to`, which is within reach. 5 bytes. */
unsigned insn_jump(uint64_t at, uint64_t to, uint8_t *out);

#endif
