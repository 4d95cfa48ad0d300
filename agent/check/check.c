/*
 * Which way for which block, pairing, what is no block.
 */
#include "agent/check/check.h"

#include "agent/hook.h"

bool check_start(void)
{
	return false;
}

bool check_on(void)
{
	return false;
}

static void *real_alloc(size_t size, size_t align, bool zeroed)
{
	if (align > 16)
		return A.next.memalign(align, size);
	return zeroed ? A.next.calloc(1, size) : A.next.malloc(size);
}

void *check_alloc(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind, const struct caller *from)
{
	void *p = REAL(c, real_alloc(size, align, zeroed));

	hook_result(c, p, size, kind, from);
	return p;
}

void check_rename(struct tctx *c, void *p, uint32_t kind)
{
	if (c->last_address == (uint64_t)p)
		record_rename(c, (uint64_t)p, kind);
}

void check_free(struct tctx *c, void *p, const struct check_said *said, const struct caller *from)
{
	(void)said, (void)from;
	hook_free(c, p);
	A.next.free(p);
}

void *check_realloc(struct tctx *c, void *old, size_t size, uint32_t kind, const struct caller *from)
{
	return hook_realloc(c, (struct hook_realloc){ A.next.realloc, NULL }, old, size, 1, kind, from);
}

void check_free_plain(void *p)
{
	A.next.free(p);
}

void *check_realloc_plain(void *old, size_t size)
{
	return A.next.realloc(old, size);
}

bool check_usable(const void *p, size_t *size)
{
	(void)p, (void)size;
	return false;
}

bool check_find(uint64_t address, uint64_t reach, struct check_block *out)
{
	(void)address, (void)reach, (void)out;
	return false;
}
