/* SPDX-License-Identifier: MIT */
/*
 * Findings of string and memory functions: what is reported of an access that leaves its block, and
 * what of it may be made.
 */
#include "agent/strings/bounds.h"

#include "agent/guard/guarded.h"
#include "agent/check/reported.h"
#include "agent/check/checker.h"
#include "agent/preload/agent_preload.h"

/* Is the caller the real allocator, which may access the blocks that it holds? */
static bool from_allocator(void)
{
	struct tctx *c = ctx_find();

	while (c && c->nested && c->nested->busy)
		c = c->nested;
	return c && c->busy == TCTX_IN_ALLOCATOR;
}

/*
 * Bytes from `at` on that can be accessed and belong to no other block: canary, and the rest of
 * pages.
 */
static size_t harmless(uint64_t at, size_t bytes, enum pmm_access access,
		       const struct check_block *b)
{
	uint64_t end = pmm_tail_end(b->address, b->size);

	if (b->guarded) {
		end = b->freed ? at : (b->address + b->size + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1);
		if (at < (b->address & ~(ARCH_PAGE - 1)))
			end = at;
	} else if (access != PMM_ACCESS_WRITE) {
		return bytes;
	}
	return at >= end ? 0 : bytes < end - at ? bytes : end - at;
}

size_t bounds_before(const void *p, size_t bytes)
{
	uint64_t at = (uint64_t)p;
	struct check_block b;

	if (!bounds_guarded(p) || !guarded_find(at, bytes, &b) || b.freed || at >= b.address ||
	    b.address - at >= bytes)
		return 0;
	return b.address - at;
}

/* A context, unless it is better to say nothing. */
static struct tctx *enter(const struct caller *from)
{
	if (!bounds_on || !agent_on() || from_allocator())
		return NULL;
	return hook_enter_any(from);
}

/* Bytes of the block that [at, ...) begins in, or none. */
static size_t room(uint64_t at, const struct check_block *b)
{
	return b->freed || at - b->address > b->size ? 0 : b->address + b->size - at;
}

static SLOW void tell(struct tctx *c, uint64_t at, size_t bytes, enum pmm_access access,
		      const char *function, const struct caller *from, const struct check_block *b)
{
	struct pmm_finding f = {
		.by = PMM_BY_FUNCTION, .access = access, .size_bytes = bytes, .other = at
	};

	if (bytes == SIZE_MAX)		/* a string: to the block's end, and on */
		f.size_bytes = room(at, b) + 1;
	f.type = b->freed	   ? PMM_FINDING_AFTER_FREE
		 : at < b->address ? PMM_FINDING_UNDERRUN
				   : PMM_FINDING_OVERRUN;
	f.address = at + room(at, b);
	finding_block(&f, b);
	finding_function(&f, function);
	f.site = unwind_site(c, from, 0);
	finding_add(c, &f);
}

SLOW size_t bounds_over(const void *p, size_t bytes, enum pmm_access access, const char *function,
			const struct caller *from)
{
	struct check_block b = { 0 };
	struct tctx *c = enter(from);
	uint64_t at = (uint64_t)p;
	size_t may = bytes;

	if (!c)
		return bytes;
	if (check_ready() && bounds_block(at, bytes, &b) && bytes > room(at, &b)) {
		tell(c, at, bytes, access, function, from, &b);
		may = harmless(at, bytes, access, &b);
		if (access == PMM_ACCESS_WRITE && may > room(at, &b))
			reported_add(b.address);
	}
	agent_leave(c);
	return may;
}

size_t bounds_check(const void *at, size_t bytes, enum pmm_access access, const char *function,
		    const struct caller *from)
{
	if (likely(bytes <= bounds_left(at, bytes)))
		return bytes;
	return bounds_over(at, bytes, access, function, from);
}

SLOW void bounds_overlap(const void *to, const void *source, size_t bytes, const char *function,
			 const struct caller *from)
{
	struct pmm_finding f = { .type = PMM_FINDING_OVERLAP,
				 .by = PMM_BY_FUNCTION,
				 .address = (uint64_t)to,
				 .other = (uint64_t)source,
				 .size_bytes = bytes };
	struct tctx *c = enter(from);
	struct check_block b = { 0 };

	if (!c)
		return;
	if (check_ready() && bounds_suspect(to) && bounds_block((uint64_t)to, bytes, &b))
		finding_block(&f, &b);
	finding_function(&f, function);
	f.site = unwind_site(c, from, 0);
	finding_add(c, &f);
	agent_leave(c);
}
