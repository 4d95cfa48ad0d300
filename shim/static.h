/*
 * The static form's state and what its parts (pmm_static.c) know of each other.
 *
 * Invariants, under the lock:
 * - a slot that has an address is in the chain of its address's bucket, whatever its state; chains are linked by `next`. A STALE one
 *   has none: what was known of an address that is used again would make chains long
 * - DEAD, KEPT and STALE slots are in the queue of released slots, the oldest first, linked by `queue`; slots are taken from its head,
 *   so that what is known of released blocks stays known for long. Others in it were taken for the address they have
 * - two slots of one address: at most one of them is LIVE, IDLE, DEAD or KEPT
 */
#ifndef SHIM_STATIC_H
#define SHIM_STATIC_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* syscall() */
#endif
#ifndef PMM
#define PMM
#endif
#ifndef PMM_NO_NAMES
#define PMM_NO_NAMES		/* here malloc is malloc */
#endif
#ifndef PMM_STATIC_SLOTS
#define PMM_STATIC_SLOTS 1	/* for who reads this header alone */
#define PMM_STATIC_SITES 1
#endif
#include <pmm.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>

#ifndef PMM_BARE
#include <signal.h>
#include <time.h>
#include <unistd.h>
#ifndef PMM_TIME
#define PMM_TIME() time(NULL)
#endif
#if !defined(PMM_YIELD) && !defined(PMM_NO_THREADS)
#include <sched.h>
#define PMM_YIELD() sched_yield()
#endif
#endif
#ifndef PMM_TIME
#define PMM_TIME() 0
#endif
#ifndef PMM_YIELD
#define PMM_YIELD() ((void)0)
#endif

#define SLOTS		((uint32_t)PMM_STATIC_SLOTS)
#define SITES		((uint32_t)PMM_STATIC_SITES)
#define CANARY_BYTES	8	/* behind a block */
#define FRONT_BYTES	16	/* before it; more if its alignment is */
#define NR_LATE		16	/* frees that wait for the lock's holder */
#define POISON		0xDD	/* content of kept blocks */

enum state { UNUSED, LIVE, MOVING, IDLE, MARKED, DEAD, KEPT, STALE };	/* IDLE: in a pool; STALE: says nothing any more */

enum { CALL_MALLOC, CALL_CALLOC, CALL_REALLOC, CALL_OTHER, CALL_FREE, CALL_FAILED, NR_CALLS };

enum { NR_CLASSES = 16 };	/* up to 16 bytes, 32, 64 ... 256 KiB, more */

/* Where a call was made. */
struct at {
	const char *file;
	const char *func;
	uint32_t line;
};

struct slot {
	const char *address;		/* the block as the program knows it */
	size_t size;
	const char *file;
	const char *freed_file;
	uint32_t line;
	uint32_t freed_line;
	uint32_t next;			/* 1 + slot in the same bucket; 0: none */
	uint32_t queue;			/* 1 + slot released next; UINT32_MAX: the last; 0: not in the queue */
	uint32_t time;
	uint32_t site;			/* 1 + row of the statistics; 0: none was free */
	uint32_t number;
	char entry;
	uint8_t state;			/* enum state */
	uint8_t front;			/* log2 of the bytes between the real block's start and the address; 0: the same */
	uint8_t behind;			/* 1: canary behind */
};

struct site {
	uint64_t bytes_new;
	uint64_t bytes_freed;
	size_t bytes_peak;
	const char *file;		/* NULL: row unused */
	const char *func;
	uint32_t line;
	uint32_t nr_new;
	uint32_t nr_freed;
};

struct class {
	uint64_t bytes_new;
	uint64_t bytes_freed;
	size_t calls[NR_CALLS];
};

