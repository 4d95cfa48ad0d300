/* SPDX-License-Identifier: MIT */
/*
 * Events into the ledger; called by the hooks with a busy context.
 */
#ifndef AGENT_RECORD_H
#define AGENT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/block_words.h"
#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/known.h"
#include "agent/sample.h"
#include "agent/seqlock.h"
#include "agent/site.h"
#include "agent/total.h"
#include "agent/unwind/unwind.h"

/*
 * A block was allocated / is about to be released / an allocation failed. The context is busy with
 * RECORDING. record_alloc returns the site.
 */
uint32_t record_alloc(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind,
		      const struct caller *from);
void record_failed(struct tctx *c, uint64_t size, uint32_t kind, const struct caller *from);

/* ... with the stack known already. */
void record_alloc_at(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind, uint32_t site);
/* ... and its place, as block_place() found it */
void record_alloc_placed(struct tctx *c, uint64_t address, uint64_t *place, uint64_t size,
			 uint32_t kind, uint32_t site);
void record_failed_at(struct tctx *c, uint64_t size, uint32_t site);

/* Returns whether the block was tracked; *was is set then. */
bool record_free(struct tctx *c, uint64_t address, struct block_info *was);

/*
 * Blocks whose entry is elsewhere than in the block tables count in all sums like others. Of `was`
 * size, site, birth and kind are the caller's to set.
 */
void record_alloc_apart(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind,
			uint32_t site);
void record_free_apart(struct tctx *c, uint64_t address, struct block_info *was);
void record_restore_apart(struct tctx *c, uint64_t address, const struct block_info *was);

/* The same for a block of a pool (PMM_KIND_OTHER); an unknown one is not counted. */
bool record_free_pool(struct tctx *c, uint64_t address, struct block_info *was);

/* A block that is not known was released. */
void record_free_unknown(struct tctx *c);

/*
 * record_free() without that: whether it counts is the caller's to say. Returns the block's size.
 */
#define RECORD_UNKNOWN	UINT64_MAX	/* ... or this */
uint64_t record_take(struct tctx *c, uint64_t address);

/* Put back a block that record_free took out although it stayed (failed realloc). */
void record_restore(struct tctx *c, uint64_t address, const struct block_info *was);

/*
 * The block was allocated by another name than was recorded: operator new, on top of aligned_alloc.
 */
void record_rename(struct tctx *c, uint64_t address, uint32_t kind);

/*
 * A live block is one of another site from now on, as if it had come from there. False: there is
 * none.
 */
bool record_move(struct tctx *c, uint64_t address, uint32_t site);

/* Bytes up to the end of a page: what the kernel maps and unmaps. */
static inline uint64_t pages(uint64_t bytes)
{
	return (bytes + ARCH_PAGE - 1) & ~(uint64_t)(ARCH_PAGE - 1);
}

/* A mapping appeared; [address, address + size) went. */
void record_map(struct tctx *c, uint64_t address, uint64_t size, const struct caller *from);
void record_unmap(struct tctx *c, uint64_t address, uint64_t size);

/* ---- the usual event ------------------------------------------------------------------------- */

/*
 * From here on: what an allocation and a release do, expanded twice. In the hooks with `usual` for
 * events of a process in which nothing of agent.unusual is set, and which are no pool's; in
 * record.c without it for any event.
 */
#define RECORD_INLINE static inline __attribute__((always_inline))

/*
 * Where the class of a size is, in lines of 64 bytes, by the highest bit of 2 * size - 1, which is
 * set up to 16 bytes, 256, 1 Ki, 4 Ki, 16 Ki, 64 Ki, and more. Bit 63 is that of size 0.
 */
#define RECORD_CLASS_LINES	(sizeof(struct pmm_class) / 64)
extern const uint8_t record_class_of_bit[64] __attribute__((visibility("hidden")));

static inline struct pmm_class *record_class(struct tctx *c, uint64_t size)
{
	uint64_t lines = record_class_of_bit[63 ^ __builtin_clzll(2 * size - 1)];

	return (struct pmm_class *)(void *)((char *)c->pub.class + (lines << 6));
}

/* The figures an allocation of this size counts for: itself, or what its sample stands for. */
RECORD_INLINE void record_scale(bool usual, uint64_t address, uint64_t size, uint64_t *nr_blocks,
				uint64_t *bytes)
{
	if (usual || likely(!agent.sampled)) {
		*nr_blocks = 1;
		*bytes = size;
		return;
	}
	*nr_blocks = sample_weight(size, address);
	*bytes = sample_bytes(size);
}

/* What is rare, in record.c. Facts by value, as what is pointed to is not kept in registers. */
struct pmm_record *record_missed(struct tctx *c, uint32_t site, uint64_t epoch);
void record_count_lost(struct tctx *c, uint64_t address, uint64_t size, uint32_t site,
		       uint32_t kind, uint32_t tick);
void record_displace(struct tctx *c, uint64_t address, uint64_t *place, uint64_t size,
		     uint32_t kind);
bool record_add_slowly(struct tctx *c, uint64_t address, uint64_t *place, uint64_t size,
		       uint32_t site, uint32_t kind, uint32_t tick);
