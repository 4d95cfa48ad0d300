/* SPDX-License-Identifier: GPL-2.0-or-later
 * Two rises; the second, higher one is the peak, and its composition differs from both the end and
 * the first rise.
 *
 * At the peak: first 250 x 100 (half of it freed before), second 100 x 300, late 400 x 200, grown 1
 * x 5000.
 *
 * expect:
 *   total       peak=140000 live=20000 blocks=200
 *   site first  allocs=500 bytes=50000 live=20000 blocks=200 peak=25000 peak_blocks=250
 *   site second allocs=100 bytes=30000 live=0 blocks=0 peak=30000 peak_blocks=100
 *   site gone   allocs=50 bytes=20000 live=0 blocks=0 peak=0 peak_blocks=0
 *   site late   allocs=400 bytes=80000 live=0 blocks=0 peak=80000 peak_blocks=400
 *   site grown  allocs=2 bytes=6000 live=0 blocks=0 peak=5000 peak_blocks=1
 *   site after  allocs=900 bytes=9000 live=0 blocks=0 peak=0 peak_blocks=0
 */
#include <stdlib.h>

#include "victim.h"

SITE static void *first(void) { return malloc(100); }
SITE static void *second(void) { return malloc(300); }
SITE static void *gone(void) { return malloc(400); }
SITE static void *late(void) { return malloc(200); }
SITE static void *after(void) { return malloc(10); }
SITE static void *grown(void *p, size_t bytes) { return realloc(p, bytes); }

static void fill(void **p, int n, void *(*site)(void))
{
	for (int i = 0; i < n; i++)
		p[i] = hide(site());
}

static void drop(void **p, int n)
{
	for (int i = 0; i < n; i++)
		free(p[i]);
}

int main(void)
{
	static void *a[500], *b[100], *c[50], *d[400], *e[900];

	fill(a, 500, first);
	fill(c, 50, gone);		/* a first peak of 70000 */
	drop(c, 50);
	drop(a, 250);			/* then 25000 */
	fill(b, 100, second);
	fill(d, 400, late);
	void *g = grown(grown(NULL, 1000), 5000);	/* 140000: the peak, inside realloc */
	drop(d, 400);
	fill(e, 900, after);		/* churn below it */
	drop(e, 900);
	drop(b, 100);
	drop(a + 250, 50);
	free(g);
	return 0;
}
