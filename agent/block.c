/* SPDX-License-Identifier: MIT */
/*
 * The block tables: radix trees over addresses (include/pmm/ledger.h, struct pmm_table).
 *
 * Hot path: block_add and block_del, one cache miss each. A live block belongs to one owner, the
 * thread that allocated it or is about to free it, so with an allocator whose blocks are at least a
 * granule apart every word has one writer and plain stores do. Other allocators (agent.dense) share
 * granules: then a word is taken by compare-and-swap, and a block whose granule is taken by a
 * neighbour goes to the table with 8-byte granules.
 *
 * While a scanner copies the tables (pmm_ledger.changing), each store is followed by a mark on the
 * place where it was. The order on all processors:
 *
 *	agent				scanner (src/ledger/precopy.c, precopy_marks.c)
 *	store word	(1)		changing = 1	(4)
 *	load changing	(2)		membarrier	(5)
 *	mark = 1	(3), release	exchange mark with 0	(6), sequentially consistent
 *					copy words	(7)
 *
 * (3) pairs with (6): who takes a mark copies what was stored before it; a mark that is set after
 * (6) is found the next time. (2) pairs with (4) by (5): a thread that loads 0 either did so before
 * the barrier, and then its word is in the copy, or has an odd `seq` (agent/seqlock.h), and is
 * waited for. On x86-64 none of (1) to (3) is more than a move.
 *
 * Blocks of pools (PMM_KIND_OTHER) are inside blocks or mappings that are recorded themselves, so
 * they always go to that table, and are only found there when they are asked for.
 */
#include "agent/block.h"

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/block_words.h"
#include "agent/sys.h"

#define STAMPS_PER_STEP_LOG2	18	/* 2 MiB of stamps */
#define STAMP_LAST_STEP		((PMM_MAX_STAMPS >> STAMPS_PER_STEP_LOG2) - 1)
#define STAMP_PARTS_LOG2	4	/* of the last step */
#define STAMP_SHARE_LOG2	12	/* the first of them: 1/4096 of the time so far */

/* The newest number of the threads that share one (PMM_MAX_THREADS), which is for all of them. */
static uint32_t stamp_of_many;

void block_init(void)
{
	stamp_of_many = 0;
	for (int i = 0; i < PMM_NR_TABLES; i++) {
		struct pmm_table *t = &agent.ledger->table[i];

		t->shift = shape[i].shift;
		t->mid_bits = shape[i].mid_bits;
		t->top_bits = PMM_ADDRESS_BITS - t->shift - t->mid_bits - PMM_LEAF_BITS;
		t->top_off = PMM_TOP_OFF(i);
	}
}

/* ---- marks ----------------------------------------------------------------------------------- */

/*
 * [at, at + bytes) has changed. Numbers that the program has overwritten lead to a wrong mark at
 * most.
 */
static __attribute__((noinline)) void mark(const void *at, size_t bytes)
{
	uint64_t off = (uint64_t)((const char *)at - agent.base) - PMM_ARENA_OFF;
	uint32_t shift = LOAD(agent.ledger->mark_shift) & 63, nr = LOAD(agent.ledger->nr_marks);
	uint8_t *marks = (uint8_t *)agent.base + PMM_MARKS_OFF;

	for (uint64_t i = off >> shift;
	     i <= (off + bytes - 1) >> shift && i < nr && i < PMM_MAX_MARKS; i++)
		STORE_RELEASE(marks[i], 1);
}

static inline void mark_watched(const void *at, size_t bytes)
{
	if (block_watched())
		mark(at, bytes);
}

/*
 * Unlike the tables' own stores these come before the look at the word: a scanner that raised it
 * after that look makes every processor's stores visible before it copies.
 */
void block_changed(const void *at, size_t bytes)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mark_watched(at, bytes);
}

/* ---- the trees ------------------------------------------------------------------------------- */

/*
 * A mid is chained first (pmm_table.mids) and then published in the top directory: what blocks are
 * hung into is what readers find, wherever the mid's maker is stopped or killed, or left by a jump.
 * Before one is chained the newest is published, as those before it were likewise: so at most one
 * is chained and not published. An address that is not in the top directory then has no mid in the
 * chain, and none comes there before the new one, as the chain grows at its head only. So no two
 * have the same base, nobody waits for another, and a jump loses the memory of one mid at most: if
 * it came before that was chained.
 */
