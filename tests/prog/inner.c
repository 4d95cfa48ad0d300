/* SPDX-License-Identifier: GPL-2.0-or-later
 * An allocator whose functions call one another (linked with libinner_malloc.so): only the program's calls count, each once, and nothing is left of the
 * others. What the program does when the allocator calls it counts, too (within() is below calling()).
 *
 * expect:
 *   total          untracked=0
 *   site zeroed    allocs=100 frees=100 bytes=4000 live=0 blocks=0
 *   site first     allocs=1 frees=1 bytes=48 live=0 blocks=0
 *   site resized   allocs=10 frees=9 bytes=400 live=40 blocks=1
 *   site reserve   allocs=1 frees=1 bytes=30 live=0 blocks=0
 *   site within    allocs=1 frees=0 bytes=56 live=56 blocks=1
 *   site calling   allocs=2 frees=0 bytes=833 live=833 blocks=2
 */
#include <stdlib.h>

#include "victim.h"

SITE static void *zeroed(void) { return calloc(4, 10); }
SITE static void *first(void) { return malloc(48); }
SITE static void *resized(void *p) { return realloc(p, 40); }

SITE static void *reserve(void) { return malloc(30); }
SITE static void *within(void) { return malloc(56); }
SITE static void *calling(void) { return malloc(777); }

extern void (*inner_callback)(void);
static void *reserved;

static void called(void)
{
	hide(within());
	free(reserved);
}

int main(void)
{
	void *p;

	for (int i = 0; i < 100; i++)
		free(hide(zeroed()));
	p = first();
	for (int i = 0; i < 10; i++)
		p = hide(resized(p));
	reserved = hide(reserve());
	inner_callback = called;
	hide(calling());
	return 0;
}
