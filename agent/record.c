/* SPDX-License-Identifier: MIT */
/*
 * Events into the ledger: one function per kind of event, called by the hooks with a busy context.
 */
#include "agent/record.h"

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/block.h"
#include "agent/block_words.h"
#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/sample.h"
#include "agent/seqlock.h"
#include "agent/site.h"
#include "agent/sys.h"
#include "agent/total.h"
#include "agent/unwind/unwind.h"

/* By the bits of size - 1: up to 16 bytes, 256, 1 Ki, 4 Ki, 16 Ki, 64 Ki, and more. */
static const uint8_t class_of_bits[65] = { [5 ... 8] = 1,   [9 ... 10] = 2,  [11 ... 12] = 3,
					   [13 ... 14] = 4, [15 ... 16] = 5, [17 ... 64] = 6 };

static inline unsigned class_of(uint64_t size)
{
	return class_of_bits[64 - __builtin_clzll((size - (size != 0)) | 15)];
}

/* The figures an allocation of this size counts for: itself, or what its sample stands for. */
static inline void scale(uint64_t address, uint64_t size, uint64_t *blocks, uint64_t *bytes)
{
	if (likely(!agent.sampled)) {
		*blocks = 1;
		*bytes = size;
		return;
	}
	*blocks = sample_weight(size, address);
	*bytes = sample_bytes(size);
}

/*
 * The bucket of a block that is released now. Of one born later than PMM_TIME_EXACT the last tick
 * of its unit counts: what is released within that is released at once.
 */
