/* SPDX-License-Identifier: MIT */
/* Runs the call frame instructions that lead to one pc: the row of the table DWARF thinks of. */
#ifndef AGENT_UNWIND_CFI_ROW_H
#define AGENT_UNWIND_CFI_ROW_H

#include "agent/unwind/cfi_fde.h"

/* DWARF 5 section 6.4.1, "register rules" */
enum cfi_how {
	HOW_UNSPEC,		/* nothing said: the ABI's default */
	HOW_SAME,
	HOW_UNDEFINED,
	HOW_OFFSET,		/* saved at CFA + val */
	HOW_VAL_OFFSET,		/* is CFA + val */
	HOW_EXPR,		/* saved where the expression says */
	HOW_VAL_EXPR,		/* is what the expression says */
	HOW_REGISTER,		/* is in register val; for the CFA: register `reg` + val */
};

/* An expression's `val` is the offset in the module of its block: length, then operations. */
struct cfi_reg_rule {
	uint8_t how;		/* enum cfi_how */
	uint8_t reg;		/* CFA only */
	int32_t val;
};

struct cfi_row {
	struct cfi_reg_rule cfa;		/* HOW_REGISTER or HOW_EXPR; HOW_UNSPEC = none */
	struct cfi_reg_rule reg[ARCH_DWARF_NR];
};

/* The row of `pc`, which `fde` covers. Returns 1, or 0 when the instructions make no sense. */
int cfi_row_find(const struct cfi_module *m, const struct cfi_fde *fde, uint64_t pc,
		 struct cfi_row *row);

/* A cursor over the operations of the expression `val` (of a rule of this module). */
struct cursor cfi_row_expr(const struct cfi_module *m, int32_t val);

#endif
