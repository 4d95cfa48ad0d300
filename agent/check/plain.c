/*
 * Blocks of this form where there is no context: before the agent is on, when it is off, on threads that got none. Nothing is recorded and
 * nothing told.
 */
#include "agent/check/ways.h"

#include "agent/check/canary.h"
#include "agent/check/guard.h"

/* A guarded block is closed here, and the same with a canaried one's real block: where that begins; p itself where it is none of ours. */
static void *taken_plain(void *p)
{
	size_t size, align;
	uint32_t run;

	if (guard_in_pool((uint64_t)p)) {
		run = guard_block((uint64_t)p);
		if (run != UINT32_MAX && guard_release(run))
			guard_close(run);
		return NULL;
	}
	if (K.o.level == PMM_CHECK_SAMPLED || canary_look(p, &size, &align) != CANARY_LIVE)
		return p;
	canary_clear(p);
	return canary_real(p, align);
}

void check_free_plain(void *p)
{
	if (!A.next.free)
		return;
	if (K.on)
		p = taken_plain(p);
	if (p)
		A.next.free(p);
}

void *check_realloc_plain(void *old, size_t size)
{
	size_t was;
	void *p;

	if (!A.next.realloc)
		return NULL;
	if (!old || !K.on || !check_usable(old, &was))
		return A.next.realloc(old, size);
	p = A.next.malloc(size);
	if (!p)
		return NULL;
	check_passed();
	memcpy(p, old, was < size ? was : size);
	check_free_plain(old);
	return p;
}

bool check_usable(const void *p, size_t *size)
{
	size_t align;
	uint32_t run;

	if (!K.on)
		return false;
	if (guard_in_pool((uint64_t)p)) {
		run = guard_block((uint64_t)p);
		*size = run == UINT32_MAX ? 0 : guard_at(run)->size_bytes;
		return true;
	}
	return K.o.level != PMM_CHECK_SAMPLED && canary_look(p, size, &align) == CANARY_LIVE;
}
