/* SPDX-License-Identifier: MIT */
/*
 * Call frame information: from .eh_frame as it is in memory to simple unwind rules, x86-64.
 *
 * A row that says what nearly all rows say becomes a struct cfi_rule. Any other one is followed to
 * the letter by cfi_step_slow().
 */
#include "agent/unwind/cfi.h"

#include "agent/unwind/cfi_expr.h"
#include "agent/unwind/cfi_fde.h"
#include "agent/unwind/cfi_row.h"
#include "arch/agent_arch.h"

#define OP_DEREF	0x06
#define OP_BREG0	0x70

/* Whether the expression is "register `reg` + *off", followed by deref when `deref`. */
static int expr_is_reg(const struct cfi_module *m, int32_t expr, unsigned int reg, int deref,
		       int64_t *off)
{
	struct cursor c = cfi_row_expr(m, expr);

	if (cursor_u8(&c) != OP_BREG0 + reg)
		return 0;
	*off = cursor_sleb(&c);
	if (deref && cursor_u8(&c) != OP_DEREF)
		return 0;
	return !c.bad && c.at == c.end;
}

/* Whether this is the row of a signal frame as the kernel makes it. */
static int row_is_sigframe(const struct cfi_module *m, const struct cfi_row *row)
{
	const struct cfi_reg_rule *pc = &row->reg[ARCH_DWARF_RA], *fp = &row->reg[ARCH_DWARF_FP];
	int64_t off;

	return row->cfa.how == HOW_EXPR && expr_is_reg(m, row->cfa.val, ARCH_DWARF_SP, 1, &off) &&
	       off == ARCH_SIGFRAME_SP && pc->how == HOW_EXPR &&
	       expr_is_reg(m, pc->val, ARCH_DWARF_SP, 0, &off) && off == ARCH_SIGFRAME_PC &&
	       fp->how == HOW_EXPR && expr_is_reg(m, fp->val, ARCH_DWARF_SP, 0, &off) &&
	       off == ARCH_SIGFRAME_FP;
}

/* Whether caller's sp is the CFA and the return address just below it. */
static int row_is_plain_call(const struct cfi_row *row)
{
	const struct cfi_reg_rule *sp = &row->reg[ARCH_DWARF_SP], *ra = &row->reg[ARCH_DWARF_RA];

	return (sp->how == HOW_UNSPEC || (sp->how == HOW_VAL_OFFSET && sp->val == 0)) &&
	       ra->how == HOW_OFFSET && ra->val == -8;
}

/* CFA found through fp after gcc realigned the stack: the old fp is where fp points. */
static int rule_from_expr(const struct cfi_module *m, const struct cfi_row *row,
			  struct cfi_rule *out)
{
	const struct cfi_reg_rule *fp = &row->reg[ARCH_DWARF_FP];
	int64_t off, zero;

	if (!expr_is_reg(m, row->cfa.val, ARCH_DWARF_FP, 1, &off) || off != (int32_t)off)
		return CFI_SLOW;
	if (fp->how != HOW_EXPR || !expr_is_reg(m, fp->val, ARCH_DWARF_FP, 0, &zero) || zero)
		return CFI_SLOW;
	out->cfa_off = (int32_t)off;
	return CFI_FP_DEREF;
}

static int rule_from_row(const struct cfi_module *m, const struct cfi_row *row,
			 struct cfi_rule *out)
{
	const struct cfi_reg_rule *fp = &row->reg[ARCH_DWARF_FP];
	int32_t words = 0;

	if (row->reg[ARCH_DWARF_RA].how == HOW_UNDEFINED)
		return CFI_END;
	if (!row_is_plain_call(row))
		return CFI_SLOW;
	if (row->cfa.how == HOW_EXPR)
		return rule_from_expr(m, row, out);
	if (row->cfa.reg != ARCH_DWARF_SP && row->cfa.reg != ARCH_DWARF_FP)
		return CFI_SLOW;

	if (fp->how == HOW_OFFSET) {
		words = fp->val / 8;
		if (fp->val % 8 || words == 0 || words != (int16_t)words)
			return CFI_SLOW;
	} else if (fp->how != HOW_UNSPEC && fp->how != HOW_SAME) {
		return CFI_SLOW;
	}
	out->fp_off = (int16_t)words;
	out->cfa_off = row->cfa.val;
	return row->cfa.reg == ARCH_DWARF_SP ? CFI_SP : CFI_FP;
}

int cfi_rule_find(const struct cfi_module *m, uint64_t pc, struct cfi_rule *out)
{
	struct cfi_fde fde;
	struct cfi_row row;

	*out = (struct cfi_rule){ .kind = CFI_NONE };
	if (!cfi_fde_find(m, pc, &fde) || !cfi_row_find(m, &fde, pc, &row))
		return CFI_NONE;
	if (!fde.signal)
		out->kind = (uint8_t)rule_from_row(m, &row, out);
	else
		out->kind = row_is_sigframe(m, &row) ? CFI_SIGFRAME : CFI_SLOW;
	return out->kind;
}

