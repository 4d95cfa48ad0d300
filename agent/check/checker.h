/* SPDX-License-Identifier: MIT */
/*
 * What the files that make up agent/check/agent_check.h share: the options, ways to get memory,
 * what is known of a block that is released.
 */
#ifndef AGENT_CHECK_CHECKER_H
#define AGENT_CHECK_CHECKER_H

#include "agent/block.h"
#include "agent/guard/ancestor.h"
#include "agent/check/agent_check.h"
#include "agent/guard/finding.h"
#include "agent/guard/guarded.h"
#include "agent/agent_core.h"
#include "agent/hook.h"

struct checker {
	/* agent.generation that all below was set up for; 0: none yet */
	uint32_t image;
	bool on;
	bool refuses;			/* some requests fail on purpose */
	/* some finding says that what is beside a guarded block's pages was written */
	bool beside;
	bool protects;			/* the program has protected memory where blocks are */
	bool ended;			/* check_end() was called, for good */
	uint32_t starting;
	uint32_t finished;		/* check_finish() was called */
	/* of a forked process, whose parent's blocks are in no table; else 0 */
	uint32_t parent_pid;
	uint32_t generation;		/* ledgers before this one, since exec */
	uint64_t requests;
	uint64_t passed;		/* blocks that were allocated without us */
	/* ... of which before there was a ledger: not in its figure yet */
	uint64_t early;
	/* the user's, out of the way of the program's stray writes */
	struct pmm_check o;
};

extern struct checker checker __attribute__((visibility("hidden")));

bool check_begin(void);

/* Facts of a block of this process. */
static inline uint64_t facts_of(uint32_t site, uint32_t kind)
{
	return pmm_facts(site, kind,
			 likely(checker.generation < PMM_GENERATION_MOST) ? checker.generation
								    : PMM_GENERATION_MOST);
}

/* Is this process checked? Sets it up at the first event, and again in a forked child. */
static inline bool check_ready(void)
{
	/* pairs with check_begin(), which stores it when all else is set up */
	return likely(LOAD_ACQUIRE(checker.image) == agent.generation) ? checker.on : check_begin();
}

/* A block was allocated without us. */
void check_passed(void);

/* Memory of the real allocator, by whichever name it has. No context needed. */
void *real_alloc(size_t size, size_t align, bool zeroed);

/* ... with a canary around. */
void *canaried_alloc(struct tctx *c, size_t size, size_t align, bool zeroed);

/*
 * A block, as its level has it: no look at whether the request is to fail. As check_alloc() but for
 * that.
 */
void *level_alloc(struct tctx *c, size_t size, size_t align, bool zeroed, uint32_t kind,
		  const struct caller *from);

/* --garbage: fill the new bytes [from, size) of a block, where that is asked for. */
static inline void garbage_fill(void *p, size_t from, size_t size)
{
	if (unlikely(checker.o.flags & PMM_CHECK_GARBAGE) && size > from)
		memset((char *)p + from, (int)checker.o.garbage, size - from);
}

/* A block that the program names: what is known of it before anything is done with it. */
enum held_as { HELD_CANARIED, HELD_GUARDED, HELD_HEADLESS, HELD_PASSED, HELD_NONE };

struct held {
	enum held_as as;
	bool known;			/* it is, or was, in the block tables: `was` */
	bool counted;			/* it was taken out there */
	uint32_t run;			/* HELD_GUARDED */
	/* of a canaried block that is not known: as its head has them */
	uint64_t facts;
	size_t size, align;
	struct block_info was;
};

/* Fill h, of which known and was are set. */
void held_find(const void *p, struct held *h);

/*
 * Take what was found out of tables and sums though it may stay, for held_release(); put it back.
 */
void held_uncount(struct tctx *c, const void *p, struct held *h);
void held_recount(struct tctx *c, const void *p, const struct held *h);

/* Release what was found. site: of the call. */
void held_release(struct tctx *c, void *p, struct held *h, const struct check_said *said,
		  uint32_t site);

/* What is known of it. */
void held_block(const void *p, const struct held *h, struct check_block *out);
void block_of_facts(uint64_t facts, struct check_block *out);

/*
 * In a forked child: the canaried block from before the fork that `address` is in, its head and
 * tail included, and which begins at most `reach` bytes before. And: does one begin at `p` whose
 * head is overwritten, as its canary or what is left of the head says? facts 0: not known.
 */
bool heads_find(uint64_t address, uint64_t reach, struct check_block *out);
bool heads_spoilt(const void *p, size_t *size, size_t *align, uint64_t *facts);

/*
 * A finding says of a guarded block that `address`, on the closed page next to its own, was
 * written. What was written on the way there, from the block on, is found when it is released, and
 * is the same error.
 */
void beside_told(const struct check_block *b, uint64_t address);

/* what is as large may have been a stack: as hook_free() has it */
#define WAS_STACK_BYTES	32768

/* A released block goes back to the real allocator. */
void quarantined_return(struct tctx *c, void *p, size_t size, size_t align);

/*
 * The same with one that leaves quarantine, after a look whether it was written to; a
 * quarantine_leave. arg: the context.
 */
struct quarantined;
void quarantined_leave(void *arg, const struct quarantined *q);

/* `p` is no block: make a finding. False: that is not certain. */
bool stray_release(struct tctx *c, void *p, const struct check_said *said,
		   const struct caller *from);

/*
 * What is at an address that is in no block. sp: the caller's. PMM_PLACE_UNKNOWN where it is not
 * known.
 */
enum pmm_finding_place place_of(uint64_t address, uint64_t sp);

/*
 * Does it look as if a chunk of glibc's malloc, in use, had its bytes there? Under seccomp, where
 * nothing can be asked: yes.
 */
bool place_is_chunk(uint64_t address);

#endif