static inline unsigned lifetime_of(uint32_t birth, uint32_t now)
{
	uint32_t ticks = now - birth;
	unsigned k;

	if (likely(!ticks))
		return 0;
	if (unlikely(birth >= PMM_TIME_EXACT))
		ticks = now - (pmm_tick_of_time(birth) + (1u << PMM_TIME_UNIT_LOG2) - 1);
	if (!ticks || ticks > UINT32_MAX / 2)
		return 0;
	k = 32 - (unsigned)__builtin_clz(ticks);
	return k < PMM_NR_LIFETIMES ? k : PMM_NR_LIFETIMES - 1;
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

static __attribute__((noinline)) struct pmm_record *record_missed(struct tctx *c, uint32_t site,
								  uint64_t epoch)
{
	if (site)
		ADD(agent.ledger->dropped[PMM_DROP_SITE_FULL], 1);
	return site_record_none(c, epoch);
}

/*
 * The context's record of a site, with its peak part brought up to `epoch`; NULL as site_record()
 * says. Here where it is near and of this epoch already.
 */
static inline struct pmm_record *record_near(struct tctx *c, uint32_t site, uint64_t epoch)
{
	pmm_ref page = likely(site < SITE_NEAR) ? c->site_page[site >> SITE_PAGE_SHIFT] : 0, ref;
	struct pmm_record *r;

	ref = likely(page) ? ((pmm_ref *)arena_at(page))[site & ((1u << SITE_PAGE_SHIFT) - 1)] : 0;
	if (likely(ref) && likely((r = arena_at(ref))->epoch >= epoch))
		return r;
	return site_record(c, site, epoch);
}

/* The context's record of a site, or where there can be none that of site 0, which is counted. */
static inline struct pmm_record *record_of(struct tctx *c, uint32_t site, uint64_t epoch)
{
	struct pmm_record *r = record_near(c, site, epoch);

	return likely(r) ? r : record_missed(c, site, epoch);
}

/* Releases by lifetime; those within a tick are the rest (pmm_released_at_once()). */
static inline void count_lives(struct tctx *c, struct pmm_record *r, unsigned lifetime,
			       uint64_t blocks)
{
	if (lifetime)
		site_count_lives(c, r, lifetime, blocks);
}

static inline __attribute__((always_inline)) void count_alloc(struct tctx *c, struct pmm_record *r,
							      uint64_t address,
							      const struct block_new *b,
							      struct pmm_class *class,
							      uint64_t blocks, uint64_t bytes)
{
	r->bytes_in += bytes;
	r->allocs += blocks;
	if (unlikely(b->size > r->max_bytes))
		r->max_bytes = b->size;
	if (unlikely(r->first_tick == UINT32_MAX))
		r->first_tick = b->tick;
	r->last_tick = b->tick;
	if (unlikely(!b->size))
		r->zero_size++;
	if (unlikely(agent.warn_size && b->size >= agent.warn_size))
		r->huge++;
	c->pub.allocs += blocks;
	c->pub.bytes_in += bytes;
	class->calls[b->kind] += blocks;
	class->bytes_in += bytes;
	c->last_address = address;
	if (agent.sampled) {
		r->samples_in++;
		sample_enter(address);
	}
}

static __attribute__((noinline, cold)) void count_lost(struct tctx *c, uint64_t address,
						       uint64_t size, uint32_t kind, uint32_t site,
						       uint32_t tick)
{
	struct block_new b = { .size = size, .site = site, .kind = kind, .tick = tick };
	uint64_t blocks, bytes;

	scale(address, size, &blocks, &bytes);
	count_alloc(c, record_lost(c, address, site, total_add(c, 0)), address, &b,
		    &c->pub.class[class_of(size)], blocks, bytes);
}

/* A block came: into all sums. */
static inline __attribute__((always_inline)) void allocated(struct tctx *c, uint64_t address,
							    const struct block_new *b)
{
	struct pmm_class *class = &c->pub.class[class_of(b->size)];
	uint64_t blocks, bytes, epoch;
	struct pmm_record *r;

	scale(address, b->size, &blocks, &bytes);
	epoch = total_add(c, bytes);
	r = record_near(c, b->site, epoch);
	if (likely(r))
		count_alloc(c, r, address, b, class, blocks, bytes);
	else
		count_lost(c, address, b->size, b->kind, b->site, b->tick);
}

static inline void released(struct tctx *c, uint64_t address, struct block_info *was);

/*
 * Blocks that are where one is to be entered were freed past the hooks. With allocators that share
 * granules they may be side by side; pools' blocks are not in that table.
 */
static __attribute__((noinline, cold)) void displace(struct tctx *c, uint64_t address,
						     uint64_t *place, uint64_t size, uint32_t kind)
{
	struct block_info was;
	uint64_t old, *at;

	while (!agent.dense && kind != PMM_KIND_OTHER &&
	       (at = word_in_the_way(address, place, size))) {
		if (!block_displace(address, at, at - place, &c->stamp, &was, &old))
			continue;
		released(c, old, &was);
		c->pub.class[class_of(was.size)].displaced++;
	}
}

/* block_add() of a copy: only then need the block's facts be in memory and not in registers. */
static __attribute__((noinline)) bool add_slowly(uint64_t address, uint64_t *place,
						 struct block_new b)
{
	return block_add(address, place, &b);
}

/* `place` as block_place() found it. */
static inline __attribute__((always_inline)) void entered(struct tctx *c, uint64_t address,
							  uint64_t *place, uint64_t size,
							  uint32_t kind, uint32_t site,
							  uint32_t tick)
{
	struct block_new new = { size, site, kind, tick, c->pub.thread, &c->stamp };

	seqlock_write_begin(&c->pub.seq);
	if (place && unlikely(word_in_the_way(address, place, size) != NULL))
		displace(c, address, place, size, kind);
	if (likely(block_add_quick(address, place, &new)) || add_slowly(address, place, new))
		allocated(c, address, &new);
	seqlock_write_end(&c->pub.seq);
}

static inline uint64_t sized(uint64_t size)
{
	return likely(size <= PMM_SIZE_MAX) ? size : PMM_SIZE_MAX;
}

uint32_t record_alloc(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind,
		      const struct caller *from)
{
	uint32_t tick = clock_now();
	uint64_t *place = block_place(address);	/* the walk hides the cache miss */
	uint32_t site = unwind_site(c, from, 0);

	entered(c, address, place, sized(size), kind, site, tick);
	return site;
}

void record_alloc_placed(struct tctx *c, uint64_t address, uint64_t *place, uint64_t size,
			 uint32_t kind, uint32_t site)
{
	entered(c, address, place, sized(size), kind, site, clock_now());
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
	allocated(c, address, &new);
	seqlock_write_end(&c->pub.seq);
}

void record_free_unknown(struct tctx *c)
{
	if (!agent.sampled && !agent.min_size)
		c->pub.untracked_frees++;
	c->last_address = 0;
}

/* The block was taken out of the table: out of all sums as well. */
static inline __attribute__((always_inline)) void released(struct tctx *c, uint64_t address,
							   struct block_info *was)
{
	struct pmm_class *class;
	uint64_t blocks, bytes, epoch;
	struct pmm_record *r;

	scale(address, was->size, &blocks, &bytes);
	epoch = total_sub(c, bytes);
	r = record_of(c, was->site, epoch);
	r->bytes_out += bytes;
	r->frees += blocks;
	was->lifetime = (uint8_t)lifetime_of(
		was->birth, unlikely(agent.compiled_in) ? clock_of_release(c) : clock_now());
	was->temporary = c->last_address == address;
	count_lives(c, r, was->lifetime, blocks);
	if (was->temporary) {
		r->temporary += blocks;
		c->pub.temporary += blocks;
	}
	c->pub.frees += blocks;
	c->pub.bytes_out += bytes;
	class = &c->pub.class[class_of(was->size)];
	class->frees += blocks;
	class->bytes_out += bytes;
	c->last_address = 0;
	if (agent.sampled) {
		r->samples_out++;
		sample_leave(address);
	}
}

static inline __attribute__((always_inline)) bool freed(struct tctx *c, uint64_t address,
							struct block_info *was)
{
	bool known;

	seqlock_write_begin(&c->pub.seq);
	known = likely(block_del_quick(address, &c->stamp, was)) ||
		block_del(address, &c->stamp, was);
	if (likely(known))
		released(c, address, was);
	else
		record_free_unknown(c);
	seqlock_write_end(&c->pub.seq);
	return known;
}

bool record_free(struct tctx *c, uint64_t address, struct block_info *was)
{
	return freed(c, address, was);
}

uint64_t record_free_bytes(struct tctx *c, uint64_t address)
{
	struct block_info was;

	return likely(freed(c, address, &was)) ? was.size : 0;
}

void record_free_apart(struct tctx *c, uint64_t address, struct block_info *was)
{
	seqlock_write_begin(&c->pub.seq);
	released(c, address, was);
	seqlock_write_end(&c->pub.seq);
}

bool record_free_pool(struct tctx *c, uint64_t address, struct block_info *was)
{
	bool known;

	seqlock_write_begin(&c->pub.seq);
	known = block_del_pool(address, &c->stamp, was);
	if (known)
		released(c, address, was);
	seqlock_write_end(&c->pub.seq);
	return known;
}

/* The block is there again: back into all sums. */
static void restored(struct tctx *c, uint64_t address, const struct block_info *was)
{
	struct pmm_class *class = &c->pub.class[class_of(was->size)];
	uint64_t blocks, bytes, epoch;
	struct pmm_record *r;

	scale(address, was->size, &blocks, &bytes);
	epoch = total_add(c, bytes);
	r = record_of(c, was->site, epoch);
	r->bytes_out -= bytes;
	r->frees -= blocks;
	count_lives(c, r, was->lifetime, -blocks);
	if (was->temporary) {
		r->temporary -= blocks;
		c->pub.temporary -= blocks;
	}
	if (agent.sampled) {
		r->samples_out--;
		sample_enter(address);
	}
	c->pub.frees -= blocks;
	c->pub.bytes_out -= bytes;
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
	r = record_of(c, site, 0);		/* changes nothing that the peak is made of */
	r->failed++;
	if (!size)
		r->zero_size++;
	if (agent.warn_size && size >= agent.warn_size)
		r->huge++;
	if (size > r->max_bytes)
		r->max_bytes = size;
	c->pub.class[class_of(size)].failed++;
	seqlock_write_end(&c->pub.seq);
}

void record_rename(struct tctx *c, uint64_t address, uint32_t kind)
{
	uint64_t size = 0, blocks, bytes;
	uint32_t was;

	seqlock_write_begin(&c->pub.seq);
	was = block_rename(address, kind, &size);
	if (was != PMM_KIND_NONE) {
		struct pmm_class *class = &c->pub.class[class_of(size)];

		scale(address, size, &blocks, &bytes);
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
		scale(address, size, &blocks, &bytes);
		epoch = total_add(c, 0);
		if (unlikely(!site_record(c, site, epoch))) {
			record_lost(c, address, site, epoch);
			site = 0;
		}
		r = record_of(c, was, epoch);
		r->bytes_in -= bytes;
		r->allocs -= blocks;
		r = record_of(c, site, epoch);
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

static inline uint64_t pages(uint64_t bytes)
{
	return (bytes + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1);
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
