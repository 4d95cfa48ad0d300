/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program with a malloc of its own that only counts and hands on to the next one: it is seen in
 * full, and pmm must not say otherwise.
 *
 * expect:
 *   site kept     allocs=20 frees=0 bytes=1540 live=1540 blocks=20
 *   site dropped  allocs=80 frees=80 bytes=6160 live=0
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "victim.h"

static unsigned long calls;

void *malloc(size_t bytes)
{
	static void *(*next)(size_t);

	calls++;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "malloc");
	return next(bytes);
}

void free(void *block)
{
	static void (*next)(void *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "free");
	next(block);
}

SITE static void kept(void) { hide(malloc(77)); }
SITE static void dropped(void) { free(hide(malloc(77))); }

int main(void)
{
	for (int i = 0; i < 20; i++)
		kept();
	for (int i = 0; i < 80; i++)
		dropped();
	return calls >= 100 ? 0 : 1;
}
