/* SPDX-License-Identifier: MIT */
/*
 * The static form's state and what its parts (pmm_static.c) know of each other.
 *
 * Invariants, under the lock:
 * - a slot that has an address is in the chain of its address's bucket, whatever its state; chains
 *   are linked by `next`. A STALE one has none: what was known of an address that is used again
 *   would make chains long
 * - DEAD, RETAINED and STALE slots are in the queue of released slots, the oldest first, linked by
 *   `queue`; slots are taken from its head, so that what is known of released blocks stays known
 *   for long. Others in it were taken for the address they have
 * - two slots of one address: at most one of them is LIVE, IDLE, DEAD or RETAINED
 */
#ifndef SHIM_STATIC_H
#define SHIM_STATIC_H

#ifndef PMM_STATIC_SLOTS
#define PMM_STATIC_SLOTS 1	/* for who reads this header alone */
#define PMM_STATIC_SITES 1
#endif
#include "shim_priv.h"

#if defined(PMM_ALIGNED_ALLOC)
#elif defined(__NEWLIB__)
/* its aligned_alloc() calls what bare metal has not */
#define PMM_ALIGNED_ALLOC(align, size) memalign(align, size)
#else
#define PMM_ALIGNED_ALLOC(align, size) aligned_alloc(align, size)
#endif

#define SLOTS		((uint32_t)PMM_STATIC_SLOTS)
#define SITES		((uint32_t)PMM_STATIC_SITES)
#define NR_OPTIONS	PMM_STACKS	/* without it */

enum { CALL_MALLOC, CALL_CALLOC, CALL_REALLOC, CALL_OTHER, CALL_FREE, CALL_FAILED, NR_CALLS };

enum { NR_CLASSES = 16 };	/* up to 16 bytes, 32, 64 ... 256 KiB, more */

struct site {
	uint64_t bytes_new;
	const char *file;		/* NULL: row unused */
	const char *func;
	size_t bytes_live;
	size_t bytes_peak;
	uint64_t nr_new;
	uint32_t line;
	uint32_t nr_freed;		/* the low 32 bits: fewer are live than those count */
};

struct class {
	uint64_t bytes_new;
	uint64_t bytes_freed;
	size_t calls[NR_CALLS];
};

struct monitor {
	const char *volatile owner;	/* the thread that has the lock */
	volatile uint32_t turn;		/* times the lock was taken */
	/*
	 * 1: a request needs a canary behind it and a slot, and no option asks for more of it
	 */
	volatile unsigned char plain;
	volatile unsigned char late;	/* something waits in late_free, or late_tables */
	/* a request passed without the lock: what DEAD slots say may be wrong */
	volatile unsigned char unsure;
	unsigned char off;
	unsigned char begun;
	unsigned char full;		/* 1: the table has been full, and it was said */
	unsigned char refused;		/* 1: it was said that PMM_LIMIT refused a request */
	uint32_t signal_tables;
	volatile uint32_t late_tables;	/* tables to write as soon as the lock is free */
	int pid;			/* process that the lock works for */
	uint32_t number;
	uint32_t used_slots;		/* that were ever used: slots behind are UNUSED */
	uint32_t used_sites;
	/* 1 + slot; no RETAINED one is older than queue_retained */
	uint32_t queue_first, queue_last, queue_retained;
	uint32_t nr_retained, nr_marked;
	size_t retained_bytes;
	/* those that classes and tables tell as well are filled in for who asks */
	struct pmm_stats stats;
	pmm_output *output;
	void *output_ctx;
	pmm_react *react;
	void *react_ctx;
	void *grabbed;			/* blocks of pmm_grab(), linked by their first word */
	const char *volatile late_free[NR_LATE];
	uint32_t text_len;
	char text[256];
	struct class class[NR_CLASSES];
	struct site site[PMM_STATIC_SITES];
	struct slot slot[PMM_STATIC_SLOTS];
	uint32_t bucket[2 * PMM_STATIC_SLOTS];	/* 1 + first slot; most chains have one */
};

/* What pmm.h promises; one byte more is each thread's, to distinguish them. */
typedef char state_is_too_big
	[sizeof(struct monitor) + NR_OPTIONS * sizeof(size_t) < PMM_STATIC_RAM ? 1 : -1];

/* ---- static_table.c; all under the lock */
/* mask of 1 << enum state; NULL: none */
static struct slot *find_slot(const void *p, unsigned states);
/* one in state MOVING and in no chain; NULL: all are in use */
COLD struct slot *take_slot(void);
/*
 * Where requests are plain: a slot that is in the chain of p, which was just given out; NULL: all
 * are in use.
 */
HOT struct slot *slot_of_new(const void *p);
static int inspect_slot(struct slot *slot, const struct at *at); /* 1: damaged, and reported */
/* link of the slot that was released next */
APART uint32_t behind_in_queue(const struct slot *slot);
/* make a slot that was taken p's; what was known of p is out of date */
static void link_slot(struct slot *slot, const void *p);
/* What is listed of a block, of a slot that has its address; it is LIVE then. */
HOT void fill_slot(struct slot *slot, size_t size, char entry, const struct at *at);
/* DEAD, RETAINED or STALE: the block is released */
HOT void drop_slot(struct slot *slot, enum state state, const struct at *at);
static void forget_address(const void *p);	/* p was given out, but is not tracked */
static void forget_dead(void);		/* nothing is known of released blocks */
static void count_call(size_t size, int call);
HOT void count_new(struct slot *slot, const struct at *at, int call);	/* in all statistics */
/* calls of free(): 1, or 0 if realloc() released it */
HOT void count_freed(struct slot *slot, unsigned calls);
WARM unsigned class_of(size_t size);

/* ---- static_canary.c; all under the lock but paint_block() */
HOT void paint_block(const char *p, size_t size, size_t front, int behind);	/* write canaries */
/* the canaries are as they were written, if there are any */
HOT int is_intact(const struct slot *slot);
/* poison a RETAINED slot's block; may release older ones */
static void retain_block(struct slot *slot);
/* give a RETAINED slot's block to the allocator; it is DEAD then */
static void release_retained(struct slot *slot);
/*
 * A pointer to free that no block has: reports what is wrong and returns NULL, or counts it as
 * foreign and returns it.
 */
static void *judge_stranger(const struct at *at, void *p);

/* ---- kmod.c, not under the lock; nothing without PMM_KMOD */
#ifndef SHIM_KMOD
#define kmod_new(at, entry, p, size)	(p)
#define kmod_free(at, p)		((void)0)
#define kmod_moving(at, p)		0
#define kmod_moved(at, p, old_size, fresh, size, out)	(void)(out)
#endif

/* ---- static_heap.c */
static void *get_block(const struct at *at, char entry, size_t align, size_t size, int zero);

#endif
