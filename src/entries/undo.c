/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an instruction has changed, undone (Intel SDM volume 2; System V ABI, AMD64, 3.2;
 * decoded with Zydis).
 *
 * An instruction can be undone in one of these ways:
 *   - it moves the stack pointer by a constant, or pushes something: the stack pointer is moved
 *     back;
 *   - it sets registers from what it leaves alone, and these are neither the caller's nor in
 *     `keep`: nothing is to be done. Code that sets a register unread does not depend on
 *     what it was;
 *   - it changes a register by what has an inverse: that is done;
 *   - done twice it does the same as done once: nothing is to be done. Flags mean nothing where a
 * function begins, and are set anew when the instruction runs again. Below the stack pointer is
 * memory of no owner. All other memory must only be read: whatever is written twice could be seen
 * twice.
 */
#include "src/entries/undo.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define NR_GPR	16u
/* rbx rbp r12..r15: a function must give them back */
#define CALLERS	(1u << 3 | 1u << 5 | 0xf000u)
#define SP	4u

/* rdi rsi rdx rcx r8 r9 as they are encoded. */
static const uint8_t arg_number[] = { 7, 6, 2, 1, 8, 9 };

struct undo {
	const struct insn *in;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	unsigned keep;			/* registers as they are encoded */
	unsigned read, written;		/* general registers, likewise */
	unsigned partly;		/* ... written in part */
	uint8_t *out;
	const char *why;
};

static int refuse(struct undo *u, const char *why)
{
	u->why = why;
	return -ENOTSUP;
}

/* ---- registers ------------------------------------------------------------------------------ */

/* The number of a general register or a part of it, NR_GPR = it is none. */
static unsigned gpr_of(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		       ? (unsigned)(whole - ZYDIS_REGISTER_RAX)
		       : NR_GPR;
}

static unsigned bit_of(ZydisRegister r)
{
	unsigned n = gpr_of(r);

	return n < NR_GPR ? 1u << n : 0;
}

static bool is_register(const ZydisDecodedOperand *o)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/*
 * Both explicit operands are the same register: xor, sub, pxor and the like make zero of it,
 * whatever it was.
 */
static bool makes_zero(const struct undo *u)
{
	switch (u->z.mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
		return u->operand[0].size >= 32 && is_register(&u->operand[0]) &&
		       is_register(&u->operand[1]) &&
		       u->operand[0].reg.value == u->operand[1].reg.value;
	case ZYDIS_MNEMONIC_VPXOR: case ZYDIS_MNEMONIC_VXORPS: case ZYDIS_MNEMONIC_VXORPD:
		return is_register(&u->operand[1]) && is_register(&u->operand[2]) &&
		       u->operand[1].reg.value == u->operand[2].reg.value;
	default:
		return false;
	}
}

/* ---- what it does --------------------------------------------------------------------------- */

/* Memory below the stack pointer, by a plain store. */
static bool is_scratch(const struct undo *u, const ZydisDecodedOperand *o)
{
	return u->z.mnemonic == ZYDIS_MNEMONIC_MOV && o->mem.base == ZYDIS_REGISTER_RSP &&
	       o->mem.index == ZYDIS_REGISTER_NONE &&
	       o->mem.disp.value <= -(int64_t)(o->size / 8) && o->mem.disp.value >= -128;
}

static int look_at_memory(struct undo *u, const ZydisDecodedOperand *o)
{
	u->read |= bit_of(o->mem.base) | bit_of(o->mem.index);
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && !is_scratch(u, o))
		return refuse(u, "it writes to memory");
	return 0;
}

