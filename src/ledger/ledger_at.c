/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address to the block around it. The tables are radix trees (include/pmm/ledger.h); the
 * block is the last one that begins at or before the address, if it reaches that far: blocks of one
 * table do not overlap.
 *
 * Whatever is read may change meanwhile, and may be nonsense: each step is bounded, and what is
 * found was there at some moment of the look-up.
 */
#include "src/ledger/ledger_at.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/vec.h"

#define LEAF_GRANULES	(1u << PMM_LEAF_BITS)
#define MAX_MID_BITS	20
#define MAX_SHIFT	21
#define REFS		512u		/* read at once */
/* a look-up reads no more of them: with 32 bytes a granule 512 MiB that are full of empty leaves */
#define MAX_LEAVES	65536u
#define MAX_REFS	(1u << 22)
#define MAX_MIDS	(1u << 20)

struct mid {
	uint64_t base;
	pmm_ref ref;
};

struct found {
	uint64_t off;			/* of its first word in the slot; 0: none */
	uint64_t words[2];
	struct ledger_at_block block;
};

struct table {
	enum pmm_table_id id;
	unsigned shift, mid_bits;
	VEC(struct mid) mids;		/* by base */
	pmm_ref newest;			/* mid, of those that are known */
	struct found last;
};

struct ledger_at {
	struct ledger_map *m;
	struct table table[PMM_NR_TABLES];
};

static uint64_t ref_off(pmm_ref ref)
{
	return (uint64_t)ref << PMM_REF_SHIFT;
}

/* ---- mids ---- */

