/* SPDX-License-Identifier: MIT */
/*
 * Releasing blocks: does the function go with the one that allocated it, is the canary as it was,
 * what becomes of the block.
 *
 * A block whose canary is damaged up to its end never goes back to the real allocator, whose own
 * data next to it may be damaged as well. Others do: a program that writes one byte too many in
 * each of its blocks, which may do no harm, is not to run out of memory.
 */
#include "agent/check/checker.h"

#include "agent/guard/area.h"
#include "agent/strings/bounds.h"
#include "agent/block_words.h"
#include "agent/check/canary.h"
#include "agent/guard/guard.h"
#include "agent/check/pair.h"
#include "agent/check/quarantine.h"
#include "agent/check/reported.h"
#include "agent/clock.h"

/* ---- what it is ------------------------------------------------------------------------------ */

/*
 * Checking has ended: most blocks are the real allocator's own, and in no table, so that there is
 * no time for more than a look at what is before them. A child has its parent's with heads.
 */
static SLOW void find_ended(const void *p, struct held *h)
{
	enum canary_says says = CANARY_NOTHING;

	if (!((uint64_t)p & 15))
		says = canary_begins(p) ? canary_look_safely(p, &h->size, &h->align)
					: canary_look(p, &h->size, &h->align);
	if (says == CANARY_LIVE)
		says = canary_look_facts(p, &h->size, &h->align, &h->facts);
	h->as = says == CANARY_LIVE	 ? HELD_CANARIED
		: says == CANARY_NOTHING ? HELD_PASSED
					 : HELD_NONE;
}

QUICK void find(const void *p, struct held *h)
{
	enum canary_says says;
	uint64_t over;

	if (unlikely(guard_in_pool((uint64_t)p))) {
		h->run = guard_block((uint64_t)p);
		h->as = h->run == UINT32_MAX ? HELD_NONE : HELD_GUARDED;
		h->size = h->as == HELD_GUARDED ? guard_at(h->run)->size_bytes : 0;
		return;
	}
	if (checker.o.level == PMM_CHECK_SAMPLED) {
		h->as = HELD_PASSED;
		return;
	}
	if (unlikely(LOAD(checker.ended)) && !h->known) {
		find_ended(p, h);
		return;
	}
	if (likely(h->known)) {
		says = canary_quick_look(p, &h->size, &h->align, &over);
		h->facts = 0;
		if (says == CANARY_LIVE &&
		    unlikely(over != pmm_spread(facts_of(h->was.site, h->was.kind))) && over)
			says = CANARY_NOTHING; /* what is on top of the seal is overwritten, and no
						  more */
	} else {
		says = canary_look_safely(p, &h->size, &h->align);
		if (says == CANARY_LIVE)
			says = canary_look_facts(p, &h->size, &h->align, &h->facts);
	}
	h->as = likely(says == CANARY_LIVE) ? HELD_CANARIED : HELD_NONE;
	if (unlikely(h->known && says == CANARY_NOTHING)) {
		h->as = HELD_HEADLESS;
		h->size = h->was.size;
		h->align = 1;
	} else if (unlikely(says == CANARY_NOTHING) &&
		   heads_spoilt(p, &h->size, &h->align, &h->facts)) {
		h->as = HELD_HEADLESS;
		h->was = (struct block_info){ .kind = PMM_KIND_NONE };
	}
}

void held_find(const void *p, struct held *h)
{
	find(p, h);
}

void block_of_facts(uint64_t facts, struct check_block *out)
{
	uint32_t generation = (uint32_t)(facts >> PMM_FACTS_GENERATION_SHIFT),
		 kind = facts >> PMM_FACTS_KIND_SHIFT & 15;

	out->parent_pid = checker.parent_pid;
	if (!facts || kind > PMM_KIND_NEW_ARRAY_ALIGNED || generation > checker.generation)
		return;			/* not noted, or overwritten */
	out->kind = kind;
	if (generation == PMM_GENERATION_MOST)
		return;
	out->alloc_site = facts & (PMM_MAX_SITES - 1);
	out->alloc_from = generation + 1;
	if (generation == checker.generation)
		out->parent_pid = 0;	/* too small for the tables, or they are full */
	else if (ancestor_pid(generation))
		out->parent_pid = ancestor_pid(generation);
}

void held_block(const void *p, const struct held *h, struct check_block *out)
{
	if (h->as == HELD_GUARDED) {
		guard_describe(h->run, out);
		return;
	}
	*out = (struct check_block){ .address = (uint64_t)p, .size = h->size };
	if (!h->known) {
		block_of_facts(h->facts, out);
		return;
	}
	out->kind = h->was.kind;
	out->alloc_site = h->was.site;
	out->alloc_tick = pmm_tick_of_time(h->was.birth);
	out->alloc_thread = block_thread(&h->was);
}

