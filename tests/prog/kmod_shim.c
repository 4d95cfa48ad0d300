/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs to the kernel module's ring by pmm.h, in its static form (kmod_shim) or its full one
 * (kmod_full): 13 allocations, 5 frees; 8 blocks of 1750 bytes are outstanding: 6 of 100 (line 30),
 * one of 150 (32), one of 1000 (33). A line of input each: it frees those of 100; it forks a child
 * that allocates 64 bytes, and exits with status 3.
 */
#define PMM_KMOD
#ifdef FULL
#define PMM
#define PMM_NO_NAMES
#include <pmm.h>
#include <unistd.h>
#else
#define PMM_STATIC_SLOTS 1000
#include "../../shim/pmm_static.c"
#endif

#include <stdio.h>
#include <sys/wait.h>

static void *blocks[10];

int main(void)
{
	char line[10];
	void *other, *moved;
	int i;

	pmm_set(PMM_AT_EXIT, 0);
	for (i = 0; i < 10; i++)
		blocks[i] = pmm_malloc(PMM_HERE, 100);
	for (i = 0; i < 4; i++) pmm_free(PMM_HERE, blocks[i]);
	other = pmm_calloc(PMM_HERE, 3, 50);
	moved = pmm_realloc(PMM_HERE, pmm_malloc(PMM_HERE, 10), 1000);
	printf("status %d\n", pmm_kmod_status());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (i = 4; i < 10; i++)
		pmm_free(PMM_HERE, blocks[i]);
	puts("freed");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	if (!fork())
		return !pmm_malloc(PMM_HERE, 64);
	wait(NULL);
	return other && moved ? 3 : 1;
}
