/* SPDX-License-Identifier: GPL-2.0-or-later
 * An allocator whose functions call one another (linked with libinner_malloc.so): only the program's calls count, each once, and nothing is left of the
 * others.
 *
 * expect:
 *   total          untracked=0
 *   site zeroed    allocs=100 frees=100 bytes=4000 live=0 blocks=0
 *   site first     allocs=1 frees=1 bytes=48 live=0 blocks=0
 *   site resized   allocs=10 frees=9 bytes=400 live=40 blocks=1
 */
#include <stdlib.h>

#include "victim.h"

SITE static void *zeroed(void) { return calloc(4, 10); }
SITE static void *first(void) { return malloc(48); }
SITE static void *resized(void *p) { return realloc(p, 40); }

int main(void)
{
	void *p;

	for (int i = 0; i < 100; i++)
		free(hide(zeroed()));
	p = first();
	for (int i = 0; i < 10; i++)
		p = hide(resized(p));
	return 0;
}
