/* SPDX-License-Identifier: GPL-2.0-or-later
 * Allocation before main (constructor) and after it (atexit, destructor).
 *
 * expect:
 *   total               allocs=9 frees=4 bytes=450 live=280 blocks=5 temporary=1 untracked=0
 *   site before_main    allocs=3 frees=2 bytes=60 live=20 blocks=1
 *   site in_atexit      allocs=3 frees=1 bytes=150 live=100 blocks=2
 *   site in_destructor  allocs=3 frees=1 bytes=240 live=160 blocks=2 temporary=1
 */
#include <stdlib.h>

#include "victim.h"

static void *early[3];

SITE static __attribute__((constructor)) void before_main(void)
{
	for (int i = 0; i < 3; i++)
		early[i] = hide(malloc(20));
}

SITE static void in_atexit(void)
{
	hide(malloc(50));
	void *p = hide(malloc(50));
	hide(malloc(50));
	free(p);
	free(early[0]);
}

SITE static __attribute__((destructor)) void in_destructor(void)
{
	hide(malloc(80));
	hide(malloc(80));
	free(hide(malloc(80)));
	free(early[1]);
}

int main(void)
{
	return atexit(in_atexit);
}
