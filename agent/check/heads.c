/* SPDX-License-Identifier: MIT */
/*
 * Canaried blocks of before a fork, which are in no table of this process: found by their heads in memory.
 *
 * A head is sealed with its block's address and is taken away when the block goes back to the real allocator, so that one that is there is
 * right. For the moment of an error: each page is asked for before it is looked at.
 */
#include "agent/check/canary.h"
#include "agent/check/ways.h"

/* The first page asked for, and those below it. */
static bool page_readable(uint64_t at, uint64_t *page)
{
	if (at / ARCH_PAGE == *page)
		return true;
	*page = at / ARCH_PAGE;
	return sys_readable(at & ~(ARCH_PAGE - 1));
}

/* Is there a block at `at`, to which `address` belongs? *any: there is one. */
static bool covers(uint64_t at, uint64_t address, bool *any, struct check_block *out)
{
	size_t size, align;
	uint64_t facts;

	*any = canary_look_facts((const void *)at, &size, &align, &facts) == CANARY_LIVE;
	if (!*any || address + PMM_HEAD_BYTES < at || (address > at && address >= pmm_tail_end(at, size)))
		return false;
	*out = (struct check_block){ .address = at, .size = size };
	block_of_facts(facts, out);
	return true;
}

bool heads_find(uint64_t address, uint64_t reach, struct check_block *out)
{
	uint64_t at = (address & ~15ull) + PMM_HEAD_BYTES, page = 0;
	bool any = false;

	if (!K.parent_pid || LOAD(A.confined) || address >> PMM_ADDRESS_BITS)
		return false;
	/* in the head of the next one it is only when it is in no other's tail, which ends where that head begins */
	for (; !any && at >= ARCH_PAGE && at + reach + PMM_TAIL_BYTES + 15 >= address; at -= 16) {
		if (!page_readable(at - PMM_HEAD_BYTES, &page))
			return false;
		if (covers(at, address, &any, out))
			return true;
	}
	return false;
}

bool heads_spoilt(const void *p, size_t *size, size_t *align, uint64_t *facts)
{
	const struct pmm_head *h = (const struct pmm_head *)p - 1;
	uint64_t what, end, over, page = 0;

	if (!K.parent_pid || LOAD(A.confined) || (uint64_t)p & 15 || (uint64_t)p < ARCH_PAGE || !page_readable((uint64_t)h, &page))
		return false;
	what = LOAD(h->what);
	*size = what & ((1ull << PMM_HEAD_ALIGN_SHIFT) - 1);
	*align = 1ull << (what >> PMM_HEAD_ALIGN_SHIFT & 63);
	end = pmm_tail_end((uint64_t)p, *size);
	if (what >> 50 || !what || end >> PMM_ADDRESS_BITS || !page_readable(end - 16, &page) ||
	    *(const uint64_t *)(end - 8) != pmm_canary(K.o.secret, (uint64_t)p))
		return false;
	over = h->seal ^ pmm_seal(K.o.secret, (uint64_t)p, what);
	*facts = over & PMM_SEAL_SURE & 0x000000ffffffffffull ? 0 : pmm_gather(over & ~PMM_SEAL_SURE);
	return true;
}
