/* SPDX-License-Identifier: GPL-2.0-or-later
 * Chains of a million links, and a ring of as many: whoever follows them by recursion runs out of stack.
 *
 * expect:
 *   lost_chain     definite=1/16 indirect=999999/15999984
 *   kept_chain     reachable=1000000/16000000
 *   lost_ring      definite=1/24 indirect=999999/23999976
 *   possible_chain possible=1000000/32000000
 */
#include "leak.h"

static void *volatile kept, *volatile inside;

SITE static void **chain(size_t bytes, void ***last)
{
	void **n = *last = make(bytes);

	for (int i = 1; i < 1000000; i++) {
		void **before = make(bytes);

		*before = n;
		n = before;
	}
	return n;
}

SITE static void lost_chain(void)
{
	void **last;

	hide(chain(16, &last));
}

SITE static void kept_chain(void)
{
	void **last;

	kept = chain(16, &last);
}

SITE static void lost_ring(void)
{
	void **last, **first = chain(24, &last);

	*last = first;
}

SITE static void possible_chain(void)
{
	void **last;

	inside = (char *)chain(32, &last) + 8;
}

static void cases(void) { lost_chain(), kept_chain(), lost_ring(), possible_chain(); }
