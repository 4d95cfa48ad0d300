/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One x86-64 instruction as far as moving it is concerned (Intel SDM volume 2; decoded with Zydis).
 *
 * Zydis decodes the parts, the bytes are adjusted by hand: an instruction that is moved keeps its
 * own encoding but for a displacement, so nothing that an encoder might choose differently (operand
 * order, prefixes, registers) can change.
 */
#include "src/entries/insn.h"

#include <Zydis/Zydis.h>
#include <string.h>

static enum insn_flow flow_of(const ZydisDecodedInstruction *z, bool relative)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return INSN_FLOW_NOP;
	case ZYDIS_CATEGORY_COND_BR:
		return INSN_FLOW_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return relative ? INSN_FLOW_JUMP : INSN_FLOW_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_CALL:
		return relative ? INSN_FLOW_CALL : INSN_FLOW_CALL_INDIRECT;
	case ZYDIS_CATEGORY_RET:
		return INSN_FLOW_RETURN;
	case ZYDIS_CATEGORY_INTERRUPT:
		return INSN_FLOW_TRAP;
	default:
		break;
	}
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_UD0: case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return INSN_FLOW_TRAP;
	default:
		return INSN_FLOW_ON;
	}
}

static bool has_prefix(const ZydisDecodedInstruction *z, uint8_t value)
{
	for (unsigned i = 0; i < z->raw.prefix_count; i++)
		if (z->raw.prefixes[i].value == value)
			return true;
	return false;
}

/* Registers 4 (rsp) as the base of the memory operand, or as the register operand. */
static bool names_sp(const ZydisDecodedInstruction *z)
{
	if (z->raw.modrm.mod == 3)
		return z->raw.modrm.rm == 4 && !z->raw.rex.B;
	return z->raw.modrm.rm == 4 && z->raw.sib.base == 4 && !z->raw.rex.B;
}

bool insn_decode(const uint8_t *bytes, size_t nr, uint64_t address, struct insn *in)
{
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;
	bool relative;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, nr, &z)))
		return false;
	*in = (struct insn){
		.address = address, .bytes = bytes, .length = z.length, .opcode = z.opcode
	};
	relative = z.raw.imm[0].is_relative;
	in->flow = flow_of(&z, relative);
	/* a 16-bit operand size is obeyed by some processors and ignored by others */
	in->odd = in->flow > INSN_FLOW_NOP && has_prefix(&z, 0x66);
	if (relative) {
		in->has_target = true;
		in->target = address + z.length + (uint64_t)z.raw.imm[0].value.s;
		/* an abort goes to its target, with what was done undone */
		if (z.mnemonic == ZYDIS_MNEMONIC_XBEGIN ||
		    (in->flow != INSN_FLOW_BRANCH && in->flow != INSN_FLOW_JUMP &&
		     in->flow != INSN_FLOW_CALL))
			in->odd = true;
	}
	if (z.attributes & ZYDIS_ATTRIB_HAS_MODRM) {
		in->modrm_at = z.raw.modrm.offset;
		in->uses_sp = names_sp(&z);
		/* not mov to and from control registers */
		if (z.raw.modrm.mod == 0 && z.raw.modrm.rm == 5 && z.raw.disp.size == 32) {
			in->refers = true;
			in->reference = address + z.length + (uint64_t)z.raw.disp.value;
			in->disp_at = z.raw.disp.offset;
			in->odd |= has_prefix(&z, 0x67);
		}
	}
	return true;
}

bool insn_reaches(uint64_t from, uint64_t to)
{
	int64_t distance = (int64_t)(to - from);

	return distance == (int32_t)distance;
}

static void put32(uint8_t *out, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	memcpy(out, &low, sizeof(low));
}

unsigned insn_jump(uint64_t at, uint64_t to, uint8_t *out)
{
	out[0] = 0xe9;
	put32(out + 1, to - (at + 5));
	return 5;
}

/*
 * A conditional branch: jcc as its long form, loop and jrcxz through a short one around a jump.
 */
static unsigned move_branch(const struct insn *in, uint64_t at, uint8_t *out)
{
	unsigned n;

	if ((in->opcode & 0xf0) == 0x70 || (in->opcode & 0xf0) == 0x80) {
		out[0] = 0x0f;
		out[1] = 0x80 | (in->opcode & 0x0f);
		put32(out + 2, in->target - (at + 6));
		return 6;
	}
	/* with an address size prefix: jecxz, loop on ecx */
	memcpy(out, in->bytes, in->length - 1u);
	n = in->length - 1u;
	out[n++] = 2;
	out[n++] = 0xeb;
	out[n++] = 5;
	return n + insn_jump(at + n, in->target, out + n);
}

/*
 * A call: its return address is pushed and its target jumped to. So the callee, an unwinder and
 * code that looks for threads inside the moved instructions see the function itself, not a place
 * that goes away.
 */
static unsigned move_call(const struct insn *in, uint64_t at, uint8_t *out)
{
	/* mov dword [rsp + 4], imm32 */
	static const uint8_t store_high[] = { 0xc7, 0x44, 0x24, 0x04 };
	uint64_t back = in->address + in->length;
	unsigned n = 0;

	out[n++] = 0x68;			/* push imm32, sign-extended */
	put32(out + n, back);
	n += 4;
	memcpy(out + n, store_high, sizeof(store_high));
	n += sizeof(store_high);
	put32(out + n, back >> 32);
	n += 4;
	if (in->flow == INSN_FLOW_CALL)
		return n + insn_jump(at + n, in->target, out + n);
	memcpy(out + n, in->bytes, in->length);
	/* FF /2 call -> FF /4 jmp */
	out[n + in->modrm_at] = (uint8_t)((in->bytes[in->modrm_at] & ~0x38) | 4 << 3);
	if (in->refers)
		put32(out + n + in->disp_at, in->reference - (at + n + in->length));
	return n + in->length;
}

unsigned insn_move(const struct insn *in, uint64_t at, uint8_t out[INSN_MAX_MOVED_BYTES],
		   const char **why)
{
	/* displacements count from the end of what is written, a few bytes from `at` */
	if ((in->has_target &&
	     !(insn_reaches(at, in->target - 64) && insn_reaches(at, in->target + 64))) ||
	    (in->refers &&
	     !(insn_reaches(at, in->reference - 64) && insn_reaches(at, in->reference + 64)))) {
		*why = "what it refers to is out of reach";
		return 0;
	}
	if (in->odd) {
		*why = "its prefixes make it an instruction that depends on its place";
		return 0;
	}
	switch (in->flow) {
	case INSN_FLOW_TRAP:
		*why = "it is a trap";
		return 0;
	case INSN_FLOW_BRANCH:
		return move_branch(in, at, out);
	case INSN_FLOW_JUMP:
		return insn_jump(at, in->target, out);
	case INSN_FLOW_CALL:
		return move_call(in, at, out);
	case INSN_FLOW_CALL_INDIRECT:
		if (in->length > 8 || !in->modrm_at || in->uses_sp ||
		    (in->bytes[in->modrm_at] >> 3 & 7) != 2) {
			*why = "it is a call by way of the stack or to another segment";
			return 0;
		}
		return move_call(in, at, out);
	default:
		memcpy(out, in->bytes, in->length);
		if (in->refers)
			put32(out + in->disp_at, in->reference - (at + in->length));
		return in->length;
	}
}
