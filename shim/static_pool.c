/* SPDX-License-Identifier: MIT */
/*
 * Pools of the static form: blocks of one size that are used again and again. A block stays in its
 * slot while it is idle in the pool.
 */
void *pmm_pool_get_at(PMM_AT, struct pmm_pool *pool)
{
	AT_OF_CALL;
	struct slot *slot;
	void *p = NULL;

	if (enter()) {
		p = pop_block(pool);
		slot = p ? find_slot(p, 1 << IDLE) : NULL;
		if (slot) {
			slot->file = at.file;
			slot->line = at.line;
			slot->state = LIVE;
		}
		leave();
	}
	return p ? p : get_block(&at, 'p', 0, pool_bytes(pool), 0);
}

void pmm_pool_put_at(PMM_AT, struct pmm_pool *pool, void *p)
{
	AT_OF_CALL;
	struct slot *slot;

	if (!p)
		return;
	if (enter()) {
		slot = find_slot(p, 1 << LIVE);
		if (slot && slot->entry == 'p' && slot->size == pool_bytes(pool) &&
		    pool->nr < pool->max) {
			inspect_slot(slot, &at);
			slot->state = IDLE;
			push_block(pool, p);
			p = NULL;
		}
		leave();
	}
	if (p)
		put_block(&at, p, 1);
}

void pmm_pool_fini_at(PMM_AT, struct pmm_pool *pool)
{
	AT_OF_CALL;
	struct slot *slot;
	void *p;

	do {
		if (!enter())
			return;
		p = pop_block(pool);
		slot = p ? find_slot(p, 1 << IDLE) : NULL;
		if (slot)
			slot->state = LIVE;
		leave();
		if (p)
			put_block(&at, p, 1);
	} while (p);
}