static int look_at_register(struct undo *u, const ZydisDecodedOperand *o)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(o->reg.value);
	unsigned bit = bit_of(o->reg.value);
	bool written = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE,
	     read = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;

	if (class == ZYDIS_REGCLASS_FLAGS || class == ZYDIS_REGCLASS_IP)
		return 0;
	if (o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		return refuse(u, "what it does depends on what was before");
	if (!bit) {
		if (class != ZYDIS_REGCLASS_XMM && class != ZYDIS_REGCLASS_YMM &&
		    class != ZYDIS_REGCLASS_ZMM && written)
			return refuse(u, "it changes a register of the system");
		return written && read && !makes_zero(u)
			       ? refuse(u, "what it changes cannot be restored")
			       : 0;
	}
	if (read && !makes_zero(u))
		u->read |= bit;
	if (written)
		u->written |= bit;
	if (written && o->size < 32)
		u->partly |= bit;
	return 0;
}

static int collect_operands(struct undo *u)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < u->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &u->operand[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			u->read |= bit_of(o->mem.base) | bit_of(o->mem.index);
		else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
			rc = look_at_memory(u, o);
		else if (is_register(o))
			rc = look_at_register(u, o);
	}
	return rc;
}

/* Instructions whose operands say all that they do. */
static bool is_known(const struct undo *u)
{
	switch (u->z.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_TEST: case ZYDIS_MNEMONIC_CMP: case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_BSWAP:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_SHLX:
	case ZYDIS_MNEMONIC_SHRX:
	case ZYDIS_MNEMONIC_SARX:
	case ZYDIS_MNEMONIC_RORX:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_POPCNT:
	case ZYDIS_MNEMONIC_ANDN:
	case ZYDIS_MNEMONIC_BZHI:
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_VMOVQ:
	case ZYDIS_MNEMONIC_VMOVDQU:
	case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_VMOVAPS:
		return true;
	default:
		return false;
	}
}

/* ---- taking it back ------------------------------------------------------------------------- */

/* lea distance(register), register: leaves the flags alone, as all that is put out. */
static int put_lea(struct undo *u, unsigned reg, int64_t distance, bool wide)
{
	int32_t low = (int32_t)distance;
	unsigned n = 0;

	if (low != distance)
		return refuse(u, "what it changes cannot be restored");
	if (wide || reg >= 8)
		u->out[n++] = (uint8_t)(0x40 | wide << 3 | (reg >= 8) << 2 | (reg >= 8));
	u->out[n++] = 0x8d;
	u->out[n++] = (uint8_t)(0x80 | (reg & 7) << 3 | (reg & 7));
	if ((reg & 7) == SP)
		u->out[n++] = 0x24;
	memcpy(u->out + n, &low, sizeof(low));
	return (int)(n + sizeof(low));
}

static int undo_push(struct undo *u)
{
	unsigned reg = is_register(&u->operand[0]) ? gpr_of(u->operand[0].reg.value) : NR_GPR,
		 n = 0;

	if (u->z.operand_width != 64 || reg == SP)
		return refuse(u, "it pushes something odd");
	if (reg == NR_GPR)
		return put_lea(u, SP, 8, true);
	if (reg >= 8)
		u->out[n++] = 0x41;
	u->out[n++] = (uint8_t)(0x58 | (reg & 7));
	return (int)n;
}

/*
 * Does it add a constant to its first operand, which it reads and writes? Of 32 bits the sum is
 * taken as such.
 */
static bool added(const struct undo *u, int64_t *by)
{
	const ZydisDecodedOperand *o = u->operand;

	switch (u->z.mnemonic) {
	case ZYDIS_MNEMONIC_INC:
		*by = 1;
		return true;
	case ZYDIS_MNEMONIC_DEC:
		*by = -1;
		return true;
	case ZYDIS_MNEMONIC_LEA:
		*by = o[1].mem.disp.value;
		return gpr_of(o[1].mem.base) == gpr_of(o[0].reg.value) &&
		       o[1].mem.index == ZYDIS_REGISTER_NONE &&
		       ZydisRegisterGetClass(o[1].mem.base) == ZYDIS_REGCLASS_GPR64;
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB:
		*by = u->z.mnemonic == ZYDIS_MNEMONIC_SUB ? -o[1].imm.value.s : o[1].imm.value.s;
		if (o[0].size == 32)
			*by = (int32_t)*by;
		return o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	default:
		return false;
	}
}

