/* SPDX-License-Identifier: MIT */
/*
 * The full form: the ledger that blocks are recorded in, whichever that is. Before there is one,
 * and where there is none, nothing is known of any block.
 */
#define CALL_TABLE(call, otherwise) (monitor.table ? monitor.table->call : (otherwise))

static struct tctx *full_enter(const struct full_call *call)
{
	return CALL_TABLE(enter(call), NULL);
}

static void full_leave(struct tctx *c)
{
	if (c)
		monitor.table->leave(c);
}

static void full_calling(struct tctx *c, bool now)
{
	if (c)
		monitor.table->calling(c, now);
}

static uint32_t full_site(struct tctx *c, const struct full_call *call, uint32_t flags)
{
	return monitor.table->site(c, call, flags);
}

static bool full_look(const void *p, struct full_block *b)
{
	return CALL_TABLE(find(p, b), false);
}

static int full_each(int (*each)(void *ctx, const struct full_block *b), void *ctx)
{
	return CALL_TABLE(each(each, ctx), 0);
}

static void full_get_totals(struct full_totals *t)
{
	memset(t, 0, sizeof(*t));
	if (monitor.table)
		monitor.table->totals(t);
}

/* ---- the real allocator */
static void *real_malloc(size_t size)
{
	return CALL_TABLE(malloc(size), malloc(size));
}

static void *real_calloc(size_t size)
{
	return CALL_TABLE(calloc(1, size), calloc(1, size));
}

static void *real_realloc(void *p, size_t size)
{
	return CALL_TABLE(realloc(p, size), realloc(p, size));
}

static void *real_aligned_alloc(size_t align, size_t size)
{
	return CALL_TABLE(aligned_alloc(align, size), aligned_alloc(align, size));
}

/* p was in a ledger, or is in none. */
static void real_free(void *p)
{
	if (monitor.table)
		monitor.table->free(p);
	else
		free(p);
}
