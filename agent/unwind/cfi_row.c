/* SPDX-License-Identifier: MIT */
/*
 * Runs the call frame instructions that lead to one pc: the row of the table DWARF thinks of.
 *
 * Instructions: DWARF 5 sections 6.4.2 and 7.24; the GNU ones: LSB 5.0 core, 10.6.
 *
 * remember_state needs no copy of the state: instructions run in order up to `pc`, so what stands
 * between a remember_state and its restore_state, both before `pc`, has no effect but to advance
 * the location. It is passed over. A remember_state whose restore_state comes after `pc` has no
 * effect at all. That costs a look ahead per open remember_state, so their number is bounded.
 */
#include "agent/unwind/cfi_row.h"

enum {
	/* with an operand in the low 6 bits */
	CFA_ADVANCE_LOC = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0,

	CFA_NOP = 0x00, CFA_SET_LOC, CFA_ADVANCE_LOC1, CFA_ADVANCE_LOC2, CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED, CFA_RESTORE_EXTENDED, CFA_UNDEFINED, CFA_SAME_VALUE, CFA_REGISTER,
	CFA_REMEMBER_STATE, CFA_RESTORE_STATE, CFA_DEF_CFA, CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET, CFA_DEF_CFA_EXPRESSION, CFA_EXPRESSION, CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF, CFA_DEF_CFA_OFFSET_SF, CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION, CFA_MIPS_ADVANCE_LOC8 = 0x1d, CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

#define MAX_OPEN_STATES	8	/* gcc and clang nest one deep */

/* What an instruction says, after its operands have been scaled. */
enum insn_kind {
	INSN_BAD,
	INSN_NOTHING,
	INSN_LOC,		/* location = val */
	INSN_REG,		/* rule of register `reg` = how, val */
	INSN_RESTORE,		/* rule of `reg` as the CIE has it */
	INSN_CFA,		/* CFA = how, register `reg`, val */
	INSN_CFA_REG,		/* CFA's register = reg, its offset stays */
	INSN_CFA_OFFSET,	/* CFA's offset = val, its register stays */
	INSN_REMEMBER, INSN_RESTORE_STATE,
};

struct insn {
	uint8_t kind;		/* enum insn_kind */
	uint8_t how;		/* enum cfi_how */
	uint64_t reg;
	uint64_t val;		/* signed where it is an offset */
};

/* The state of a run. */
struct run {
	const struct cfi_module *m;
	const struct cfi_fde *fde;
	struct cursor c;
	uint64_t loc;		/* start of the row being made */
	uint64_t pc;		/* the first advance beyond ends the run */
};

static uint64_t scaled(const struct run *r, uint64_t operand)
{
	return operand * (uint64_t)r->fde->data_align;
}

/* The offset in the module of the block at the cursor, which is passed over. */
static uint64_t block_read(struct run *r)
{
	uint64_t at = r->c.at;

	cursor_take(&r->c, cursor_uleb(&r->c));
	return at - r->m->start;
}

static struct insn insn_advance(const struct run *r, uint64_t delta)
{
	return (struct insn){ .kind = INSN_LOC, .val = r->loc + delta * r->fde->code_align };
}

/* Instructions that set a register's rule. */
static struct insn insn_read_reg(struct run *r, uint8_t op)
{
	struct insn in = { .kind = INSN_REG, .how = HOW_OFFSET, .reg = cursor_uleb(&r->c) };

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		in.val = scaled(r, cursor_uleb(&r->c));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		in.val = scaled(r, (uint64_t)cursor_sleb(&r->c));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		in.val = -scaled(r, cursor_uleb(&r->c));
		break;
	case CFA_VAL_OFFSET:
		in.how = HOW_VAL_OFFSET;
		in.val = scaled(r, cursor_uleb(&r->c));
		break;
	case CFA_VAL_OFFSET_SF:
		in.how = HOW_VAL_OFFSET;
		in.val = scaled(r, (uint64_t)cursor_sleb(&r->c));
		break;
	case CFA_EXPRESSION:
		in.how = HOW_EXPR;
		in.val = block_read(r);
		break;
	case CFA_VAL_EXPRESSION:
		in.how = HOW_VAL_EXPR;
		in.val = block_read(r);
		break;
	case CFA_REGISTER:
		in.how = HOW_REGISTER;
		in.val = cursor_uleb(&r->c);
		if (in.val >= ARCH_DWARF_NR)
			in.kind = INSN_BAD;
		break;
	case CFA_UNDEFINED:
		in.how = HOW_UNDEFINED;
		break;
	case CFA_SAME_VALUE:
		in.how = HOW_SAME;
		break;
	case CFA_RESTORE_EXTENDED:
		in.kind = INSN_RESTORE;
		break;
	}
	return in;
}

