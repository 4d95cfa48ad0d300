/* SPDX-License-Identifier: MIT */
/*
 * What a hook does around the real function: the rarer kinds.
 */
#include "agent/hook.h"

#define MAP_FAILED ((void *)-1)

void hook_passed_over(struct tctx *c, void *p, size_t size, uint32_t kind,
		      const struct caller *from)
{
	if (p) {
		c->pub.skipped_allocs++;
		c->pub.skipped_bytes += size;
	} else {
		record_failed(c, size, kind, from);
	}
}

void hook_malloc_unusual(struct tctx *c, void *p, size_t size, uint32_t kind, struct caller from)
{
	if (!p && from.sp < c->failing_new)
		;			/* operator new trying again: counted when it tried first */
	else if (!p || hook_hit(c, size))
		hook_allocated(c, p, size, kind, &from);
	c->failing_new = !p && kind >= PMM_KIND_NEW ? from.sp
			 : from.sp < c->failing_new ? c->failing_new
						    : 0;
}

bool hook_resizing(struct tctx *c, void *old, size_t size, struct block_info *was)
{
	bool known;

	if (!old)
		return false;
	move_begin(&c->pub.move[PMM_MOVE_HEAP], (uint64_t)old, size);
	known = (!agent.sampled || *sample_filter((uint64_t)old)) &&
		record_free(c, (uint64_t)old, was);
	if (known)
		STORE(c->pub.move[PMM_MOVE_HEAP].old_bytes, was->size);
	return known;
}

void hook_resized(struct tctx *c, void *old, const struct block_info *was, void *p, size_t size,
		  uint32_t kind, const struct caller *from)
{
	if (unlikely(!p && (size || !old))) {
		if (was)
			record_restore(c, (uint64_t)old, was);
		hook_allocated(c, NULL, size, kind, from);
	} else if (p && hook_hit(c, size)) {
		hook_allocated(c, p, size, kind, from);
	}
	move_end(&c->pub.move[PMM_MOVE_HEAP]);
}

void *hook_realloc(struct tctx *c, struct hook_realloc real, void *old, size_t n, size_t each,
		   uint32_t kind, const struct caller *from)
{
	struct block_info was;
	size_t size;
	bool known;
	void *p;

	if (__builtin_mul_overflow(n, each, &size))
		size = SIZE_MAX;
	known = hook_resizing(c, old, size, &was);
	p = real.array && (size == SIZE_MAX || !real.plain) ? REAL(c, real.array(old, n, each))
							    : REAL(c, real.plain(old, size));
	hook_resized(c, old, known ? &was : NULL, p, size, kind, from);
	return p;
}

int hook_posix_memalign(struct tctx *c, int (*real)(void **, size_t, size_t), void **out,
			size_t align, size_t size, const struct caller *from)
{
	int ret = REAL(c, real(out, align, size));

	hook_result(c, ret ? NULL : *out, size, PMM_KIND_POSIX_MEMALIGN, from);
	return ret;
}

void hook_mapped(struct tctx *c, void *p, size_t bytes, const struct caller *from)
{
	if (p == MAP_FAILED) {
		ADD(agent.ledger->mapping.mmap_failed, 1);
		return;
	}
	ADD(agent.ledger->mapping.mmap_calls, 1);
	ADD(agent.ledger->mapping.mmap_bytes, bytes);
	record_map(c, (uint64_t)p, bytes, from);
}

void hook_unmapping(struct tctx *c, void *at, size_t bytes)
{
	ADD(agent.ledger->mapping.munmap_calls, 1);
	ADD(agent.ledger->mapping.munmap_bytes, bytes);
	stack_goes((uint64_t)at, pages(bytes));
	record_unmap(c, (uint64_t)at, bytes);
}

void hook_remapped(struct tctx *c, void *old, size_t old_bytes, void *p, size_t bytes,
		   const struct caller *from)
{
	ADD(agent.ledger->mapping.mremap_calls, 1);
	if (bytes > old_bytes)
		ADD(agent.ledger->mapping.mremap_grown_bytes, bytes - old_bytes);
	else
		ADD(agent.ledger->mapping.mremap_shrunk_bytes, old_bytes - bytes);
	stack_goes((uint64_t)old, pages(old_bytes));
	if (p != old)			/* MREMAP_FIXED takes the place of what was there */
		stack_goes((uint64_t)p, pages(bytes));
	record_unmap(c, (uint64_t)old, old_bytes);
	record_map(c, (uint64_t)p, bytes, from);
}