static bool is_own_inverse(const struct undo *u)
{
	return u->z.mnemonic == ZYDIS_MNEMONIC_NEG || u->z.mnemonic == ZYDIS_MNEMONIC_NOT ||
	       u->z.mnemonic == ZYDIS_MNEMONIC_BSWAP ||
	       (u->z.mnemonic == ZYDIS_MNEMONIC_XOR &&
		u->operand[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE);
}

/*
 * From the lower part of a register to the whole: an argument of fewer bits, of which the rest
 * means nothing.
 */
static bool is_extension(const struct undo *u)
{
	switch (u->z.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return is_register(&u->operand[1]) && u->operand[1].size <= 32 &&
		       u->operand[1].reg.value != ZYDIS_REGISTER_AH &&
		       u->operand[1].reg.value != ZYDIS_REGISTER_CH &&
		       u->operand[1].reg.value != ZYDIS_REGISTER_DH &&
		       u->operand[1].reg.value != ZYDIS_REGISTER_BH;
	default:
		return false;
	}
}

static bool is_mask(const struct undo *u)
{
	return (u->z.mnemonic == ZYDIS_MNEMONIC_AND || u->z.mnemonic == ZYDIS_MNEMONIC_OR) &&
	       u->operand[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* It reads the register that it changes. */
static int undo_change(struct undo *u)
{
	unsigned reg = is_register(&u->operand[0]) ? gpr_of(u->operand[0].reg.value) : NR_GPR;
	bool wide = u->operand[0].size == 64;
	int64_t by;

	if (reg == NR_GPR || u->written != 1u << reg || u->partly)
		return refuse(u, "what it changes cannot be restored");
	if (reg == SP && !wide)
		return refuse(u, "it sets the stack pointer");
	if (added(u, &by))
		return reg == SP && by > 0 ? refuse(u, "it moves the stack pointer up")
					   : put_lea(u, reg, -by, wide);
	if (reg == SP)
		return refuse(u, "it sets the stack pointer");
	if (is_own_inverse(u)) {
		memcpy(u->out, u->in->bytes, u->in->length);
		return u->in->length;
	}
	if (is_extension(u) || (is_mask(u) && !(u->written & u->keep)))
		return 0;
	return refuse(u, "what it changes cannot be restored");
}

static int undo(struct undo *u)
{
	int rc;

	if (u->z.mnemonic == ZYDIS_MNEMONIC_PUSH || u->z.mnemonic == ZYDIS_MNEMONIC_PUSHFQ)
		return undo_push(u);
	if (!is_known(u))
		return refuse(u, "what it does cannot be undone");
	if (u->z.attributes & (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP))
		return refuse(u, "what it does cannot be undone");
	rc = collect_operands(u);
	if (rc)
		return rc;
	if (u->written & CALLERS)
		return refuse(u, "it changes a register that is the caller's");
	if (u->written & u->read)
		return undo_change(u);
	if (u->written & 1u << SP)
		return refuse(u, "it sets the stack pointer");
	if (u->written & u->keep)
		return refuse(u, "it changes an argument");
	if (u->partly & ~(1u << 0 | 1u << 10 | 1u << 11))	/* the rest may be an argument */
		return refuse(u, "it changes a part of a register");
	return 0;
}

int undo_make(const struct insn *in, unsigned keep, uint8_t out[UNDO_MAX_BYTES], const char **why)
{
	struct undo u = { .in = in, .out = out };
	ZydisDecoder decoder;
	int rc;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (unsigned i = 0; i < sizeof(arg_number); i++)
		if (keep & UNDO_ARG(i))
			u.keep |= 1u << arg_number[i];
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, in->bytes, in->length, &u.z, u.operand)))
		return -ENOTSUP;
	rc = in->flow == INSN_FLOW_ON ? undo(&u) : refuse(&u, "it goes elsewhere");
	*why = u.why;
	return rc;
}