/* Instructions that say what the CFA is. */
static struct insn insn_read_cfa(struct run *r, uint8_t op)
{
	struct insn in = { .kind = INSN_CFA, .how = HOW_REGISTER };

	switch (op) {
	case CFA_DEF_CFA:
		in.reg = cursor_uleb(&r->c);
		in.val = cursor_uleb(&r->c);
		break;
	case CFA_DEF_CFA_SF:
		in.reg = cursor_uleb(&r->c);
		in.val = scaled(r, (uint64_t)cursor_sleb(&r->c));
		break;
	case CFA_DEF_CFA_REGISTER:
		in.kind = INSN_CFA_REG;
		in.reg = cursor_uleb(&r->c);
		break;
	case CFA_DEF_CFA_OFFSET:
		in.kind = INSN_CFA_OFFSET;
		in.val = cursor_uleb(&r->c);
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		in.kind = INSN_CFA_OFFSET;
		in.val = scaled(r, (uint64_t)cursor_sleb(&r->c));
		break;
	case CFA_DEF_CFA_EXPRESSION:
		in.how = HOW_EXPR;
		in.val = block_read(r);
		break;
	}
	return in;
}

static struct insn insn_read_extended(struct run *r, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
		return (struct insn){ .kind = INSN_NOTHING };
	case CFA_SET_LOC:
		return (struct insn){
			.kind = INSN_LOC,
			.val = cfi_encoded_read(&r->c, r->fde->encoding, r->m->hdr),
		};
	case CFA_ADVANCE_LOC1:
		return insn_advance(r, cursor_u8(&r->c));
	case CFA_ADVANCE_LOC2:
		return insn_advance(r, cursor_u16(&r->c));
	case CFA_ADVANCE_LOC4:
		return insn_advance(r, cursor_u32(&r->c));
	case CFA_MIPS_ADVANCE_LOC8:
		return insn_advance(r, cursor_u64(&r->c));
	case CFA_REMEMBER_STATE:
		return (struct insn){ .kind = INSN_REMEMBER };
	case CFA_RESTORE_STATE:
		return (struct insn){ .kind = INSN_RESTORE_STATE };
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		return insn_read_cfa(r, op);
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
	case CFA_REGISTER:
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
	case CFA_RESTORE_EXTENDED:
		return insn_read_reg(r, op);
	case CFA_GNU_ARGS_SIZE:
		cursor_uleb(&r->c);	/* matters to landing pads only */
		return (struct insn){ .kind = INSN_NOTHING };
	}
	return (struct insn){ .kind = INSN_BAD };
}

static struct insn insn_read(struct run *r)
{
	uint8_t op = cursor_u8(&r->c);
	uint8_t low = op & 0x3f;
	struct insn in;

	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC:
		in = insn_advance(r, low);
		break;
	case CFA_OFFSET:
		in = (struct insn){ .kind = INSN_REG, .how = HOW_OFFSET, .reg = low,
				    .val = scaled(r, cursor_uleb(&r->c)) };
		break;
	case CFA_RESTORE:
		in = (struct insn){ .kind = INSN_RESTORE, .reg = low };
		break;
	default:
		in = insn_read_extended(r, op);
	}
	if (r->c.bad)
		in.kind = INSN_BAD;
	return in;
}

