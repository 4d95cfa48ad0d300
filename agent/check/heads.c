/* SPDX-License-Identifier: MIT */
/*
 * Canaried blocks from before a fork, which are in no table of this process: found by their heads
 * in memory.
 *
 * A head is sealed with its block's address and is taken away when the block goes back to the real
 * allocator, so that one that is there is right. For the moment of an error: each page is asked for
 * before it is looked at.
 */
#include "agent/check/canary.h"
#include "agent/check/quarantine.h"
#include "agent/check/checker.h"

#define SPOILT_MOST	(4ull << 20)	/* bytes of a block whose end is looked for */
#define INSIDE_MOST	(1ull << 20)	/* ... and of one that an address is in the middle of */
#define EXPONENT_MOST	12u		/* of alignments that are asked for: a page */

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
	if (!*any || address + PMM_HEAD_BYTES < at ||
	    (address > at && address >= pmm_tail_end(at, size)))
		return false;
	*out = (struct check_block){ .address = at, .size = size };
	block_of_facts(facts, out);
	return true;
}

bool heads_find(uint64_t address, uint64_t reach, struct check_block *out)
{
	uint64_t at = (address & ~15ull) + PMM_HEAD_BYTES, page = 0;
	bool any = false;

	if (!checker.parent_pid || LOAD(agent.confined) || address >> PMM_ADDRESS_BITS)
		return false;
	/*
	 * in the head of the next one it is only when it is in no other's tail, which ends where
	 * that head begins
	 */
	for (; !any && at >= ARCH_PAGE && at + reach + PMM_TAIL_BYTES + 15 >= address; at -= 16) {
		if (!page_readable(at - PMM_HEAD_BYTES, &page))
			return false;
		if (covers(at, address, &any, out))
			return true;
	}
	return false;
}

/*
 * Does the seal say that the block at `p` has this size and alignment? Then it has the facts as
 * well.
 */
static bool seal_says(const void *p, size_t size, unsigned exponent, uint64_t *facts)
{
	uint64_t over = ((const struct pmm_head *)p - 1)->seal ^
			pmm_seal(checker.o.secret, (uint64_t)p,
				 size | (uint64_t)exponent << PMM_HEAD_ALIGN_SHIFT);

	*facts = pmm_gather(over & ~PMM_SEAL_SURE);
	return !(over & PMM_SEAL_SURE);
}

/* Bytes before `end`, at most 15, that canary fills the block up with. */
static unsigned filled(uint64_t p, uint64_t end)
{
	unsigned nr = 0;

	while (nr < 15 && end - nr > p &&
	       *(const uint8_t *)(end - nr - 1) ==
		       pmm_canary_byte(checker.o.secret, p, end - nr - 1))
		nr++;
	return nr;
}

/* The alignment, by the canary before the head; 1 where there is none. */
static size_t align_found(uint64_t p)
{
	uint64_t canary = pmm_canary(checker.o.secret, p), at = p - PMM_HEAD_BYTES, page = 0, gap;

	while (p - at < PMM_GAP_MOST + PMM_HEAD_BYTES && page_readable(at - 8, &page) &&
	       *(const uint64_t *)(at - 8) == canary)
		at -= 8;
	gap = p - at;
	return gap > PMM_HEAD_BYTES && !(gap & (gap - 1)) && !(p & (gap - 1)) ? gap : 1;
}

/*
 * Of a block that ends with the canary at `end`, all of whose head may be overwritten. What is left
 * of the seal is asked first.
 */
static void reconstruct(const void *p, uint64_t end, size_t *size, size_t *align, uint64_t *facts)
{
	uint64_t most = end - (uint64_t)p;

	*size = most - filled((uint64_t)p, end);
	*align = align_found((uint64_t)p);
	if (seal_says(p, *size, (unsigned)__builtin_ctzl(*align), facts))
		return;
	for (size_t n = most > 15 ? most - 15 : 1; n <= most; n++)
		for (unsigned exponent = 0; exponent <= EXPONENT_MOST; exponent++)
			if (seal_says(p, n, exponent, facts)) {
				*size = n;
				*align = 1ul << exponent;
				return;
			}
	*facts = 0;
}

/*
 * Where the canary behind the block at `p` begins that fills no byte of it up; 0: none is found. No
 * other block's can be taken for it.
 */
static uint64_t tail_find(uint64_t p)
{
	uint64_t canary = pmm_canary(checker.o.secret, p), page = 0;

	for (uint64_t at = p; at - p <= SPOILT_MOST && page_readable(at, &page); at += 16)
		if (*(const uint64_t *)at == canary && *(const uint64_t *)(at + 8) == canary)
			return at;
	return 0;
}

/*
 * Was it released before, or is it in the middle of a block? What is left of a canary there means
 * nothing.
 */
static bool is_other(uint64_t p)
{
	struct check_block b;
	struct quarantined q;

	return quarantine_find(p, false, &q) || quarantine_gone(p, &q) ||
	       (heads_find(p, INSIDE_MOST, &b) && b.address != p);
}

bool heads_spoilt(const void *p, size_t *size, size_t *align, uint64_t *facts)
{
	const struct pmm_head *h = (const struct pmm_head *)p - 1;
	uint64_t what, end, over, page = 0;

	if (!checker.parent_pid || LOAD(agent.confined) || (uint64_t)p & 15 ||
	    (uint64_t)p < ARCH_PAGE || !page_readable((uint64_t)h, &page))
		return false;
	what = LOAD(h->what);
	*size = what & ((1ull << PMM_HEAD_ALIGN_SHIFT) - 1);
	*align = 1ull << (what >> PMM_HEAD_ALIGN_SHIFT & 63);
	end = pmm_tail_end((uint64_t)p, *size);
	if (what >> 50 || !what || end >> PMM_ADDRESS_BITS || !page_readable(end - 16, &page) ||
	    *(const uint64_t *)(end - 8) != pmm_canary(checker.o.secret, (uint64_t)p)) {
		end = is_other((uint64_t)p) ? 0 : tail_find((uint64_t)p);
		if (end)
			reconstruct(p, end, size, align, facts);
		return end;
	}
	over = h->seal ^ pmm_seal(checker.o.secret, (uint64_t)p, what);
	*facts = over & PMM_SEAL_SURE & 0x000000ffffffffffull ? 0
							      : pmm_gather(over & ~PMM_SEAL_SURE);
	return true;
}
