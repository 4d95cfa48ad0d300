/* SPDX-License-Identifier: MIT */
/*
 * Pointers that no block begins at: what they are, when they are released and when they are asked
 * about.
 */
#include "agent/check/checker.h"

#include "agent/check/canary.h"
#include "agent/guard/guard.h"
#include "agent/check/quarantine.h"

#define REACH_BYTES	(1u << 20)	/* how far below a stray pointer its block may begin */

/* ---- the block around an address ------------------------------------------------------------- */

static void describe(uint64_t at, const struct block_info *was, struct check_block *out)
{
	*out = (struct check_block){ .address = at,
				     .size = was->size,
				     .kind = was->kind,
				     .alloc_site = was->site,
				     .alloc_tick = pmm_tick_of_time(was->birth),
				     .alloc_thread = block_thread(was) };
}

/* A live one, with its tail, or else the one whose head the address is in. */
static bool find_canaried(uint64_t address, uint64_t reach, struct check_block *out)
{
	struct block_info was;
	uint64_t at;

	if (block_below(address, reach + PMM_TAIL_BYTES + 15, &at, &was) &&
	    address < pmm_tail_end(at, was.size)) {
		describe(at, &was, out);
		return true;
	}
	if (!block_below(address + PMM_HEAD_BYTES, PMM_HEAD_BYTES - 1, &at, &was))
		return false;
	describe(at, &was, out);
	return true;
}

bool check_find(uint64_t address, uint64_t reach, struct check_block *out)
{
	struct quarantined q;

	if (!check_on())
		return false;
	if (guard_in_pool(address))
		return guarded_find(address, 0, out);
	if (checker.o.level == PMM_CHECK_SAMPLED)
		return false;
	if (find_canaried(address, reach, out))
		return true;
	if (heads_find(address, reach, out))
		return true;
	if (reach < CHECK_REACH_ALL || !quarantine_find(address, true, &q))
		return false;
	quarantine_describe(&q, out);
	return true;
}

bool check_below(uint64_t address, uint64_t reach, struct check_block *out)
{
	struct block_info was;
	uint64_t at;

	if (!check_on() || !block_below(address, reach, &at, &was))
		return false;
	describe(at, &was, out);
	return true;
}

bool check_gone(uint64_t address, struct check_block *out)
{
	struct quarantined q;

	if (!check_on() || !quarantine_went(address, &q))
		return false;
	quarantine_describe(&q, out);
	return true;
}

/* ---- its release ----------------------------------------------------------------------------- */

/* A released block that begins just there. */
static bool find_freed(uint64_t address, struct check_block *out)
{
	struct quarantined q;
	size_t size, align;

	/*
	 * of memory that went back only glibc's malloc shows whether it is in use again, by a block
	 * that we do not know
	 */
	if (quarantine_find(address, false, &q) ||
	    (!agent.dense && quarantine_gone(address, &q) && !place_is_chunk(address))) {
		quarantine_describe(&q, out);
		return true;
	}
	*out = (struct check_block){ .address = address, .freed = true };
	if (canary_look_safely((const void *)address, &size, &align) != CANARY_FREED)
		return false;
	out->size = size;
	return true;
}

bool stray_release(struct tctx *c, void *p, const struct check_said *said,
		   const struct caller *from)
{
	struct pmm_finding f = { .by = PMM_BY_FUNCTION,
				 .address = (uint64_t)p,
				 .release = said->how };
	uint64_t address = (uint64_t)p;
	struct check_block b;

	if (guard_in_pool(address)) {
		guarded_stray(c, address, said->how, unwind_site(c, from, 0));
		return true;
	}
	if (find_freed(address, &b)) {
		f.type = said->how == PMM_RELEASE_REALLOC ? PMM_FINDING_REALLOC_FREED
							  : PMM_FINDING_DOUBLE_FREE;
		finding_block(&f, &b);
	} else if (check_find(address, REACH_BYTES, &b)) {
		f.type = PMM_FINDING_BAD_FREE;
		f.place = !b.freed && address - b.address < b.size ? PMM_PLACE_INSIDE
								   : PMM_PLACE_UNKNOWN;
		finding_block(&f, &b);
	} else {
		f.type = PMM_FINDING_BAD_FREE;
		f.place = place_of(address, from->sp);
		/*
		 * Blocks that the real allocator gave out behind our back: by functions of its own
		 * (mallocx), by the names under which the C library has its own functions again
		 * (__libc_malloc). Only of glibc's the look is known.
		 */
		if (f.place == PMM_PLACE_UNKNOWN &&
		    (LOAD(checker.passed) || agent.dense || place_is_chunk(address)))
			return false;
	}
	f.site = unwind_site(c, from, 0);
	finding_add(c, &f);
	return true;
}
