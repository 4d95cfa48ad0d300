/* SPDX-License-Identifier: MIT */
/*
 * Events into the ledger: those that are not the usual ones, and what is rare of those.
 */
#include "agent/record.h"

#define CLASS(n) ((n) * RECORD_CLASS_LINES)

_Static_assert(sizeof(struct pmm_class) % 64 == 0, "whole lines");

const uint8_t record_class_of_bit[64] = {
	[5 ... 8] = CLASS(1),	[9 ... 10] = CLASS(2),	[11 ... 12] = CLASS(3),
	[13 ... 14] = CLASS(4), [15 ... 16] = CLASS(5), [17 ... 62] = CLASS(6),
};

/*
 * The bucket of a block that is released now. Of one born later than PMM_TIME_EXACT the last tick
 * of its unit counts: what is released within that is released at once.
 */
uint8_t record_lifetime(uint32_t birth, uint32_t now)
{
	uint32_t ticks = now - birth;
	unsigned k;

	if (unlikely(birth >= PMM_TIME_EXACT))
		ticks = now - (pmm_tick_of_time(birth) + (1u << PMM_TIME_UNIT_LOG2) - 1);
	if (!ticks || ticks > UINT32_MAX / 2)
		return 0;
	k = 32 - (unsigned)__builtin_clz(ticks);
	return k < PMM_NR_LIFETIMES ? (uint8_t)k : PMM_NR_LIFETIMES - 1;
}

/*
 * There is no room for the stack of a block that was entered, or for the context's record of it: it
 * is one of site 0 from now on. (A guarded block is not in the tables, and keeps the site's name.)
 */
static __attribute__((noinline)) struct pmm_record *record_lost(struct tctx *c, uint64_t address,
								uint32_t site, uint64_t epoch)
{
	uint64_t size;
	uint32_t was;

	ADD(agent.ledger->dropped[PMM_DROP_SITE_FULL], 1);
	if (site)
		block_change_site(address, 0, &was, &size);
	return site_record_none(c, epoch);
}

struct pmm_record *record_missed(struct tctx *c, uint32_t site, uint64_t epoch)
{
	if (site)
		ADD(agent.ledger->dropped[PMM_DROP_SITE_FULL], 1);
	return site_record_none(c, epoch);
}

__attribute__((cold)) void record_count_lost(struct tctx *c, uint64_t address, uint64_t size,
					     uint32_t site, uint32_t kind, uint32_t tick)
{
	struct block_new b = { .size = size, .site = site, .kind = kind, .tick = tick };
	uint64_t blocks, bytes;

	record_scale(false, address, size, &blocks, &bytes);
	record_count_alloc(false, c, record_lost(c, address, site, total_add(c, 0)), address, &b,
			   blocks, bytes);
}

/*
 * Blocks that are where one is to be entered were freed past the hooks; pools' blocks are not in
 * that table.
 */
__attribute__((cold)) void record_displace(struct tctx *c, uint64_t address, uint64_t *place,
					   uint64_t size, uint32_t kind)
{
	struct block_info was;
	uint64_t old, word, *at;

	while (kind != PMM_KIND_OTHER && (at = word_in_the_way(address, place, size, &word))) {
		if (!block_displace(at, word, &c->stamp, &was))
			continue;
		old = ((address >> 5) + (uint64_t)(at - place)) << 5 | 8 * sub_field(word);
		record_released(false, c, old, &was);
		record_class(c, was.size)->displaced++;
	}
}

bool record_add_slowly(struct tctx *c, uint64_t address, uint64_t *place, uint64_t size,
		       uint32_t site, uint32_t kind, uint32_t tick)
{
	struct block_new b = { size, site, kind, tick, c->pub.thread, &c->stamp };

	return block_add(address, place, &b);
}

uint32_t record_alloc(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind,
		      const struct caller *from)
{
	return record_alloc_as(false, c, address, size, kind, from);
}

void record_alloc_placed(struct tctx *c, uint64_t address, uint64_t *place, uint64_t size,
			 uint32_t kind, uint32_t site)
{
	struct block_new b = { record_size(size), site, kind, clock_now(), c->pub.thread,
			       &c->stamp };

	record_enter(false, c, address, place, &b);
}

void record_alloc_at(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind, uint32_t site)
{
	record_alloc_placed(c, address, block_place(address), size, kind, site);
}

