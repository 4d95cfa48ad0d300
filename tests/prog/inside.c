/* SPDX-License-Identifier: GPL-2.0-or-later
 * Allocations that the C library makes for its caller: the stacks must reach through it.
 *
 * expect:
 *   site by_strdup  allocs=1 frees=0 bytes=11 live=11 blocks=1
 *   site by_strndup allocs=1 frees=0 bytes=4 live=4 blocks=1
 *   site by_getline allocs=1 frees=0 bytes=120 live=120 blocks=1
 *   site by_qsort   allocs=1 frees=1 bytes=8000 live=0 temporary=1
 */
#include <stdio.h>
#include <stdlib.h>

#include "victim.h"

SITE static int by_strdup(void) { return !hide(strdup("0123456789")); }
SITE static int by_strndup(void) { return !hide(strndup("0123456789", 3)); }

SITE static int by_getline(FILE *f)
{
	char *line = NULL;
	size_t size = 0;

	return getline(&line, &size, f) < 0;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

SITE static int by_qsort(int *v)
{
	for (int i = 0; i < 2000; i++)
		v[i] = i * 7919 % 2000;
	qsort(v, 2000, sizeof(*v), compare);
	return v[0] != 0 || v[1999] != 1999;
}

int main(void)
{
	static int v[2000];
	FILE *f = fopen("/proc/self/status", "r");

	return !f || ungetc(fgetc(f), f) < 0 || by_strdup() || by_strndup() || by_getline(f) ||
	       by_qsort(v);
}
