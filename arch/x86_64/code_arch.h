/* SPDX-License-Identifier: MIT */
/*
 * x86-64: machine code as far as it is recognised byte by byte. What decodes whole instructions is
 * src/entries/insn.h.
 */
#ifndef ARCH_X86_64_CODE_ARCH_H
#define ARCH_X86_64_CODE_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARCH_BREAKPOINT	0xcc		/* one byte: int3 */
#define ARCH_CALL_NOP	5		/* bytes of arch_is_call_for_nop() */

/*
 * A uprobe that is hit often on a nop of five bytes becomes a call of the kernel's trampoline
 * (Linux 6.18): all five are its own until it is taken away. Has memory the call, the file the nop?
 */
static inline bool arch_is_call_for_nop(const uint8_t *code, const uint8_t *file, size_t nr)
{
	static const uint8_t nop[ARCH_CALL_NOP] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	return nr >= sizeof(nop) && code[0] == 0xe8 && !memcmp(file, nop, sizeof(nop));
}

/*
 * May a branch with a displacement of 32 bits (call, jmp, jcc) begin at `code`, of two bytes at
 * least? How many bytes stand before the displacement; 0 = no.
 */
static inline unsigned arch_branch(const uint8_t *code)
{
	return (code[0] & 0xfe) == 0xe8				      ? 1
	       : code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? 2
							     : 0;
}

#endif
