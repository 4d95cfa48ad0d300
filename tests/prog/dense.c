/* SPDX-License-Identifier: GPL-2.0-or-later
 * Neighbours 8 and 16 bytes apart (linked with libbump.so, or under another allocator): 10000
 * blocks of 8 bytes, every other freed, 10000 of 16, the first half freed.
 *
 * expect:
 *   total         untracked=0
 *   site eight    allocs=10000 frees=5000 bytes=80000 live=40000 blocks=5000
 *   site sixteen  allocs=10000 frees=5000 bytes=160000 live=80000 blocks=5000
 */
#include <stdlib.h>

#include "victim.h"

SITE static void *eight(void) { return malloc(8); }
SITE static void *sixteen(void) { return malloc(16); }

int main(void)
{
	static void *a[10000], *b[10000];

	for (int i = 0; i < 10000; i++)
		a[i] = hide(eight());
	for (int i = 0; i < 10000; i += 2)
		free(a[i]);
	for (int i = 0; i < 10000; i++)
		b[i] = hide(sixteen());
	for (int i = 0; i < 5000; i++)
		free(b[i]);
	return 0;
}
