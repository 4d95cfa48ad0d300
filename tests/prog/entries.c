/* SPDX-License-Identifier: GPL-2.0-or-later
 * Every allocator entry of the C library, each from a function of its own.
 *
 * expect:
 *   total            allocs=14 frees=5 bytes=2317 live=1586 blocks=9
 *   total            temporary=3 failed=0 untracked=0
 *   site by_malloc   allocs=1 frees=0 bytes=100 live=100 blocks=1
 *   site by_calloc   allocs=1 frees=0 bytes=120 live=120 blocks=1
 *   site by_realloc  allocs=3 frees=2 bytes=650 live=50 blocks=1 temporary=2 max=400
 *   site to_zero     allocs=1 frees=1 bytes=70 live=0 blocks=0 temporary=1
 *   site by_array    allocs=1 frees=0 bytes=160 live=160 blocks=1
 *   site by_posix    allocs=1 frees=0 bytes=180 live=180 blocks=1
 *   site by_aligned  allocs=1 frees=0 bytes=256 live=256 blocks=1
 *   site by_memalign allocs=1 frees=0 bytes=220 live=220 blocks=1
 *   site by_valloc   allocs=1 frees=0 bytes=240 live=240 blocks=1
 *   site by_pvalloc  allocs=1 frees=0 bytes=260 live=260 blocks=1
 *   site and_free    allocs=2 frees=2 bytes=61 live=0 blocks=0 temporary=0
 */
#include <malloc.h>
#include <stdlib.h>

#include "victim.h"

SITE static void *by_malloc(void) { return malloc(100); }
SITE static void *by_calloc(void) { return calloc(12, 10); }
SITE static void *by_realloc(void) { return realloc(realloc(realloc(NULL, 200), 400), 50); }
SITE static void *to_zero(void) { return realloc(malloc(70), opaque(0)); }
SITE static void *by_array(void) { return reallocarray(NULL, 16, 10); }
SITE static void *by_aligned(void) { return aligned_alloc(64, 256); }
SITE static void *by_memalign(void) { return memalign(64, 220); }
SITE static void *by_valloc(void) { return valloc(240); }
SITE static void *by_pvalloc(void) { return pvalloc(260); }

SITE static void *by_posix(void)
{
	void *p = NULL;

	return posix_memalign(&p, 256, 180) ? NULL : p;
}

SITE static void and_free(void)
{
	void *p = malloc(30), *q = malloc(31);

	free(NULL);
	free(p);
	free(q);
}

int main(void)
{
	void *kept[] = { by_malloc(), by_calloc(), by_realloc(), by_array(), by_posix(),
			 by_aligned(), by_memalign(), by_valloc(), by_pvalloc() };

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (!hide(kept[i]))
			return 1;
	and_free();
	return to_zero() != NULL;
}
