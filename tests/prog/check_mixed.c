/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_mixed [BYTES]: 80 blocks of one call site, of 64 bytes unless told otherwise; of each the byte before and the byte behind is read. With blocks at both ends of
 * their pages both errors are found: behind those that end at a page's end, before those that begin at a page's start.
 */
#include <stdio.h>
#include <stdlib.h>

#include "victim.h"

#define NR 80

SITE static int before(const volatile char *p)
{
	return p[-1];
}

SITE static int behind(const volatile char *p)
{
	return *p;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 64;
	char *p[NR];

	for (unsigned i = 0; i < NR; i++)
		p[i] = malloc(bytes);
	for (unsigned i = 0; i < NR; i++) {
		before(p[i]);
		behind(p[i] + bytes);
		free(p[i]);
	}
	puts("done");
	return 0;
}