static pmm_ref *mid_top(enum pmm_table_id id, uint64_t address)
{
	return (pmm_ref *)(agent.base + PMM_TOP_OFF(id)) +
	       (address >> (shape[id].shift + PMM_LEAF_BITS + shape[id].mid_bits));
}

/* One that is chained, by whichever thread. */
static void mid_publish(enum pmm_table_id id, pmm_ref ref)
{
	struct pmm_mid *mid = arena_at(ref);
	pmm_ref *top = mid_top(id, mid->base);

	if (LOAD(*top))
		return;
	mark_watched(mid, sizeof(*mid));
	STORE_RELEASE(*top, ref);
}

static struct pmm_mid *mid_get(enum pmm_table_id id, uint64_t base)
{
	uint64_t top_page = ((uint64_t)((char *)mid_top(id, base) - agent.base)) & ~(PMM_PAGE - 1);
	struct pmm_mid *mid = arena_get(sizeof(*mid) + (sizeof(pmm_ref) << shape[id].mid_bits), 64);

	if (!mid || !arena_back(top_page, top_page + PMM_PAGE))
		return NULL;
	mid->base = base;
	mid->nr_leaves = 1u << shape[id].mid_bits;
	if (unlikely(agent.mid_added) && id == PMM_TABLE_HEAP)
		agent.mid_added(base);
	return mid;
}

static struct pmm_mid *mid_new(enum pmm_table_id id, uint64_t base)
{
	struct pmm_table *t = &agent.ledger->table[id];
	pmm_ref newest = LOAD_ACQUIRE(t->mids), ref;
	struct pmm_mid *mid = NULL;

	for (;;) {
		if (newest)
			mid_publish(id, newest);
		if ((ref = LOAD_ACQUIRE(*mid_top(id, base))))
			return arena_at(ref);	/* another thread's, or that of who was left */
		if (!mid && !(mid = mid_get(id, base)))
			return NULL;
		mid->next = newest;
		if (CAS(t->mids, newest, arena_ref(mid)))
			break;
	}
	mid_publish(id, arena_ref(mid));
	return mid;
}

static uint64_t *leaf_new(pmm_ref *slot)
{
	uint64_t *leaf = arena_for_blocks() ? arena_get(PMM_LEAF_WORDS * sizeof(*leaf), 64) : NULL;
	pmm_ref none = 0;

	if (!leaf)
		return NULL;
	if (!CAS(*slot, none, arena_ref(leaf)))
		return arena_at(none);
	mark_watched(slot, sizeof(*slot));
	return leaf;
}

static struct pmm_mid *mid_make(enum pmm_table_id id, uint64_t address)
{
	unsigned top_shift = shape[id].shift + PMM_LEAF_BITS + shape[id].mid_bits;
	pmm_ref ref = LOAD_ACQUIRE(*mid_top(id, address));

	return ref ? arena_at(ref) : mid_new(id, address >> top_shift << top_shift);
}

void block_cover(uint64_t address)
{
	if (address_ok(address))
		mid_make(PMM_TABLE_HEAP, address);
}

/* Into the table of leaves, whose place is given once: all threads enter and look by the same. */
static void leaf_note(uint64_t address, uint64_t *leaf)
{
	uint64_t from = LOAD(agent.leaves_from), off;

	if (from == LEAVES_NOWHERE && CAS(agent.leaves_from, from, leaves_around(address)))
		from = LOAD(agent.leaves_from);
	off = address - from;
	if (off < agent.leaves_reach)
		STORE_RELEASE(agent.leaves[off >> LEAVES_SHIFT], leaf);
}

static __attribute__((noinline)) uint64_t *word_make(enum pmm_table_id id, uint64_t address)
{
	unsigned top_shift = shape[id].shift + PMM_LEAF_BITS + shape[id].mid_bits;
	uint64_t base = address >> top_shift << top_shift;
	struct pmm_mid *mid = mid_make(id, address);
	uint64_t *leaf;
	pmm_ref *slot;

	if (!mid)
		return NULL;
	slot = &mid->leaf[(address - base) >> (shape[id].shift + PMM_LEAF_BITS)];
	leaf = *slot ? arena_at(*slot) : leaf_new(slot);
	if (leaf && id == PMM_TABLE_HEAP)
		leaf_note(address, leaf);
	return leaf ? &leaf[address >> shape[id].shift & (GRANULES - 1)] : NULL;
}

