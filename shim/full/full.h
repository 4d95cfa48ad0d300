/* SPDX-License-Identifier: MIT */
/*
 * The full form of pmm.h: what its two halves know of each other.
 *
 * full_quick.c, full_find.c, full_life.c
 *             compiled like the agent's core and with it: the quick way of every call, the ledger
 * pmm_full.c  compiled like a program, with what both forms share: options, text, everything that
 *             takes its time; it includes the other full_*.c
 */
#ifndef SHIM_FULL_FULL_H
#define SHIM_FULL_FULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/pmm/shim.h"

/* An address as it is remembered: to `pmm leaks` that is no pointer to what is there now. */
static inline uintptr_t full_unlike(const void *p)
{
	return ~(uintptr_t)p;
}

/*
 * What was released last at an address that has this place in full_freed. Of two threads' it may
 * say a mixture.
 */
struct full_freed {
	uintptr_t unlike;	/* the address */
	const char *file;
	size_t size;
	uint32_t line;
	uint32_t site;		/* that it was of */
};

#define FULL_FREED_BITS	10

extern struct full_freed full_freed[1u << FULL_FREED_BITS];
/* new blocks are pmm_full.c's: options say more than to note them. At the start, too */
extern uint32_t full_careful;
extern uint32_t full_careful_free;	/* and released ones */

/*
 * State of the kernel module's log (shim/kmod_open.c): below FULL_KMOD_ASK nothing is logged. At
 * the start it is that: to be asked for.
 */
#define FULL_KMOD_ASK	2u
extern uint32_t full_kmod;

static inline struct full_freed *full_freed_at(const void *p)
{
	return &full_freed[((uintptr_t)p * 0x9e3779b97f4a7c15ull) >> (64 - FULL_FREED_BITS)];
}

static inline void full_note_freed(const void *p, size_t size, uint32_t site, const char *file,
				   uint32_t line)
{
	struct full_freed *f = full_freed_at(p);

	f->file = file;
	f->size = size;
	f->line = line;
	f->site = site;
	f->unlike = full_unlike(p);
}

/* ---- full_find.c */
/*
 * Tables of others in this process, NULL = none: of an agent, which goes before; of the program
 * itself, in whatever module we are.
 */
struct full_tables {
	const struct pmm_shim_table *agent, *program;
};

/*
 * Look once, when our module is loaded: the loader's lock, which that takes, may be a thread's that
 * a forked child has not. Who is there now, the program and an agent before it, does not change.
 */
void full_find_once(void);
void full_find(struct full_tables *found);
/* the module that we are in: its texts are there as long as we are */
extern uintptr_t full_texts_at, full_texts_bytes;

/* ---- full_life.c */
extern const struct pmm_shim_table full_own_table;

/*
 * Where blocks are to be recorded: the ledger of our own, made now; or, where the program was
 * started with the agent preloaded, that one's; or the program's, if we are in what it loaded.
 * NULL: blocks pass. *own: the quick way may be taken. *program: the table of the program's copy,
 * NULL = that is ours, or there is none.
 */
const struct pmm_shim_table *full_start(bool *own, const struct pmm_shim_table **program);
/* of our own ledger's blocks from now on; others have theirs in any case */
void full_note_stacks(bool now);

/* ---- full_heap.c */
void full_taken(struct tctx *c);	/* the calling thread has another context */

/* ---- pmm_full.c, for full_heap.c */
void *full_get(const struct full_call *call, char entry, uint32_t kind, size_t align, size_t size,
	       int zero);
void full_put(const struct full_call *call, void *p);
void *full_resize(const struct full_call *call, void *p, size_t size);
void full_stranger(const struct full_call *call, void *p);	/* p is in no table */
/* the canary of a block that is being released */
void full_damaged(const struct full_call *call, const struct full_block *b);
void *full_no_memory(void);
/* the ledger of our own is there, for others to record in; made now if need be */
bool full_ready(void);
/* for the kernel module's log: a new block, NULL = none; one that will be released */
void full_log_new(const struct full_call *call, char entry, void *p, size_t size);
void full_log_free(const struct full_call *call, const void *p);
/* of our table */
void full_log(const struct full_call *call, unsigned kind, const void *p, size_t size,
	      const void *prev, unsigned flags);
int full_log_switch(int on);

#endif
