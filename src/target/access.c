/* What a machine instruction does to memory (decoded with Zydis). */
#include "src/target/access.h"

#include <Zydis/Zydis.h>

unsigned access_bytes(const uint8_t *code, unsigned bytes)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;
	unsigned most = 0;

	if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code, bytes, &z, operand)))
		return 0;
	for (unsigned i = 0; i < z.operand_count; i++) {
		const ZydisDecodedOperand *o = &operand[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type == ZYDIS_MEMOP_TYPE_MEM && o->size / 8 > most)
			most = o->size / 8;
	}
	return most;
}
