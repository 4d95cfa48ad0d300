/* SPDX-License-Identifier: MIT */
/*
 * The full form's hot path: each call of pmm.h finds its thread's context, calls the C library, and
 * records the block under the place that the macro named. No lock, no system call, nothing shared
 * between threads but the total.
 *
 * Where options ask for more than that, or anything is unusual, pmm_full.c continues.
 */
#define PMM
#define PMM_NO_NAMES
#include "shim/full/full.h"

#include "agent/sys.h"

#include <errno.h>

#include "agent/block_words.h"
#include "agent/agent_core.h"
#include "agent/ctx.h"
#include "agent/hook.h"
#include "agent/record.h"
#include "agent/agent_shim.h"
#include "agent/srcloc.h"
#include "agent/unwind/unwind.h"
#pragma GCC visibility push(default)
#include "include/pmm.h"
#pragma GCC visibility pop

#define PLAIN_FLAGS	(PMM_SITE_SRCLOC | PMM_SRCLOC_BEHIND | 0xffu << PMM_SRCLOC_ENTRY_SHIFT)

#define CALL(file, line, func, from)                                                               \
	((struct full_call){ file, func, (uint32_t)(line), (from).ra, (from).sp, (from).fp })

/* ---- contexts */
static __thread struct tctx *mine;	/* this thread's; in a forked child of its parent's */
static __thread uint32_t mine_of;	/* *agent.alive of the process that it is of */

/*
 * However it came by it: in a forked child, too, whose first call may be one that does not come by
 * enter().
 */
void full_taken(struct tctx *c)
{
	mine = c;
	mine_of = LOAD(*agent.alive);
}

static __attribute__((noinline)) struct tctx *enter_slow(uintptr_t sp)
{
	struct tctx *c = LOAD(agent.state) == AGENT_ON ? agent_enter(sp) : NULL;

	if (c && !c->pub.level)
		full_taken(c);
	return c;
}

static inline struct tctx *enter(uintptr_t sp)
{
	struct tctx *c = mine;

	if (unlikely(!c || LOAD(*agent.alive) != mine_of) || unlikely(c->busy) ||
	    unlikely(LOAD(agent.ledger->want_view)))
		return enter_slow(sp);
	ctx_busy(c, sp);
	return c;
}

/* ---- new blocks */
static inline uint32_t kind_of_entry(char entry)
{
	return entry == 'c'   ? PMM_KIND_CALLOC
	       : entry == 'r' ? PMM_KIND_REALLOC
	       : entry == 'a' ? PMM_KIND_ALIGNED_ALLOC
	       : entry == 'n' ? PMM_KIND_NEW
			      : PMM_KIND_MALLOC;
}

static inline void *real_block(size_t align, size_t whole, int zero)
{
	if (unlikely(align))
		return aligned_alloc(align, (whole + align - 1) & ~(align - 1));
	return zero ? calloc(1, whole) : malloc(whole);
}

static __attribute__((noinline, cold)) void *failed(struct tctx *c, size_t size, uint32_t site)
{
	if (c) {
		record_failed_at(c, size, site);
		agent_leave(c);
	}
	return full_no_memory();
}

static inline __attribute__((always_inline)) void *obtain_block(const char *file, int line,
								const char *func, char entry,
								size_t align, size_t size, int zero,
								struct caller from)
{
	const uint32_t flags = PMM_SRCLOC_BEHIND | (uint32_t)entry << PMM_SRCLOC_ENTRY_SHIFT;
	uint32_t under, site;
	uint64_t *place;
	struct tctx *c;
	char *p;

	if (unlikely(LOAD(full_careful)))
		goto care;
	if (unlikely(size > PTRDIFF_MAX - SHIM_CANARY_BYTES - align))
		goto care;
	c = enter(from.sp);
	if (unlikely(!c))
		goto care;
	under = unlikely(LOAD(agent.stacks)) ? srcloc_under(unwind_site(c, &from, 0)) : 0;
	site = srcloc_site(c, file, func, (uint32_t)line, flags, under);
	if (unlikely(!site)) {
		agent_leave(c);
		goto care;
	}
	p = REAL(c, real_block(align, size + SHIM_CANARY_BYTES, zero));
	if (unlikely(!p))
		return failed(c, size, site);
	store64(p + size, canary_of(number_next(c)));
	place = block_place((uint64_t)p);
	shim_forget(c, p, place);
	record_alloc_placed(c, (uint64_t)p, place, size, kind_of_entry(entry), site);
	agent_leave(c);
	return p;
care:;
	const struct full_call call = CALL(file, line, func, from);

	return full_get(&call, entry, kind_of_entry(entry), align, size, zero);
}

static inline __attribute__((always_inline)) void *obtain(const char *file, int line,
							  const char *func, char entry,
							  size_t align, size_t size, int zero,
							  struct caller from)
{
	void *p = obtain_block(file, line, func, entry, align, size, zero, from);

