/* SPDX-License-Identifier: MIT */
/*
 * The block tables: what is live, by address.
 */
#ifndef AGENT_BLOCK_H
#define AGENT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shape of the heap's table: log2 of a granule's bytes and of the leaves of a mid. */
#define BLOCK_HEAP_SHIFT	5
#define BLOCK_HEAP_MID_BITS	13

/* What was live at an address. */
struct block_info {
	uint64_t size;
	uint64_t word[2];	/* as they were, for block_restore */
	uint32_t site;
	uint32_t birth;		/* as pmm_time_of_tick() has it */
	uint32_t kind;
	uint8_t lifetime;	/* what record_free counted, for record_restore */
	bool temporary;
};

/*
 * What says of a context's blocks when they were born: `now` is the tick of the last one. And the
 * last pair of thread and time the context gave a number to (struct pmm_stamp), which `now` is in.
 */
struct block_stamp {
	uint32_t now;		/* BLOCK_NEVER: nothing is known */
	uint32_t time;		/* the same as pmm_time_of_tick() has it */
	uint32_t number;
	uint32_t last_time;	/* the last tick it stands for, likewise ... */
	uint32_t end_tick;	/* ... which is before this one */
};

#define BLOCK_NEVER	UINT32_MAX

/* A block to be noted. */
struct block_new {
	uint64_t size;
	uint32_t site;
	uint32_t kind;
	uint32_t tick;
	uint32_t thread;
	struct block_stamp *stamp;	/* of the context */
};

/* Set up the tables of a new ledger. */
void block_init(void);

/*
 * [at, at + bytes) of the arena, which is of no table but is to be frozen with them, has been
 * stored to.
 */
void block_changed(const void *at, size_t bytes);

/*
 * Take out a block that has no owner by its words, if the first still is `word`. False: it is not,
 * as another thread did so, which may have entered a block of its own.
 */
bool block_displace(uint64_t *at, uint64_t word, const struct block_stamp *now,
		    struct block_info *out);

/*
 * Note a live block. False when there was no room (counted). The address belongs to the caller
 * until block_del.
 */
bool block_add(uint64_t address, uint64_t *place, const struct block_new *b);

/* Put back what block_del took out. */
bool block_restore(uint64_t address, const struct block_info *was);

/*
 * Take a block out. False when it is not known. `now` is the context's stamp: what bears it was
 * born in this moment.
 */
bool block_del(uint64_t address, const struct block_stamp *now, struct block_info *out);

/* The same where there is no context, and the caller has no use for what it was. */
void block_forget(uint64_t address);

/* Look at a block and leave it where it is. False when it is not known. */
bool block_get(uint64_t address, struct block_info *out);

/* The same where only its site is of interest. */
bool block_site(uint64_t address, uint32_t *site);

/*
 * The nearest block that begins at `address` or up to `reach` bytes below; its start goes to *at.
 * False when there is none. Pools' are none.
 */
bool block_below(uint64_t address, uint64_t reach, uint64_t *at, struct block_info *out);

/*
 * The same, quicker, where nothing but start and size are of interest, and of blocks that share no
 * granule with another. Returns where the block has its words, which stays a block's place for
 * ever; NULL: none.
 */
const uint64_t *block_span(uint64_t address, uint64_t reach, uint64_t *at, uint64_t *size);

/* Does the block that begins at `address` have its words there still? Its size now. */
bool block_there(const uint64_t *words, uint64_t address, uint64_t *size);

/*
 * May blocks be near this address? Quick; false: there are none. And let that be so, though none is
 * entered.
 */
bool block_near(uint64_t address);
void block_cover(uint64_t address);

/* The thread that allocated a block; of what block_del() and its kin gave. */
uint32_t block_thread(const struct block_info *b);

/*
 * The same for a block of a pool, that is one entered with PMM_KIND_OTHER; block_del() does not
 * find these.
 */
bool block_del_pool(uint64_t address, const struct block_stamp *now, struct block_info *out);

/* Give a live block another kind; returns the old one and sets *size, or PMM_KIND_NONE. */
uint32_t block_rename(uint64_t address, uint32_t kind, uint64_t *size);

/* Give a live block another site: *was and *size are set. False: there is none. */
bool block_change_site(uint64_t address, uint32_t site, uint32_t *was, uint64_t *size);

/* The same for mappings (page-aligned addresses). */
bool block_add_map(uint64_t address, uint64_t size, uint32_t site, uint32_t thread, uint32_t tick);

/*
 * Take out the mapping that begins at or, failing that, nearest above `from` and below `to`; its
 * start goes to *at. With `below`, the one that begins nearest below `from` instead. False when
 * there is none.
 */
bool block_take_map(uint64_t from, uint64_t to, bool below, uint64_t *at, struct block_info *out);

#endif
