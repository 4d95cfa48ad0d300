/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live blocks of a ledger, in order of address.
 *
 * Each table is a radix tree whose leaves are in order within a mid, and mids of a table neither
 * overlap nor share addresses, so sorting the mids gives a cursor that yields blocks in order; HEAP
 * and DENSE are merged by two cursors. In a running process a leaf is copied until two copies
 * agree: inserts write a block's first word last and deletes write it first, so what is there
 * are blocks that were live. Frozen tables (precopy.h) are read from their copy, which does not
 * change.
 */
#include "src/ledger/ledger_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vec.h"
#include "src/ledger/ledger_heap.h"

#define LEAF_GRANULES	(1u << PMM_LEAF_BITS)
#define LEAF_BYTES	(PMM_LEAF_WORDS * sizeof(uint64_t))
#define MAX_MID_BITS	20
#define MAX_SHIFT	21

struct mid {
	uint64_t base;
	pmm_ref ref;
};

struct cursor {
	struct ledger_reader *r;
	enum pmm_table_id id;
	unsigned shift, mid_bits;
	VEC(struct mid) mids;		/* by base */
	size_t next_mid;
	pmm_ref *leaf_ref;		/* of the current mid, 1 << mid_bits */
	uint32_t next_leaf;		/* in leaf_ref */
	uint32_t next_word;		/* in leaf */
	uint64_t leaf_address;
	uint64_t leaves, max_leaves;	/* visited; as many as the arena can hold */
	uint64_t *left;			/* blocks not met yet; at 0 all further leaves are empty */
	uint64_t *leaf, *again;		/* PMM_LEAF_WORDS each */
};

static uint64_t ref_off(pmm_ref ref)
{
	return (uint64_t)ref << PMM_REF_SHIFT;
}

/* ---- the way to the next leaf ---------------------------------------------------------------- */

