/* SPDX-License-Identifier: GPL-2.0-or-later
 * One error each that is made of many accesses: by many instructions of the C library in one call, by a call that calls back, by a write that begins
 * on the block's own page and goes on to the closed one. And what is alike but more than one: a structure that is copied in pieces, which nothing
 * tells from stores of several lines, and two lines.
 */
#include <stdlib.h>
#include <time.h>

#include "victim.h"

struct wide { char c[48]; };

static struct wide wide;
static struct tm tm;

SITE static char *makes(size_t n) { return hide(malloc(opaque(n))); }
SITE static int compares(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
SITE static void sorts(char *p) { qsort(p, opaque(200), 1, compares); }
SITE static void formats(char *p) { strftime(p + 90, opaque(40), "%Y-%m-%d %H:%M:%S", &tm); }
SITE static void assigns(char *p) { *(struct wide *)(p + 96) = *(struct wide *)hide(&wide); }
SITE static void writes_on(char *p)
{
	for (size_t i = 0; i < opaque(40); i++)
		((volatile char *)p)[100 + i] = 1;
}

SITE static void two(char *p)
{
	((volatile char *)p)[112] = 1;
	if (opaque(1))
		hide(p), hide(p), ((volatile char *)p)[opaque(400)] = 1;
}

int main(void)
{
	char *p = makes(300);

	memset(p, 3, 300);
	free(p);
	sorts(p);
	formats(p = makes(96));
	free(p);
	assigns(p = makes(96));
	free(p);
	writes_on(p = makes(100));
	free(p);
	two(p = makes(112));
	free(p);
	return 0;
}
