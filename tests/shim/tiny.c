/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks with a canary before them and small ones without, side by side: 3000 of 8 bytes are live, then 0, and none is foreign. With an argument
 * glibc's blocks begin 16 bytes further on.
 */
#include <pmm.h>
#include <stdio.h>
#include <stdlib.h>

#define NR	3000

static void *p[NR];
static void *volatile other;

static void figures(void)
{
	struct pmm_stats all;

	pmm_get_stats(&all);
	printf("%zu live, %zu bytes, %zu foreign, %zu errors\n", all.nr_live, all.bytes_live, all.nr_foreign, all.nr_errors);
}

int main(int argc, char **argv)
{
	unsigned i;

	(void)argv;
	pmm_set(PMM_AT_EXIT, 0);
	pmm_set(PMM_CANARY, 0);
	if (argc > 1)
		other = (malloc)(40);
	for (i = 0; i < NR; i++)
		p[i] = malloc(8);
	for (i = 0; i < NR; i += 2)
		free(p[i]);
	pmm_set(PMM_CANARY, PMM_BEFORE);
	for (i = 0; i < NR; i += 2)
		p[i] = i & 2 ? malloc(8) : realloc(malloc(3), 8);
	figures();
	for (i = 0; i < NR; i++)
		free(p[i]);
	figures();
	return 0;
}