void record_alloc_apart(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind,
			uint32_t site)
{
	struct block_new new = { size, site, kind, clock_now(), c->pub.thread, &c->stamp };

	seqlock_write_begin(&c->pub.seq);
	record_allocated(false, c, address, &new);
	seqlock_write_end(&c->pub.seq);
}

void record_free_unknown(struct tctx *c)
{
	if (!agent.sampled && !agent.min_size)
		c->pub.untracked_frees++;
	c->last_address = 0;
}

/* Within an event. */
static bool taken(struct tctx *c, uint64_t address, struct block_info *was)
{
	bool known = block_del(address, &c->stamp, was);

	if (likely(known))
		record_released(false, c, address, was);
	return known;
}

uint64_t record_take_slowly(struct tctx *c, uint64_t address)
{
	struct block_info was;

	return taken(c, address, &was) ? was.size : RECORD_UNKNOWN;
}

uint64_t record_take(struct tctx *c, uint64_t address)
{
	uint64_t size;

	seqlock_write_begin(&c->pub.seq);
	size = record_take_slowly(c, address);
	seqlock_write_end(&c->pub.seq);
	return size;
}

bool record_free(struct tctx *c, uint64_t address, struct block_info *was)
{
	bool known;

	seqlock_write_begin(&c->pub.seq);
	known = taken(c, address, was);
	if (unlikely(!known))
		record_free_unknown(c);
	seqlock_write_end(&c->pub.seq);
	return known;
}

void record_free_apart(struct tctx *c, uint64_t address, struct block_info *was)
{
	seqlock_write_begin(&c->pub.seq);
	record_released(false, c, address, was);
	seqlock_write_end(&c->pub.seq);
}

bool record_free_pool(struct tctx *c, uint64_t address, struct block_info *was)
{
	bool known;

	seqlock_write_begin(&c->pub.seq);
	known = block_del_pool(address, &c->stamp, was);
	if (known)
		record_released(false, c, address, was);
	seqlock_write_end(&c->pub.seq);
	return known;
}

/* The block is there again: back into all sums. */
static void restored(struct tctx *c, uint64_t address, const struct block_info *was)
{
	struct pmm_class *class = record_class(c, was->size);
	uint64_t blocks, bytes, epoch;
	struct pmm_record *r;

	record_scale(false, address, was->size, &blocks, &bytes);
	epoch = total_add(c, bytes);
	r = record_get(c, was->site, epoch);
	r->bytes_out -= bytes;
	r->frees -= blocks;
	if (was->lifetime)
		site_count_lives(c, r, was->lifetime, -blocks);
	if (was->temporary) {
		r->temporary -= blocks;
		c->pub.temporary -= blocks;
	}
	if (agent.sampled) {
		r->samples_out--;
		sample_enter(address);
	}
	class->frees -= blocks;
	class->bytes_out -= bytes;
}

void record_restore(struct tctx *c, uint64_t address, const struct block_info *was)
{
	seqlock_write_begin(&c->pub.seq);
	if (block_restore(address, was))
		restored(c, address, was);
	seqlock_write_end(&c->pub.seq);
}

void record_restore_apart(struct tctx *c, uint64_t address, const struct block_info *was)
{
	seqlock_write_begin(&c->pub.seq);
	restored(c, address, was);
	seqlock_write_end(&c->pub.seq);
}

void record_failed(struct tctx *c, uint64_t size, uint32_t kind, const struct caller *from)
{
	(void)kind;
	record_failed_at(c, size, unwind_site(c, from, 0));
}

void record_failed_at(struct tctx *c, uint64_t size, uint32_t site)
{
	struct pmm_record *r;

	seqlock_write_begin(&c->pub.seq);
	r = record_get(c, site, 0);		/* changes nothing that the peak is made of */
	r->failed++;
	if (!size)
		r->zero_size++;
	if (agent.warn_size && size >= agent.warn_size)
		r->huge++;
	if (size > r->max_bytes)
		r->max_bytes = size;
	record_class(c, record_size(size))->failed++;
	seqlock_write_end(&c->pub.seq);
}

