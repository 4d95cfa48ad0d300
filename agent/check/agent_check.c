/* SPDX-License-Identifier: MIT */
/*
 * Which way for which block.
 *
 * Until the agent is on, on threads without a context and where the level is none, blocks are the
 * real allocator's own; what a pointer is is found out when it comes back (release.c, stray.c).
 */
#include "agent/check/agent_check.h"

#include "agent/strings/bounds.h"
#include "agent/guard/budget.h"
#include "agent/check/canary.h"
#include "agent/check/left_open.h"
#include "agent/fault/fault.h"
#include "agent/guard/guard.h"
#include "agent/check/quarantine.h"
#include "agent/check/recycle.h"
#include "agent/check/refuse.h"
#include "agent/check/reported.h"
#include "agent/check/checker.h"
#include "agent/clock.h"
#include "agent/site.h"

struct checker checker __attribute__((visibility("hidden")));

/* ---- the beginning --------------------------------------------------------------------------- */

/*
 * The agent's own secret: a child that runs another program, perhaps as another user, has its own.
 */
static uint64_t random_word(void)
{
	uint64_t n;

	if (sys3(getrandom, &n, sizeof(n), 1 /* GRND_NONBLOCK */) == sizeof(n))
		return n;
	return (arch_cycles() ^ sys_clock_ns(SYS_CLOCK_MONOTONIC) << 32 ^ (uint64_t)&n) *
	       0x9e3779b97f4a7c15ull;
}

/* For canary scans from outside, in this process's own file. */
static void secret_note(void)
{
	if (agent.file)
		((struct pmm_tree *)agent.file)->check.secret = checker.o.secret;
}

bool check_start(void)
{
	checker.o = agent.tree->check;
	if (!checker.o.secret)
		checker.o.secret = random_word();
	secret_note();
	checker.on = checker.o.level > PMM_CHECK_NONE &&
		     checker.o.level < PMM_NR_CHECK_LEVELS && !agent.own_called.function;
	if (!checker.on)
		return false;
	checker.refuses = checker.o.fail_after != UINT64_MAX || checker.o.fail_ppb ||
			  checker.o.heap_limit_bytes;
	agent.stacks_last = true;
	canary_start(checker.o.secret);
	budget_start(checker.o.budget_permille);
	finding_start(checker.o.on_error);
	reported_start();
	if (checker.o.level != PMM_CHECK_SAMPLED) {
		quarantine_start(checker.o.quarantine_bytes);
		recycle_start();
	}
	if (checker.o.level != PMM_CHECK_LIGHT)
		guard_start(&checker.o);
	fault_start();
	return true;
}

void check_end(void)
{
	if (LOAD(checker.ended))
		return;
	STORE(checker.passed, LOAD(checker.passed) + 1);
	STORE(checker.ended, true);
}

static void forked(void)
{
	checker.parent_pid = ancestor_pid(checker.generation);
	STORE(agent.ledger->check.generation, ++checker.generation);
	secret_note();
	checker.finished = 0;
	if (!checker.on)
		return;
	reported_start();
	budget_forked();
	quarantine_forked();
	recycle_forked();
	guard_forked();
	bounds_forked();
	finding_forked();
}

/* What came before there was a ledger of this process's. */
static void early_note(void)
{
	uint64_t early = __atomic_exchange_n(&checker.early, 0, __ATOMIC_RELAXED);

	ADD(agent.ledger->check.passed, early);
	ADD(agent.ledger->check.passed_early, early);
}

/* Blocks of threads that come here meanwhile pass. */
__attribute__((noinline)) bool check_begin(void)
{
	bool heir = checker.image && checker.image != agent.generation;
	uint32_t no = 0;

	if (!CAS(checker.starting, no, 1))
		return false;
	if (heir)
		forked();
	else if (!checker.image)
		check_start();
	early_note();
	ancestor_begin(checker.generation, (uint32_t)agent.pid);
	if (heir && checker.on && checker.o.level != PMM_CHECK_SAMPLED &&
	    !(checker.o.flags & PMM_CHECK_NO_STRINGS))
		ancestor_cover(checker.generation - 1);	/* noted as ours, for children of our own */
	STORE_RELEASE(checker.image, agent.generation);
	STORE_RELEASE(checker.starting, 0);
	return checker.on;
}

bool check_on(void)
{
	return agent_is_on() && LOAD_ACQUIRE(checker.image) == LOAD(*agent.alive) && checker.on;
}

