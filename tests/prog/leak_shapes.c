/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lost blocks that point to one another: one definite for what nothing else lost points to, one for each cycle; indirect the rest.
 *
 * expect:
 *   list           definite=1/40 indirect=4/160
 *   tree           definite=1/24 indirect=6/144
 *   both_ways      definite=1/48 indirect=3/144
 *   ring           definite=1/56 indirect=2/112
 *   two_rings      definite=1/32 indirect=3/96
 *   diamond        definite=1/72 indirect=3/216
 *   shared         definite=2/128 indirect=1/64
 *   itself         definite=1/88
 *   kept_list      reachable=5/200
 *   kept_ring      reachable=3/168
 *   ring_and_list  definite=1/96 indirect=4/384
 */
#include "leak.h"

static void *volatile kept[2];

/* A block whose first words point to others. */
SITE static void **node(size_t bytes, void *a, void *b)
{
	void **n = make(bytes);

	n[0] = a;
	n[1] = b;
	return n;
}

SITE static void **chain(int nr, size_t bytes)
{
	void **n = NULL;

	while (nr--)
		n = node(bytes, n, NULL);
	return n;
}

/* The last of a chain points to the first. */
SITE static void **circle(int nr, size_t bytes)
{
	void **last = node(bytes, NULL, NULL), **n = last;

	while (--nr)
		n = node(bytes, n, NULL);
	last[0] = n;
	return n;
}

SITE static void **branch(int depth) { return depth ? node(24, branch(depth - 1), branch(depth - 1)) : NULL; }

SITE static void list(void) { hide(chain(5, 40)); }
SITE static void tree(void) { hide(branch(3)); }
SITE static void ring(void) { hide(circle(3, 56)); }
SITE static void two_rings(void) { circle(2, 32)[1] = circle(2, 32); }
SITE static void kept_list(void) { kept[0] = chain(5, 40); }
SITE static void kept_ring(void) { kept[1] = circle(3, 56); }
SITE static void ring_and_list(void) { circle(2, 96)[1] = chain(3, 96); }

SITE static void both_ways(void)
{
	void **n = chain(4, 48);

	for (void **next; (next = n[0]); n = next)
		next[1] = n;
}

SITE static void diamond(void)
{
	void **bottom = node(72, NULL, NULL);

	hide(node(72, node(72, bottom, NULL), node(72, bottom, NULL)));
}

SITE static void shared(void)
{
	void **bottom = node(64, NULL, NULL);

	hide(node(64, bottom, NULL));
	hide(node(64, NULL, bottom));
}

SITE static void itself(void)
{
	void **n = node(88, NULL, NULL);

	n[1] = n;
}

static void cases(void)
{
	list(), tree(), both_ways(), ring(), two_rings(), diamond(), shared(), itself();
	kept_list(), kept_ring(), ring_and_list();
}