void record_rename(struct tctx *c, uint64_t address, uint32_t kind)
{
	uint64_t size = 0, blocks, bytes;
	uint32_t was;

	seqlock_write_begin(&c->pub.seq);
	was = block_rename(address, kind, &size);
	if (was != PMM_KIND_NONE) {
		struct pmm_class *class = record_class(c, size);

		record_scale(false, address, size, &blocks, &bytes);
		class->calls[was] -= blocks;
		class->calls[kind] += blocks;
	}
	seqlock_write_end(&c->pub.seq);
}

bool record_move(struct tctx *c, uint64_t address, uint32_t site)
{
	uint64_t size = 0, blocks, bytes, epoch;
	struct pmm_record *r;
	uint32_t was;
	bool known;

	seqlock_write_begin(&c->pub.seq);
	known = block_change_site(address, site, &was, &size);
	if (known) {
		record_scale(false, address, size, &blocks, &bytes);
		epoch = total_add(c, 0);
		if (unlikely(!site_record(c, site, epoch))) {
			record_lost(c, address, site, epoch);
			site = 0;
		}
		r = record_get(c, was, epoch);
		r->bytes_in -= bytes;
		r->allocs -= blocks;
		r = record_get(c, site, epoch);
		r->bytes_in += bytes;
		r->allocs += blocks;
		r->max_bytes = size > r->max_bytes ? size : r->max_bytes;
		r->last_tick = clock_now();
		r->first_tick = r->first_tick == UINT32_MAX ? r->last_tick : r->first_tick;
	}
	seqlock_write_end(&c->pub.seq);
	return known;
}

/*
 * Take what overlaps [from, to) out of one mapping that began at `at`, and put back what is left on
 * both sides. A mapping that goes altogether counts as released; one that falls in two counts as
 * one more.
 */
static void map_cut(struct tctx *c, uint64_t at, const struct block_info *m, uint64_t from,
		    uint64_t to)
{
	struct pmm_record *r = site_record(c, m->site, 0);
	uint64_t end = at + m->size, left = 0;
	unsigned pieces = 0;

	if (at < from && block_add_map(at, (from < end ? from : end) - at, m->site, c->pub.thread,
				       pmm_tick_of_time(m->birth))) {
		left += (from < end ? from : end) - at;
		pieces++;
	}
	if (end > to &&
	    block_add_map(to, end - to, m->site, c->pub.thread, pmm_tick_of_time(m->birth))) {
		left += end - to;
		pieces++;
	}
	if (!r) {
		ADD(agent.ledger->dropped[PMM_DROP_SITE_FULL], 1);
		return;
	}
	r->bytes_out += m->size - left;
	r->frees += pieces == 0;
	r->allocs += pieces == 2;
}

/* Forget all mappings in [from, to), whole or in part. */
static void map_clear(struct tctx *c, uint64_t from, uint64_t to)
{
	struct block_info m;
	uint64_t at, next = from;

	while (next < to && block_take_map(next, to, false, &at, &m)) {
		map_cut(c, at, &m, from, to);
		next = at + ARCH_PAGE;
		if (at == from && at + m.size >= to)
			return;		/* the usual case: exactly one mapping */
	}
	if (block_take_map(from, 0, true, &at, &m))
		map_cut(c, at, &m, from, to);
}

void record_map(struct tctx *c, uint64_t address, uint64_t size, const struct caller *from)
{
	uint32_t site = unwind_site(c, from, PMM_SITE_MAPPING), tick = clock_now();
	struct pmm_record *r;
	bool known;

	if (size > PMM_SIZE_MAX)
		size = PMM_SIZE_MAX;
	seqlock_write_begin(&c->pub.seq);
	map_clear(c, address, address + pages(size));
	known = block_add_map(address, size, site, c->pub.thread, tick);
	r = known ? site_record(c, site, 0) : NULL;
	if (known && !r)
		ADD(agent.ledger->dropped[PMM_DROP_SITE_FULL], 1);
	if (r) {
		r->bytes_in += size;
		r->allocs++;
		if (size > r->max_bytes)
			r->max_bytes = size;
		if (r->first_tick == UINT32_MAX)
			r->first_tick = tick;
		r->last_tick = tick;
	}
	seqlock_write_end(&c->pub.seq);
}

void record_unmap(struct tctx *c, uint64_t address, uint64_t size)
{
	seqlock_write_begin(&c->pub.seq);
	map_clear(c, address, address + pages(size));
	seqlock_write_end(&c->pub.seq);
}