uint64_t record_take_slowly(struct tctx *c, uint64_t address);
uint8_t record_lifetime(uint32_t birth, uint32_t now);

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
static inline struct pmm_record *record_get(struct tctx *c, uint32_t site, uint64_t epoch)
{
	struct pmm_record *r = record_near(c, site, epoch);

	return likely(r) ? r : record_missed(c, site, epoch);
}

RECORD_INLINE void record_count_alloc(bool usual, struct tctx *c, struct pmm_record *r,
				      uint64_t address, const struct block_new *b,
				      uint64_t nr_blocks, uint64_t bytes)
{
	struct pmm_class *class = record_class(c, b->size);

	r->bytes_in += bytes;
	r->allocs += nr_blocks;
	if (unlikely(b->size > r->max_bytes))
		r->max_bytes = b->size;
	if (unlikely(r->first_tick == UINT32_MAX))
		r->first_tick = b->tick;
	r->last_tick = b->tick;
	if (unlikely(!b->size))
		r->zero_size++;
	if (!usual && agent.warn_size && b->size >= agent.warn_size)
		r->huge++;
	class->calls[b->kind] += nr_blocks;
	class->bytes_in += bytes;
	c->last_address = address;
	if (!usual && agent.sampled) {
		r->samples_in++;
		sample_enter(address);
	}
}

/* A block came: into all sums. */
RECORD_INLINE void record_allocated(bool usual, struct tctx *c, uint64_t address,
				    const struct block_new *b)
{
	uint64_t nr_blocks, bytes, epoch;
	struct pmm_record *r;

	record_scale(usual, address, b->size, &nr_blocks, &bytes);
	epoch = total_add(c, bytes);
	r = record_near(c, b->site, epoch);
	if (likely(r))
		record_count_alloc(usual, c, r, address, b, nr_blocks, bytes);
	else
		record_count_lost(c, address, b->size, b->site, b->kind, b->tick);
}

/* `place` as block_place() found it. */
RECORD_INLINE void record_enter(bool usual, struct tctx *c, uint64_t address, uint64_t *place,
				const struct block_new *b)
{
	seqlock_write_begin(&c->pub.seq);
	if (place && unlikely(word_perhaps_in_the_way(place, b->size)))
		record_displace(c, address, place, b->size, b->kind);
	if (likely(block_add_quick(address, place, b, usual)) ||
	    record_add_slowly(c, address, place, b->size, b->site, b->kind, b->tick))
		record_allocated(usual, c, address, b);
	seqlock_write_end(&c->pub.seq);
}

RECORD_INLINE uint32_t record_now(bool usual)
{
	return usual ? LOAD(agent.tree->tick) : clock_now();
}

static inline uint64_t record_size(uint64_t size)
{
	return likely(size <= PMM_SIZE_MAX) ? size : PMM_SIZE_MAX;
}

/* unwind_site() */
RECORD_INLINE uint32_t record_site(struct tctx *c, const struct caller *from)
{
	struct caller in_memory;
	uint32_t site;

	if (unlikely(unwind_void(c)))
		unwind_changed(c);
	site = likely(c->known != NULL) ? known_site(c->known, from) : 0;
	if (likely(site))
		return site;
	in_memory = *from;		/* so that it is in registers otherwise */
	return unwind_site_other(c, &in_memory, 0);
}

RECORD_INLINE uint32_t record_alloc_as(bool usual, struct tctx *c, uint64_t address, uint64_t size,
				       uint32_t kind, const struct caller *from)
{
	uint64_t *place = block_place(address);	/* finding the stack hides the cache miss */
	struct block_new b = { .size = record_size(size), .kind = kind, .tick = record_now(usual),
			       .thread = c->pub.thread, .stamp = &c->stamp };

	b.site = record_site(c, from);
	record_enter(usual, c, address, place, &b);
	return b.site;
}

/* The block was taken out of the table: out of all sums as well. */
RECORD_INLINE void record_released(bool usual, struct tctx *c, uint64_t address,
				   struct block_info *was)
{
	struct pmm_class *class = record_class(c, was->size);
	uint64_t nr_blocks, bytes, epoch;
	struct pmm_record *r;
	uint32_t now;

	record_scale(usual, address, was->size, &nr_blocks, &bytes);
	epoch = total_sub(c, bytes);
	r = record_get(c, was->site, epoch);
	r->bytes_out += bytes;
	r->frees += nr_blocks;
	now = !usual && agent.compiled_in ? clock_of_release(c) : record_now(usual);
	was->lifetime = likely(now == was->birth) ? 0 : record_lifetime(was->birth, now);
	if (unlikely(was->lifetime))
		site_count_lives(c, r, was->lifetime, nr_blocks);
	was->temporary = c->last_address == address;
	if (was->temporary) {
		r->temporary += nr_blocks;
		c->pub.temporary += nr_blocks;
	}
	class->frees += nr_blocks;
	class->bytes_out += bytes;
	c->last_address = 0;
	if (!usual && agent.sampled) {
		r->samples_out++;
		sample_leave(address);
	}
}

/* record_take() as usual */
RECORD_INLINE uint64_t record_take_usual(struct tctx *c, uint64_t address)
{
	struct block_info was;
	uint64_t size;

	seqlock_write_begin(&c->pub.seq);
	if (likely(block_del_quick(address, &c->stamp, &was))) {
		record_released(true, c, address, &was);
		size = was.size;
	} else {
		size = record_take_slowly(c, address);
	}
	seqlock_write_end(&c->pub.seq);
	return size;
}

#endif
