/* SPDX-License-Identifier: MIT */
/*
 * The ledger as pmm.h's full form sees it, a block at a time.
 */
#include "agent/agent_shim.h"

#include "agent/agent_arena.h"
#include "agent/block_words.h"
#include "agent/agent_core.h"
#include "agent/hook.h"
#include "agent/record.h"
#include "agent/srcloc.h"
#include "agent/unwind/unwind.h"

_Static_assert(sizeof(struct block_info) <= sizeof(struct full_was),
	       "what was known of a block fits");

uint32_t shim_number;

uint32_t shim_numbers_take(struct tctx *c)
{
	c->number = ADD(shim_number, SHIM_NUMBERS);
	c->number_end = c->number + SHIM_NUMBERS;
	return ++c->number;
}

uint32_t shim_any_number(void)
{
	return ADD(shim_number, 1) + 1;
}

void shim_forget_listed(struct tctx *c, uint64_t granule, uint64_t word)
{
	struct block_info was;

	record_free(c, (granule & ~31ull) + sub_field(word) * 8, &was);
}

struct tctx *shim_enter(const struct full_call *call)
{
	return agent_on() ? agent_enter(call->sp) : NULL;
}

void shim_leave(struct tctx *c)
{
	agent_leave(c);
}

void shim_calling(struct tctx *c, bool now)
{
	STORE(c->busy, now ? TCTX_IN_ALLOCATOR : TCTX_RECORDING);
}

uint32_t shim_site(struct tctx *c, const struct full_call *call, uint32_t flags)
{
	const struct caller from = { call->ra, call->sp, call->fp };
	uint32_t under = LOAD(agent.stacks) || !agent.compiled_in
				 ? srcloc_under(unwind_site(c, &from, 0))
				 : 0;

	return srcloc_site(c, call->file, call->func, call->line, flags, under);
}

void shim_note(struct tctx *c, char *p, size_t size, uint32_t kind, uint32_t site, uint32_t flags)
{
	uint64_t *place;

	if (flags & PMM_SRCLOC_BEHIND)
		store64(p + size, canary_of(number_next(c)));
	place = block_place((uint64_t)p);
	shim_forget(c, p, place);
	record_alloc_placed(c, (uint64_t)p, place, size, kind, site);
}

void shim_forgotten(struct tctx *c, const void *p)
{
	shim_forget(c, p, block_place((uint64_t)p));
}

void shim_failed(struct tctx *c, size_t size, uint32_t site)
{
	record_failed_at(c, size, site);
}

bool shim_is_ours(const void *p)
{
	struct block_info was;

	return block_get((uint64_t)p, &was) && srcloc_flags(was.site) & PMM_SITE_SRCLOC;
}

void shim_place(uint32_t site, struct full_block *b)
{
	const struct pmm_srcloc *s = srcloc_number(srcloc_nr(site));

	b->file = s && s->file ? arena_at(s->file) : "?";
	b->func = s && s->function ? arena_at(s->function) : "?";
	b->line = s ? s->line : 0;
	b->flags = s ? s->flags : 0;
	b->site = site;
}

void shim_known(const void *p, const struct block_info *was, struct full_block *b)
{
	shim_place(was->site, b);
	b->address = p;
	b->size = was->size;
	b->kind = was->kind;
	b->time = (uint32_t)((agent.tree->start_realtime_ns +
			      pmm_tick_of_time(was->birth) * PMM_TICK_NS) /
			     1000000000u);
	b->number = 0;
	__builtin_memcpy(&b->was, was, sizeof(*was));
}

uint32_t shim_number_of(uint64_t word)
{
	uint32_t number = (uint32_t)((word ^ SHIM_CANARY) >> 32);

	return number <= LOAD(shim_number) ? number : 0;
}

void shim_describe(const void *p, const struct block_info *was, struct full_block *b)
{
	shim_known(p, was, b);
	if (b->flags & PMM_SRCLOC_BEHIND)
		b->number = shim_number_of(load64(b->address + b->size));
}

static bool taken(const void *p, const struct block_info *was, struct full_block *b)
{
	shim_describe(p, was, b);
	return true;
}

bool shim_remove(struct tctx *c, const void *p, struct full_block *b)
{
	struct block_info was;

	return shim_is_ours(p) && record_free(c, (uint64_t)p, &was) && taken(p, &was, b);
}

bool shim_remove_moving(struct tctx *c, const void *p, size_t new_size, struct full_block *b)
{
	struct block_info was;

	return shim_is_ours(p) && hook_resizing(c, (void *)p, new_size, &was) && taken(p, &was, b);
}

void shim_moved(struct tctx *c)
{
	move_end(&c->pub.move[PMM_MOVE_HEAP]);
}

void shim_restore(struct tctx *c, const struct full_block *b)
{
	struct block_info was;

	__builtin_memcpy(&was, &b->was, sizeof(was));
	record_restore(c, (uint64_t)b->address, &was);
}

bool shim_change_site(struct tctx *c, const struct full_block *b, uint32_t site)
{
	return record_move(c, (uint64_t)b->address, site);
}

/*
 * What runs over the end of a block changes the word from its first byte on. While its last four
 * bytes are whole they tell the number, and so what the others were.
 */
unsigned shim_changed_behind(const struct full_block *b, uint64_t word)
{
	unsigned nr = 0;
	bool whole;

	if (!(b->flags & PMM_SRCLOC_BEHIND))
		return 0;
	if (canary_number(word, &whole) - 1 >= LOAD(shim_number) && !whole)
		return SHIM_CANARY_BYTES;
	for (word ^= canary_of(canary_number(word, &whole)); word; word >>= 8)
		nr += (word & 255) != 0;
	return nr;
}