void check_passed(void)
{
	ADD(checker.passed, 1);
	if (agent_begun())
		ADD(agent.ledger->check.passed, 1);
	else
		ADD(checker.early, 1);
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *real_alloc(size_t size, size_t align, bool zeroed)
{
	void *p = NULL;

	if (align <= 16)
		return zeroed && agent.next.calloc ? agent.next.calloc(1, size)
						   : agent.next.malloc(size);
	if (agent.next.memalign)
		return agent.next.memalign(align, size);
	if (agent.next.aligned_alloc)
		return agent.next.aligned_alloc(align, size);
	return agent.next.posix_memalign && !agent.next.posix_memalign(&p, align, size) ? p : NULL;
}

void *canaried_alloc(struct tctx *c, size_t size, size_t align, bool zeroed)
{
	size_t bytes;
	void *real;

	if (unlikely(!canary_bytes(size, align, &bytes)))
		return NULL;
	real = align <= PMM_HEAD_BYTES ? recycle_take(c, bytes) : NULL;
	if (!real)
		real = REAL(c, real_alloc(bytes, align, zeroed));
	else if (zeroed)
		memset((char *)real + PMM_HEAD_BYTES, 0, size);
	return likely(real) ? quick_make(real, size, align) : NULL;
}

/* Blocks below the least size that the user wants to see are only counted. */
static inline bool too_small(struct tctx *c, size_t size)
{
	if (likely(size >= agent.min_size))
		return false;
	c->pub.skipped_allocs++;
	c->pub.skipped_bytes += size;
	return true;
}

static void *alloc_light(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind,
			 const struct caller *from)
{
	uint32_t site = 0;
	void *p;

	p = canaried_alloc(c, size, align, zeroed);
	if (unlikely(!p))
		return NULL;
	c->pub.canaried++;
	if (!too_small(c, size))
		site = record_alloc(c, (uint64_t)p, size, kind, from);
	quick_note(p, facts_of(site, kind));
	return p;
}

static void *alloc_guard(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind,
			 const struct caller *from)
{
	uint32_t site, run;
	uint64_t *why;
	void *p;

	if (unlikely(size > PTRDIFF_MAX))
		return NULL;
	left_open_tend();
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
	return p;
}

static void *alloc_sampled(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind,
			   const struct caller *from)
{
	bool ended = LOAD(checker.ended);
	uint32_t site, run;
	uint64_t *why;
	void *p;

	if (!hook_hit(c, size))
		return REAL(c, real_alloc(size, align, zeroed));
	site = unwind_site(c, from, 0);
	if (unlikely(size > PTRDIFF_MAX))
		return NULL;
	run = ended ? UINT32_MAX : guarded_alloc(c, size, align, kind, site, &why);
	if (run != UINT32_MAX)
		return (void *)guard_at(run)->address;
	p = REAL(c, real_alloc(size, align, zeroed));
	if (unlikely(!p))
		return NULL;
	if (!ended)
		guarded_refused(c, why);
	if (!too_small(c, size))
		record_alloc_at(c, (uint64_t)p, size, kind, site);
	return p;
}

/* Not in the tables either: what is there has a head. */
static SLOW void *alloc_ended(struct tctx *c, size_t size, size_t align, bool zeroed)
{
	void *p = REAL(c, real_alloc(size, align, zeroed));

	c->last_address = 0;
	if (p)
		ADD(agent.ledger->check.passed, 1);
	return p;
}

static inline void *alloc(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind,
			  const struct caller *from)
{
	if (unlikely(LOAD(checker.ended)) && checker.o.level != PMM_CHECK_SAMPLED)
		return alloc_ended(c, size, align, zeroed);
	if (likely(checker.o.level == PMM_CHECK_LIGHT))
		return alloc_light(c, size, align, zeroed, kind, from);
	return (checker.o.level == PMM_CHECK_GUARD ? alloc_guard : alloc_sampled)(
		c, size, align, zeroed, kind, from);
}

void *level_alloc(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind,
		  const struct caller *from)
{
	return alloc(c, size, align, zeroed, kind, from);
}

void *check_alloc(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind,
		  const struct caller *from)
{
	void *p;

	if (unlikely(!check_ready())) {
		p = REAL(c, real_alloc(size, align, zeroed));
		if (LOAD(checker.starting) || checker.on)
			check_passed();		/* in no table: those that are have heads */
		else
			hook_result(c, p, size, kind, from);
		return p;
	}
	p = unlikely(refused(c, size, kind, from)) ? NULL
						   : alloc(c, size, align, zeroed, kind, from);
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
	uint32_t run = checker.on ? guard_block((uint64_t)p) : UINT32_MAX;
	struct block_info was;

	if (run == UINT32_MAX) {
		if (recorded)
			record_rename(c, (uint64_t)p, kind);
		if (checker.on && !LOAD(checker.ended) && checker.o.level != PMM_CHECK_SAMPLED &&
		    (recorded || !block_get((uint64_t)p, &was)))
			canary_rename(p, kind);
		return;
	}
	guard_at(run)->kind = kind;
	guard_publish(run);
}
