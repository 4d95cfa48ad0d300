/*
 * Which way for which block, and requests that fail.
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
#include "agent/check/thrift.h"
#include "agent/check/ways.h"
#include "agent/clock.h"
#include "agent/site.h"

#define IN_PLACE_BYTES	(128u << 10)	/* from here on copying is dearer than what a block at a new place tells */
#define GUARDED_MOST	((size_t)ARCH_PAGE << (PMM_GUARD_AREAS - 1))
#define PPB		1000000000ull

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

/* ---- requests that fail --------------------------------------------------------------------------------- */

static const char *const names[PMM_NR_KINDS] = {
	[PMM_KIND_MALLOC] = "malloc", [PMM_KIND_CALLOC] = "calloc", [PMM_KIND_REALLOC] = "realloc",
	[PMM_KIND_REALLOCARRAY] = "reallocarray", [PMM_KIND_POSIX_MEMALIGN] = "posix_memalign",
	[PMM_KIND_ALIGNED_ALLOC] = "aligned_alloc", [PMM_KIND_MEMALIGN] = "memalign", [PMM_KIND_VALLOC] = "valloc",
	[PMM_KIND_PVALLOC] = "pvalloc", [PMM_KIND_NEW] = "operator new", [PMM_KIND_NEW_ARRAY] = "operator new[]",
	[PMM_KIND_NEW_ALIGNED] = "operator new", [PMM_KIND_NEW_ARRAY_ALIGNED] = "operator new[]",
};

static SLOW void odd_size(struct tctx *c, size_t size, uint32_t kind, const struct caller *from)
{
	struct pmm_finding f = { .type = PMM_FINDING_SIZE, .by = PMM_BY_FUNCTION, .size_bytes = size, .kind = kind };

	f.site = unwind_site(c, from, 0);
	finding_function(&f, names[kind]);
	finding_add(c, &f);
}

static inline bool is_odd(size_t size, uint32_t kind)
{
	return size > PTRDIFF_MAX || (!size && K.o.flags & PMM_CHECK_ZERO && kind < PMM_KIND_NEW);
}

/* The same for the same secret and the same request, counted from the start. */
static bool by_chance(uint64_t request)
{
	uint64_t x = pmm_scramble(K.o.secret, request, PMM_CHECK_NONE);

	return K.o.fail_ppb && (x * 0x9e3779b97f4a7c15ull >> 32) * PPB >> 32 < K.o.fail_ppb;
}

static SLOW bool on_purpose(size_t size)
{
	uint64_t request = ADD(K.requests, 1), bytes = LOAD(A.ledger->total) >> 21;	/* see agent/total.c */

	if (request < K.o.fail_after && !by_chance(request) &&
	    (!K.o.heap_limit_bytes || (bytes <= K.o.heap_limit_bytes && size <= K.o.heap_limit_bytes - bytes)))
		return false;
	ADD(A.ledger->check.failed_on_purpose, 1);
	return true;
}

/* Is this the C++ library's operator new asking again after ours failed? */
static inline bool asks_again(const struct tctx *c, const struct caller *from)
{
	return unlikely(from->sp < c->failing_new);
}

/* Is this request to fail? One of operator new does so until the library has given up. */
static bool refused(struct tctx *c, size_t size, uint32_t kind, const struct caller *from)
{
	bool again = asks_again(c, from) && c->refusing;

	if (unlikely(is_odd(size, kind)) && !asks_again(c, from))
		odd_size(c, size, kind, from);
	if (likely(!K.refuses))
		return false;
	c->refusing = false;
	if (!again && !on_purpose(size))
		return false;
	c->refusing = kind >= PMM_KIND_NEW;
	return true;
}

