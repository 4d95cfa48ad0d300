/* SPDX-License-Identifier: MIT */
/*
 * Requests that fail, as the user asked, and those that are errors by themselves.
 */
#include "agent/check/refuse.h"

#include "agent/site.h"

#define PPB		1000000000ull

static const char *const names[PMM_NR_KINDS] = {
	[PMM_KIND_MALLOC] = "malloc",
	[PMM_KIND_CALLOC] = "calloc",
	[PMM_KIND_REALLOC] = "realloc",
	[PMM_KIND_REALLOCARRAY] = "reallocarray",
	[PMM_KIND_POSIX_MEMALIGN] = "posix_memalign",
	[PMM_KIND_ALIGNED_ALLOC] = "aligned_alloc",
	[PMM_KIND_MEMALIGN] = "memalign",
	[PMM_KIND_VALLOC] = "valloc",
	[PMM_KIND_PVALLOC] = "pvalloc",
	[PMM_KIND_NEW] = "operator new",
	[PMM_KIND_NEW_ARRAY] = "operator new[]",
	[PMM_KIND_NEW_ALIGNED] = "operator new",
	[PMM_KIND_NEW_ARRAY_ALIGNED] = "operator new[]",
};

void refuse_odd(struct tctx *c, size_t size, uint32_t kind, const struct caller *from)
{
	struct pmm_finding f = {
		.type = PMM_FINDING_SIZE, .by = PMM_BY_FUNCTION, .size_bytes = size, .kind = kind
	};

	f.site = unwind_site(c, from, 0);
	finding_function(&f, names[kind]);
	finding_add(c, &f);
}

/* The same for the same secret and the same request, counted from the start. */
static bool by_chance(uint64_t request)
{
	uint64_t x = pmm_scramble(checker.o.secret, request, PMM_CHECK_NONE);

	return checker.o.fail_ppb &&
	       (x * 0x9e3779b97f4a7c15ull >> 32) * PPB >> 32 < checker.o.fail_ppb;
}

bool refuse_on_purpose(size_t size)
{
	/* see agent/total.c */
	uint64_t request = ADD(checker.requests, 1), bytes = LOAD(agent.ledger->total) >> 21;

	if (request < checker.o.fail_after && !by_chance(request) &&
	    (!checker.o.heap_limit_bytes ||
	     (bytes <= checker.o.heap_limit_bytes && size <= checker.o.heap_limit_bytes - bytes)))
		return false;
	ADD(agent.ledger->check.failed_on_purpose, 1);
	return true;
}
