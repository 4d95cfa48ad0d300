/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Blocks of code without the header, at addresses that were ours before: one warning, then they are freed in silence; in earnest: foreign.table. */
#include "order.h"

#include <stdint.h>

/* A library's block where ours was: the allocator gives back what it was given last. */
static void *theirs(size_t size)
{
	void *volatile ours = malloc(size), *volatile p;

	free(ours);
	p = (malloc)(size + 8);	/* ours has a canary */
	return p == ours ? p : NULL;
}

/* A library's block that has in its second word what the allocator left there when a thread ended, the mark of a free one. */
static void *stale(void)
{
	uintptr_t *volatile freed = (uintptr_t *)malloc(24), *p = (uintptr_t *)theirs(700), mark;

	free(freed);
	mark = freed[1];
	p[0] = (uintptr_t)p >> 12 ^ 1;	/* leads to no block */
	p[1] = mark;
	return p;
}

int main(void)
{
	struct pmm_stats stats;
	char *p;
	int i;

	BEGIN();
	for (i = 0; i < 3; i++) {
		p = (char *)theirs(100 + 100 * (size_t)i);
		memset(p, i, 100);
		free(p);
	}
	free(stale());
	p = (char *)malloc(500);
	free(p);
	free(p);		/* the allocator has it still: for sure */
	pmm_set(PMM_FOREIGN, 0);
	p = (char *)theirs(600);
	free(p);		/* there are none such, it was said: left alone */
	(free)(p);
	pmm_get_stats(&stats);
	printf("%d foreign, %d errors, %d live\n", (int)stats.nr_foreign, (int)stats.nr_errors, (int)stats.nr_live);
	pmm_set(PMM_AT_EXIT, 0);
	return 0;
}
