/*
 * The full form of pmm.h: what its two halves know of each other.
 *
 * full_*.c    beside the agent's core, and compiled like it: the quick way of every call, the ledger
 * pmm_full.c  beside what both forms share, and compiled like a program: options, text, everything that takes its time
 */
#ifndef SHIM_FULL_H
#define SHIM_FULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/block.h"

struct tctx;

/* A call: what the macro said, and where it came from. */
struct full_call {
	const char *file, *func;
	uint32_t line;
	uint64_t ra, sp, rbp;	/* as struct caller, agent/unwind.h */
};

/* A block of the ledger, put together for who asks. */
struct full_block {
	const char *address;	/* as the program knows it */
	size_t size;
	const char *file, *func;	/* "?" if not known */
	uint32_t line;
	uint32_t number;	/* 0 = not known */
	uint32_t time;		/* seconds since 1970 */
	uint32_t flags;		/* enum pmm_spot_flags, include/pmm/ledger.h */
	struct block_info was;	/* for full_restore() */
};

/* What was released last at an address that has this place in full_freed. Threads write it as they like: what it says may be of two blocks. */
struct full_freed {
	const char *address;
	const char *file;
	size_t size;
	uint32_t line;
	uint32_t site;		/* that it was of */
};

#define FULL_FREED_BITS	10
#define FULL_CANARY	0xC78DF1B6D39AE5ABull	/* its halves differ in each byte */

extern struct full_freed full_freed[1u << FULL_FREED_BITS];
extern uint32_t full_careful;		/* new blocks are pmm_full.c's: options say more than to note them. At the start, too */
extern uint32_t full_careful_free;	/* and released ones */
extern uint32_t full_number;		/* last one that was given out */

static inline struct full_freed *full_freed_at(const void *p)
{
	return &full_freed[((uintptr_t)p * 0x9e3779b97f4a7c15ull) >> (64 - FULL_FREED_BITS)];
}

/* ---- full_life.c */
/* Make the ledger. False: there is none, all blocks pass. */
bool full_start(void);

/* ---- full_heap.c: the ledger, for pmm_full.c */
/* A context, which the call has until full_leave(); NULL: this call is not to be recorded. */
struct tctx *full_enter(const struct full_call *call);
void full_leave(struct tctx *c);
/* Set before and cleared after the real allocator is called. */
void full_calling(struct tctx *c, bool now);
/* The site for a call with these flags; 0: there is no room for one, and the block must be as the real allocator gives it. */
uint32_t full_site(struct tctx *c, const struct full_call *call, uint32_t flags);
/* A block is there. With PMM_SPOT_BEHIND its canary is written. */
void full_note(struct tctx *c, char *p, size_t size, uint32_t kind, uint32_t site, uint32_t flags);
/* p was given out, but is not recorded: what was known of the address is out of date. */
void full_forget(struct tctx *c, const void *p);
void full_failed(struct tctx *c, size_t size, uint32_t site);
void full_skipped(struct tctx *c, size_t size);
/* Take a block out, with what is known of it; false: it is not there. To be resized: until full_moved() it is on its way. */
bool full_take(struct tctx *c, const void *p, struct full_block *b);
bool full_take_moving(struct tctx *c, const void *p, size_t new_size, struct full_block *b);
void full_moved(struct tctx *c);
void full_restore(struct tctx *c, const struct full_block *b);
/* A live block is one of another site from now on. */
bool full_change_site(struct tctx *c, const struct full_block *b, uint32_t site);
/* Write its canary anew. */
void full_repaint(const struct full_block *b);
/* Bytes changed behind it, 0 to 8. */
unsigned full_changed_behind(const struct full_block *b);

/* ---- full_blocks.c: the ledger as a whole */
struct full_totals {
	uint64_t allocs, frees, bytes_in, bytes_out, failed, zero, huge, skipped;
	uint64_t peak_bytes, peak_blocks;
	uint64_t nr_spots;
};

struct full_spot {
	const char *file, *func;
	uint32_t line;
	uint64_t allocs, frees, bytes_in, bytes_out, peak_bytes;
};

struct full_class {
	uint64_t up_to;		/* 0: any more */
	uint64_t malloc, calloc, realloc, other, frees, failed;
	uint64_t bytes_in, bytes_out;
};

/* Look at a block and leave it where it is; at the one that p points into, or behind which it points by less than `reach`. */
bool full_look(const void *p, struct full_block *b);
bool full_around(const void *p, struct full_block *b);
/* Each live block in order of address, until `each` returns nonzero; returns that. Others may come and go meanwhile. */
int full_each(int (*each)(void *ctx, const struct full_block *b), void *ctx);
void full_get_totals(struct full_totals *t);
/* Each place that a call came from, as full_each(). */
int full_each_spot(int (*each)(void *ctx, const struct full_spot *s), void *ctx);
/* Row `i` of the table of sizes; false: there are no more. */
bool full_get_class(unsigned i, struct full_class *k);
/* What is known of the place of a site. */
void full_place_of(uint32_t site, struct full_block *b);

/* ---- pmm_full.c, for full_heap.c */
void *full_get(const struct full_call *call, char entry, uint32_t kind, size_t align, size_t size, int zero);
void full_put(const struct full_call *call, void *p);
void *full_resize(const struct full_call *call, void *p, size_t size);
void full_stranger(const struct full_call *call, void *p);	/* p is in no table */
void full_damaged(const struct full_call *call, const struct full_block *b);	/* the canary of a block that is being released */
void *full_no_memory(void);

#endif
