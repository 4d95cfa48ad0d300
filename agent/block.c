/*
 * The block tables: radix trees over addresses (include/pmm/ledger.h, struct pmm_table).
 *
 * Hot path: block_add and block_del, one cache miss each. A live block belongs to one owner, the thread that
 * allocated it or is about to free it, so with an allocator whose blocks are at least a granule apart every entry has one
 * writer and plain stores do. Other allocators (A.dense) share granules: then an entry is taken by compare-and-swap, and a
 * block whose granule is taken by a neighbour goes to the table with 8-byte granules.
 */
#include "agent/block.h"

#include "agent/agent.h"
#include "agent/arena.h"
#include "agent/sys.h"

#define ENTRIES	(1u << PMM_LEAF_BITS)

/* word0 */
#define SITE_MASK	0xffffffull
#define KIND_SHIFT	24
#define SUB_SHIFT	28
#define BIRTH_SHIFT	32
/* word1 */
#define THREAD_SHIFT	48
#define SIZE_MASK	((1ull << THREAD_SHIFT) - 1)

/* The tables' shapes: granule, leaves per mid. Together with 256-entry leaves they cover PMM_ADDRESS_BITS. */
static const struct { uint8_t shift, mid_bits; } shape[PMM_NR_TABLES] = {
	[PMM_TABLE_HEAP]  = {  5, 13 },
	[PMM_TABLE_DENSE] = {  3, 15 },
	[PMM_TABLE_MAP]   = { 12, 13 },
};

void block_init(void)
{
	for (int i = 0; i < PMM_NR_TABLES; i++) {
		struct pmm_table *t = &A.ledger->table[i];

		t->shift = shape[i].shift;
		t->mid_bits = shape[i].mid_bits;
		t->top_bits = PMM_ADDRESS_BITS - t->shift - t->mid_bits - PMM_LEAF_BITS;
		t->top_off = PMM_TOP_OFF(i);
	}
}

static struct pmm_mid *mid_new(struct pmm_table *t, pmm_ref *top, uint64_t base)
{
	uint64_t top_page = ((uint64_t)((char *)top - A.base)) & ~(PMM_PAGE - 1);
	struct pmm_mid *mid = arena_get(sizeof(*mid) + (sizeof(pmm_ref) << t->mid_bits), 64);
	pmm_ref none = 0, head;

	if (!mid || !arena_back(top_page, top_page + PMM_PAGE))
		return NULL;
	mid->base = base;
	mid->nr_leaves = 1u << t->mid_bits;
	if (!CAS(*top, none, arena_ref(mid)))
		return arena_at(none);		/* somebody else was faster */
	head = LOAD(t->mids);
	do
		mid->next = head;
	while (!CAS(t->mids, head, arena_ref(mid)));
	return mid;
}

static struct pmm_block *leaf_new(pmm_ref *slot)
{
	void *leaf = arena_get(ENTRIES * sizeof(struct pmm_block), ARCH_PAGE);
	pmm_ref none = 0;

	if (!leaf)
		return NULL;
	return CAS(*slot, none, arena_ref(leaf)) ? leaf : arena_at(none);
}

static __attribute__((noinline)) struct pmm_block *entry_make(enum pmm_table_id id, uint64_t address)
{
	struct pmm_table *t = &A.ledger->table[id];
	unsigned top_shift = shape[id].shift + PMM_LEAF_BITS + shape[id].mid_bits;
	pmm_ref *top = (pmm_ref *)(A.base + PMM_TOP_OFF(id)) + (address >> top_shift);
	uint64_t base = address >> top_shift << top_shift;
	struct pmm_mid *mid = *top ? arena_at(*top) : mid_new(t, top, base);
	struct pmm_block *leaf;
	pmm_ref *slot;

	if (!mid)
		return NULL;
	slot = &mid->leaf[(address - base) >> (shape[id].shift + PMM_LEAF_BITS)];
	leaf = *slot ? arena_at(*slot) : leaf_new(slot);
	return leaf ? &leaf[address >> shape[id].shift & (ENTRIES - 1)] : NULL;
}

