/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints address, size and kind of each of the six blocks it leaves; the block list must hold
 * exactly these.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

SITE static void *one(void) { return malloc(11); }
SITE static void *two(void) { return calloc(2, 11); }
SITE static void *three(void) { return realloc(malloc(5), 33333); }
SITE static void *four(void) { return memalign(4096, 44); }
SITE static void *five(void) { return malloc(5555555); }
SITE static void *six(void) { return malloc(0); }

int main(void)
{
	void *p[6] = { one(), two(), three(), four(), five(), six() };
	static const size_t bytes[6] = { 11, 22, 33333, 44, 5555555, 0 };
	static const char *kind[6] = { "malloc", "calloc", "realloc", "memalign", "malloc", "malloc" };

	free(hide(malloc(77)));
	for (int i = 0; i < 6; i++)
		dprintf(1, "%p %zu %s\n", p[i], bytes[i], kind[i]);
	return 0;
}