static void *failed(struct tctx *c, size_t size, uint32_t kind, const struct caller *from)
{
	if (!asks_again(c, from))
		record_failed(c, size, kind, from);
	if (kind >= PMM_KIND_NEW)
		c->failing_new = from->sp;
	else if (!asks_again(c, from))
		c->failing_new = 0;
	return NULL;
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

static inline void filled(void *p, size_t from, size_t size)
{
	if (unlikely(K.o.flags & PMM_CHECK_GARBAGE) && size > from)
		memset((char *)p + from, (int)K.o.garbage, size - from);
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
		filled(p, 0, size);
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

/* ---- realloc -------------------------------------------------------------------------------------------- */

/* A large canaried block goes on where the real allocator puts it, contents and all. */
static void *resized_in_place(struct tctx *c, void *old, struct held *h, size_t size, uint32_t kind, const struct caller *from)
{
	struct block_info was;
	bool known = hook_resizing(c, old, size, &was);
	struct pmm_head head = *((struct pmm_head *)old - 1);
	size_t bytes = 0;
	void *p = NULL;

	if (canary_bytes(size, 0, &bytes)) {
		canary_clear(old);		/* none is left where it was */
		p = REAL(c, A.next.realloc(canary_real(old, h->align), bytes));
	}
	if (p) {
		p = canary_make(p, size, 0);
		c->pub.canaried++;
		hook_resized(c, old, known ? &was : NULL, p, size, kind, from);
		quick_note(p, facts_of(block_get((uint64_t)p, &was) ? was.site : 0, kind));
		return p;
	}
	*((struct pmm_head *)old - 1) = head;
	if (known)
		record_restore(c, (uint64_t)old, &was);
	move_end(&c->pub.move[PMM_MOVE_HEAP]);
	return NULL;
}

static bool stays_in_place(const void *old, const struct held *h, size_t size)
{
	uint64_t at;

	return h->as == HELD_CANARIED && h->known && h->was.kind < PMM_KIND_NEW && h->align <= 16 && h->size >= IN_PLACE_BYTES &&
	       size >= (K.o.level == PMM_CHECK_LIGHT ? IN_PLACE_BYTES : GUARDED_MOST) && !canary_damage_around(old, h->size, h->align, &at);
}

static void *resized(struct tctx *c, void *old, struct held *h, size_t size, uint32_t kind, const struct caller *from)
{
	static const struct check_said said = { PMM_RELEASE_REALLOC, SIZE_MAX, 0 };
	size_t keep = h->size < size ? h->size : size;
	struct pmm_move *move = &c->pub.move[PMM_MOVE_HEAP];
	void *p;

	if (stays_in_place(old, h, size))
		return resized_in_place(c, old, h, size, kind, from);
	move_begin(move, (uint64_t)old, size);
	STORE(move->old_bytes, h->size);
	held_uncount(c, old, h);		/* the program never has both */
	p = alloc(c, size, 0, false, kind, from);
	if (likely(p)) {
		memcpy(p, old, keep);
		held_release(c, old, h, &said, unwind_site(c, from, 0));
	} else {
		held_recount(c, old, h);
	}
	move_end(move);
	return p;
}

/* Not ours: the real function's. */
static void *realloc_passed(struct tctx *c, void *old, size_t size, uint32_t kind, const struct caller *from)
{
	return hook_realloc(c, (struct hook_realloc){ A.next.realloc, NULL }, old, size, 1, kind, from);
}

void *check_realloc(struct tctx *c, void *old, size_t size, uint32_t kind, const struct caller *from)
{
	struct check_said said = { PMM_RELEASE_REALLOC, SIZE_MAX, 0 };
	struct held h = { .counted = false };
	void *p;

	if (unlikely(!check_ready()))
		return realloc_passed(c, old, size, kind, from);
	if (!old)
		return check_alloc(c, size, 0, false, kind, from);
	h.known = block_get((uint64_t)old, &h.was);
	held_find(old, &h);
	if (unlikely(h.as == HELD_PASSED))
		return realloc_passed(c, old, size, kind, from);
	if (unlikely(h.as == HELD_NONE)) {
		if (thrift_any && thrift_passed_safely(old))
			return REAL(c, A.next.realloc(old, size));
		return stray_release(c, old, &said, from) ? NULL : realloc_passed(c, old, size, kind, from);
	}
	if (!size && !A.dense) {		/* glibc */
		if (unlikely(is_odd(size, kind)))
			odd_size(c, size, kind, from);
		held_release(c, old, &h, &said, unwind_site(c, from, 0));
		return NULL;
	}
	p = unlikely(refused(c, size, kind, from)) ? NULL : resized(c, old, &h, size, kind, from);
	if (unlikely(!p))
		return failed(c, size, kind, from);
	filled(p, h.size, size);
	return p;
}
