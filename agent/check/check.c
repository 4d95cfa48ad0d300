/*
 * Which way for which block.
 *
 * Until the agent is on, on threads without a context and where the level is none, blocks are the real allocator's own; what a pointer is
 * is found out when it comes back (release.c, stray.c).
 */
#include "agent/check/check.h"

#include "agent/check/bounds.h"
#include "agent/check/budget.h"
#include "agent/check/canary_quick.h"
#include "agent/check/ease.h"
#include "agent/check/fault.h"
#include "agent/check/guard.h"
#include "agent/check/quarantine.h"
#include "agent/check/refuse.h"
#include "agent/check/thrift.h"
#include "agent/check/ways.h"
#include "agent/clock.h"
#include "agent/site.h"

struct checker K __attribute__((visibility("hidden")));

/* ---- the beginning -------------------------------------------------------------------------------------- */

/* At the level of guards half of it is for these. */
static void budget_begin(void)
{
	uint64_t all = K.o.budget_permille, half = all == UINT64_MAX ? all : all / 2;
	bool thrift = K.o.flags & PMM_CHECK_THRIFT && K.o.level != PMM_CHECK_SAMPLED && all != UINT64_MAX;

	thrift_start(thrift);
	budget_start(K.o.level == PMM_CHECK_GUARD ? half : all, !thrift ? UINT64_MAX : K.o.level == PMM_CHECK_GUARD ? half : all);
}

bool check_start(void)
{
	K.o = A.tree->check;
	K.on = K.o.level > PMM_CHECK_NONE && K.o.level < PMM_NR_CHECK_LEVELS;
	if (!K.on)
		return false;
	K.refuses = K.o.fail_after != UINT64_MAX || K.o.fail_ppb || K.o.heap_limit_bytes;
	canary_start(K.o.secret);
	budget_begin();
	finding_start(K.o.on_error);
	if (K.o.level != PMM_CHECK_SAMPLED)
		quarantine_start(K.o.quarantine_bytes);
	if (K.o.level != PMM_CHECK_LIGHT)
		guard_start(&K.o);
	fault_start();
	return true;
}

static void forked(void)
{
	ancestor_add(K.ledger, K.generation, &K.mine);
	STORE(A.ledger->check.generation, ++K.generation);
	K.parent_pid = K.mine.pid;
	K.finished = 0;
	if (!K.on)
		return;
	budget_forked();
	quarantine_forked();
	guard_forked();
	bounds_forked();
	if (K.o.level != PMM_CHECK_SAMPLED && !(K.o.flags & PMM_CHECK_NO_STRINGS))
		ancestor_cover(K.generation - 1);
	finding_forked();
}

/* Blocks of threads that come here meanwhile pass. */
__attribute__((noinline)) bool check_begin(void)
{
	uint32_t no = 0;

	if (!CAS(K.starting, no, 1))
		return false;
	if (K.ledger && K.ledger != A.ledger)
		forked();
	else if (!K.ledger)
		check_start();
	K.mine = (struct ancestor_slot){ A.slot, A.slot_use, (uint32_t)A.pid };
	STORE_RELEASE(K.ledger, A.ledger);
	STORE_RELEASE(K.starting, 0);
	return K.on;
}

bool check_on(void)
{
	return LOAD(A.state) == AGENT_ON && K.on && K.ledger == A.ledger;
}

