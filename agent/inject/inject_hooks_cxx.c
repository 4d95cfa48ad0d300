/* SPDX-License-Identifier: MIT */
/*
 * Hooks of an allocator's own operators new (those of the C++ library end in malloc and are not
 * patched).
 *
 * The throwing forms report failure by an exception, which cannot pass through a frame of ours: the
 * program's unwinder does not know our code and would end the program. No trick with return
 * addresses helps, they are what it walks by. So the hook takes the memory from the same
 * allocator's malloc or memalign (entry.plain), which is what these operators do first in jemalloc,
 * tcmalloc and mimalloc, and which reports failure by NULL. Then the hook's frame is taken down and
 * the operator itself is jumped to: it tries again, calls the new-handler, throws to the program's
 * own frame. Should it succeed after all (a new-handler that freed something), that block is not
 * recorded. The forms with nothrow never let an exception out; they are called.
 *
 * Operators of the program's own, with no malloc beside them, are called as custom allocators are,
 * in a frame that the unwinder can walk through (agent/inject/inject_borrow.c).
 */
#include "agent/inject/agent_inject.h"

#include "arch/inject_arch.h"

#define PLAIN_OFF 40

_Static_assert(offsetof(struct pmm_entry, plain) == PLAIN_OFF, "offset in assembly");

/* NULL: not recorded, the operator is to be jumped to. */
static SLOW void *new_body(size_t size, const struct pmm_entry *e, struct caller from)
{
	struct tctx *c = inject_enter(&from);
	void *p;

	if (unlikely(!c))
		return NULL;
	p = hook_malloc(c, (void *(*)(size_t))e->plain, size, e->kind, &from);
	agent_leave(c);
	return p;
}

__attribute__((used)) static void *new_plain(size_t size, const struct pmm_entry *e)
{
	if (!inject_passes(size)) {
		void *p = new_body(size, e, CALLER_HERE());

		if (likely(p))
			return p;
	}
	return NEXT(e, void *(*)(size_t))(size);
}

static SLOW void *new_aligned_body(size_t size, size_t align, const struct pmm_entry *e,
				   struct caller from)
{
	struct tctx *c = inject_enter(&from);
	void *p;

	if (unlikely(!c))
		return NULL;
	p = REAL(c, ((void *(*)(size_t, size_t))e->plain)(align, size));
	hook_result(c, p, size, e->kind, &from);
	agent_leave(c);
	return p;
}

__attribute__((used)) static void *new_aligned_plain(size_t size, size_t align,
						     const struct pmm_entry *e)
{
	if (!inject_passes(size)) {
		void *p = new_aligned_body(size, align, e, CALLER_HERE());

		if (likely(p))
			return p;
	}
	return NEXT(e, void *(*)(size_t, size_t))(size, align);
}

ARCH_HOOK_CHOICE(inject_new, ARCH_ARG2, 40, new_plain, inject_custom_alloc);
ARCH_HOOK_CHOICE(inject_new_aligned, ARCH_ARG3, 40, new_aligned_plain, inject_custom_alloc);

void *inject_new_nothrow(size_t size, const void *tag, const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = inject_enter(&from);
	void *p;

	if (unlikely(!c))
		return PASS(NEXT(e, void *(*)(size_t, const void *))(size, tag));
	p = REAL(c, NEXT(e, void *(*)(size_t, const void *))(size, tag));
	hook_result(c, p, size, e->kind, &from);
	agent_leave(c);
	return p;
}

void *inject_new_aligned_nothrow(size_t size, size_t align, const void *tag,
				 const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = inject_enter(&from);
	void *p;

	if (unlikely(!c))
		return PASS(NEXT(e, void *(*)(size_t, size_t, const void *))(size, align, tag));
	p = REAL(c, NEXT(e, void *(*)(size_t, size_t, const void *))(size, align, tag));
	hook_result(c, p, size, e->kind, &from);
	agent_leave(c);
	return p;
}
