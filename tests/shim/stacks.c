/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Watched from outside (shim_full.bats): one line allocates for two callers, first without stacks and then with them. Exits with 0. */
#include <pmm.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL static __attribute__((noipa))

static void *volatile kept[4];

CALL void wrapped(int i, size_t size) { kept[i] = malloc(size); }
CALL void large(int i) { wrapped(i, 1000); __asm__ volatile(""); }
CALL void small(int i) { wrapped(i, 10); __asm__ volatile(""); }

int main(void)
{
	pmm_set(PMM_AT_EXIT, 0);
	small(0);
	pmm_set(PMM_STACKS, 1);
	small(1);
	small(2);
	large(3);
	if (pmm_set(PMM_STACKS, 0) != 1)
		return 1;
	large(3);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
