/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Watched from outside (shim_full.bats): 10 blocks of 5631 bytes are live, 5 of them, of line 19, are lost. Exits with 3. */
#include <pmm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept[5];

static void *wrapped(size_t size)
{
	return malloc(size);
}

int main(void)
{
	unsigned i;

	for (i = 0; i < 5; i++)
		(void)(strdup("lost") != kept[0]);
	kept[0] = strdup("hello");
	kept[1] = calloc(10, 20);
	kept[2] = realloc(malloc(10), 5000);
	kept[3] = wrapped(300);
	kept[4] = wrapped(100);
	free(malloc(77));
	pmm_set(PMM_AT_EXIT, 0);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 3;
}
