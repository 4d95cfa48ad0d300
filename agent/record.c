/*
 * Events into the ledger: one function per kind of event, called by the hooks with a busy context.
 */
#include "agent/record.h"

#include "agent/agent.h"
#include "agent/block.h"
#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/sample.h"
#include "agent/site.h"
#include "agent/sys.h"
#include "agent/total.h"
#include "agent/unwind.h"

static inline unsigned class_of(uint64_t size)
{
	unsigned bits;

	if (size <= 16)
		return 0;
	if (size <= 256)
		return 1;
	bits = 64 - (unsigned)__builtin_clzll(size - 1);	/* 2^(bits-1) < size <= 2^bits */
	return bits > 16 ? 6 : (bits - 5) / 2;
}

/* The figures an allocation of this size counts for: itself, or what its sample stands for. */
static inline void scale(uint64_t address, uint64_t size, uint64_t *blocks, uint64_t *bytes)
{
	if (likely(!A.sampled)) {
		*blocks = 1;
		*bytes = size;
		return;
	}
	*blocks = sample_weight(size, address);
	*bytes = sample_bytes(size);
}

static inline void seq_begin(struct tctx *c)
{
	STORE(c->pub.seq, c->pub.seq + 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void seq_end(struct tctx *c)
{
	STORE_RELEASE(c->pub.seq, c->pub.seq + 1);
}

static inline unsigned lifetime_of(uint32_t birth, uint32_t now)
{
	uint32_t ticks = now - birth;
	unsigned k;

	if (likely(!ticks) || ticks > UINT32_MAX / 2)
		return 0;
	k = 32 - (unsigned)__builtin_clz(ticks);
	return k < PMM_NR_LIFETIMES ? k : PMM_NR_LIFETIMES - 1;
}

/* A block came: into all sums. */
static inline __attribute__((always_inline)) void allocated(struct tctx *c, uint64_t address, const struct block_new *b)
{
	struct pmm_class *class = &c->pub.class[class_of(b->size)];
	uint64_t blocks, bytes, epoch;
	struct pmm_record *r;

	scale(address, b->size, &blocks, &bytes);
	epoch = total_add(c, bytes);
	r = site_record(c, b->site, epoch);
	if (likely(r)) {
		r->bytes_in += bytes;
		r->allocs += blocks;
		if (unlikely(b->size > r->max_bytes))
			r->max_bytes = b->size;
		if (unlikely(r->first_tick == UINT32_MAX))
			r->first_tick = b->tick;
		r->last_tick = b->tick;
		if (unlikely(!b->size))
			r->zero_size++;
		if (unlikely(A.warn_size && b->size >= A.warn_size))
			r->huge++;
		if (A.sampled)
			r->samples_in++;
	} else {
		ADD(A.ledger->dropped[PMM_DROP_SITE_FULL], 1);
	}
	c->pub.allocs += blocks;
	c->pub.bytes_in += bytes;
	class->calls[b->kind] += blocks;
	class->bytes_in += bytes;
	c->last_address = address;
	if (A.sampled) {
		uint8_t *filter = sample_filter(address), old = LOAD(*filter);

		while (old < 255 && !CAS(*filter, old, old + 1))
			;
	}
}

/* `place` as block_place() found it. */
static inline __attribute__((always_inline)) void entered(struct tctx *c, uint64_t address, uint64_t *place, uint64_t size, uint32_t kind,
							  uint32_t site, uint32_t tick)
{
	struct block_new new = { size, site, kind, tick, c->pub.thread, &c->stamp };

	seq_begin(c);
	if (likely(block_add(address, place, &new)))
		allocated(c, address, &new);
	seq_end(c);
}

static inline uint64_t sized(uint64_t size)
{
	return likely(size <= PMM_SIZE_MAX) ? size : PMM_SIZE_MAX;
}

uint32_t record_alloc(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind, const struct caller *from)
{
	uint32_t tick = clock_now();
	uint64_t *place = block_place(address);	/* the walk hides the cache miss */
	uint32_t site = unwind_site(c, from, 0);

	entered(c, address, place, sized(size), kind, site, tick);
	return site;
}

void record_alloc_placed(struct tctx *c, uint64_t address, uint64_t *place, uint64_t size, uint32_t kind, uint32_t site)
{
	entered(c, address, place, sized(size), kind, site, clock_now());
}

void record_alloc_at(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind, uint32_t site)
{
	record_alloc_placed(c, address, block_place(address), size, kind, site);
}

void record_alloc_apart(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind, uint32_t site)
{
	struct block_new new = { size, site, kind, clock_now(), c->pub.thread, &c->stamp };

	seq_begin(c);
	allocated(c, address, &new);
	seq_end(c);
}

void record_free_unknown(struct tctx *c)
{
	if (!A.sampled && !A.min_size)
		c->pub.untracked_frees++;
	c->last_address = 0;
}

/* The block was taken out of the table: out of all sums as well. */
static inline __attribute__((always_inline)) void released(struct tctx *c, uint64_t address, struct block_info *was)
{
	struct pmm_class *class;
	uint64_t blocks, bytes, epoch;
	struct pmm_record *r;

	scale(address, was->size, &blocks, &bytes);
	epoch = total_sub(c, bytes);
	r = site_record(c, was->site, epoch);
	if (likely(r)) {
		r->bytes_out += bytes;
		r->frees += blocks;
		was->lifetime = (uint8_t)lifetime_of(was->birth_tick, unlikely(A.compiled_in) ? clock_of_release(c) : clock_now());
		was->temporary = c->last_address == address;
		r->lifetime[was->lifetime] += blocks;
		if (A.sampled)
			r->samples_out++;
		if (was->temporary) {
			r->temporary += blocks;
			c->pub.temporary += blocks;
		}
	}
	c->pub.frees += blocks;
	c->pub.bytes_out += bytes;
	class = &c->pub.class[class_of(was->size)];
	class->frees += blocks;
	class->bytes_out += bytes;
	c->last_address = 0;
	if (A.sampled) {
		uint8_t *filter = sample_filter(address), old = LOAD(*filter);

		while (old && old < 255 && !CAS(*filter, old, old - 1))
			;
	}
}

bool record_free(struct tctx *c, uint64_t address, struct block_info *was)
{
	bool known;

	seq_begin(c);
	known = likely(block_del(address, &c->stamp, was));
	if (likely(known))
		released(c, address, was);
	else
		record_free_unknown(c);
	seq_end(c);
	return known;
}

void record_free_apart(struct tctx *c, uint64_t address, struct block_info *was)
{
	seq_begin(c);
	released(c, address, was);
	seq_end(c);
}

bool record_free_pool(struct tctx *c, uint64_t address, struct block_info *was)
{
	bool known;

	seq_begin(c);
	known = block_del_pool(address, &c->stamp, was);
	if (known)
		released(c, address, was);
	seq_end(c);
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
	r = site_record(c, was->site, epoch);
	if (r) {
		r->bytes_out -= bytes;
		r->frees -= blocks;
		r->lifetime[was->lifetime] -= blocks;
		if (was->temporary) {
			r->temporary -= blocks;
			c->pub.temporary -= blocks;
		}
		if (A.sampled)
			r->samples_out--;
	}
	c->pub.frees -= blocks;
	c->pub.bytes_out -= bytes;
	class->frees -= blocks;
	class->bytes_out -= bytes;
	if (A.sampled)
		ADD(*sample_filter(address), 1);
}

void record_restore(struct tctx *c, uint64_t address, const struct block_info *was)
{
	seq_begin(c);
	if (block_restore(address, was))
		restored(c, address, was);
	seq_end(c);
}

void record_restore_apart(struct tctx *c, uint64_t address, const struct block_info *was)
{
	seq_begin(c);
	restored(c, address, was);
	seq_end(c);
}

void record_failed(struct tctx *c, uint64_t size, uint32_t kind, const struct caller *from)
{
	(void)kind;
	record_failed_at(c, size, unwind_site(c, from, 0));
}

void record_failed_at(struct tctx *c, uint64_t size, uint32_t site)
{
	struct pmm_record *r;

	seq_begin(c);
	r = site_record(c, site, 0);		/* changes nothing that the peak is made of */
	if (r) {
		r->failed++;
		if (!size)
			r->zero_size++;
		if (A.warn_size && size >= A.warn_size)
			r->huge++;
		if (size > r->max_bytes)
			r->max_bytes = size;
	}
	c->pub.class[class_of(size)].failed++;
	seq_end(c);
}

void record_rename(struct tctx *c, uint64_t address, uint32_t kind)
{
	uint64_t size = 0, blocks, bytes;
	uint32_t was;

	seq_begin(c);
	was = block_rename(address, kind, &size);
	if (was != PMM_KIND_NONE) {
		struct pmm_class *class = &c->pub.class[class_of(size)];

		scale(address, size, &blocks, &bytes);
		class->calls[was] -= blocks;
		class->calls[kind] += blocks;
	}
	seq_end(c);
}

bool record_move(struct tctx *c, uint64_t address, uint32_t site)
{
	uint64_t size = 0, blocks, bytes, epoch;
	struct pmm_record *r;
	uint32_t was;

	seq_begin(c);
	was = block_change_site(address, site, &size);
	if (was) {
		scale(address, size, &blocks, &bytes);
		epoch = total_add(c, 0);
		r = site_record(c, was, epoch);
		if (r) {
			r->bytes_in -= bytes;
			r->allocs -= blocks;
		}
		r = site_record(c, site, epoch);
		if (r) {
			r->bytes_in += bytes;
			r->allocs += blocks;
			r->max_bytes = size > r->max_bytes ? size : r->max_bytes;
			r->last_tick = clock_now();
			r->first_tick = r->first_tick == UINT32_MAX ? r->last_tick : r->first_tick;
		}
	}
	seq_end(c);
	return was != 0;
}

/*
 * Take what overlaps [from, to) out of one mapping that began at `at`, and put back what is left on both sides. A mapping that
 * goes altogether counts as released; one that falls in two counts as one more.
 */
static void map_cut(struct tctx *c, uint64_t at, const struct block_info *m, uint64_t from, uint64_t to)
{
	struct pmm_record *r = site_record(c, m->site, 0);
	uint64_t end = at + m->size, left = 0;
	unsigned pieces = 0;

	if (at < from && block_add_map(at, (from < end ? from : end) - at, m->site, c->pub.thread, m->birth_tick)) {
		left += (from < end ? from : end) - at;
		pieces++;
	}
	if (end > to && block_add_map(to, end - to, m->site, c->pub.thread, m->birth_tick)) {
		left += end - to;
		pieces++;
	}
	if (!r)
		return;
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

	if (size > PMM_SIZE_MAX)
		size = PMM_SIZE_MAX;
	seq_begin(c);
	map_clear(c, address, address + pages(size));
	if (block_add_map(address, size, site, c->pub.thread, tick) && (r = site_record(c, site, 0))) {
		r->bytes_in += size;
		r->allocs++;
		if (size > r->max_bytes)
			r->max_bytes = size;
		if (r->first_tick == UINT32_MAX)
			r->first_tick = tick;
		r->last_tick = tick;
	}
	seq_end(c);
}

void record_unmap(struct tctx *c, uint64_t address, uint64_t size)
{
	seq_begin(c);
	map_clear(c, address, address + pages(size));
	seq_end(c);
}
