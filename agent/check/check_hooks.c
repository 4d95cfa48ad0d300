/* SPDX-License-Identifier: MIT */
/*
 * The C library's allocation functions as the program sees them, in the check form.
 *
 * As in agent/preload/preload_hooks.c each is a short entry that in sampled mode usually jumps
 * straight to the real function, and a body. What the program asks for is not what the real
 * allocator is asked for, so the functions' own ways to fail are here: the errors of arguments, and
 * errno.
 */
#include "agent/check/check_hooks.h"

#include "agent/check/checker.h"

#define EINVAL	22
#define ENOMEM	12

extern int *__errno_location(void) __attribute__((weak));	/* glibc and musl */

static void no_memory(void)
{
	if (&__errno_location)
		*__errno_location() = ENOMEM;
}

static bool power_of_two(size_t n)
{
	return n && !(n & (n - 1));
}

/* No context: as if we were not there. */
static SLOW void *pass_alloc(size_t size, size_t align, bool zeroed)
{
	void *p = agent.next.malloc ? real_alloc(size, align, zeroed) : NULL;

	if (p)
		check_passed();
	return p;
}

void *hooks_alloc(size_t size, size_t align, bool zeroed, uint32_t kind, const struct caller *from)
{
	struct tctx *c = hook_enter_any(from);
	void *p;

	if (unlikely(!c))
		return pass_alloc(size, align, zeroed);
	p = check_alloc(c, size, align, zeroed, kind, from);
	agent_leave(c);
	if (unlikely(!p))
		no_memory();
	return p;
}

static SLOW void *malloc_body(size_t size)
{
	struct caller from = CALLER_HERE();

	return hooks_alloc(size, 0, false, PMM_KIND_MALLOC, &from);
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
	size_t size;

	if (__builtin_mul_overflow(n, each, &size))
		size = SIZE_MAX;
	return hooks_alloc(size, 0, true, PMM_KIND_CALLOC, &from);
}

EXPORT void *calloc(size_t n, size_t each)
{
	if (n < 1u << 31 && each < 1u << 31 && hook_passes(n * each))
		return agent.next.calloc(n, each);
	return calloc_body(n, each);
}

static void *resize(void *old, size_t size, uint32_t kind, const struct caller *from)
{
	struct tctx *c = hook_enter_any(from);
	void *p;

	if (unlikely(!c))
		return check_realloc_plain(old, size);
	p = check_realloc(c, old, size, kind, from);
	agent_leave(c);
	if (unlikely(!p && (size || !old)))
		no_memory();
	return p;
}

static SLOW void *realloc_body(void *old, size_t size)
{
	struct caller from = CALLER_HERE();

	return resize(old, size, PMM_KIND_REALLOC, &from);
}

EXPORT void *realloc(void *old, size_t size)
{
	if (size && (!old || hooks_passes(old)) && hook_passes(size))
		return agent.next.realloc(old, size);
	return realloc_body(old, size);
}

EXPORT void *reallocarray(void *old, size_t n, size_t each)
{
	struct caller from = CALLER_HERE();
	size_t size;

	if (__builtin_mul_overflow(n, each, &size))
		size = SIZE_MAX;
	return resize(old, size, PMM_KIND_REALLOCARRAY, &from);
}

void hooks_free(void *p, const struct check_said *said, const struct caller *from)
{
	struct tctx *c;

	if (!p)
		return;
	c = hook_enter_any(from);
	if (unlikely(!c)) {
		check_free_plain(p);
		return;
	}
	check_free(c, p, said, from);
	agent_leave(c);
}

static const struct check_said freed = { PMM_RELEASE_FREE, SIZE_MAX, 0 };

static SLOW void free_body(void *p)
{
	struct caller from = CALLER_HERE();

	hooks_free(p, &freed, &from);
}

EXPORT void free(void *p)
{
	if (hooks_passes(p)) {
		agent.next.free(p);
		return;
	}
	free_body(p);
}

EXPORT void cfree(void *p)
{
	free_body(p);
}

/* ---- the aligned family ---------------------------------------------------------------------- */

/*
 * What becomes of an alignment that is no power of two is the library's business: refused (glibc
 * 2.38's aligned_alloc), or the next power of two (memalign). It is asked; a block that it gives
 * goes back. 0: it refused, and has set errno.
 */
static SLOW size_t align_odd(void *(*real)(size_t, size_t), size_t align)
{
	void *p = real ? real(align, 1) : NULL;

	if (!p)
		return 0;
	agent.next.free(p);
	return align > 1 ? (size_t)2 << (63 - __builtin_clzl(align - 1)) : 1;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	struct caller from = CALLER_HERE();

	if (!power_of_two(align) && !(align = align_odd(agent.next.aligned_alloc, align)))
		return NULL;
	return hooks_alloc(size, align, false, PMM_KIND_ALIGNED_ALLOC, &from);
}

EXPORT void *memalign(size_t align, size_t size)
{
	struct caller from = CALLER_HERE();

	if (!power_of_two(align) && !(align = align_odd(agent.next.memalign, align)))
		return NULL;
	return hooks_alloc(size, align, false, PMM_KIND_MEMALIGN, &from);
}

EXPORT void *valloc(size_t size)
{
	struct caller from = CALLER_HERE();

	return hooks_alloc(size, ARCH_PAGE, false, PMM_KIND_VALLOC, &from);
}

EXPORT void *pvalloc(size_t size)
{
	struct caller from = CALLER_HERE();

	/* what is rounded up to the next page belongs to the block */
	return hooks_alloc(size > SIZE_MAX - ARCH_PAGE ? SIZE_MAX
						       : (size + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1),
			   ARCH_PAGE, false, PMM_KIND_PVALLOC, &from);
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
	struct caller from = CALLER_HERE();
	struct tctx *c;
	void *p;

	if (!power_of_two(align) || align % sizeof(void *))
		return EINVAL;
	c = hook_enter_any(&from);
	p = c ? check_alloc(c, size, align, false, PMM_KIND_POSIX_MEMALIGN, &from)
	      : pass_alloc(size, align, false);
	if (c)
		agent_leave(c);
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

EXPORT size_t malloc_usable_size(void *p)
{
	size_t size;

	if (!p || check_usable(p, &size))
		return p ? size : 0;
	return agent.next.malloc_usable_size ? agent.next.malloc_usable_size(p) : 0;
}
