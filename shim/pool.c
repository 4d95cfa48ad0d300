/* SPDX-License-Identifier: MIT */
/*
 * Pools as both forms have them: idle blocks are linked by their first word.
 */
void pmm_pool_init(struct pmm_pool *pool, size_t size, size_t max)
{
	pool->size = size;
	pool->max = max;
	pool->nr = 0;
	pool->first = NULL;
}

static size_t pool_bytes(const struct pmm_pool *pool)
{
	return pool->size < sizeof(void *) ? sizeof(void *) : pool->size;
}

static void *pop_block(struct pmm_pool *pool)
{
	void *p = pool->first;

	if (p) {
		memcpy(&pool->first, p, sizeof(void *));
		pool->nr--;
	}
	return p;
}

static void push_block(struct pmm_pool *pool, void *p)
{
	memcpy(p, &pool->first, sizeof(void *));
	pool->first = p;
	pool->nr++;
}
