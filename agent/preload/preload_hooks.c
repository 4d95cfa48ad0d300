/* SPDX-License-Identifier: MIT */
/*
 * The C library's allocation functions, as the program sees them.
 *
 * Each is a short entry that in sampled mode usually jumps straight to the real function, and a
 * body that records. The entry jumps to the body, so the body's return address is the program's.
 * errno is the real function's: nothing in the agent touches it.
 */
#include "agent/block.h"
#include "agent/preload/leave.h"
#include "agent/preload/agent_preload.h"
#include "agent/site.h"

#define ENOMEM 12

static inline __attribute__((always_inline)) void *allocate(size_t size, uint32_t kind,
							   const struct caller *from)
{
	struct tctx *c = hook_enter(from);
	void *p;

	if (unlikely(!c))
		return agent.next.malloc ? agent.next.malloc(size) : NULL;
	p = hook_malloc(c, agent.next.malloc, size, kind, from);
	agent_leave(c);
	return p;
}

void *preload_malloc(size_t size, uint32_t kind, const struct caller *from)
{
	return allocate(size, kind, from);
}

static SLOW void *malloc_body(size_t size)
{
	struct caller from = CALLER_HERE();

	return allocate(size, PMM_KIND_MALLOC, &from);
}

EXPORT void *malloc(size_t size)
{
	if (hook_passes(size))
		return agent.next.malloc(size);
	return malloc_body(size);
}

static SLOW void *calloc_body(size_t n, size_t each)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = hook_enter(&from);
	void *p;

	if (unlikely(!c))
		return agent.next.calloc ? agent.next.calloc(n, each) : NULL;
	p = hook_calloc(c, agent.next.calloc, n, each, PMM_KIND_CALLOC, &from);
	agent_leave(c);
	return p;
}

EXPORT void *calloc(size_t n, size_t each)
{
	if (n < 1u << 31 && each < 1u << 31 && hook_passes(n * each))
		return agent.next.calloc(n, each);
	return calloc_body(n, each);
}

/* glibc's reallocarray calls realloc, that is us: it only serves to fail in its own way. */
static inline struct hook_realloc next_realloc(void)
{
	return (struct hook_realloc){ agent.next.realloc, agent.next.reallocarray };
}

static SLOW void *realloc_body(void *old, size_t size)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = hook_enter(&from);
	void *p;

	if (unlikely(!c))
		return agent.next.realloc ? agent.next.realloc(old, size) : NULL;
	p = hook_realloc(c, next_realloc(), old, size, 1, PMM_KIND_REALLOC, &from);
	agent_leave(c);
	return p;
}

EXPORT void *realloc(void *old, size_t size)
{
	if (agent.sampled && !*sample_filter((uint64_t)old) && size && hook_passes(size))
		return agent.next.realloc(old, size);
	return realloc_body(old, size);
}

EXPORT void *reallocarray(void *old, size_t n, size_t each)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = hook_enter(&from);
	size_t size;
	void *p;

	if (unlikely(!c)) {
		if (agent.next.reallocarray)
			return agent.next.reallocarray(old, n, each);
		return __builtin_mul_overflow(n, each, &size) || !agent.next.realloc
			       ? NULL
			       : agent.next.realloc(old, size);
	}
	p = hook_realloc(c, next_realloc(), old, n, each, PMM_KIND_REALLOCARRAY, &from);
	agent_leave(c);
	return p;
}

static inline __attribute__((always_inline)) void release(void *p, const struct caller *from)
{
	struct tctx *c;

	if (!p)
		return;
	/* the allocator's header: its miss and ours at the same time */
	arch_prefetch((char *)p - 16);
	c = hook_enter(from);
	if (unlikely(!c)) {
		if (agent.next.free)
			agent.next.free(p);
		return;
	}
	hook_free(c, p);
	agent.next.free(p);
	agent_leave(c);
}

void preload_free(void *p, const struct caller *from)
{
	release(p, from);
}

static SLOW void free_body(void *p)
{
	struct caller from = CALLER_HERE();

	release(p, &from);
}

EXPORT void free(void *p)
{
	if (agent.sampled && !*sample_filter((uint64_t)p)) {
		agent.next.free(p);
		return;
	}
	free_body(p);
}

EXPORT void cfree(void *p)
{
	free_body(p);
}

/* The aligned family: all alike. */
#define ALIGNED(NAME, KIND, PARAMS, ARGS, SIZE)						\
EXPORT void *NAME PARAMS								\
{											\
	struct caller from = CALLER_HERE();						\
	struct tctx *c = hook_enter(&from);						\
	void *p;									\
											\
	if (unlikely(!c))								\
		return agent.next.NAME ? agent.next.NAME ARGS : NULL;				\
	p = REAL(c, agent.next.NAME ARGS);							\
	hook_result(c, p, SIZE, KIND, &from);						\
	agent_leave(c);									\
	return p;									\
}

ALIGNED(aligned_alloc, PMM_KIND_ALIGNED_ALLOC, (size_t align, size_t size), (align, size), size)
ALIGNED(memalign, PMM_KIND_MEMALIGN, (size_t align, size_t size), (align, size), size)
ALIGNED(valloc, PMM_KIND_VALLOC, (size_t size), (size), size)
ALIGNED(pvalloc, PMM_KIND_PVALLOC, (size_t size), (size), size)

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = hook_enter(&from);
	int ret;

	if (unlikely(!c))
		return agent.next.posix_memalign ? agent.next.posix_memalign(out, align, size)
						 : ENOMEM;
	ret = hook_posix_memalign(c, agent.next.posix_memalign, out, align, size, &from);
	agent_leave(c);
	return ret;
}

/*
 * The program asks how much of a block can be used, and may use it from then on: noted at the
 * block's site. Looking at the tables takes no context, but that this process has a ledger.
 */
static void asked_usable(void *p)
{
	struct caller from = CALLER_HERE();
	struct tctx *c;
	uint32_t site;

	if (unlikely(!agent_is_on() || !agent_begun()) && (c = hook_enter(&from)))
		agent_leave(c);
	if (likely(agent_is_on() && agent_begun()) && block_site((uint64_t)p, &site))
		site_mark(site, PMM_SITE_USABLE);
}

/* How many bytes these are is known of the C library's only (src/roots/glibc/glibc_usable.c). */
EXPORT size_t malloc_usable_size(void *p)
{
	if (p && agent.glibc)
		asked_usable(p);
	if (!agent.next.malloc_usable_size)
		resolve();
	return agent.next.malloc_usable_size ? agent.next.malloc_usable_size(p) : 0;
}

void leave_form(uint64_t sp)
{
	(void)sp;
}

void leave_signal(int signal, void *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
}

void leave_called(int status, uint64_t sp)
{
	(void)status;
	(void)sp;
}