struct state_of_all {
	volatile unsigned char lock;
	volatile unsigned char late;	/* something waits in late_free, or late_tables */
	volatile unsigned char unsure;	/* a request passed without the lock: what DEAD slots say may be wrong */
	unsigned char off;
	unsigned char begun;
	unsigned char full;		/* 1: the table has been full, and it was said */
	unsigned char refused;		/* 1: it was said that PMM_LIMIT refused a request */
	unsigned char ended;		/* 1: the report at exit is written */
	volatile uint32_t turn;		/* times the lock was taken */
	uint32_t signal_tables;
	volatile uint32_t late_tables;	/* tables to write as soon as the lock is free */
	int pid;			/* process that the lock works for */
	uint32_t number;
	uint32_t used_slots;		/* that were ever used: slots behind are UNUSED */
	uint32_t used_sites;
	uint32_t queue_first, queue_last, queue_kept;	/* 1 + slot; kept: no KEPT one is older */
	uint32_t nr_kept;
	uint32_t nr_odd;		/* options that differ from their start in what each call must look at */
	size_t kept_bytes;
	size_t option[PMM_NR_OPTIONS];	/* xor of the value at the start */
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
	uint32_t bucket[PMM_STATIC_SLOTS];	/* 1 + first slot */
};

/* What pmm.h promises; one byte more is each thread's. */
typedef char state_is_too_big[sizeof(struct state_of_all) < PMM_STATIC_RAM ? 1 : -1];

/* ---- static_lock.c */
static int enter(void);			/* 1: the lock is ours; 0: this thread has it already, below this signal handler */
static void leave(void);
static void begin(void);		/* what the first call does; without the lock */
static void defer_free(void *p);	/* free it when the lock can be had */

/* ---- static_text.c; all under the lock but option() */
static size_t option(enum pmm_option which);
static void put_char(char c);
static void put_text(const char *format, ...) PMM_PRINTF(1, 2);
static void put_args(const char *format, va_list args);
static void hand_on(void);		/* give gathered text to the output function */
static void tell(const struct at *at, const char *format, ...) PMM_PRINTF(2, 3);	/* a line that begins with the place, if there is one */

/* ---- static_table.c; all under the lock */
static struct slot *find_slot(const void *p, unsigned states);		/* mask of 1 << enum state; NULL: none */
static struct slot *take_slot(void);	/* one in state MOVING and in no chain; NULL: all are in use */
static struct slot *retake_slot(const void *p);	/* the same for p, maybe the one that knows p as released */
static uint32_t behind_in_queue(const struct slot *slot);	/* link of the slot that was released next */
/* Make a slot that was taken the block's. Whatever was known of its address is out of date. */
static void fill_slot(struct slot *slot, const void *p, size_t size, char entry, const struct at *at);
static void drop_slot(struct slot *slot, enum state state, const struct at *at);	/* DEAD, KEPT or STALE: the block is released */
static void return_slot(struct slot *slot);	/* taken, not needed */
static void move_slot(struct slot *slot, const void *p);	/* the block's address changes */
static void forget_address(const void *p);	/* p was given out, but is not tracked */
static void forget_dead(void);		/* nothing is known of released blocks */
static void count_call(size_t size, int call);
static void count_new(struct slot *slot, const struct at *at, int call);	/* in all statistics */
static void count_freed(struct slot *slot, unsigned calls);	/* calls of free(): 1, or 0 if realloc() released it */
static unsigned class_of(size_t size);

/* ---- static_guard.c; all under the lock but paint_block() and real_bytes() */
static void paint_block(const char *p, size_t size, size_t front, int behind);	/* write canaries */
static int inspect_slot(struct slot *slot, const struct at *at);	/* 1: damaged, and told */
static size_t inspect_all(const struct at *at);
static void keep_block(struct slot *slot);		/* poison a KEPT slot's block; may release older ones */
static void release_kept(struct slot *slot);	/* give a KEPT slot's block to the allocator; it is DEAD then */
static void trim_kept(void);			/* release until PMM_KEEP holds */
/* A pointer to free that no block has: tells what is wrong and returns NULL, or counts it as foreign and returns it. */
static void *judge_stranger(const struct at *at, void *p);

/* ---- static_heap.c */
static void *get_block(const struct at *at, char entry, size_t align, size_t size, int zero);
static void put_tables(unsigned tables);	/* static_report.c; under the lock */

#endif
