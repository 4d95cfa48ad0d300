/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine instruction does to memory (decoded with Zydis). */
#include "src/proc/access.h"

#include <Zydis/Zydis.h>

static bool decode(const uint8_t *code, unsigned bytes, ZydisDecodedInstruction *z,
		   ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT])
{
	ZydisDecoder decoder;

	return !ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       !ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code, bytes, z, operand));
}

unsigned access_bytes(const uint8_t *code, unsigned bytes)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	unsigned most = 0;

	if (!decode(code, bytes, &z, operand))
		return 0;
	for (unsigned i = 0; i < z.operand_count; i++) {
		const ZydisDecodedOperand *o = &operand[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    o->size / 8 > most)
			most = o->size / 8;
	}
	return most;
}

/*
 * With 47 bits of address; of processors with 56 what is between is reported as unmapped by the
 * kernel.
 */
static bool is_odd(uint64_t address)
{
	uint64_t upper = address >> 47;

	return upper && upper != UINT64_MAX >> 47;
}

bool access_odd_address(const uint8_t *code, unsigned bytes, const uint64_t regs[ACCESS_NR_REGS],
			uint64_t *address, bool *writes)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisRegisterContext context = { 0 };
	ZydisDecodedInstruction z;

	if (!decode(code, bytes, &z, operand))
		return false;
	for (unsigned i = 0; i < 16; i++)
		context.values[ZYDIS_REGISTER_RAX + i] = regs[i];
	for (unsigned i = 0; i < z.operand_count; i++) {
		const ZydisDecodedOperand *o = &operand[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS ||
		    ZYAN_FAILED(ZydisCalcAbsoluteAddressEx(&z, o, regs[16], &context, address)) ||
		    !is_odd(*address))
			continue;
		*writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
		return true;
	}
	return false;
}