	if (unlikely(LOAD(full_kmod) >= FULL_KMOD_ASK)) {
		const struct full_call call = CALL(file, line, func, from);

		full_log_new(&call, entry, p, size);
	}
	return p;
}

/* ---- released ones */
static __attribute__((noinline, cold)) void release_damaged(const struct full_call *call, char *p,
							    const struct block_info *was)
{
	struct full_block b;

	shim_describe(p, was, &b);
	full_damaged(call, &b);
}

static inline __attribute__((always_inline)) void release_block(const char *file, int line,
								const char *func, char *p,
								struct caller from)
{
	struct block_info was;
	struct tctx *c;
	uint32_t flags;
	bool whole;

	if (unlikely(LOAD(full_careful_free)) || unlikely(!(c = enter(from.sp))))
		goto care;
	arch_prefetch(p - 16);
	if (unlikely(!record_free(c, (uint64_t)p, &was))) {
		const struct full_call call = CALL(file, line, func, from);

		agent_leave(c);
		full_stranger(&call, p);
		return;
	}
	flags = srcloc_flags(was.site);
	if (unlikely(flags & ~PLAIN_FLAGS)) {
		record_restore(c, (uint64_t)p, &was);
		agent_leave(c);
		goto care;
	}
	if (likely(flags & PMM_SRCLOC_BEHIND)) {
		canary_number(load64(p + was.size), &whole);
		if (unlikely(!whole)) {
			const struct full_call call = CALL(file, line, func, from);

			release_damaged(&call, p, &was);
		}
	}
	full_note_freed(p, was.size, was.site, file, (uint32_t)line);
	STORE(c->busy, TCTX_IN_ALLOCATOR);
	free(p);
	agent_leave(c);
	return;
care:;
	const struct full_call call = CALL(file, line, func, from);

	full_put(&call, p);
}

static inline __attribute__((always_inline)) void release(const char *file, int line,
							  const char *func, char *p,
							  struct caller from)
{
	if (unlikely(LOAD(full_kmod) >= FULL_KMOD_ASK)) {
		const struct full_call call = CALL(file, line, func, from);

		full_log_free(&call, p);
	}
	release_block(file, line, func, p, from);
}

/* ---- the interface */
__attribute__((flatten)) void *pmm_malloc(PMM_AT, size_t size)
{
	return obtain(file, line, func, 'm', 0, size, 0, CALLER_HERE());
}

void *pmm_calloc(PMM_AT, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes))
		bytes = SIZE_MAX;
	return obtain(file, line, func, 'c', 0, bytes, 1, CALLER_HERE());
}

__attribute__((flatten)) void pmm_free(PMM_AT, void *p)
{
	if (p)
		release(file, line, func, p, CALLER_HERE());
}

static inline __attribute__((always_inline)) void *resize(const char *file, int line,
							  const char *func, void *p, size_t size,
							  struct caller from)
{
	struct full_call call;

	if (!p)
		return obtain(file, line, func, 'r', 0, size, 0, from);
	call = CALL(file, line, func, from);
	if (size)
		return full_resize(&call, p, size);
	release(file, line, func, p, from);
	return NULL;
}

void *pmm_realloc(PMM_AT, void *p, size_t size)
{
	return resize(file, line, func, p, size, CALLER_HERE());
}

void *pmm_reallocarray(PMM_AT, void *p, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes))
		bytes = SIZE_MAX;
	return resize(file, line, func, p, bytes, CALLER_HERE());
}

static inline __attribute__((always_inline)) char *copy_text(const char *file, int line,
							     const char *func, const char *text,
							     size_t length, struct caller from)
{
	char *copy = obtain(file, line, func, 'd', 0, length + 1, 0, from);

	if (copy) {
		__builtin_memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

char *pmm_strndup(PMM_AT, const char *text, size_t max)
{
	return copy_text(file, line, func, text, strnlen(text, max), CALLER_HERE());
}

char *pmm_strdup(PMM_AT, const char *text)
{
	return copy_text(file, line, func, text, strlen(text), CALLER_HERE());
}

static inline bool is_power_of_2(size_t value)
{
	return value && !(value & (value - 1));
}

void *pmm_aligned_alloc(PMM_AT, size_t align, size_t size)
{
	if (!is_power_of_2(align) || align > PTRDIFF_MAX / 2) {
		errno = EINVAL;
		return NULL;
	}
	return obtain(file, line, func, 'a', align < sizeof(void *) ? sizeof(void *) : align, size,
		      0, CALLER_HERE());
}

int pmm_posix_memalign(PMM_AT, void **p, size_t align, size_t size)
{
	int saved = errno;
	void *block;

	if (!is_power_of_2(align) || align < sizeof(void *) || align > PTRDIFF_MAX / 2)
		return EINVAL;
	block = obtain(file, line, func, 'a', align, size, 0, CALLER_HERE());
	errno = saved;
	if (!block)
		return ENOMEM;
	*p = block;
	return 0;
}

void *pmm_new(PMM_AT, size_t size, size_t align)
{
	return obtain(file, line, func, 'n', align, size, 0, CALLER_HERE());
}
