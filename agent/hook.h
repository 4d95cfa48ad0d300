/* SPDX-License-Identifier: MIT */
/*
 * What a hook does around the real function, the same for a preloaded and an injected agent: each
 * form finds its context and the real function in its own way and leaves the rest to this.
 *
 * Contexts here are busy (agent_enter() and its kin) and belong to the calling thread.
 */
#ifndef AGENT_HOOK_H
#define AGENT_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent_core.h"
#include "agent/agent_stack.h"
#include "agent/ctx.h"
#include "agent/record.h"
#include "agent/sample.h"
#include "agent/unwind/unwind.h"

#define SLOW __attribute__((noinline))

/* Who called the function this is expanded in; makes gcc keep a frame pointer there. */
#define CALLER_HERE() ({							\
	uint64_t *fp_ = __builtin_frame_address(0);				\
	(struct caller){ .ra = fp_[1], .sp = (uint64_t)(fp_ + 2), .fp = fp_[0] }; \
})

/* Call the real allocator on behalf of context c. */
#define REAL(c, call) ({							\
	STORE((c)->busy, TCTX_IN_ALLOCATOR);					\
	__typeof__(call) r_ = (call);						\
	STORE((c)->busy, TCTX_RECORDING);					\
	r_;									\
})

/* Is this allocation to be recorded? Always in exact mode. */
static inline bool hook_hit(struct tctx *c, size_t size)
{
	if (likely(!agent.sampled))
		return true;
	if (!c->sampling) {
		c->sampling = true;
		*c->countdown = sample_next(c);
	}
	if (size < *c->countdown) {
		*c->countdown -= size;
		return false;
	}
	*c->countdown = sample_next(c);
	return true;
}

/* hook_allocated() where the call failed, or the block is too small to be recorded. */
void hook_passed_over(struct tctx *c, void *p, size_t size, uint32_t kind,
		      const struct caller *from);

/* Record what an allocation function returned. */
static inline void hook_allocated(struct tctx *c, void *p, size_t size, uint32_t kind,
				  const struct caller *from)
{
	if (likely(p && size >= agent.min_size))
		record_alloc(c, (uint64_t)p, size, kind, from);
	else
		hook_passed_over(c, p, size, kind, from);
}

/* ... if that is to be done. */
static inline void hook_result(struct tctx *c, void *p, size_t size, uint32_t kind,
			       const struct caller *from)
{
	if (!p || hook_hit(c, size))
		hook_allocated(c, p, size, kind, from);
}

/* What malloc returned, where that is not an event as usual. */
void hook_malloc_unusual(struct tctx *c, void *p, size_t size, uint32_t kind, struct caller from);

/* malloc, also under the names of operator new. */
static inline __attribute__((always_inline)) void *
hook_malloc(struct tctx *c, void *(*real)(size_t), size_t size, uint32_t kind,
	    const struct caller *from)
{
	void *p = REAL(c, real(size));

	if (likely(p && !agent.unusual && !c->failing_new))
		record_alloc_as(true, c, (uint64_t)p, size, kind, from);
	else
		hook_malloc_unusual(c, p, size, kind, *from);
	return p;
}

static inline void *hook_calloc(struct tctx *c, void *(*real)(size_t, size_t), size_t n,
				size_t each, uint32_t kind, const struct caller *from)
{
	size_t size;
	void *p;

	if (__builtin_mul_overflow(n, each, &size))
		size = SIZE_MAX;
	p = REAL(c, real(n, each));
	hook_result(c, p, size, kind, from);
	return p;
}

/*
 * The real ones; `array` is called where `plain` is NULL or the product is too large, and may be
 * NULL itself.
 */
struct hook_realloc {
	void *(*plain)(void *, size_t);
	void *(*array)(void *, size_t, size_t);
};

/* The block at `address` will be taken out and, perhaps elsewhere, entered again; has been. */
static inline void move_begin(struct pmm_move *m, uint64_t address, uint64_t new_bytes)
{
	STORE(m->old_bytes, 0);
	STORE(m->new_bytes, new_bytes);
	STORE_RELEASE(m->address, address);
}

static inline void move_end(struct pmm_move *m)
{
	STORE_RELEASE(m->address, 0);
}

/* realloc and reallocarray: the old block goes, a new one comes, also when the address stays. */
void *hook_realloc(struct tctx *c, struct hook_realloc real, void *old, size_t n, size_t each,
		   uint32_t kind, const struct caller *from);

/*
 * The two parts of it: before; after, where `was` is NULL unless the block was known. From the one
 * to the other the block is in no table, and pmm_ctx.move says so.
 */
bool hook_resizing(struct tctx *c, void *old, size_t size, struct block_info *was);
void hook_resized(struct tctx *c, void *old, const struct block_info *was, void *p, size_t size,
		  uint32_t kind, const struct caller *from);

int hook_posix_memalign(struct tctx *c, int (*real)(void **, size_t, size_t), void **out,
			size_t align, size_t size, const struct caller *from);

/* A block is about to be given to the real free: out of all sums. False: it is not known. */
static inline __attribute__((always_inline)) bool hook_take(struct tctx *c, void *p)
{
	uint64_t size;

	if (likely(!agent.unusual))
		size = record_take_usual(c, (uint64_t)p);
	else
		size = record_take(c, (uint64_t)p);
	if (unlikely(size >= 32768)) {
		if (size == RECORD_UNKNOWN)
			return false;
		stack_goes((uint64_t)p, size);	/* perhaps: it may have been one */
	}
	return true;
}

/* The same, one that is not known counted; c will be busy with the real free's frame. */
static inline __attribute__((always_inline)) void hook_free(struct tctx *c, void *p)
{
	if (unlikely(!hook_take(c, p)))
		record_free_unknown(c);
	STORE(c->busy, TCTX_IN_ALLOCATOR);
}

/* mmap returned p, mremap p; munmap is about to be called with sound arguments. */
void hook_mapped(struct tctx *c, void *p, size_t bytes, const struct caller *from);
void hook_remapped(struct tctx *c, void *old, size_t old_bytes, void *p, size_t bytes,
		   const struct caller *from);
void hook_unmapping(struct tctx *c, void *at, size_t bytes);

#endif
