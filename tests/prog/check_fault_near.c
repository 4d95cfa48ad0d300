/* SPDX-License-Identifier: GPL-2.0-or-later
 * Accesses between two blocks of whole pages belong to the nearer one: `before` the second, `behind` the first.
 */
#include <stdio.h>
#include <stdlib.h>

#include "victim.h"

SITE static void before(volatile char *p) { p[-1] = 1; }
SITE static void behind(volatile char *p) { p[12288] = 1; }

int main(void)
{
	char *p[8];

	for (int i = 0; i < 8; i++)
		p[i] = malloc(12288);
	for (int i = 0; i < 8; i++)
		before(hide(p[i]));
	for (int i = 0; i < 8; i++)
		behind(hide(p[i]));
	printf("end\n");
	fflush(stdout);
	_Exit(0);		/* natively the heap is in ruins */
}