static int compare_mids(const void *a, const void *b)
{
	const struct mid *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

/*
 * Collect the mids of the table. A list longer than the arena could hold is a ring: what was seen
 * of it is kept.
 */
static int cursor_mids(struct cursor *c, pmm_ref ref)
{
	uint64_t span = 1ull << (c->shift + PMM_LEAF_BITS + c->mid_bits);
	uint64_t bytes = sizeof(struct pmm_mid) + (sizeof(pmm_ref) << c->mid_bits);
	uint64_t max = ledger_reader_arena(c->r) / bytes + 1;
	size_t kept = 0;

	while (ref) {
		struct pmm_mid mid;

		if (c->mids.nr == max ||
		    ledger_reader_part(c->r, ref_off(ref), &mid, sizeof(mid)) ||
		    mid.nr_leaves != 1u << c->mid_bits || mid.base % span ||
		    mid.base >> PMM_ADDRESS_BITS) {
			c->r->damaged++;
			break;
		}
		if (vec_push(&c->mids, (struct mid){ mid.base, ref }))
			return -ENOMEM;
		ref = mid.next;
	}
	vec_sort(&c->mids, compare_mids);
	for (size_t i = 0; i < c->mids.nr; i++)
		if (!kept || c->mids.v[i].base != c->mids.v[kept - 1].base)
			c->mids.v[kept++] = c->mids.v[i];
	c->r->damaged += c->mids.nr - kept;
	c->mids.nr = kept;
	return 0;
}

static void cursor_fini(struct cursor *c)
{
	vec_fini(&c->mids);
	free(c->leaf_ref);
	free(c->leaf);
	free(c->again);
}

/* `left`: kept; how many blocks there are in this table and others, UINT64_MAX if not known. */
static int cursor_init(struct cursor *c, struct ledger_reader *r, enum pmm_table_id id,
		       uint64_t *left)
{
	const struct pmm_table *t = r->o->frozen ? &r->o->frozen->table[id] : &r->l->table[id];

	*c = (struct cursor){
		.r = r, .id = id, .shift = t->shift, .mid_bits = t->mid_bits, .left = left
	};
	if (!t->mids)
		return 0;
	if (c->shift > MAX_SHIFT || c->mid_bits > MAX_MID_BITS) {
		r->damaged++;
		return 0;
	}
	c->max_leaves = ledger_reader_arena(r) / LEAF_BYTES + 1;
	c->next_leaf = 1u << c->mid_bits;
	c->next_word = LEAF_GRANULES;
	c->leaf_ref = calloc(1u << c->mid_bits, sizeof(*c->leaf_ref));
	c->leaf = calloc(PMM_LEAF_WORDS, sizeof(*c->leaf));
	c->again = calloc(PMM_LEAF_WORDS, sizeof(*c->again));
	return c->leaf_ref && c->leaf && c->again ? cursor_mids(c, t->mids) : -ENOMEM;
}

/* Go on to the next mid. false at the end. */
static bool cursor_next_mid(struct cursor *c)
{
	while (c->next_mid < c->mids.nr) {
		const struct mid *mid = &c->mids.v[c->next_mid++];
		uint64_t at = ref_off(mid->ref) + offsetof(struct pmm_mid, leaf);

		c->next_leaf = 0;
		if (!ledger_reader_part(c->r, at, c->leaf_ref, sizeof(pmm_ref) << c->mid_bits))
			return true;
		c->r->damaged++;
	}
	return false;
}

/*
 * Most leaves of a program that has released its memory are empty. Where it is known how many
 * blocks there are, all those behind the last one: to look at them is to read much of the ledger.
 * Where events go on each is looked at twice, as leaves are copied twice: a block of which a
 * realloc() makes another one may have moved from behind one look to before it.
 */
static bool leaf_is_empty(struct cursor *c, pmm_ref ref)
{
	const unsigned looks = c->r->o->running ? 2 : 1;

	if (!*c->left)
		return true;
	for (unsigned i = 0; i < looks; i++)
		if (c->r->o->frozen || ledger_map_may_have(c->r->m, ref_off(ref), LEAF_GRANULES,
							   ~0ull << PMM_WORD_KIND_SHIFT))
			return false;
	return true;
}

/* Read the next leaf in which there is anything. false at the end. */
static bool cursor_next_leaf(struct cursor *c)
{
	for (;;) {
		uint32_t i;

		while (c->next_leaf < 1u << c->mid_bits && !c->leaf_ref[c->next_leaf])
			c->next_leaf++;
		if (c->next_leaf >= 1u << c->mid_bits) {
			if (!cursor_next_mid(c))
				return false;
			continue;
		}
		if (c->leaves == c->max_leaves) {
			c->r->damaged++;	/* leaves are shared, or a ring */
			return false;
		}
		c->leaves++;
		i = c->next_leaf++;
		if (leaf_is_empty(c, c->leaf_ref[i]))
			continue;
		if (ledger_reader_part_settled(c->r, ref_off(c->leaf_ref[i]), c->leaf, c->again,
					       LEAF_BYTES)) {
			c->r->damaged++;
			continue;
		}
		c->leaf_address = c->mids.v[c->next_mid - 1].base +
				  ((uint64_t)i << (c->shift + PMM_LEAF_BITS));
		c->next_word = 0;
		return true;
	}
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Thread and time that a small block's word names: they were published before it. */
static bool stamp_get(struct ledger_reader *r, uint32_t nr, struct pmm_stamp *to)
{
	if (nr >= r->nr_stamps && ledger_reader_stamps(r))
		return false;
	if (nr >= r->nr_stamps)
		return false;
	*to = r->stamps[nr];
	return true;
}

static unsigned size_field(uint64_t word)
{
	return word >> PMM_WORD_SIZE_SHIFT & 63;
}

/* What the words at granule `i` of the leaf say. false: nonsense. */
static bool block_decode(struct cursor *c, uint32_t i, struct heap_block *to)
{
	uint64_t word = c->leaf[i], wide = c->leaf[i + 1];
	struct pmm_stamp stamp = { .tick = c->r->l->start_tick };
	uint32_t time = word & PMM_WORD_TIME_MASK;

	to->address = c->leaf_address + ((uint64_t)i << c->shift);
	if (c->id == PMM_TABLE_HEAP)
		to->address += (word >> PMM_WORD_SUB_SHIFT & 3) << 3;
	to->site = word >> PMM_WORD_SITE_SHIFT & (PMM_MAX_SITES - 1);
	to->kind = (uint8_t)(word >> PMM_WORD_KIND_SHIFT);
	if (size_field(word) == PMM_SIZE_WIDE) {
		to->birth_ns = pmm_tick_of_time(time) * PMM_TICK_NS;
		to->size_bytes = wide & PMM_SIZE_MAX;
		to->thread = (uint16_t)(wide >> PMM_WIDE_THREAD_SHIFT);
		return !(wide >> PMM_WORD_KIND_SHIFT);
	}
	to->size_bytes = size_field(word);
	/* number 0: there was no room for stamps */
	if (time && !stamp_get(c->r, time, &stamp))
		return false;
	to->birth_ns = stamp.tick * PMM_TICK_NS;
	to->thread = stamp.thread;
	return to->size_bytes <= PMM_SIZE_SMALL && c->id != PMM_TABLE_MAP;
}

/* The next block in order of address. false at the end. */
static bool cursor_next(struct cursor *c, struct heap_block *b)
{
	if (!c->mids.nr)
		return false;
	for (;;) {
		uint32_t i;

		if (c->next_word >= LEAF_GRANULES && !cursor_next_leaf(c))
			return false;
		while (c->next_word < LEAF_GRANULES &&
		       c->leaf[c->next_word] >> PMM_WORD_KIND_SHIFT == PMM_KIND_NONE)
			c->next_word++;
		if (c->next_word == LEAF_GRANULES)
			continue;
		i = c->next_word++;
		if (block_decode(c, i, b)) {
			*c->left -= *c->left != UINT64_MAX;
			return true;
		}
		ledger_reader_odd(c->r);
	}
}

struct block_list {
	VEC(struct heap_block) v;
};

static int list_add(struct block_list *list, struct ledger_reader *r, const struct heap_block *b)
{
	int rc;

	if (list->v.nr && vec_last(&list->v)->address >= b->address) {
		r->drift++; /* freed and allocated again between the two tables' turns */
		return 0;
	}
	rc = ledger_reader_take(r, sizeof(*b));
	return rc ? rc : vec_push(&list->v, *b);
}

/* All blocks of one or two cursors. */
static int list_merge(struct block_list *list, struct cursor *a, struct cursor *b)
{
	struct heap_block x, y;
	bool has_x = cursor_next(a, &x), has_y = b && cursor_next(b, &y);
	int rc = 0;

	while (!rc && (has_x || has_y)) {
		if (has_x && (!has_y || x.address <= y.address)) {
			rc = list_add(list, a->r, &x);
			has_x = cursor_next(a, &x);
		} else {
			rc = list_add(list, a->r, &y);
			has_y = cursor_next(b, &y);
		}
	}
	return rc;
}

/* Hand the list over, without the room it did not need. */
static void list_move(struct block_list *list, struct heap_block **to, uint64_t *nr)
{
	struct heap_block *fit = list->v.nr ? realloc(list->v.v, list->v.nr * sizeof(*fit)) : NULL;

	*nr = list->v.nr;
	*to = fit ? fit : list->v.v;
	if (!*nr)
		vec_fini(&list->v);
	if (!*nr)
		*to = NULL;
}

/*
 * How many blocks HEAP and DENSE hold, as counted; UINT64_MAX: not known. Only at the end, where no
 * event is half done or was left so, and where each block counts once and none was lost.
 */
static uint64_t blocks_counted(struct ledger_reader *r)
{
	struct ledger_totals t;
	uint64_t seq;

	if (r->o->running || r->o->frozen || r->l->cut || r->m->tree.mode != PMM_MODE_EXACT)
		return UINT64_MAX;
	for (unsigned i = 0; i < PMM_NR_DROPS; i++)
		if (r->l->dropped[i])
			return UINT64_MAX;
	for (uint32_t i = 0; i < r->l->nr_ctx; i++)
		if (ledger_map_read(r->m, ref_off(r->l->ctx[i]) + offsetof(struct pmm_ctx, seq),
				    &seq, sizeof(seq)) ||
		    seq & 1)
			return UINT64_MAX;
	if (ledger_totals_untimed(r->m, &t) || !t.allocs || t.allocs < t.frees)
		return UINT64_MAX;
	return t.allocs - t.frees;
}

int ledger_read_blocks(struct ledger_reader *r)
{
	struct block_list blocks = { 0 }, maps = { 0 };
	uint64_t left = blocks_counted(r), maps_left = UINT64_MAX;
	struct cursor heap, dense, map;
	int rc = cursor_init(&heap, r, PMM_TABLE_HEAP, &left);
	int rc_dense = cursor_init(&dense, r, PMM_TABLE_DENSE, &left);
	int rc_map = cursor_init(&map, r, PMM_TABLE_MAP, &maps_left);

	if (!rc && !rc_dense && !rc_map) {
		rc = list_merge(&blocks, &heap, &dense);
		if (!rc)
			rc = list_merge(&maps, &map, NULL);
	}
	r->h->ledger_slots = (heap.leaves + dense.leaves + map.leaves) * LEAF_GRANULES;
	r->h->ledger_slots_used = blocks.v.nr + maps.v.nr;
	list_move(&blocks, &r->h->blocks, &r->h->nr_blocks);
	list_move(&maps, &r->h->maps, &r->h->nr_maps);
	cursor_fini(&heap);
	cursor_fini(&dense);
	cursor_fini(&map);
	return rc ? rc : rc_dense || rc_map ? -ENOMEM : 0;
}