void check_passed(void)
{
	ADD(K.passed, 1);
	if (LOAD(A.state) == AGENT_ON && A.ledger)
		ADD(A.ledger->check.passed, 1);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

void *real_alloc(size_t size, size_t align, bool zeroed)
{
	void *p = NULL;

	if (align <= 16)
		return zeroed && A.next.calloc ? A.next.calloc(1, size) : A.next.malloc(size);
	if (A.next.memalign)
		return A.next.memalign(align, size);
	if (A.next.aligned_alloc)
		return A.next.aligned_alloc(align, size);
	return A.next.posix_memalign && !A.next.posix_memalign(&p, align, size) ? p : NULL;
}

void *canaried_alloc(struct tctx *c, size_t size, size_t align, bool zeroed)
{
	size_t bytes;
	void *real;

	if (unlikely(!canary_bytes(size, align, &bytes)))
		return NULL;
	real = REAL(c, real_alloc(bytes, align, zeroed));
	return likely(real) ? quick_make(real, size, align) : NULL;
}

/* Blocks below the least size that the user wants to see are only counted. */
static inline bool too_small(struct tctx *c, size_t size)
{
	if (likely(size >= A.min_size))
		return false;
	c->pub.skipped_allocs++;
	c->pub.skipped_bytes += size;
	return true;
}

static void *alloc_light(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind, const struct caller *from)
{
	uint64_t watch = budget_watch(c->events);
	uint32_t site = 0;
	void *p;

	if (unlikely(!thrift_affords(c, from)))
		return REAL(c, real_alloc(size, align, zeroed));
	p = canaried_alloc(c, size, align, zeroed);
	if (unlikely(!p))
		return NULL;
	c->pub.canaried++;
	if (!too_small(c, size))
		site = record_alloc(c, (uint64_t)p, size, kind, from);
	quick_note(p, facts_of(site, kind));
	budget_watch_end(watch);
	return p;
}

static void *alloc_guard(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind, const struct caller *from)
{
	uint64_t watch = budget_watch(c->events), *why;
	uint32_t site, run;
	void *p;

	if (unlikely(size > PTRDIFF_MAX))
		return NULL;
	ease_tend();
	if (unlikely(!thrift_affords(c, from)) && !budget_allows(c, BUDGET_GUARDS, false))
		return REAL(c, real_alloc(size, align, zeroed));
	site = unwind_site(c, from, 0);
	run = guarded_alloc(c, size, align, kind, site, &why);
	if (run != UINT32_MAX)
		return (void *)guard_at(run)->address;
	p = canaried_alloc(c, size, align, zeroed);
	if (unlikely(!p))
		return NULL;
	guarded_refused(c, why);
	c->pub.canaried++;
	if (!too_small(c, size))
		record_alloc_at(c, (uint64_t)p, size, kind, site);
	quick_note(p, facts_of(site, kind));
	budget_watch_end(watch);
	return p;
}

static void *alloc_sampled(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind, const struct caller *from)
{
	uint32_t site, run;
	uint64_t *why;
	void *p;

	if (!hook_hit(c, size))
		return REAL(c, real_alloc(size, align, zeroed));
	site = unwind_site(c, from, 0);
	if (unlikely(size > PTRDIFF_MAX))
		return NULL;
	run = guarded_alloc(c, size, align, kind, site, &why);
	if (run != UINT32_MAX)
		return (void *)guard_at(run)->address;
	p = REAL(c, real_alloc(size, align, zeroed));
	if (unlikely(!p))
		return NULL;
	guarded_refused(c, why);
	if (!too_small(c, size))
		record_alloc_at(c, (uint64_t)p, size, kind, site);
	return p;
}

static inline void *alloc(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind, const struct caller *from)
{
	if (likely(K.o.level == PMM_CHECK_LIGHT))
		return alloc_light(c, size, align, zeroed, kind, from);
	return (K.o.level == PMM_CHECK_GUARD ? alloc_guard : alloc_sampled)(c, size, align, zeroed, kind, from);
}

void *level_alloc(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind, const struct caller *from)
{
	return alloc(c, size, align, zeroed, kind, from);
}

void *check_alloc(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind, const struct caller *from)
{
	void *p;

	if (unlikely(!check_ready())) {
		p = REAL(c, real_alloc(size, align, zeroed));
		if (LOAD(K.starting) || K.on)
			check_passed();		/* in no table: those that are have heads */
		else
			hook_result(c, p, size, kind, from);
		return p;
	}
	p = unlikely(refused(c, size, kind, from)) ? NULL : alloc(c, size, align, zeroed, kind, from);
	if (unlikely(!p))
		return failed(c, size, kind, from);
	if (unlikely(!asks_again(c, from)))
		c->failing_new = 0;
	if (!zeroed)
		garbage_fill(p, 0, size);
	return p;
}

void check_rename(struct tctx *c, void *p, uint32_t kind)
{
	bool recorded = c->last_address == (uint64_t)p;
	uint32_t run = K.on ? guard_block((uint64_t)p) : UINT32_MAX;
	struct block_info was;

	if (run == UINT32_MAX) {
		if (recorded)
			record_rename(c, (uint64_t)p, kind);
		if (K.on && K.o.level != PMM_CHECK_SAMPLED && (recorded || !block_get((uint64_t)p, &was)))
			canary_rename(p, kind);
		return;
	}
	guard_at(run)->kind = kind;
	guard_publish(run);
}
