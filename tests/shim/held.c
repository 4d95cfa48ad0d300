/* SPDX-License-Identifier: GPL-2.0-or-later */ /* 10 blocks that only a block of code without pmm.h points to, which are no leaks, and one of 55 bytes, line 15, that is lost (shim_full.bats). */
#include <pmm.h>
#include <stdio.h>

static void **volatile table;

int main(void)
{
	void *volatile lost;
	int i;

	table = (void **)(malloc)(10 * sizeof(void *));
	for (i = 0; i < 10; i++)
		table[i] = malloc(100);
	lost = malloc(55);
	lost = NULL;
	pmm_set(PMM_AT_EXIT, 0);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return lost != NULL;
}