static int by_base(const void *a, const void *b)
{
	const struct mid *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

/* New ones are at the head of the list: those up to the newest that is known. */
static int add_mids(struct ledger_at *a, struct table *t, pmm_ref newest)
{
	uint64_t span = 1ull << (t->shift + PMM_LEAF_BITS + t->mid_bits);

	for (pmm_ref ref = newest; ref && ref != t->newest;) {
		struct pmm_mid mid;

		if (t->mids.nr == MAX_MIDS ||
		    ledger_map_read(a->m, ref_off(ref), &mid, sizeof(mid)) ||
		    mid.nr_leaves != 1u << t->mid_bits || mid.base % span)
			return -EBADMSG;
		if (vec_push(&t->mids, (struct mid){ mid.base, ref }))
			return -ENOMEM;
		ref = mid.next;
	}
	t->newest = newest;
	vec_sort(&t->mids, by_base);
	return 0;
}

static int refresh(struct ledger_at *a, struct table *t)
{
	struct pmm_table now;
	int rc = ledger_map_read(a->m,
				 offsetof(struct pmm_ledger, table) + t->id * sizeof(now), &now,
				 sizeof(now));

	if (rc || now.mids == t->newest)
		return rc;
	if (now.shift > MAX_SHIFT || now.mid_bits > MAX_MID_BITS ||
	    (t->mids.nr && (now.shift != t->shift || now.mid_bits != t->mid_bits)))
		return -EBADMSG;
	t->shift = now.shift;
	t->mid_bits = now.mid_bits;
	return add_mids(a, t, now.mids);
}

/* ---- words ---- */

/* What two words at granule `i` of the leaf at `base` say. */
static void decode(const struct table *t, uint64_t base, unsigned i, const uint64_t words[2],
		   struct ledger_at_block *to)
{
	unsigned size = words[0] >> PMM_WORD_SIZE_SHIFT & 63;

	to->address = base + ((uint64_t)i << t->shift);
	if (t->id == PMM_TABLE_HEAP)
		to->address += (words[0] >> PMM_WORD_SUB_SHIFT & 3) << 3;
	to->size_bytes = size == PMM_SIZE_WIDE ? words[1] & PMM_SIZE_MAX : size;
	to->site = words[0] >> PMM_WORD_SITE_SHIFT & (PMM_MAX_SITES - 1);
	to->mapping = t->id == PMM_TABLE_MAP;
}

static bool covers(const struct ledger_at_block *b, uint64_t address)
{
	return address >= b->address && address - b->address < b->size_bytes;
}

/*
 * The last block of the leaf that begins at or before granule `last`. 1 found, 0 none, -errno.
 */
static int find_in_leaf(struct ledger_at *a, struct table *t, pmm_ref leaf, uint64_t base,
			unsigned last, struct found *f)
{
	uint64_t words[PMM_LEAF_WORDS];
	int rc = ledger_map_read(a->m, ref_off(leaf), words, (last + 2) * sizeof(*words));

	if (rc)
		return rc;
	for (unsigned i = last + 1; i--;) {
		if (words[i] >> PMM_WORD_KIND_SHIFT == PMM_KIND_NONE)
			continue;
		f->off = ref_off(leaf) + i * sizeof(*words);
		memcpy(f->words, words + i, sizeof(f->words));
		decode(t, base, i, f->words, &f->block);
		return 1;
	}
	return 0;
}

struct steps {
	unsigned leaves, refs;
};

/* The same of a mid's leaves from `leaf` down; `last` is for the first of them. */
static int find_in_mid(struct ledger_at *a, struct table *t, const struct mid *mid, unsigned leaf,
		       unsigned last, struct steps *steps, struct found *f)
{
	uint64_t leaves_off = ref_off(mid->ref) + offsetof(struct pmm_mid, leaf);
	pmm_ref refs[REFS];
	int rc;

	for (unsigned end = leaf + 1; end;) {
		unsigned begin = (end - 1) / REFS * REFS;

		rc = ledger_map_read(a->m, leaves_off + begin * sizeof(*refs), refs,
				     (end - begin) * sizeof(*refs));
		if (rc)
			return rc;
		steps->refs += end - begin;
		for (; end > begin; end--) {
			uint64_t base = mid->base +
					((uint64_t)(end - 1) << (t->shift + PMM_LEAF_BITS));

			if (!refs[end - 1 - begin])
				continue;
			if (++steps->leaves > MAX_LEAVES)
				return -E2BIG;
			rc = find_in_leaf(a, t, refs[end - 1 - begin], base,
					  end == leaf + 1 ? last : LEAF_GRANULES - 1, f);
			if (rc)
				return rc;
		}
		if (steps->refs > MAX_REFS)
			return -E2BIG;
	}
	return 0;
}

/* ---- tables ---- */

/* Is the block found last still there, and around the address? */
static bool is_last(struct ledger_at *a, struct table *t, uint64_t address)
{
	uint64_t words[2];

	return t->last.off && covers(&t->last.block, address) &&
	       !ledger_map_read(a->m, t->last.off, words, sizeof(words)) &&
	       words[0] == t->last.words[0] && words[1] == t->last.words[1];
}

static int find_in_table(struct ledger_at *a, struct table *t, uint64_t address,
			 struct ledger_at_block *out)
{
	unsigned leaf_shift, last, leaf;
	struct steps steps = { 0 };
	struct found f = { 0 };
	uint64_t span;
	int rc = refresh(a, t);
	size_t i;

	if (rc || !t->mids.nr)
		return rc;
	if (is_last(a, t, address)) {
		*out = t->last.block;
		return 1;
	}
	leaf_shift = t->shift + PMM_LEAF_BITS;
	span = 1ull << (leaf_shift + t->mid_bits);
	for (i = vec_while(&t->mids, m, m->base <= address); !rc && i--;) {
		const struct mid *mid = &t->mids.v[i];
		bool inside = address - mid->base < span;

		leaf = inside ? (address - mid->base) >> leaf_shift : (1u << t->mid_bits) - 1;
		last = inside ? (address >> t->shift) & (LEAF_GRANULES - 1) : LEAF_GRANULES - 1;
		rc = find_in_mid(a, t, mid, leaf, last, &steps, &f);
	}
	if (rc <= 0)
		return rc;
	/* begins in the address's own granule, but behind it: the one before may be meant */
	if (f.block.address > address && address >> t->shift) {
		rc = find_in_table(a, t, (address >> t->shift << t->shift) - 1, out);
		return rc > 0 ? covers(out, address) : rc;
	}
	if (!covers(&f.block, address))
		return 0;
	t->last = f;
	*out = f.block;
	return 1;
}

int ledger_at_find(struct ledger_at *a, uint64_t address, struct ledger_at_block *out)
{
	static const enum pmm_table_id order[] = { PMM_TABLE_DENSE, PMM_TABLE_HEAP, PMM_TABLE_MAP };
	int rc = 0;

	if (address >> PMM_ADDRESS_BITS)
		return 0;
	for (unsigned i = 0; !rc && i < PMM_NR_TABLES; i++)
		rc = find_in_table(a, &a->table[order[i]], address, out);
	return rc;
}

struct ledger_at *ledger_at_new(struct ledger_map *m)
{
	struct ledger_at *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->m = m;
	for (unsigned i = 0; i < PMM_NR_TABLES; i++)
		a->table[i].id = i;
	return a;
}

void ledger_at_free(struct ledger_at *a)
{
	for (unsigned i = 0; a && i < PMM_NR_TABLES; i++)
		vec_fini(&a->table[i].mids);
	free(a);
}
