/* SPDX-License-Identifier: GPL-2.0-or-later
 * Exceptions through frames that own memory: 2000 thrown five calls deep, each frame's vector freed
 * on the way.
 *
 * expect:
 *   total       untracked=0
 *   site deep   allocs=12000 frees=12000 live=0 blocks=0
 *   site after  allocs=2000 frees=0 bytes=34000 live=34000 blocks=2000
 * stack of after: after main
 * (site deep: five vectors, and the exception at the innermost)
 */
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "victim.h"

SITE static void deep(int n)
{
	std::vector<char> v(100 + n);

	hide(v.data());
	if (n == 4)
		throw n;
	deep(n + 1);
}

SITE static void after() { hide(std::malloc(17)); }

int main()
{
	for (int i = 0; i < 2000; i++) {
		try {
			deep(0);
		} catch (int) {
			after();
		}
	}
}