/* Behind a remember_state: go behind its restore_state when that comes before the run ends. */
static int state_skip(struct run *r)
{
	const uint64_t at = r->c.at, loc = r->loc;
	unsigned int depth = 1;

	while (r->c.at < r->c.end) {
		struct insn in = insn_read(r);

		if (in.kind == INSN_BAD || (in.kind == INSN_LOC && in.val > r->pc))
			break;
		if (in.kind == INSN_LOC)
			r->loc = in.val;
		depth += in.kind == INSN_REMEMBER;
		depth -= in.kind == INSN_RESTORE_STATE;
		if (!depth)
			return 1;
	}
	r->c.at = at;
	r->c.bad = 0;
	r->loc = loc;
	return 0;
}

static int insn_apply(const struct insn *in, struct cfi_row *row, const struct cfi_row *initial)
{
	if (in->kind == INSN_NOTHING)
		return 1;
	if (in->kind == INSN_RESTORE || in->kind == INSN_REG) {
		if (in->kind == INSN_RESTORE && !initial)
			return 0;
		if (in->reg >= ARCH_DWARF_NR)	/* vector registers: nothing depends on them */
			return 1;
		if (in->kind == INSN_RESTORE)
			row->reg[in->reg] = initial->reg[in->reg];
		else
			row->reg[in->reg] = (struct cfi_reg_rule){
				.how = in->how, .val = (int32_t)in->val,
			};
		return (int64_t)in->val == (int32_t)in->val;
	}
	if (in->reg >= ARCH_DWARF_NR || (int64_t)in->val != (int32_t)in->val)
		return 0;
	if (in->kind == INSN_CFA) {
		row->cfa = (struct cfi_reg_rule){
			.how = in->how, .reg = (uint8_t)in->reg, .val = (int32_t)in->val,
		};
		return 1;
	}
	if (row->cfa.how != HOW_REGISTER)
		return 0;
	if (in->kind == INSN_CFA_REG)
		row->cfa.reg = (uint8_t)in->reg;
	else if (in->kind == INSN_CFA_OFFSET)
		row->cfa.val = (int32_t)in->val;
	else
		return 0;
	return 1;
}

static int program_run(struct run *r, struct cfi_row *row, const struct cfi_row *initial)
{
	unsigned int open = 0;

	while (r->c.at < r->c.end) {
		struct insn in = insn_read(r);

		if (in.kind == INSN_LOC) {
			if (in.val > r->pc)
				break;
			r->loc = in.val;
		} else if (in.kind == INSN_REMEMBER) {
			if (!state_skip(r) && ++open > MAX_OPEN_STATES)
				return 0;
		} else if (!insn_apply(&in, row, initial)) {
			return 0;
		}
	}
	return 1;
}

int cfi_row_find(const struct cfi_module *m, const struct cfi_fde *fde, uint64_t pc,
		 struct cfi_row *row)
{
	struct run r = { .m = m, .fde = fde, .c = fde->initial, .loc = fde->start, .pc = pc };
	struct cfi_row initial;
	unsigned int k;

	row->cfa = (struct cfi_reg_rule){ .how = HOW_UNSPEC };
	for (k = 0; k < ARCH_DWARF_NR; k++) {
		row->reg[k] = (struct cfi_reg_rule){ .how = HOW_UNSPEC };
		__asm__("" : "+r"(k));	/* or the compiler makes a call of memset out of it */
	}
	if (!program_run(&r, row, 0))
		return 0;

	for (k = 0; k < ARCH_DWARF_NR; k++) {
		initial.reg[k] = row->reg[k];
		__asm__("" : "+r"(k));
	}
	r.c = fde->program;
	r.loc = fde->start;
	return program_run(&r, row, &initial) && row->cfa.how != HOW_UNSPEC;
}

struct cursor cfi_row_expr(const struct cfi_module *m, int32_t val)
{
	struct cursor c = { .at = m->start + (uint32_t)val, .end = m->end };
	uint64_t bytes = cursor_uleb(&c);

	if (bytes > cursor_left(&c))
		c.bad = 1;
	else
		c.end = c.at + bytes;
	return c;
}