/* The entry for an address; NULL where there is no leaf. */
static inline struct pmm_block *entry_find(enum pmm_table_id id, uint64_t address)
{
	unsigned shift = shape[id].shift, mid_bits = shape[id].mid_bits;
	unsigned leaf_shift = shift + PMM_LEAF_BITS;
	pmm_ref ref = LOAD_ACQUIRE(((pmm_ref *)(A.base + PMM_TOP_OFF(id)))[address >> (leaf_shift + mid_bits)]);
	struct pmm_mid *mid;

	if (unlikely(!ref))
		return NULL;
	mid = arena_at(ref);
	ref = LOAD_ACQUIRE(mid->leaf[address >> leaf_shift & ((1u << mid_bits) - 1)]);
	if (unlikely(!ref))
		return NULL;
	return (struct pmm_block *)arena_at(ref) + (address >> shift & (ENTRIES - 1));
}

void block_prefetch(uint64_t address)
{
	if (likely(address >> PMM_ADDRESS_BITS == 0))
		__builtin_prefetch(entry_find(PMM_TABLE_HEAP, address), 1);
}

static inline bool address_ok(uint64_t address)
{
	if (likely(address >> PMM_ADDRESS_BITS == 0))
		return true;
	ADD(A.ledger->dropped[PMM_DROP_ADDRESS], 1);
	return false;
}

/* Address bits below the granule, in sixteenths of it. */
static inline uint64_t sub_of(enum pmm_table_id id, uint64_t address)
{
	return shape[id].shift < 4 ? 0 : (address & ((1ull << shape[id].shift) - 1)) >> (shape[id].shift - 4);
}

static inline uint64_t word0(uint64_t site, uint64_t kind, uint64_t sub, uint64_t tick)
{
	return site | kind << KIND_SHIFT | sub << SUB_SHIFT | tick << BIRTH_SHIFT;
}

static __attribute__((noinline)) bool add_dense(uint64_t address, uint64_t word0_heap, uint64_t word1)
{
	uint64_t w0 = word0_heap & ~(0xfull << SUB_SHIFT);
	struct pmm_block *b = entry_find(PMM_TABLE_DENSE, address);

	if (!b && !(b = entry_make(PMM_TABLE_DENSE, address)))
		return false;
	STORE(b->word1, word1);
	STORE_RELEASE(b->word0, w0);
	return true;
}

static bool no_room(uint64_t size)
{
	ADD(A.ledger->dropped[PMM_DROP_BLOCK_FULL], 1);
	ADD(A.ledger->dropped_bytes, size);
	return false;
}

bool block_add(uint64_t address, uint64_t size, uint32_t site, uint32_t kind, uint32_t thread, uint32_t tick)
{
	uint64_t w0, w1 = (size & SIZE_MASK) | (uint64_t)thread << THREAD_SHIFT;
	struct pmm_block *b;
	uint64_t none = 0;

	if (!address_ok(address))
		return false;
	b = entry_find(PMM_TABLE_HEAP, address);
	if (unlikely(!b) && !(b = entry_make(PMM_TABLE_HEAP, address)))
		return no_room(size);
	w0 = word0(site, kind, sub_of(PMM_TABLE_HEAP, address), tick);
	if (unlikely(A.dense)) {
		/*
		 * Take the entry with word0 alone, then fill word1. A reader may see the new word0 with an old word1 for a
		 * moment; it re-reads.
		 */
		if (!CAS(b->word0, none, w0))
			return add_dense(address, w0, w1) || no_room(size);
		STORE_RELEASE(b->word1, w1);
		return true;
	}
	STORE(b->word1, w1);
	STORE_RELEASE(b->word0, w0);
	return true;
}