static bool no_address(void)
{
	ADD(agent.ledger->dropped[PMM_DROP_ADDRESS], 1);
	return false;
}

static bool no_room(uint64_t size)
{
	ADD(agent.ledger->dropped[PMM_DROP_BLOCK_FULL], 1);
	ADD(agent.ledger->dropped_bytes, size);
	return false;
}

/* ---- stamps ---------------------------------------------------------------------------------- */

/*
 * A number stands for one tick at first and for twice as many after every 2^18 numbers, so that
 * stamps never take more than some tens of MiB: one busy thread has ticks for 43 minutes and 1 s
 * after three days. So that the last 2^18 numbers last for as long as there are ticks, whatever the
 * number of threads, each of these is for a share of the time so far at least. The share doubles
 * with each sixteenth of them, up to all of it.
 */
static uint32_t stamp_end(uint32_t nr, uint32_t tick)
{
	uint32_t step = nr >> STAMPS_PER_STEP_LOG2, ticks = 1u << step, start, share, part;

	if (step == STAMP_LAST_STEP) {
		start = agent.ledger->start_tick;
		part = nr >> (STAMPS_PER_STEP_LOG2 - STAMP_PARTS_LOG2) &
		       ((1u << STAMP_PARTS_LOG2) - 1);
		share = (tick > start ? tick - start : 0) >>
			(part < STAMP_SHARE_LOG2 ? STAMP_SHARE_LOG2 - part : 0);
		ticks = share > ticks ? share : ticks;
	}
	return ticks < UINT32_MAX - tick ? tick + ticks : UINT32_MAX;
}

static void number_take(struct block_stamp *stamp, uint32_t nr, uint32_t end_tick)
{
	stamp->number = nr;
	stamp->end_tick = end_tick;
	stamp->last_time = pmm_time_of_tick(end_tick - 1);
}

/* False: there is none for that time. */
static bool number_share(struct block_stamp *stamp, uint32_t tick)
{
	uint32_t nr = LOAD_ACQUIRE(stamp_of_many), from, end;

	if (!nr)
		return false;
	from = stamp_at(nr)->tick;
	end = stamp_end(nr, from);
	if (tick < from || tick >= end)
		return false;
	number_take(stamp, nr, end);
	return true;
}

/*
 * A new number for a thread and a time. Each thread takes one, so those that are beyond the
 * numbers of threads share it, or a program that starts threads for ever would use them all up.
 * Without room the context's last number continues for this tick.
 */
static void number_new(struct block_stamp *stamp, uint32_t thread, uint32_t tick)
{
	const bool many = thread == PMM_MAX_THREADS - 1;
	uint32_t nr = LOAD(agent.ledger->nr_stamps);
	struct pmm_stamp *s;

	if (many && number_share(stamp, tick))
		return;
	stamp->end_tick = tick;
	do
		if (nr >= PMM_MAX_STAMPS)
			return;
	while (!CAS(agent.ledger->nr_stamps, nr, nr + 1));
	s = arena_chunk(agent.ledger->stamp_dir, nr, PMM_STAMP_SHIFT, sizeof(*s));
	if (!s)
		return;
	s->tick = tick;
	s->thread = (uint16_t)thread;
	number_take(stamp, nr, stamp_end(nr, tick));
	if (many)
		STORE_RELEASE(stamp_of_many, nr);
}

