/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_many N: N live blocks of 24 bytes, from eight call sites; one byte behind the last is written, then all are released, last first. One
 * error must be found, by its access or when that block is released: an overrun of the later block that `last` allocated.
 */
#include <stdio.h>
#include <stdlib.h>

#include "victim.h"

SITE static char *last(void)
{
	return malloc(24);
}

SITE static char *some(size_t i)
{
	switch (i % 7) {
	case 0: return calloc(3, 8);
	case 1: return malloc(24);
	case 2: return realloc(NULL, 24);
	case 3: return memset(malloc(24), 1, 24);
	case 4: return aligned_alloc(8, 24);
	case 5: return malloc(23);
	default: return realloc(malloc(5), 24);
	}
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000, i;
	char *volatile *block = malloc(nr * sizeof(*block));

	for (i = 0; i < nr; i++)
		*(block[i] = i && i + 1 < nr ? some(i) : last()) = 1;	/* the first as well, so that the call site is known before the ledger is full */
	block[nr - 1][24]++;
	for (i = nr; i--;)
		free(block[i]);
	free((void *)block);
	return 0;
}
