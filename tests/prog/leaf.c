/* SPDX-License-Identifier: GPL-2.0-or-later
 * The smallest program with something to find; often launched by another.
 *
 * expect:
 *   total      allocs=8 frees=1 bytes=970 live=840 blocks=7 untracked=0
 *   site kept  allocs=7 frees=0 bytes=840 live=840 blocks=7
 */
#include <stdlib.h>

#include "victim.h"

SITE static void *kept(void) { return malloc(120); }

int main(void)
{
	for (int i = 0; i < 7; i++)
		hide(kept());
	free(hide(malloc(130)));
	return 0;
}
