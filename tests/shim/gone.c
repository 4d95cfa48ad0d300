/* SPDX-License-Identifier: GPL-2.0-or-later
 * With LIBRARY a library; without it a program that has the library free, keep and mark blocks, unloads it, and then has tables written, and
 * errors told that name the library's calls (shim_full.bats).
 */
#include <pmm.h>
#include <stdlib.h>

#ifdef LIBRARY

void put(void *p);

void put(void *p)
{
	free(p);
}

void *mark(void *p);

void *mark(void *p)
{
	return pmm_mark(p);
}

#else
#include <dlfcn.h>
#include <string.h>

static char *volatile freed, *volatile kept;

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL, *symbol[2];
	void *(*mark)(void *);
	void (*put)(void *);

	if (!library)
		return 2;
	symbol[0] = dlsym(library, "put");
	symbol[1] = dlsym(library, "mark");
	memcpy(&put, &symbol[0], sizeof(put));
	memcpy(&mark, &symbol[1], sizeof(mark));
	pmm_set(PMM_FOREIGN, 0);
	freed = malloc(1000);
	kept = malloc(200);
	mark(kept);
	put(freed);
	pmm_set(PMM_KEEP, 300);
	put(kept);
	dlclose(library);
	free(freed);
	free(kept);
	return 0;
}
#endif
