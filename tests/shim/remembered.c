/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Watched from outside (shim_full.bats): 200 blocks are lost at line 22, each where one was freed before; with an argument, with canaries before them. */
#include <pmm.h>
#include <stdio.h>
#include <string.h>

static void *volatile last;

static void use(void *p)
{
	memset(p, 'x', 32);
	last = p;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		pmm_set(PMM_CANARY, PMM_BEHIND | PMM_BEFORE);
	for (int i = 0; i < 200; i++) {
		use(malloc(32));
		free(last);
		use(malloc(32));
	}
	last = NULL;
	pmm_set(PMM_AT_EXIT, 0);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
