/*
 * Growing the block tables, and marking what changes in them.
 *
 * While a scanner copies them (pmm_ledger.changing), each store is followed by a mark on the place where it was: whoever takes a mark back
 * copies the place afterwards, so the mark must not come before the store.
 */
#include "agent/table.h"

#define MID_TRIES	5000

void table_init(void)
{
	for (int i = 0; i < PMM_NR_TABLES; i++) {
		struct pmm_table *t = &A.ledger->table[i];

		t->shift = table_shape[i].shift;
		t->mid_bits = table_shape[i].mid_bits;
		t->top_bits = PMM_ADDRESS_BITS - t->shift - t->mid_bits - PMM_LEAF_BITS;
		t->top_off = PMM_TOP_OFF(i);
	}
}

/* Numbers that somebody has scribbled on lead to a wrong mark at most. */
void table_mark(const void *at, size_t bytes)
{
	uint64_t off = (uint64_t)((const char *)at - A.base) - PMM_ARENA_OFF;
	uint32_t shift = LOAD(A.ledger->mark_shift) & 63, nr = LOAD(A.ledger->nr_marks);
	uint8_t *marks = (uint8_t *)A.base + PMM_MARKS_OFF;

	for (uint64_t i = off >> shift; i <= (off + bytes - 1) >> shift && i < nr && i < PMM_MAX_MARKS; i++)
		STORE_RELEASE(marks[i], 1);
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
	STORE_RELEASE(mid->chained, 1);
	if (table_watched())
		table_mark(mid, sizeof(*mid));
	return mid;
}

/*
 * Nothing is hung into a mid that readers cannot find yet: its maker may be stopped for long just there. But not for ever, for it may be
 * the code that this signal handler interrupted.
 */
static __attribute__((noinline, cold)) struct pmm_mid *mid_wait(struct pmm_mid *mid)
{
	for (unsigned tries = 0; tries < MID_TRIES && !LOAD_ACQUIRE(mid->chained); tries++)
		if (tries < 100 || A.confined)
			arch_pause();
		else
			sys0(sched_yield);
	return mid;
}

static uint64_t *leaf_new(pmm_ref *slot)
{
	uint64_t *leaf = arena_get(PMM_LEAF_WORDS * sizeof(*leaf), 64);
	pmm_ref none = 0;

	if (!leaf)
		return NULL;
	if (!CAS(*slot, none, arena_ref(leaf)))
		return arena_at(none);
	if (table_watched())
		table_mark(slot, sizeof(*slot));
	return leaf;
}

uint64_t *table_make(enum pmm_table_id id, uint64_t address)
{
	struct pmm_table *t = &A.ledger->table[id];
	unsigned top_shift = table_shape[id].shift + PMM_LEAF_BITS + table_shape[id].mid_bits;
	pmm_ref *top = (pmm_ref *)(A.base + PMM_TOP_OFF(id)) + (address >> top_shift);
	uint64_t base = address >> top_shift << top_shift;
	struct pmm_mid *mid = *top ? arena_at(*top) : mid_new(t, top, base);
	uint64_t *leaf;
	pmm_ref *slot;

	if (!mid)
		return NULL;
	if (unlikely(!LOAD_ACQUIRE(mid->chained)))
		mid = mid_wait(mid);
	slot = &mid->leaf[(address - base) >> (table_shape[id].shift + PMM_LEAF_BITS)];
	leaf = *slot ? arena_at(*slot) : leaf_new(slot);
	return leaf ? &leaf[address >> table_shape[id].shift & ((1u << PMM_LEAF_BITS) - 1)] : NULL;
}
