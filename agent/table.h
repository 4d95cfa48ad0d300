/*
 * The block tables: radix trees over addresses (include/pmm/ledger.h, struct pmm_table), and the marks a scanner asks for.
 */
#ifndef AGENT_TABLE_H
#define AGENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/arena.h"
#include "agent/sys.h"

/* The tables' shapes: granule, leaves per mid. Together with 256-granule leaves they cover PMM_ADDRESS_BITS. */
static const struct { uint8_t shift, mid_bits; } table_shape[PMM_NR_TABLES] = {
	[PMM_TABLE_HEAP]  = {  5, 13 },
	[PMM_TABLE_DENSE] = {  3, 15 },
	[PMM_TABLE_MAP]   = { 11, 13 },
};

/* Set up the tables of a new ledger. */
void table_init(void);

/* The word for an address, which may not lie beyond the tables; NULL where there is no leaf. */
static inline uint64_t *table_find(enum pmm_table_id id, uint64_t address)
{
	unsigned shift = table_shape[id].shift, mid_bits = table_shape[id].mid_bits;
	unsigned leaf_shift = shift + PMM_LEAF_BITS;
	pmm_ref ref = LOAD_ACQUIRE(((pmm_ref *)(A.base + PMM_TOP_OFF(id)))[address >> (leaf_shift + mid_bits)]);
	struct pmm_mid *mid;

	if (unlikely(!ref))
		return NULL;
	mid = arena_at(ref);
	ref = LOAD_ACQUIRE(mid->leaf[address >> leaf_shift & ((1u << mid_bits) - 1)]);
	if (unlikely(!ref))
		return NULL;
	return (uint64_t *)arena_at(ref) + (address >> shift & ((1u << PMM_LEAF_BITS) - 1));
}

/* The same, making the leaf; NULL when there is no room. */
uint64_t *table_make(enum pmm_table_id id, uint64_t address);

/* Does a scanner want to know what changes? Then each store is followed by a mark. */
static inline bool table_watched(void)
{
	return unlikely(LOAD(A.ledger->changing));
}

/* [at, at + bytes) has changed. */
__attribute__((cold)) void table_mark(const void *at, size_t bytes);

#endif
