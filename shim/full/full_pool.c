/* SPDX-License-Identifier: MIT */
/*
 * Pools of the full form: blocks of one size that are used again and again. For the ledger one
 * belongs to the place that got it last; its site says whether it is idle.
 */
static struct full_call call_of(const struct at *at)
{
	struct full_call call;

	call.file = at->file;
	call.func = at->func;
	call.line = at->line;
	call.ra = call.fp = 0;
	call.sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	return call;
}

/* Let a block be idle, or one of this call; 0: it is not what it was taken for. */
static int move_to(const struct full_call *call, void *p, int idle, size_t bytes)
{
	struct tctx *c = full_enter(call);
	struct full_call from = *call;
	struct full_block b;
	uint32_t site, flags;
	int ok;

	ok = c && full_look(p, &b) && (b.flags >> PMM_SRCLOC_ENTRY_SHIFT & 255) == 'p' &&
	     b.size == bytes && ((b.flags & PMM_SRCLOC_IDLE) != 0) != idle;
	flags = ok ? (b.flags & ~(uint32_t)PMM_SRCLOC_IDLE) | (idle ? PMM_SRCLOC_IDLE : 0u) : 0;
	if (ok && idle) {
		from.file = b.file;
		from.func = b.func;
		from.line = b.line;
	}
	site = ok ? full_site(c, &from, flags) : 0;
	ok = site && monitor.table->change_site(c, &b, site);
	full_leave(c);
	return ok;
}

void *pmm_pool_get_at(PMM_AT, struct pmm_pool *pool)
{
	AT_OF_CALL;
	const struct full_call call = call_of(&at);
	void *p = NULL;

	if (enter()) {
		p = pop_block(pool);
		leave();
	}
	if (p) {
		move_to(&call, p, 0, pool_bytes(pool));
		return p;
	}
	p = full_get(&call, 'p', PMM_KIND_MALLOC, 0, pool_bytes(pool), 0);
	return kmod_new(&at, 'p', p, pool_bytes(pool));
}

void pmm_pool_put_at(PMM_AT, struct pmm_pool *pool, void *p)
{
	AT_OF_CALL;
	const struct full_call call = call_of(&at);
	struct full_block b;
	int idle = 0;

	if (!p)
		return;
	if (pool->nr < pool->max && full_look(p, &b) && !(b.flags & PMM_SRCLOC_IDLE))
		inspect_own(&call, &b, 0);
	if (enter()) {
		if (pool->nr < pool->max && move_to(&call, p, 1, pool_bytes(pool))) {
			push_block(pool, p);
			idle = 1;
		}
		leave();
	}
	if (!idle) {
		kmod_free(&at, p);
		full_put(&call, p);
	}
}

void pmm_pool_fini_at(PMM_AT, struct pmm_pool *pool)
{
	AT_OF_CALL;
	const struct full_call call = call_of(&at);
	void *p;

	do {
		if (!enter())
			return;
		p = pop_block(pool);
		leave();
		if (p) {
			move_to(&call, p, 0, pool_bytes(pool));
			kmod_free(&at, p);
			full_put(&call, p);
		}
	} while (p);
}
