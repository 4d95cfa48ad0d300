/* Blocks of code without the header, at addresses that were ours before: one warning, then they are freed in silence; in earnest: foreign.table. */
#include "order.h"

/* A library's block where ours was: the allocator gives back what it was given last. */
static void *theirs(size_t size)
{
	void *volatile ours = malloc(size), *volatile p;

	free(ours);
	p = (malloc)(size + 8);	/* ours has a canary */
	return p == ours ? p : NULL;
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
