/* SPDX-License-Identifier: GPL-2.0-or-later
 * Requests that cannot be met, requests for nothing, and one that is huge.
 *
 * expect:
 *   total           allocs=7 frees=0 bytes=8389608 live=8389608 blocks=7 failed=10
 *   total           zero=4 temporary=0 untracked=0
 *   site too_large  allocs=0 failed=7 live=0
 *   site overflow   allocs=0 failed=2 live=0
 *   site not_grown  allocs=1 frees=0 bytes=1000 live=1000 blocks=1 failed=1
 *   site nothing    allocs=4 frees=0 bytes=0 live=0 blocks=4 zero=4
 *   site enormous   allocs=2 bytes=8388608 live=8388608 blocks=2 max=8388607 huge=1
 * (huge with --warn-size 1M)
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "victim.h"

SITE static int too_large(void)
{
	size_t n = opaque(PTRDIFF_MAX);
	void *p = NULL;
	int bad = 0;

	bad += malloc(n) != NULL;
	bad += calloc(1, n) != NULL;
	bad += realloc(NULL, n) != NULL;
	bad += aligned_alloc(64, n) != NULL;
	bad += memalign(64, n) != NULL;
	bad += valloc(n) != NULL;
	bad += posix_memalign(&p, 64, n) == 0;
	return bad;
}

SITE static int overflow(void)
{
	size_t n = opaque(SIZE_MAX / 2);

	return (calloc(n, 4) != NULL) + (reallocarray(NULL, n, 4) != NULL);
}

SITE static int not_grown(void)
{
	char *p = malloc(1000);

	return !p || realloc(p, opaque(PTRDIFF_MAX)) != NULL;
}

SITE static int nothing(void)
{
	void *p = NULL;

	return !hide(malloc(opaque(0))) + !hide(calloc(opaque(0), 8)) +
	       !hide(realloc(NULL, opaque(0))) + (posix_memalign(&p, 16, opaque(0)) != 0);
}

SITE static int enormous(void)
{
	return !hide(malloc(1)) + !hide(malloc((8 << 20) - 1));
}

int main(void)
{
	return too_large() + overflow() + not_grown() + nothing() + enormous();
}
