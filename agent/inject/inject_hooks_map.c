/* SPDX-License-Identifier: MIT */
/*
 * Hooks of mmap, munmap and mremap. Those that the allocator makes itself pass unrecorded: its
 * memory is in the heap's figures.
 */
#include "agent/inject/any.h"
#include "agent/inject/agent_inject.h"

#define MAP_FAILED ((void *)-1)

static inline struct tctx *map_enter(const struct caller *from)
{
	return agent_is_on() ? agent_enter_outermost(from, true) : NULL;
}

static SLOW __attribute__((used)) int mmap_begin(struct arch_call *call)
{
	struct caller from = any_caller(call);
	struct tctx *c = map_enter(&from);

	if (c)
		STORE(c->busy, TCTX_IN_ALLOCATOR);
	call->scratch[0] = (uint64_t)c;
	return c ? any_call(call) : 0;
}

static SLOW __attribute__((used)) void mmap_end(struct arch_call *call)
{
	struct tctx *c = (struct tctx *)call->scratch[0];
	struct caller from = any_caller(call);

	STORE(c->busy, TCTX_RECORDING);
	hook_mapped(c, (void *)call->result, call->arg[1], &from);
	agent_leave(c);
}

ARCH_ANY_HOOK(inject_mmap, mmap_begin, mmap_end);

int inject_munmap(void *at, size_t bytes, const struct pmm_entry *e)
{
	int (*next)(void *, size_t) = NEXT(e, int (*)(void *, size_t));
	struct caller from = CALLER_HERE();
	/* such a call only fails */
	struct tctx *c = (uint64_t)at % ARCH_PAGE || !bytes ? NULL : map_enter(&from);

	if (!c)
		return PASS(next(at, bytes));
	hook_unmapping(c, at, bytes);
	agent_leave(c);
	return PASS(next(at, bytes));
}

void *inject_mremap(void *old, size_t old_bytes, size_t bytes, int flags, void *fixed,
		    const struct pmm_entry *e)
{
	struct caller from = CALLER_HERE();
	struct tctx *c = map_enter(&from);
	void *p;

	if (!c)
		return PASS(NEXT(e, void *(*)(void *, size_t, size_t, int, void *))(
			old, old_bytes, bytes, flags, fixed));
	p = REAL(c, NEXT(e, void *(*)(void *, size_t, size_t, int, void *))(old, old_bytes, bytes,
									    flags, fixed));
	if (p != MAP_FAILED)
		hook_remapped(c, old, old_bytes, p, bytes, &from);
	agent_leave(c);
	return p;
}
