/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A pool of 2 idle blocks: the third goes back to the allocator, idle ones are had again, a block put twice is told: pool.table. */
#include "order.h"

int main(void)
{
	struct pmm_pool pool;
	void *p[3], *again;
	int i;

	BEGIN();
	pmm_pool_init(&pool, 100, 2);
	for (i = 0; i < 3; i++)
		p[i] = pmm_pool_get(&pool);
	for (i = 0; i < 3; i++)
		pmm_pool_put(&pool, p[i]);
	pmm_pool_put(&pool, p[1]);
	again = pmm_pool_get(&pool);
	if (again != p[1] || pool.nr != 1)
		return 1;
	pmm_report(PMM_BLOCKS);
	pmm_pool_put(&pool, p[0]);	/* while there is room */
	if (pool.nr != 1)
		return 2;
	pmm_pool_put(&pool, again);
	pmm_pool_fini(&pool);
	return 0;
}
