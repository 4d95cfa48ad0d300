/* SPDX-License-Identifier: MIT */
/*
 * realloc: as a rule a new block and a release of the old one, so that what is done with the old
 * one afterwards is found. Large blocks stay where the real allocator puts them.
 */
#include "agent/check/agent_check.h"

#include "agent/check/canary.h"
#include "agent/check/quarantine.h"
#include "agent/check/refuse.h"
#include "agent/check/checker.h"

/* from here on copying is dearer than what a block at a new place tells */
#define IN_PLACE_BYTES	(128u << 10)
#define GUARDED_MOST	((size_t)ARCH_PAGE << (PMM_GUARD_AREAS - 1))

/*
 * A large canaried block, taken: the real allocator resizes or moves it, contents and all. `head`:
 * as it was.
 */
static void *resized_in_place(struct tctx *c, void *old, const struct pmm_head *head,
			      struct held *h, size_t size, uint32_t kind, const struct caller *from)
{
	struct block_info was;
	bool known = hook_resizing(c, old, size, &was);
	size_t bytes = 0;
	void *p = NULL;

	if (canary_bytes(size, 0, &bytes)) {
		canary_clear(old);		/* none is left where it was */
		p = REAL(c, agent.next.realloc(canary_real(old, h->align), bytes));
	}
	if (p) {
		p = canary_make(p, size, 0);
		c->pub.canaried++;
		hook_resized(c, old, known ? &was : NULL, p, size, kind, from);
		quick_note(p, facts_of(block_get((uint64_t)p, &was) ? was.site : 0, kind));
		return p;
	}
	*((struct pmm_head *)old - 1) = *head;
	if (known)
		record_restore(c, (uint64_t)old, &was);
	move_end(&c->pub.move[PMM_MOVE_HEAP]);
	return NULL;
}

static bool stays_in_place(const void *old, const struct held *h, size_t size)
{
	uint64_t at;

	return h->as == HELD_CANARIED && h->known && !LOAD(checker.ended) &&
	       h->was.kind < PMM_KIND_NEW && h->align <= 16 && h->size >= IN_PLACE_BYTES &&
	       size >= (checker.o.level == PMM_CHECK_LIGHT ? IN_PLACE_BYTES : GUARDED_MOST) &&
	       !canary_damage_around(old, h->size, h->align, &at);
}

static void *resized(struct tctx *c, void *old, struct held *h, size_t size, uint32_t kind,
		     const struct caller *from)
{
	static const struct check_said said = { PMM_RELEASE_REALLOC, SIZE_MAX, 0 };
	size_t keep = h->size < size ? h->size : size;
	struct pmm_move *move = &c->pub.move[PMM_MOVE_HEAP];
	void *p;

	if (stays_in_place(old, h, size)) {
		struct pmm_head head = *((struct pmm_head *)old - 1);

		/* else another thread releases it just now: reported below */
		if (canary_take(old))
			return resized_in_place(c, old, &head, h, size, kind, from);
	}
	move_begin(move, (uint64_t)old, size);
	STORE(move->old_bytes, h->size);
	held_uncount(c, old, h);		/* the program never has both */
	p = level_alloc(c, size, 0, false, kind, from);
	if (likely(p)) {
		memcpy(p, old, keep);
		held_release(c, old, h, &said, unwind_site(c, from, 0));
	} else {
		held_recount(c, old, h);
	}
	move_end(move);
	return p;
}

/* Not ours: the real function's. Where blocks have heads those without are in no table. */
static void *realloc_passed(struct tctx *c, void *old, size_t size, uint32_t kind,
			    const struct caller *from)
{
	if ((checker.on || LOAD(checker.starting)) && checker.o.level != PMM_CHECK_SAMPLED)
		return REAL(c, agent.next.realloc(old, size));
	return hook_realloc(c, (struct hook_realloc){ agent.next.realloc, NULL }, old, size, 1,
			    kind, from);
}

/* As check_free() has it: there may be blocks of ours all the same. */
static SLOW void *realloc_unready(struct tctx *c, void *old, size_t size, uint32_t kind,
				  const struct caller *from)
{
	if (checker.on)
		return check_realloc_plain(old, size);
	if (LOAD(checker.starting) && !old)
		check_passed();
	return realloc_passed(c, old, size, kind, from);
}

void *check_realloc(struct tctx *c, void *old, size_t size, uint32_t kind,
		    const struct caller *from)
{
	struct check_said said = { PMM_RELEASE_REALLOC, SIZE_MAX, 0 };
	struct held h = { .counted = false };
	void *p;

	if (unlikely(!check_ready()))
		return realloc_unready(c, old, size, kind, from);
	if (!old)
		return check_alloc(c, size, 0, false, kind, from);
	h.known = block_get((uint64_t)old, &h.was);
	held_find(old, &h);
	if (unlikely(h.as == HELD_PASSED))
		return realloc_passed(c, old, size, kind, from);
	if (unlikely(h.as == HELD_NONE)) {
		if (stray_release(c, old, &said, from))
			return NULL;
		return realloc_passed(c, old, size, kind, from);
	}
	if (!size && !agent.dense) {		/* glibc */
		if (unlikely(is_odd(size, kind)))
			refuse_odd(c, size, kind, from);
		held_release(c, old, &h, &said, unwind_site(c, from, 0));
		return NULL;
	}
	p = unlikely(refused(c, size, kind, from)) ? NULL : resized(c, old, &h, size, kind, from);
	if (unlikely(!p))
		return failed(c, size, kind, from);
	garbage_fill(p, h.size, size);
	return p;
}
