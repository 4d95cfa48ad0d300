/* SPDX-License-Identifier: MIT */
/*
 * Events into the ledger; called by the hooks with a busy context.
 */
#ifndef AGENT_RECORD_H
#define AGENT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/block.h"

struct tctx;
struct caller;

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
/* ... where nothing of it is of use but its size: that, or 0 */
uint64_t record_free_bytes(struct tctx *c, uint64_t address);

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

/* A mapping appeared; [address, address + size) went. */
void record_map(struct tctx *c, uint64_t address, uint64_t size, const struct caller *from);
void record_unmap(struct tctx *c, uint64_t address, uint64_t size);

#endif
