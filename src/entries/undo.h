/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an instruction has changed, undone.
 */
#ifndef ENTRIES_UNDO_H
#define ENTRIES_UNDO_H

#include <stdint.h>

#include "src/entries/insn.h"

#define UNDO_MAX_BYTES	16

/* Argument registers, a bit for each: rdi rsi rdx rcx r8 r9, as in pmm_role_register(). */
#define UNDO_ARG(n)	(1u << (n))
#define UNDO_ARGS	0x3fu

/*
 * A function's first instruction has run. Make `out`, instructions that run next, after which the
 * function may begin anew: the argument registers in `keep`, the stack and the registers that
 * belong to the caller are as they were, and the instruction done again does the same again. Their
 * length, 0 when nothing is to be done, or -ENOTSUP with *why (a constant).
 */
int undo_make(const struct insn *in, unsigned keep, uint8_t out[UNDO_MAX_BYTES], const char **why);

#endif