/* Time has passed since the context's last block; if it has gone back, by another one's look. */
static __attribute__((noinline)) void stamp_now(struct block_stamp *stamp, uint32_t thread,
						uint32_t tick)
{
	if (stamp->now == BLOCK_NEVER || tick - stamp->now >= stamp->end_tick - stamp->now)
		number_new(stamp, thread, tick);
	stamp->time = pmm_time_of_tick(tick);
	stamp->now = tick;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The first word, which makes it a block. */
static inline bool put_first(uint64_t *at, uint64_t word, bool dense)
{
	if (unlikely(dense))
		return word_share(at, word);
	STORE_RELEASE(*at, word);
	return true;
}

/*
 * With marks. The second word's comes before the first word, so that no copy ever has the first one
 * without the second.
 */
static __attribute__((noinline, cold)) bool put_watched(uint64_t *at, const uint64_t word[2],
							bool dense)
{
	if (is_wide(word[0])) {
		STORE(at[1], word[1]);
		mark(at + 1, sizeof(*at));
	}
	if (!put_first(at, word[0], dense))
		return false;
	mark(at, sizeof(*at));
	return true;
}

static inline bool put_words(uint64_t *at, const uint64_t word[2], bool dense)
{
	uint64_t nowhere, *second = is_wide(word[0]) ? at + 1 : &nowhere;

	if (block_watched())
		return put_watched(at, word, dense);
	STORE(*second, word[1]);
	return put_first(at, word[0], dense);
}

/*
 * Enter words at their place. With allocators that share granules it may be taken: false. A
 * neighbour that has our granule is small, and one that takes it meanwhile is as well, so the next
 * granule is within our block in any case.
 */
static inline bool put(uint64_t *at, const uint64_t word[2])
{
	bool dense = agent.dense;

	return likely(!dense) ? put_words(at, word, false)
			      : !is_block(LOAD(*at)) && put_words(at, word, true);
}

static __attribute__((noinline)) bool put_dense(uint64_t address, uint64_t word[2])
{
	uint64_t *at = word_find(PMM_TABLE_DENSE, address);

	word[0] &= ~(3ull << PMM_WORD_SUB_SHIFT);
	if (!at && !(at = word_make(PMM_TABLE_DENSE, address)))
		return false;
	return put(at, word);
}

/* `at` as block_place found it. */
static inline bool put_anywhere(uint64_t address, uint64_t *at, uint64_t word[2])
{
	if (unlikely(!at) && !(at = word_make(PMM_TABLE_HEAP, address)))
		return false;
	return likely(put(at, word)) || put_dense(address, word);
}

bool block_add(uint64_t address, uint64_t *place, const struct block_new *b)
{
	uint64_t word[2];

	if (unlikely(!place && !address_ok(address)))
		return no_address();
	if (!block_stamped(b))
		stamp_now(b->stamp, b->thread, b->tick);
	block_words(address, b, word);
	if (unlikely(b->kind == PMM_KIND_OTHER))
		return put_dense(address, word) || no_room(b->size);
	return likely(put_anywhere(address, place, word)) || no_room(b->size);
}

bool block_restore(uint64_t address, const struct block_info *was)
{
	uint64_t word[2] = { was->word[0] & ~(3ull << PMM_WORD_SUB_SHIFT), was->word[1] };

	if (was->kind == PMM_KIND_OTHER)
		return put_dense(address, word) || no_room(was->size);
	word[0] |= sub_of(address) << PMM_WORD_SUB_SHIFT;
	return put_anywhere(address, block_place(address), word) || no_room(was->size);
}

/* Where the live block of a pool that begins at `address` has its words; NULL: there is none. */
static uint64_t *pool_find(uint64_t address)
{
	uint64_t *at = address_ok(address) ? word_find(PMM_TABLE_DENSE, address) : NULL;

	return at && kind_of(LOAD(*at)) == PMM_KIND_OTHER ? at : NULL;
}

/* False: another thread, that releases it as well, was faster. */
static inline __attribute__((always_inline)) bool remove_block(uint64_t *at,
							       const struct block_stamp *now,
							       struct block_info *out)
{
	block_decode(at, now, out);
	if (unlikely(!is_block(out->word[0])))
		return false;
	STORE_RELEASE(*at, 0);
	mark_watched(at, sizeof(*at));
	return true;
}

bool block_displace(uint64_t *at, uint64_t word, const struct block_stamp *now,
		    struct block_info *out)
{
	block_decode(at, now, out);
	if (out->word[0] != word || !CAS(*at, word, 0))
		return false;
	mark_watched(at, sizeof(*at));
	return true;
}

bool block_del(uint64_t address, const struct block_stamp *now, struct block_info *out)
{
	uint64_t *at = block_find(address);

	return likely(at) && remove_block(at, now, out);
}

void block_forget(uint64_t address)
{
	struct block_info was;

	block_del(address, &no_stamp, &was);
}

bool block_del_pool(uint64_t address, const struct block_stamp *now, struct block_info *out)
{
	uint64_t *at = pool_find(address);

	return at && remove_block(at, now, out);
}

/*
 * Let a live block's word have other bits in place of `mask`; returns what it was, with *size, or
 * 0.
 */
static uint64_t reword(uint64_t address, uint64_t mask, uint64_t bits, uint64_t *size)
{
	uint64_t *at = block_find(address);
	uint64_t word;

	if (!at)
		return 0;
	word = LOAD(*at);
	*size = size_of(at, word);
	STORE(*at, (word & ~mask) | bits);
	mark_watched(at, sizeof(*at));
	return word;
}

bool block_change_site(uint64_t address, uint32_t site, uint32_t *was, uint64_t *size)
{
	const uint64_t mask = (uint64_t)(PMM_MAX_SITES - 1) << PMM_WORD_SITE_SHIFT;
	uint64_t word = reword(address, mask, (uint64_t)site << PMM_WORD_SITE_SHIFT, size);

	*was = site_field(word);
	return is_block(word);
}

uint32_t block_rename(uint64_t address, uint32_t kind, uint64_t *size)
{
	return kind_of(reword(address, 15ull << PMM_WORD_KIND_SHIFT,
			      (uint64_t)kind << PMM_WORD_KIND_SHIFT, size));
}

/* ---- mappings -------------------------------------------------------------------------------- */

bool block_add_map(uint64_t address, uint64_t size, uint32_t site, uint32_t thread, uint32_t tick)
{
	uint64_t word[2] = { word_of(pmm_time_of_tick(tick), site, 0, PMM_SIZE_WIDE, PMM_KIND_MMAP),
			     size | (uint64_t)thread << PMM_WIDE_THREAD_SHIFT };
	uint64_t *at, longest = LOAD(agent.longest_map);

	if (!address_ok(address))
		return no_address();
	while (size > longest && !CAS(agent.longest_map, longest, size))
		;
	at = word_find(PMM_TABLE_MAP, address);
	if (!at && !(at = word_make(PMM_TABLE_MAP, address)))
		return no_room(size);
	return put_words(at, word, false);
}

/*
 * How far below an address the start of its mapping is looked for, beside that it is no further
 * than the longest mapping that ever was.
 */
#define MAP_SEARCH_LEAVES	16384u
#define MAP_LEAF_BYTES		((PMM_PAGE / 2) << PMM_LEAF_BITS)
#define MAP_MID_BYTES		(MAP_LEAF_BYTES << shape[PMM_TABLE_MAP].mid_bits)

bool block_take_map(uint64_t from, uint64_t to, bool below, uint64_t *at, struct block_info *out)
{
	uint64_t page = below ? from - PMM_PAGE : from, longest = LOAD(agent.longest_map);
	uint64_t least = below && from > longest ? from - longest : 0;

	for (unsigned leaves = 0; leaves < MAP_SEARCH_LEAVES && page >> PMM_ADDRESS_BITS == 0 &&
				  page >= least;) {
		bool any = LOAD(*mid_top(PMM_TABLE_MAP, page));
		uint64_t bytes = any ? MAP_LEAF_BYTES : MAP_MID_BYTES;
		uint64_t first = page & ~(bytes - 1), last = first + bytes - PMM_PAGE;
		uint64_t *leaf = any ? word_find(PMM_TABLE_MAP, first) : NULL;

		leaves += any;
		for (; leaf && page >= first && page <= last && (below || page < to);
		     page = below ? page - PMM_PAGE : page + PMM_PAGE) {
			uint64_t *words = &leaf[(page - first) / (PMM_PAGE / 2)],
				 word = LOAD(*words);

			if (!is_block(word))
				continue;
			if (below && page + size_of(words, word) <= from)
				return false; /* ends before us, and so does all below it */
			*at = page;
			return remove_block(words, &no_stamp, out);
		}
		page = below ? first - PMM_PAGE : last + PMM_PAGE;
		if (!below && page >= to)
			return false;
	}
	return false;
}
