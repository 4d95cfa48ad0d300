/* SPDX-License-Identifier: GPL-2.0-or-later
 * The table of sizes: both sides of every boundary. Row i: i + 1 malloc(low), 1 malloc(high), 2
 * calloc(high), 1 realloc(NULL, low), i of the first freed; one malloc too large to be met.
 *
 * expect:
 *   total    allocs=56 frees=21 bytes=1231715 live=736574 blocks=35 failed=1 untracked=0
 *   class 0  malloc=2 calloc=2 realloc=1 frees=0 bytes=50 freed=0 live=50 failed=0
 *   class 1  malloc=3 calloc=2 realloc=1 frees=1 bytes=819 freed=17 live=802 failed=0
 *   class 2  malloc=4 calloc=2 realloc=1 frees=2 bytes=4100 freed=514 live=3586 failed=0
 *   class 3  malloc=5 calloc=2 realloc=1 frees=3 bytes=17413 freed=3075 live=14338 failed=0
 *   class 4  malloc=6 calloc=2 realloc=1 frees=4 bytes=73734 freed=16388 live=57346 failed=0
 *   class 5  malloc=7 calloc=2 realloc=1 frees=5 bytes=311303 freed=81925 live=229378 failed=0
 *   class 6  malloc=8 calloc=2 realloc=1 frees=6 bytes=824296 freed=393222 live=431074 failed=1
 */
#include <stdint.h>
#include <stdlib.h>

#include "victim.h"

static const size_t low[] = { 1, 17, 257, 1025, 4097, 16385, 65537 };
static const size_t high[] = { 16, 256, 1024, 4096, 16384, 65536, 100000 };

int main(void)
{
	void *p[8];

	for (int i = 0; i < 7; i++) {
		for (int k = 0; k <= i; k++)
			p[k] = hide(malloc(low[i]));
		hide(malloc(high[i]));
		hide(calloc(1, high[i]));
		hide(calloc(high[i], 1));
		hide(realloc(NULL, low[i]));
		for (int k = 0; k < i; k++)
			free(p[k]);
	}
	return malloc(opaque(PTRDIFF_MAX)) != NULL;
}
