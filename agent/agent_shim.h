/* SPDX-License-Identifier: MIT */
/*
 * The ledger as pmm.h's full form sees it (include/pmm/shim.h), and the parts of that which its hot
 * path shares.
 *
 * Behind each block is a canary of 8 bytes which also holds the block's number: both halves of
 * the word are mixed with it, so they tell whether they are whole by comparison, and the number of
 * the request costs no memory.
 */
#ifndef AGENT_AGENT_SHIM_H
#define AGENT_AGENT_SHIM_H

#include "agent/block.h"
#include "agent/block_words.h"
#include "agent/ctx.h"
#include "agent/sys.h"
#include "include/pmm/shim.h"

#define SHIM_CANARY	0xC78DF1B6D39AE5ABull	/* its halves differ in each byte */
#define SHIM_CANARY_BYTES 8
/* that a context takes at a time, where there are several threads */
#define SHIM_NUMBERS	64

/* last one that was given out */
extern uint32_t shim_number __attribute__((visibility("hidden")));

/* ---- canaries */
static inline uint64_t canary_of(uint32_t number)
{
	return SHIM_CANARY ^ ((uint64_t)number << 32 | number);
}

static inline uint64_t load64(const char *p)
{
	uint64_t word;

	__builtin_memcpy(&word, p, sizeof(word));
	return word;
}

static inline void store64(char *p, uint64_t word)
{
	__builtin_memcpy(p, &word, sizeof(word));
}

/* The number in a canary; *whole: nothing of it was changed. */
static inline uint32_t canary_number(uint64_t word, bool *whole)
{
	word ^= SHIM_CANARY;
	*whole = (uint32_t)word == (uint32_t)(word >> 32);
	return (uint32_t)(word >> 32);
}

uint32_t shim_numbers_take(struct tctx *c);

static inline uint32_t number_next(struct tctx *c)
{
	if (*agent.single_threaded)
		return ++shim_number;
	return likely(c->number != c->number_end) ? ++c->number : shim_numbers_take(c);
}

/* A block is listed where a new one is: code that the agent does not see has released it. */
void shim_forget_listed(struct tctx *c, uint64_t granule, uint64_t word);

/* `place` as block_place() found it. */
static inline void shim_forget(struct tctx *c, const void *p, const uint64_t *place)
{
	uint64_t word = place ? LOAD(*place) : 0;

	if (unlikely(is_block(word)) &&
	    (!agent.dense || sub_field(word) == sub_of((uint64_t)p)))
		shim_forget_listed(c, (uint64_t)p, word);
}

/* ---- what a table holds, but for the allocator */
struct tctx *shim_enter(const struct full_call *call);
void shim_leave(struct tctx *c);
void shim_calling(struct tctx *c, bool now);
uint32_t shim_site(struct tctx *c, const struct full_call *call, uint32_t flags);
void shim_note(struct tctx *c, char *p, size_t size, uint32_t kind, uint32_t site, uint32_t flags);
void shim_forgotten(struct tctx *c, const void *p);
void shim_failed(struct tctx *c, size_t size, uint32_t site);
bool shim_remove(struct tctx *c, const void *p, struct full_block *b);
bool shim_remove_moving(struct tctx *c, const void *p, size_t new_size, struct full_block *b);
void shim_moved(struct tctx *c);
void shim_restore(struct tctx *c, const struct full_block *b);
bool shim_change_site(struct tctx *c, const struct full_block *b, uint32_t site);
unsigned shim_changed_behind(const struct full_block *b, uint64_t word);
uint32_t shim_any_number(void);
bool shim_find(const void *p, struct full_block *b);
bool shim_around(const void *p, struct full_block *b);
bool shim_still(const struct full_block *b);
bool shim_peek(const void *p, void *to, size_t bytes);
int shim_each(int (*each)(void *ctx, const struct full_block *b), void *ctx);
void shim_totals(struct full_totals *t);
uint64_t shim_live_bytes(void);
int shim_each_srcloc(int (*each)(void *ctx, const struct full_srcloc *s), void *ctx);
bool shim_class_row(unsigned i, struct full_class *k);
void shim_place(uint32_t site, struct full_block *b);

/*
 * Is there a ledger of this process? A child that was just forked has its parent's in view until
 * its first event.
 */
static inline bool shim_begun(void)
{
	return agent_is_on() && LOAD(*agent.alive);
}

/* Is there a block that came by pmm.h? A preloaded agent knows others. */
bool shim_is_ours(const void *p);

/* A block, described, but for its number. `was`: what the tables have or had of it. */
void shim_known(const void *p, const struct block_info *was, struct full_block *b);

/* The number in a canary, 0 where that is none. */
uint32_t shim_number_of(uint64_t word);

/* A block, described; what its canary says as well. `was`: what the tables have or had of it. */
void shim_describe(const void *p, const struct block_info *was, struct full_block *b);

#define SHIM_TABLE(is_ready)                                                                       \
	.version = PMM_SHIM_VERSION, .bytes = sizeof(struct pmm_shim_table), .ready = is_ready,    \
	.enter = shim_enter, .leave = shim_leave, .calling = shim_calling, .site = shim_site,      \
	.note = shim_note, .forget = shim_forgotten, .failed = shim_failed,                       \
	.remove = shim_remove, .remove_moving = shim_remove_moving, .moved = shim_moved,          \
	.restore = shim_restore,                                                                  \
	.change_site = shim_change_site, .still = shim_still, .peek = shim_peek,                   \
	.changed_behind = shim_changed_behind, .number = shim_any_number, .find = shim_find,       \
	.around = shim_around, .each = shim_each, .totals = shim_totals,                           \
	.live_bytes = shim_live_bytes, .each_srcloc = shim_each_srcloc,                            \
	.class_row = shim_class_row, .place = shim_place

#endif
