/* SPDX-License-Identifier: MIT */
/*
 * What an address is that is in no block: for findings, so it may take its time.
 */
#include "agent/check/checker.h"

#include "agent/check/chunk.h"
#include "agent/check/maps.h"
#include "agent/unwind/module.h"

enum pmm_finding_place place_of(uint64_t address, uint64_t sp)
{
	struct module_at module;
	struct mapping m;
	bool readable;

	if (!maps_find(address, &m, &readable))
		return readable ? PMM_PLACE_UNMAPPED : PMM_PLACE_UNKNOWN;
	if (m.stack || maps_is_threads_stack(&m, address))
		return PMM_PLACE_STACK;
	if (module_find(address, &module) || module_loaded(address))
		return PMM_PLACE_STATIC;
	if (m.heap)
		return PMM_PLACE_UNKNOWN;
	return sp >= m.start && sp <= address ? PMM_PLACE_STACK : PMM_PLACE_UNKNOWN;
}

bool place_is_chunk(uint64_t address)
{
	uint64_t before, size, next;

	if (address & 15 || LOAD(agent.confined) || !sys_readable(address - 16))
		return LOAD(agent.confined);
	before = *(const uint64_t *)(address - CHUNK_HEAD_BYTES);
	size = *(const uint64_t *)(address - 8);
	if (size & CHUNK_MAPPED)
		return chunk_mapped(address, before, size, ARCH_PAGE);
	next = address - CHUNK_HEAD_BYTES + chunk_bytes(size);
	return chunk_sized(size, 1ull << 40) && sys_readable(next + 8) &&
	       *(const uint64_t *)(next + 8) & CHUNK_BEFORE_USED;
}
