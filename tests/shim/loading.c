/* SPDX-License-Identifier: GPL-2.0-or-later */ /* With LIBRARY a library that allocates 77 bytes; without it a program that holds 1000 bytes and has such a library do so (shim_full.bats). */
#include <pmm.h>
#include <stdlib.h>

#ifdef LIBRARY

void *get_block(void);

void *get_block(void)
{
	return malloc(77);
}

#else
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *volatile kept[2];

int main(int argc, char **argv)
{
	void *library, *symbol;
	void *(*get_block)(void);

	if (argc != 2)
		return 2;
	kept[0] = malloc(1000);
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	symbol = library ? dlsym(library, "get_block") : NULL;
	if (!symbol)
		return 1;
	memcpy(&get_block, &symbol, sizeof(symbol));
	kept[1] = get_block();
	pmm_set(PMM_AT_EXIT, 0);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
#endif
