/* SPDX-License-Identifier: MIT */
/*
 * The ledger as pmm.h's full form sees it, as a whole: one block, and all of them. Nothing here
 * takes memory, so it may be called in a signal handler.
 */
#include "agent/agent_shim.h"

#include "agent/agent_arena.h"
#include "agent/agent_core.h"
#include "agent/unwind/module.h"
#include "agent/srcloc.h"
#include "agent/sys.h"

/*
 * how far below a pointer its block may begin: each block of other code that is freed is looked for
 */
#define AROUND		(1u << 16)
#define BATCH		128		/* mids that are put in order at a time */
/* bytes of memory that are read at a time; of the stack of a signal handler, maybe */
#define WINDOW		512
#define NOTHING		1

bool shim_peek(const void *p, void *to, size_t bytes)
{
	uintptr_t at = (uintptr_t)p;

	if ((!*agent.single_threaded || agent.valgrind) && module_copy(to, at, bytes))
		return true;
	if (!sys_readable(at & ~7ul) ||
	    ((at ^ (at + bytes - 1)) >= ARCH_PAGE && !sys_readable((at + bytes - 1) & ~7ul)))
		return false;
	memcpy(to, p, bytes);
	return true;
}

/* Memory as it was a moment ago. */
struct window {
	uintptr_t at;		/* a multiple of its size; else there is nothing here */
	char bytes[WINDOW];
};

static bool window_read(struct window *w, const char *p, void *to, size_t bytes)
{
	uintptr_t at = (uintptr_t)p, first = at & ~(uintptr_t)(WINDOW - 1);

	if (at + bytes > first + WINDOW)
		return shim_peek(p, to, bytes);
	if (w->at != first && !shim_peek((const void *)first, w->bytes, WINDOW)) {
		w->at = NOTHING;
		return false;
	}
	w->at = first;
	__builtin_memcpy(to, w->bytes + (at - first), bytes);
	return true;
}

/*
 * The number in a block's canary. Blocks that code without pmm.h has released are listed until
 * their address comes up again, and any block may be released by another thread just now: its
 * memory may be gone.
 */
static void read_number(struct full_block *b, struct window *w)
{
	if (!(b->flags & PMM_SRCLOC_BEHIND))
		return;
	if (window_read(w, b->address + b->size, &b->behind, sizeof(b->behind)))
		b->number = shim_number_of(b->behind);
	else
		b->flags &= ~(uint32_t)(PMM_SRCLOC_BEHIND | 255 << PMM_SRCLOC_FRONT_SHIFT);
}

bool shim_still(const struct full_block *b)
{
	struct block_info was, now;

	__builtin_memcpy(&was, &b->was, sizeof(was));
	return shim_begun() && block_get((uint64_t)b->address, &now) &&
	       now.word[0] == was.word[0] && now.size == was.size;
}

bool shim_find(const void *p, struct full_block *b)
{
	struct block_info was;

	if (!shim_begun() || !shim_is_ours(p) || !block_get((uint64_t)p, &was))
		return false;
	shim_known(p, &was, b);
	return true;
}

bool shim_around(const void *p, struct full_block *b)
{
	struct block_info was;
	uint64_t at;

	if (!shim_begun() || !block_below((uint64_t)p, AROUND, &at, &was) ||
	    (uint64_t)p - at >= was.size || (uint64_t)p == at ||
	    !(srcloc_flags(was.site) & PMM_SITE_SRCLOC))
		return false;
	shim_known((const void *)at, &was, b);
	if (!(b->flags & PMM_SRCLOC_BEHIND))
		return true;
	return shim_peek(b->address + b->size, &b->behind, sizeof(b->behind)) &&
	       !shim_changed_behind(b, b->behind);
}

/* ---- all blocks: mids are chained as they came, each covers a part of the address space */

/* The lowest of those that begin at `from` or above, in order; how many. */
static unsigned mids_from(unsigned table, uint64_t from, const struct pmm_mid *mid[BATCH])
{
	unsigned nr = 0, at;

	for (pmm_ref ref = LOAD_ACQUIRE(agent.ledger->table[table].mids); ref;
	     ref = ((const struct pmm_mid *)arena_at(ref))->next) {
		const struct pmm_mid *m = arena_at(ref);

		if (m->base < from || (nr == BATCH && m->base > mid[BATCH - 1]->base))
			continue;
		for (at = nr < BATCH ? nr++ : BATCH - 1; at && mid[at - 1]->base > m->base; at--)
			mid[at] = mid[at - 1];
		mid[at] = m;
	}
	return nr;
}

static int leaf_each(unsigned table, uint64_t base, uint64_t *leaf, struct window *w,
		     int (*each)(void *ctx, const struct full_block *b), void *ctx)
{
	for (unsigned i = 0; i < GRANULES; i++) {
		uint64_t word = LOAD(leaf[i]), sub;
		struct full_block b;
		struct block_info was;
		int ret;

		if (!is_block(word))
			continue;
		block_decode(&leaf[i], &no_stamp, &was);
		if (!(srcloc_flags(was.site) & PMM_SITE_SRCLOC))
			continue;
		sub = table == PMM_TABLE_HEAP ? sub_field(word) * 8 : 0;
		shim_known((const void *)(base + ((uint64_t)i << shape[table].shift) + sub), &was,
			   &b);
		read_number(&b, w);
		ret = each(ctx, &b);
		if (ret)
			return ret;
	}
	return 0;
}

static int mid_each(unsigned table, const struct pmm_mid *m, struct window *w,
		    int (*each)(void *ctx, const struct full_block *b), void *ctx)
{
	unsigned leaf_shift = shape[table].shift + PMM_LEAF_BITS;
	int ret = 0;

	for (uint32_t i = 0; i < m->nr_leaves && !ret; i++)
		if (LOAD(m->leaf[i]))
			ret = leaf_each(table, m->base + ((uint64_t)i << leaf_shift),
					arena_at(m->leaf[i]), w, each, ctx);
	return ret;
}

int shim_each(int (*each)(void *ctx, const struct full_block *b), void *ctx)
{
	static const unsigned tables[] = { PMM_TABLE_HEAP, PMM_TABLE_DENSE };
	const struct pmm_mid *mid[BATCH];
	struct window w;
	unsigned nr;
	int ret = 0;

	if (!shim_begun())
		return 0;
	w.at = NOTHING;
	for (unsigned t = 0; t < 2; t++)
		for (uint64_t from = 0; !ret && (nr = mids_from(tables[t], from, mid));
		     from = mid[nr - 1]->base + 1)
			for (unsigned i = 0; i < nr && !ret; i++)
				ret = mid_each(tables[t], mid[i], &w, each, ctx);
	return ret;
}
