/* SPDX-License-Identifier: MIT */
/*
 * Guarded blocks as the ledger knows them: who made one, and what is to be said of it.
 */
#include "agent/guard/guarded.h"

#include "agent/guard/budget.h"
#include "agent/guard/finding.h"
#include "agent/clock.h"
#include "agent/record.h"
#include "agent/site.h"

/* so many blocks of a call site are guarded rather than others */
#define PREFERRED	32
#define MALLOC_ALIGN	16u

static inline uint16_t generation(void)
{
	return (uint16_t)LOAD(agent.ledger->check.generation);
}

static enum budget_turn turn_of(const struct pmm_record *r, size_t size)
{
	return r && r->allocs < PREFERRED ? BUDGET_NEW
	       : size % MALLOC_ALIGN	  ? BUDGET_ODD
					  : BUDGET_ANY;
}

uint32_t guarded_alloc(struct tctx *c, size_t size, size_t align, uint32_t kind, uint32_t site,
		       uint64_t **why)
{
	struct pmm_record *r = site_record(c, site, 0);
	struct pmm_check_state *s = &agent.ledger->check;
	enum guard_refusal refusal = GUARD_OK;
	struct pmm_guard *g;
	uint32_t run;

	if (unlikely(!agent.tree->check.max_guarded)) {	/* then there is no budget either */
		*why = &s->unguarded_limit;
		return UINT32_MAX;
	}
	if (!budget_allows(c, turn_of(r, size))) {
		/* without a pool there is none either */
		*why = LOAD(s->mechanism) ? &c->pub.unguarded_budget : &s->unguarded_refused;
		return UINT32_MAX;
	}
	run = guard_alloc(size, align, guard_bias(site, r ? r->allocs : 0), &refusal);
	if (run == UINT32_MAX) {
		*why = refusal == GUARD_LARGE	? &s->unguarded_large
		       : refusal == GUARD_LIMIT ? &s->unguarded_limit
						: &s->unguarded_refused;
		return UINT32_MAX;
	}
	g = guard_at(run);
	g->kind = kind;
	g->site = site;
	g->tick = clock_now();
	g->thread = (uint16_t)c->pub.thread;
	g->pid = (uint32_t)agent.pid;
	g->generation = generation();
	g->align = (uint32_t)align;
	guard_publish(run);
	record_alloc_apart(c, g->address, size, kind, site);
	return run;
}

void guarded_refused(struct tctx *c, uint64_t *why)
{
	if (likely(why == &c->pub.unguarded_budget))
		STORE(*why, *why + 1);
	else
		ADD(*why, 1);
}

void guard_describe(uint32_t run, struct check_block *out)
{
	const struct pmm_guard *g = guard_at(run);

	*out = (struct check_block){
		.address = g->address, .size = g->size_bytes, .kind = g->kind, .guarded = true,
		.freed = LOAD(g->state) == PMM_GUARD_FREED,
		.alloc_site = g->site, .alloc_tick = g->tick, .alloc_thread = g->thread,
		.free_site = g->free_site, .free_tick = g->free_tick, .free_thread = g->free_thread,
		.parent_pid = g->pid == (uint32_t)agent.pid ? 0 : g->pid,
		.alloc_from = g->generation + 1u, .free_from = g->free_generation + 1u,
	};
}

bool guarded_find(uint64_t address, uint64_t bytes, struct check_block *out)
{
	uint32_t run = guard_owner(address, bytes);

	if (run == UINT32_MAX)
		return false;
	guard_describe(run, out);
	return true;
}

bool guarded_uncount(struct tctx *c, uint32_t run, struct block_info *was)
{
	const struct pmm_guard *g = guard_at(run);

	if (g->pid != (uint32_t)agent.pid)
		return false;
	*was = (struct block_info){ .size = g->size_bytes,
				    .site = g->site,
				    .birth = pmm_time_of_tick(g->tick),
				    .kind = g->kind };
	record_free_apart(c, g->address, was);
	return true;
}

void guarded_release(struct tctx *c, uint32_t run, uint32_t how, uint32_t site, bool reported)
{
	struct block_info was;

	guarded_uncount(c, run, &was);
	guarded_end(c, run, how, site, reported);
}

void guarded_end(struct tctx *c, uint32_t run, uint32_t how, uint32_t site, bool reported)
{
	struct pmm_guard *g = guard_at(run);
	struct check_block b;
	uint64_t at;

	guard_describe(run, &b);
	b.freed = false;
	b.free_site = 0;
	if (unlikely(guard_damage(run, &at)) && !reported)
		finding_damaged(c, &b, at, at < b.address ? b.address : (at | (ARCH_PAGE - 1)) + 1,
				how, site);
	g->free_site = site;
	g->free_tick = clock_now();
	g->free_thread = (uint16_t)c->pub.thread;
	g->free_generation = generation();
	guard_close(run);
}

void guarded_stray(struct tctx *c, uint64_t address, uint32_t how, uint32_t site)
{
	struct pmm_finding f = { .type = PMM_FINDING_BAD_FREE,
				 .by = PMM_BY_FUNCTION,
				 .site = site,
				 .address = address,
				 .release = how };
	struct check_block b;

	if (guarded_find(address, 0, &b)) {
		if (b.freed && b.address == address)
			f.type = how == PMM_RELEASE_REALLOC ? PMM_FINDING_REALLOC_FREED
							    : PMM_FINDING_DOUBLE_FREE;
		else if (!b.freed && address - b.address < b.size)
			f.place = PMM_PLACE_INSIDE;
		finding_block(&f, &b);
	}
	finding_add(c, &f);
}
