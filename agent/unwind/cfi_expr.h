/* SPDX-License-Identifier: MIT */
/* Evaluates the DWARF expressions that call frame information uses. */
#ifndef AGENT_UNWIND_CFI_EXPR_H
#define AGENT_UNWIND_CFI_EXPR_H

#include "agent/unwind/cfi.h"
#include "agent/unwind/cfi_cursor.h"

/* What an expression may look at. */
struct cfi_expr_env {
	const struct cfi_regs *regs;
	cfi_read_fn read;
	void *ctx;
};

/*
 * The value on top of the stack after the operations of `c`; *initial (may be NULL) is pushed
 * first. Returns 0, or -1.
 */
int cfi_expr_eval(struct cursor c, const struct cfi_expr_env *env, const uint64_t *initial,
		  uint64_t *out);

#endif