static inline void take(struct pmm_block *b, uint64_t w0, struct block_info *out)
{
	out->size = LOAD(b->word1) & SIZE_MASK;
	out->site = (uint32_t)(w0 & SITE_MASK);
	out->kind = w0 >> KIND_SHIFT & 15;
	out->birth_tick = (uint32_t)(w0 >> BIRTH_SHIFT);
	STORE_RELEASE(b->word0, 0);
}

bool block_del(uint64_t address, struct block_info *out)
{
	struct pmm_block *b;
	uint64_t w0;

	if (unlikely(address >> PMM_ADDRESS_BITS))
		return false;
	b = entry_find(PMM_TABLE_HEAP, address);
	if (likely(b)) {
		w0 = LOAD(b->word0);
		if (likely(w0 && (w0 >> SUB_SHIFT & 15) == sub_of(PMM_TABLE_HEAP, address))) {
			take(b, w0, out);
			return true;
		}
	}
	if (!A.dense)
		return false;
	b = entry_find(PMM_TABLE_DENSE, address);
	w0 = b ? LOAD(b->word0) : 0;
	if (!w0)
		return false;
	take(b, w0, out);
	return true;
}

uint32_t block_rename(uint64_t address, uint32_t kind, uint64_t *size)
{
	struct pmm_block *b = address >> PMM_ADDRESS_BITS ? NULL : entry_find(PMM_TABLE_HEAP, address);
	uint64_t w0 = b ? LOAD(b->word0) : 0;

	if (!w0 || (w0 >> SUB_SHIFT & 15) != sub_of(PMM_TABLE_HEAP, address)) {
		b = A.dense && !(address >> PMM_ADDRESS_BITS) ? entry_find(PMM_TABLE_DENSE, address) : NULL;
		w0 = b ? LOAD(b->word0) : 0;
	}
	if (!w0)
		return PMM_KIND_NONE;
	*size = LOAD(b->word1) & SIZE_MASK;
	STORE(b->word0, (w0 & ~(15ull << KIND_SHIFT)) | (uint64_t)kind << KIND_SHIFT);
	return w0 >> KIND_SHIFT & 15;
}

bool block_add_map(uint64_t address, uint64_t size, uint32_t site, uint32_t thread, uint32_t tick)
{
	struct pmm_block *b;

	if (!address_ok(address))
		return false;
	b = entry_find(PMM_TABLE_MAP, address);
	if (!b && !(b = entry_make(PMM_TABLE_MAP, address)))
		return no_room(size);
	STORE(b->word1, (size & SIZE_MASK) | (uint64_t)thread << THREAD_SHIFT);
	STORE_RELEASE(b->word0, word0(site, PMM_KIND_MMAP, 0, tick));
	return true;
}

/* How far below an address the start of its mapping is looked for. */
#define MAP_SEARCH_LEAVES	8192u
#define MAP_LEAF_BYTES		(PMM_PAGE << PMM_LEAF_BITS)

bool block_take_map(uint64_t from, uint64_t to, bool below, uint64_t *at, struct block_info *out)
{
	uint64_t page = below ? from - PMM_PAGE : from;

	for (unsigned leaves = 0; leaves < MAP_SEARCH_LEAVES && page >> PMM_ADDRESS_BITS == 0; leaves++) {
		uint64_t first = page & ~(MAP_LEAF_BYTES - 1), last = first + MAP_LEAF_BYTES - PMM_PAGE;
		struct pmm_block *leaf = entry_find(PMM_TABLE_MAP, first);

		for (; leaf && page >= first && page <= last && (below || page < to);
		     page = below ? page - PMM_PAGE : page + PMM_PAGE) {
			struct pmm_block *b = &leaf[(page - first) / PMM_PAGE];
			uint64_t w0 = LOAD(b->word0), size = LOAD(b->word1) & SIZE_MASK;

			if (!w0)
				continue;
			if (below && page + size <= from)
				return false;		/* ends before us, and so does all below it */
			take(b, w0, out);
			*at = page;
			return true;
		}
		page = below ? first - PMM_PAGE : last + PMM_PAGE;
		if (!below && page >= to)
			return false;
	}
	return false;
}
