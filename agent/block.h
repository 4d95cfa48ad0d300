/*
 * The block tables: what is live, by address.
 */
#ifndef AGENT_BLOCK_H
#define AGENT_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* What was live at an address. */
struct block_info {
	uint64_t size;
	uint32_t site;
	uint32_t birth_tick;
	uint32_t kind;
	uint8_t lifetime;	/* what record_free counted, for record_restore */
	bool temporary;
};

/* Set up the tables of a new ledger. */
void block_init(void);

/* Note a live block. False when there was no room (counted). The address belongs to the caller until block_del. */
bool block_add(uint64_t address, uint64_t size, uint32_t site, uint32_t kind, uint32_t thread, uint32_t tick);

/* Start fetching the entry of an address that block_add or block_del will ask for soon. */
void block_prefetch(uint64_t address);

/* Take a block out. False when it is not known. */
bool block_del(uint64_t address, struct block_info *out);

/* Give a live block another kind; returns the old one and sets *size, or PMM_KIND_NONE. */
uint32_t block_rename(uint64_t address, uint32_t kind, uint64_t *size);

/* The same for mappings (page-aligned addresses). */
bool block_add_map(uint64_t address, uint64_t size, uint32_t site, uint32_t thread, uint32_t tick);

/*
 * Take out the mapping that begins at or, failing that, nearest above `from` and below `to`; its start goes to *at. With
 * `below`, the one that begins nearest below `from` instead. False when there is none.
 */
bool block_take_map(uint64_t from, uint64_t to, bool below, uint64_t *at, struct block_info *out);

#endif
