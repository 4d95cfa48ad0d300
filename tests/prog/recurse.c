/* SPDX-License-Identifier: GPL-2.0-or-later
 * Recursion 100000 deep with an allocation at every thousandth level, and one in another function
 * at the bottom.
 *
 * expect:
 *   total        allocs=101 live=1701 blocks=101
 *   site down    allocs=101 bytes=1701
 *   site bottom  allocs=1 bytes=1 live=1 blocks=1
 * (with the default --frames the deep stacks end in a mark, and bottom's starts: bottom down down)
 */
#include <stdlib.h>

#include "victim.h"

SITE static void bottom(void) { hide(malloc(1)); }

SITE static int down(int n)
{
	if (!n)
		return bottom(), 0;
	if (n % 1000 == 0)
		hide(malloc(17));
	return down(n - 1) + 1;
}

int main(void)
{
	return down(100000) != 100000;
}
