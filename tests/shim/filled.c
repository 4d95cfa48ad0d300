/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Code without the header fills what malloc_usable_size() says: told once a block, and no byte of the program's is changed by that. */
#include "order.h"
#include <malloc.h>

static struct pmm_stats stats;
static int nr_wrong;

static void fill(char *p, size_t all)
{
	size_t i;

	for (i = 0; i < all; i++)
		p[i] = (char)(i + 1);
}

static void look(const char *p, size_t all)
{
	size_t i;

	for (i = 0; i < all; i++)
		nr_wrong += p[i] != (char)(i + 1);
}

int main(void)
{
	struct pmm_pool pool;
	char *p, *q;
	size_t all;
	int i;

	BEGIN();
	pmm_set(PMM_AT_EXIT, 0);
	for (i = 0; i < 2; i++) {
		p = (char *)malloc(20);
		all = (malloc_usable_size)(p);
		fill(p, all);
		printf("checks: %d", (int)pmm_check());
		printf(" %d\n", (int)pmm_check());
		look(p, all);
		q = (char *)realloc(p, all + 1000);
		look(q, all);
		free(q);
	}
	pmm_pool_init(&pool, 20, 10);
	p = (char *)pmm_pool_get(&pool);
	p[20] = 0;
	pmm_pool_put(&pool, p);
	printf("checks: %d", (int)pmm_check());
	printf(" %d\n", p[20]);
	pmm_pool_fini(&pool);
	pmm_get_stats(&stats);
	printf("%d wrong, %d errors\n", nr_wrong, (int)stats.nr_errors);
	return 0;
}
