/* SPDX-License-Identifier: MIT */
/*
 * Hooks of a C library's allocation functions, entered by a jump from the function itself.
 *
 * Here the allocator's own calls come by as well: a calloc made of malloc, a realloc(NULL). The
 * outermost call is recorded, those inside pass (agent_enter_outermost). In sampled mode a call may
 * pass without a trace, so only functions that do not call others take the fast path: glibc's
 * calloc and realloc, not those of allocators we do not know so well (agent.dense).
 */
#include "agent/inject/guards.h"
#include "agent/inject/agent_inject.h"
#include "agent/inject/thread_end.h"

static SLOW void *malloc_body(size_t size, const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = inject_enter(&from);
	void *p;

	if (unlikely(!c))
		return PASS(NEXT(e, void *(*)(size_t))(size));
	p = guards_alloc(c, size, 0, e, &from);
	if (likely(!p))
		p = hook_malloc(c, NEXT(e, void *(*)(size_t)), size, e->kind, &from);
	agent_leave(c);
	return p;
}

void *inject_malloc(size_t size, const struct pmm_entry *e)
{
	if (inject_passes(size))
		return NEXT(e, void *(*)(size_t))(size);
	return malloc_body(size, e);
}

static SLOW void *calloc_body(size_t n, size_t each, const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = inject_enter(&from);
	void *p;

	if (unlikely(!c))
		return PASS(NEXT(e, void *(*)(size_t, size_t))(n, each));
	p = n < 1u << 31 && each < 1u << 31 ? guards_alloc(c, n * each, 0, e, &from) : NULL;
	if (likely(!p))
		p = hook_calloc(c, NEXT(e, void *(*)(size_t, size_t)), n, each, e->kind, &from);
	agent_leave(c);
	return p;
}

void *inject_calloc(size_t n, size_t each, const struct pmm_entry *e)
{
	if (n < 1u << 31 && each < 1u << 31 && !agent.dense && inject_passes(n * each))
		return NEXT(e, void *(*)(size_t, size_t))(n, each);
	return calloc_body(n, each, e);
}

/* A guarded block moves to where realloc(NULL) puts a new one. */
static SLOW void *guarded_resize(struct hook_realloc real, void *old, size_t n, size_t each,
				 const struct caller *from)
{
	size_t had = guards_size(old), size = 0;
	void *p;

	if (!__builtin_mul_overflow(n, each, &size) && !size && !agent.dense) {	/* glibc */
		guards_free(old, PMM_RELEASE_REALLOC, from);
		return NULL;
	}
	p = PASS(real.array ? real.array(NULL, n, each) : real.plain(NULL, n));
	if (!p)
		return NULL;
	memcpy(p, old, had < size ? had : size);
	guards_free(old, PMM_RELEASE_REALLOC, from);
	return p;
}

static SLOW void *realloc_body(void *old, size_t size, const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct hook_realloc real = { NEXT(e, void *(*)(void *, size_t)), NULL };
	struct tctx *c;
	void *p;

	if (guards_has(old))
		return guarded_resize(real, old, size, 1, &from);
	c = inject_enter(&from);
	if (unlikely(!c))
		return PASS(real.plain(old, size));
	p = old ? NULL : guards_alloc(c, size, 0, e, &from);
	if (likely(!p))
		p = hook_realloc(c, real, old, size, 1, PMM_KIND_REALLOC, &from);
	agent_leave(c);
	return p;
}

void *inject_realloc(void *old, size_t size, const struct pmm_entry *e)
{
	if (old && size && !agent.dense && inject_passes_free(old) && inject_passes(size))
		return NEXT(e, void *(*)(void *, size_t))(old, size);
	return realloc_body(old, size, e);
}

void *inject_reallocarray(void *old, size_t n, size_t each, const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct hook_realloc real = { NULL, NEXT(e, void *(*)(void *, size_t, size_t)) };
	struct tctx *c;
	void *p;

	if (guards_has(old))
		return guarded_resize(real, old, n, each, &from);
	c = inject_enter(&from);
	if (unlikely(!c))
		return PASS(real.array(old, n, each));
	p = !old && n < 1u << 31 && each < 1u << 31 ? guards_alloc(c, n * each, 0, e, &from) : NULL;
	if (likely(!p))
		p = hook_realloc(c, real, old, n, each, PMM_KIND_REALLOCARRAY, &from);
	agent_leave(c);
	return p;
}

static SLOW void free_unknown(struct tctx *c, void *ra, const struct pmm_entry *e)
{
	if (agent.sampled || agent.min_size || !thread_end_releases((uint64_t)ra, e->function))
		record_free_unknown(c);
}

static SLOW void free_body(void *p, size_t a, size_t b, const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct tctx *c;

	if (guards_has(p)) {
		guards_free(p, PMM_RELEASE_FREE, &from);
		return;
	}
	/* the allocator's header: its miss and ours at the same time */
	arch_prefetch((char *)p - 16);
	c = inject_enter(&from);
	if (likely(c)) {
		if (unlikely(!hook_take(c, p)))
			free_unknown(c, __builtin_return_address(0), e);
		STORE(c->busy, TCTX_IN_ALLOCATOR);
	} else {
		ADD(agent.passing, 1);
	}
	NEXT(e, void (*)(void *, size_t, size_t))(p, a, b);
	if (likely(c))
		agent_leave(c);
	else
		ADD(agent.passing, -1);
}

void inject_free(void *p, size_t a, size_t b, const struct pmm_entry *e)
{
	if (inject_passes_free(p))
		return NEXT(e, void (*)(void *, size_t, size_t))(p, a, b);
	free_body(p, a, b, e);
}

void *inject_memalign(size_t align, size_t size, const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = inject_enter(&from);
	void *p;

	if (unlikely(!c))
		return PASS(NEXT(e, void *(*)(size_t, size_t))(align, size));
	p = align && !(align & (align - 1)) ? guards_alloc(c, size, align, e, &from) : NULL;
	if (likely(!p)) {
		p = REAL(c, NEXT(e, void *(*)(size_t, size_t))(align, size));
		hook_result(c, p, size, e->kind, &from);
	}
	agent_leave(c);
	return p;
}

size_t inject_usable_size(void *p, const struct pmm_entry *e)
{
	return guards_has(p) ? guards_size(p) : NEXT(e, size_t (*)(void *))(p);
}

int inject_posix_memalign(void **out, size_t align, size_t size, const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = inject_enter(&from);
	int ret = 0;
	void *p;

	if (unlikely(!c))
		return PASS(NEXT(e, int (*)(void **, size_t, size_t))(out, align, size));
	p = align >= sizeof(*out) && !(align & (align - 1)) ? guards_alloc(c, size, align, e, &from)
							    : NULL;
	if (p)
		*out = p;
	else
		ret = hook_posix_memalign(c, NEXT(e, int (*)(void **, size_t, size_t)), out, align,
					  size, &from);
	agent_leave(c);
	return ret;
}
