/* SPDX-License-Identifier: MIT */
/*
 * Blocks of this form where there is no context: before the agent is on, when it is off, on threads
 * that got none. Nothing is recorded and nothing reported.
 */
#include "agent/check/checker.h"

#include "agent/check/canary.h"
#include "agent/guard/guard.h"

/* canary_look() at what may be anybody's block. */
static enum canary_says read_head(const void *p, size_t *size, size_t *align)
{
	return canary_begins(p) ? canary_look_safely(p, size, align) : canary_look(p, size, align);
}

/*
 * A guarded block is closed here: NULL. Where the real block of a canaried one begins; p itself
 * where it is none of ours.
 */
static void *taken_plain(void *p)
{
	enum canary_says says;
	size_t size, align;
	uint32_t run;

	if (guard_in_pool((uint64_t)p)) {
		run = guard_block((uint64_t)p);
		if (run != UINT32_MAX && guard_release(run))
			guard_close(run);
		return NULL;
	}
	says = checker.o.level == PMM_CHECK_SAMPLED ? CANARY_NOTHING : read_head(p, &size, &align);
	if (says == CANARY_NOTHING)
		return p;
	if (says == CANARY_FREED || !canary_take(p))
		return NULL;			/* it is in quarantine */
	canary_clear(p);
	return canary_real(p, align);
}

/*
 * Out of the tables, so that no scan looks for canaries where the block was. In the sums it stays:
 * those are contexts'.
 */
static void forget(const void *p)
{
	if (check_on() && LOAD(*agent.alive))
		block_forget((uint64_t)p);
}

void check_free_plain(void *p)
{
	if (!agent.next.free)
		return;
	forget(p);
	if (checker.on)
		p = taken_plain(p);
	if (p)
		agent.next.free(p);
}

void *check_realloc_plain(void *old, size_t size)
{
	size_t was;
	void *p;

	if (!agent.next.realloc)
		return NULL;
	if (!old || !checker.on || !check_usable(old, &was)) {
		if (old)
			forget(old);
		p = agent.next.realloc(old, size);
		if (p && !old)
			check_passed();
		return p;
	}
	if (!size && !agent.dense) {		/* glibc */
		check_free_plain(old);
		return NULL;
	}
	if (guard_in_pool((uint64_t)old) && guard_block((uint64_t)old) == UINT32_MAX)
		was = 0;			/* released: its pages are closed */
	p = agent.next.malloc(size);
	if (!p)
		return NULL;
	check_passed();
	memcpy(p, old, was < size ? was : size);
	check_free_plain(old);
	return p;
}

bool check_usable(const void *p, size_t *size)
{
	struct check_block b;
	size_t align;

	if (!checker.on)
		return false;
	if (guard_in_pool((uint64_t)p)) {
		*size = guarded_find((uint64_t)p, 0, &b) && b.address == (uint64_t)p ? b.size : 0;
		return true;
	}
	return checker.o.level != PMM_CHECK_SAMPLED && read_head(p, size, &align) != CANARY_NOTHING;
}