/* ---- pairing --------------------------------------------------------------------------------- */

static SLOW void mismatch(struct tctx *c, const struct check_block *b,
			  const struct check_said *said, uint64_t other, uint32_t site)
{
	struct pmm_finding f = { .type = PMM_FINDING_MISMATCH,
				 .by = PMM_BY_FUNCTION,
				 .site = site,
				 .address = b->address,
				 .release = said->how,
				 .other = other };

	finding_block(&f, b);
	finding_add(c, &f);
}

static SLOW void held_mismatch(struct tctx *c, const void *p, const struct held *h,
			       const struct check_said *said, uint64_t other, uint32_t site)
{
	struct check_block b;

	held_block(p, h, &b);
	mismatch(c, &b, said, other, site);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static SLOW void damaged(struct tctx *c, const struct check_block *b, uint64_t at, uint64_t end,
			 const struct check_said *said, uint32_t site)
{
	if (!reported_block(b))
		finding_damaged(c, b, at, end, said->how, site);
}

/* ---- canaried blocks ------------------------------------------------------------------------- */

/* How a block came to be. */
static void origin_put(struct quarantined *q, const struct check_block *b)
{
	q->kind = b->kind;
	q->alloc_site = b->alloc_site;
	q->alloc_tick = b->alloc_tick;
	q->alloc_thread = (uint16_t)b->alloc_thread;
	q->pid = b->parent_pid ? b->parent_pid : (uint32_t)agent.pid;
	q->alloc_generation = (uint16_t)(b->alloc_from ? b->alloc_from - 1 : checker.generation);
}

/*
 * Filled in where it is kept: what is put together from smaller parts and copied at once holds the
 * processor up. b: what is known of a block that the tables do not know.
 */
QUICK void entry_put(struct quarantined *q, const struct tctx *c, void *p, const struct held *h,
		     const struct check_block *b, uint32_t site, bool damaged)
{
	q->address = (uint64_t)p;
	q->what = quarantined_what(h->size, h->align, h->was.kind, damaged);
	q->alloc_site = h->was.site;
	q->alloc_tick = pmm_tick_of_time(h->was.birth);
	q->free_site = site;
	q->free_tick = clock_now();
	q->free_thread = (uint16_t)c->pub.thread;
	q->pid = (uint32_t)agent.pid;
	q->alloc_generation = q->free_generation = (uint16_t)checker.generation;
	if (unlikely(b))
		origin_put(q, b);
	else
		q->alloc_thread = (uint16_t)block_thread(&h->was);
}

/*
 * The program may have protected pages of it, which the real allocator hardly would have touched.
 */
static SLOW void protection_end(const void *p, size_t size)
{
	uint64_t start = ((uint64_t)p + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1),
		 end = ((uint64_t)p + size) & ~(ARCH_PAGE - 1);

	if (start < end && !LOAD(agent.confined))
		sys3(mprotect, start, end - start, SYS_PROT_READ | SYS_PROT_WRITE);
}

/* Poisoned and kept, if there is room. What is `damaged` up to its end never goes further. */
QUICK bool to_quarantine(struct tctx *c, void *p, const struct held *h, const struct check_block *b,
		uint32_t site, bool damaged)
{
	struct quarantine_ring *ring;

	if (unlikely(!quarantine_takes(h->size)))
		return false;
	if (unlikely(h->size >= WAS_STACK_BYTES))
		ADD(agent.stack_gen, 1);
	if (unlikely(LOAD(checker.protects)) && h->size >= ARCH_PAGE)
		protection_end(p, h->size);
	quick_poison(p, h->size);
	ring = quarantine_take();
	if (unlikely(!ring))
		return false;
	entry_put(quarantine_entry(ring, ring->end), c, p, h, b, site, damaged);
	quarantine_put(ring, quarantined_bytes(h->size, h->align), quarantined_leave, c);
	return true;
}

/* There is no room for it. */
static SLOW void past_quarantine(struct tctx *c, void *p, const struct held *h,
			  const struct check_block *b, uint32_t site)
{
	struct pmm_check_state *s = &agent.ledger->check;
	struct quarantined q;

	ADD(*(quarantine_takes(h->size) ? &s->unkept_busy : &s->unkept_large), 1);
	entry_put(&q, c, p, h, b, site, false);
	quarantine_note(&q);
	quarantined_return(c, p, h->size, h->align);
}

/*
 * Reported, and kept like any other, so that its use after its release is reported, too.
 * for_good: it does not go back.
 */
static SLOW void quarantine_damaged(struct tctx *c, void *p, const struct held *h, uint64_t at,
			      const struct check_said *said, uint32_t site, bool for_good)
{
	struct check_block b;

	held_block(p, h, &b);
	damaged(c, &b, at, pmm_tail_end((uint64_t)p, h->size), said, site);
	canary_mend(p, h->size, h->align);
	if (!to_quarantine(c, p, h, &b, site, for_good) && !for_good)
		past_quarantine(c, p, h, &b, site);
}

/* The tables do not know it. */
static SLOW void release_inherited(struct tctx *c, void *p, struct held *h,
				   const struct check_said *said, uint32_t site)
{
	struct check_block b;
	uint64_t at, other;

	held_block(p, h, &b);
	h->was = (struct block_info){ .kind = PMM_KIND_NONE };
	if (pair_disagrees(b.kind, b.size, h->align, said, &other))
		mismatch(c, &b, said, other, site);
	if (canary_damage_around(p, h->size, h->align, &at))
		quarantine_damaged(c, p, h, at, said, site, canary_spilled(p, h->size, h->align));
	else if (!to_quarantine(c, p, h, &b, site, false))
		past_quarantine(c, p, h, &b, site);
}

QUICK void release_canaried(struct tctx *c, void *p, const struct held *h,
			    const struct check_said *said, uint32_t site)
{
	uint64_t at, other;

	if (unlikely(pair_disagrees(h->was.kind, h->size, h->align, said, &other)))
		held_mismatch(c, p, h, said, other, site);
	if (unlikely(canary_quick_damage_around(p, h->size, h->align, &at)))
		quarantine_damaged(c, p, h, at, said, site, canary_spilled(p, h->size, h->align));
	else if (unlikely(!to_quarantine(c, p, h, NULL, site, false)))
		past_quarantine(c, p, h, NULL, site);
}

/*
 * The tables know it, or what is left of its head does, but that is overwritten. Where the real
 * block of one with an alignment of its own begins is not known for sure: it stays where it is.
 */
static SLOW void release_headless(struct tctx *c, void *p, const struct held *h,
				  const struct check_said *said, uint32_t site)
{
	uint64_t facts = h->known ? facts_of(h->was.site, h->was.kind) : h->facts;
	struct check_block b;
	uint64_t at, other;
	bool aligned;

	held_block(p, h, &b);
	aligned = !h->known || (b.kind >= PMM_KIND_POSIX_MEMALIGN && b.kind != PMM_KIND_NEW &&
				b.kind != PMM_KIND_NEW_ARRAY);
	if (pair_disagrees(b.kind, h->size, 0, said, &other))
		held_mismatch(c, p, h, said, other, site);
	if (canary_damage_headless(p, h->size, !aligned ? 1 : h->known ? 0 : h->align, facts, &at))
		quarantine_damaged(c, p, h, at, said, site,
				   aligned || canary_spilled(p, h->size, 1));
}

/* ---- guarded blocks -------------------------------------------------------------------------- */

#define WIDEST	64u		/* of one instruction's accesses */

/* Of one page: the block before it and the one behind it have keys of their own. */
static uint64_t beside_key(uint64_t page, bool behind)
{
	return page + (behind ? 0 : 8);
}

void beside_told(const struct check_block *b, uint64_t address)
{
	uint64_t page = address & ~(ARCH_PAGE - 1);
	bool behind = address >= b->address;

	if (behind ? address != page : page + ARCH_PAGE - address > WIDEST)
		return;
	reported_add(beside_key(page, behind));
	STORE(checker.beside, true);
}

/*
 * Does such a finding tell of the damage to the block's own pages, which reaches from one end of it
 * to the end of those?
 */
static SLOW bool beside_tells(uint32_t run, const struct check_block *b)
{
	const struct area *a = area_of_run(run);
	uint64_t bytes, start = block_pages(a, run - a->first, &bytes), end = start + bytes, at;
	bool behind = reported_take(beside_key(end, true), b->alloc_tick);
	bool before = reported_take(beside_key(start - ARCH_PAGE, false), b->alloc_tick);

	if ((!behind && !before) || !guard_damage(run, &at))
		return false;
	if (at < b->address)
		return before && at == start;
	return behind && *(const uint8_t *)(end - 1) !=
				 pmm_canary_byte(checker.o.secret, b->address, end - 1);
}

static void release_guarded(struct tctx *c, const struct held *h, const struct check_said *said,
			    uint32_t site)
{
	struct check_block b;
	uint64_t other;
	bool reported;

	guard_describe(h->run, &b);
	b.freed = false;
	b.free_site = 0;
	if (unlikely(pair_disagrees(b.kind, b.size, guard_at(h->run)->align, said, &other)))
		mismatch(c, &b, said, other, site);
	reported = reported_block(&b) ||
		   (unlikely(LOAD(checker.beside)) && beside_tells(h->run, &b));
	(h->counted ? guarded_end : guarded_release)(c, h->run, said->how, site, reported);
}

/* ---- release --------------------------------------------------------------------------------- */

static SLOW void released_twice(struct tctx *c, void *p, const struct held *h,
				const struct check_said *said, uint32_t site)
{
	struct pmm_finding f = {
		.by = PMM_BY_FUNCTION, .site = site, .address = (uint64_t)p, .release = said->how
	};
	struct check_block b;

	held_block(p, h, &b);
	f.type = said->how == PMM_RELEASE_REALLOC ? PMM_FINDING_REALLOC_FREED
						  : PMM_FINDING_DOUBLE_FREE;
	finding_block(&f, &b);
	finding_add(c, &f);
}

/*
 * Two threads that release a block at once may both find it in the tables: the one that comes too
 * late has not taken it out of the sums.
 */
static SLOW void counted_once(struct tctx *c, const void *p, const struct held *h)
{
	if (h->known)
		record_restore_apart(c, (uint64_t)p, &h->was);
}

QUICK void release(struct tctx *c, void *p, struct held *h, const struct check_said *said,
		   uint32_t site)
{
	if (unlikely(h->as == HELD_GUARDED)) {
		if (guard_release(h->run))
			release_guarded(c, h, said, site);
		else
			released_twice(c, p, h, said, site);
		return;
	}
	if (!h->counted)
		h->known = record_free(c, (uint64_t)p, &h->was);
	if (unlikely(h->as == HELD_HEADLESS)) {
		release_headless(c, p, h, said, site);
	} else if (unlikely(!quick_take(p))) {
		released_twice(c, p, h, said, site);	/* by two threads at once */
		counted_once(c, p, h);
	} else if (likely(h->known)) {
		release_canaried(c, p, h, said, site);
	} else {
		release_inherited(c, p, h, said, site);
	}
}

void held_uncount(struct tctx *c, const void *p, struct held *h)
{
	h->counted = true;
	h->known = h->as == HELD_GUARDED ? guarded_uncount(c, h->run, &h->was)
					 : record_free(c, (uint64_t)p, &h->was);
}

void held_recount(struct tctx *c, const void *p, const struct held *h)
{
	if (h->known)
		(h->as == HELD_GUARDED ? record_restore_apart : record_restore)(c, (uint64_t)p,
										&h->was);
}

void held_release(struct tctx *c, void *p, struct held *h, const struct check_said *said,
		  uint32_t site)
{
	release(c, p, h, said, site);
}

static void free_passed(struct tctx *c, void *p)
{
	hook_free(c, p);
	agent.next.free(p);
}

/*
 * A signal handler may have interrupted check_begin(): in a forked child there are blocks of ours
 * then.
 */
static SLOW void free_unready(struct tctx *c, void *p)
{
	if (checker.on)
		check_free_plain(p);
	else
		free_passed(c, p);
}

void check_free(struct tctx *c, void *p, const struct check_said *said, const struct caller *from)
{
	uint32_t site = 0;
	struct held h;

	if (unlikely(!check_ready())) {
		free_unready(c, p);
		return;
	}
	h.known = h.counted = checker.o.level != PMM_CHECK_SAMPLED &&
			      likely(!guard_in_pool((uint64_t)p));
	if (likely(h.counted)) {
		arch_prefetch(head_of(p));
		arch_prefetch((const char *)p + 48);
		block_place((uint64_t)p);	/* both are fetched while the stack is looked at */
		site = unwind_site(c, from, 0);
		h.known = record_free(c, (uint64_t)p, &h.was);
	}
	find(p, &h);
	if (unlikely(h.as == HELD_PASSED && !h.counted)) {
		free_passed(c, p);
	} else if (unlikely(h.as == HELD_PASSED)) {
		STORE(c->busy, TCTX_IN_ALLOCATOR);
		agent.next.free(p);
	} else if (unlikely(h.as == HELD_NONE)) {
		counted_once(c, p, &h);
		if (stray_release(c, p, said, from))
			return;
		STORE(c->busy, TCTX_IN_ALLOCATOR);
		agent.next.free(p);
	} else {
		release(c, p, &h, said, likely(site) ? site : unwind_site(c, from, 0));
	}
}