int cfi_begins_behind(const struct cfi_module *m, uint64_t pc)
{
	struct cfi_fde fde;

	return !cfi_fde_find(m, pc, &fde) && cfi_fde_find(m, pc + 1, &fde);
}

/* ---- full interpretation --------------------------------------------------------------------- */

static int cfa_find(const struct cfi_module *m, const struct cfi_reg_rule *rule,
		    const struct cfi_expr_env *env, uint64_t *cfa)
{
	if (rule->how == HOW_EXPR)
		return cfi_expr_eval(cfi_row_expr(m, rule->val), env, 0, cfa);
	if (!(env->regs->known & 1u << rule->reg))
		return -1;
	*cfa = env->regs->r[rule->reg] + (uint64_t)(int64_t)rule->val;
	return 0;
}

/* Caller's value of register k. Returns 1 found, 0 it has none, -1 cannot be read. */
static int reg_find(const struct cfi_module *m, const struct cfi_row *row, unsigned int k,
		    const struct cfi_expr_env *env, uint64_t cfa, uint64_t *val)
{
	const struct cfi_reg_rule *rule = &row->reg[k];
	uint64_t at = cfa + (uint64_t)(int64_t)rule->val;
	unsigned int from = k;

	switch (rule->how) {
	case HOW_UNDEFINED:
		return 0;
	case HOW_OFFSET:
		return env->read(env->ctx, at, val) ? -1 : 1;
	case HOW_VAL_OFFSET:
		*val = at;
		return 1;
	case HOW_EXPR:
		if (cfi_expr_eval(cfi_row_expr(m, rule->val), env, &cfa, &at) ||
		    env->read(env->ctx, at, val))
			return -1;
		return 1;
	case HOW_VAL_EXPR:
		return cfi_expr_eval(cfi_row_expr(m, rule->val), env, &cfa, val) ? -1 : 1;
	case HOW_UNSPEC:
		if (k == ARCH_DWARF_SP) {
			*val = cfa;
			return 1;
		}
		if (!(ARCH_DWARF_CALLEE_SAVED & 1u << k))
			return 0;
		break;
	case HOW_REGISTER:
		from = (unsigned int)rule->val;
		break;
	}
	*val = env->regs->r[from];
	return (env->regs->known & 1u << from) != 0;
}

/*
 * The two parts of a step are functions of their own, as each takes much of a stack that may be
 * small: the row of `pc`, which returns 1, 2 for a signal frame's, 0 for none; and the caller's
 * registers by it, which returns 1, 0 or -1, as cfi_step_slow().
 */
static __attribute__((noinline)) int row_read(const struct cfi_module *m, uint64_t pc,
					      struct cfi_row *row)
{
	struct cfi_fde fde;

	return !cfi_fde_find(m, pc, &fde) || !cfi_row_find(m, &fde, pc, row) ? 0 : 1 + fde.signal;
}

static __attribute__((noinline)) int row_step(const struct cfi_module *m, const struct cfi_row *row,
					      const struct cfi_expr_env *env, struct cfi_regs *regs)
{
	struct cfi_regs caller;
	uint64_t cfa;
	unsigned int k;

	if (row->reg[ARCH_DWARF_RA].how == HOW_UNDEFINED)
		return 0;
	if (row->reg[ARCH_DWARF_RA].how == HOW_SAME)
		return -1;
	if (cfa_find(m, &row->cfa, env, &cfa))
		return -1;

	caller.known = 0;
	for (k = 0; k < ARCH_DWARF_NR; k++) {
		caller.r[k] = 0;
		if (reg_find(m, row, k, env, cfa, &caller.r[k]) > 0)
			caller.known |= 1u << k;
	}
	if (!(caller.known & 1u << ARCH_DWARF_RA) || !(caller.known & 1u << ARCH_DWARF_SP))
		return -1;

	for (k = 0; k < ARCH_DWARF_NR; k++) {
		regs->r[k] = caller.r[k];
		__asm__("" : "+r"(k));	/* or the compiler makes a call of memcpy out of it */
	}
	regs->known = caller.known;
	return 1;
}

int cfi_step_slow(const struct cfi_module *m, uint64_t pc, struct cfi_regs *regs, cfi_read_fn read,
		  void *ctx)
{
	const struct cfi_expr_env env = { .regs = regs, .read = read, .ctx = ctx };
	struct cfi_row row;
	int kind = row_read(m, pc, &row), ret;

	if (!kind)
		return -1;
	ret = row_step(m, &row, &env, regs);
	return ret > 0 ? kind : ret;
}
