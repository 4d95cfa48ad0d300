/* SPDX-License-Identifier: MIT */
/*
 * What the parts of pmm.h's implementation know of each other, in either form (pmm_static.c,
 * pmm_full.c). Each form is one translation unit: it defines its `struct monitor`, includes
 * the parts it is made of, and keeps blocks in its own way. What the parts ask of that is declared
 * here.
 */
#ifndef SHIM_SHIM_PRIV_H
#define SHIM_SHIM_PRIV_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* syscall() */
#endif
#ifndef PMM
#define PMM
#endif
#ifndef PMM_NO_NAMES
#define PMM_NO_NAMES		/* here malloc is malloc */
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

#ifdef PMM_KMOD
#define SHIM_KMOD		/* kmod.c is there */
#endif

#define CANARY_BYTES	8	/* behind a block */
#define FRONT_BYTES	16	/* before it; more if its alignment is */
#define NR_LATE		16	/* frees that wait for the lock's holder */
#define POISON		0xDD	/* content of retained blocks */

/* IDLE: in a pool; STALE: says nothing any more */
enum state { UNUSED, LIVE, MOVING, IDLE, MARKED, DEAD, RETAINED, STALE };

/* Where a call was made. */
struct at {
	const char *file;
	const char *func;
	uint32_t line;
#ifdef SHIM_KMOD
	const char *caller;	/* inside the call; NULL: not known */
#endif
};

/*
 * What every malloc() and free() goes through is one piece of code, unless the program is to be
 * small. Then what is called in several places stays APART, where the compiler would copy it.
 */
#if defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define HOT static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline, cold))
#define APART COLD
#define WARM HOT
#define SMALL 0
#else
#define HOT static
#define COLD static
#ifdef __GNUC__
#define APART static __attribute__((noinline))
#else
#define APART static
#endif
#define WARM APART		/* called there now and then */
#define SMALL 1
#endif

/* in the interface's functions */
#ifdef SHIM_KMOD
#define CALLER		, (const char *)__builtin_return_address(0) - 1
#else
#define CALLER
#endif
#define AT_OF_CALL	const struct at at = { file, func, (uint32_t)line CALLER }

/* A block, as the tables have it. In the full form it is put together when it is asked for. */
struct slot {
	const char *address;		/* the block as the program knows it */
	size_t size;
	const char *file;
	const char *freed_file;
	uint32_t line;
	uint32_t freed_line;
	uint32_t next;			/* 1 + slot in the same bucket; 0: none */
	/* 1 + slot released next; UINT32_MAX: the last; 0: not in the queue */
	uint32_t queue;
	uint32_t time;
	uint32_t site;			/* 1 + row of the statistics; 0: none was free */
	uint32_t number;
	char entry;
	uint8_t state;			/* enum state */
	/* log2 of the bytes between the real block's start and the address; 0: the same */
	uint8_t front;
	uint8_t behind;			/* 1: canary behind */
};

/* ---- lock.c */
/* 1: the lock is ours; 0: this thread has it already, below this signal handler */
static int enter(void);
static void leave(void);
HOT int enter_fast(void);		/* the same two, where time matters */
HOT void leave_fast(void);
static void begin(void);		/* what the first call does; without the lock */

/* ---- text.c; all under the lock but option() */
HOT size_t option(enum pmm_option which);
static void put_char(char c);
static void put_text(const char *format, ...) PMM_PRINTF(1, 2);
static void put_args(const char *format, va_list args);
/* with NO_CANCEL it is not cancelled; returns the state it had, which ends that */
APART int cancel_state(int state);
static void hand_on(void);		/* give gathered text to the output function */
/* a line that begins with the place, if there is one */
static void say(const struct at *at, const char *format, ...) PMM_PRINTF(2, 3);

/* ---- shim_report.c; under the lock */
static void put_tables(unsigned tables);

/* ---- shim_canary.c; all under the lock */
WARM size_t front_of(const struct slot *slot);	/* bytes before it */
/* the same of a retained block: it was written to */
static int inspect_retained(struct slot *slot, const struct at *at);
/*
 * A line about a block: so many bytes `where` changed; or, bytes 0, what was done with it and
 * `where` as the line's end. Counts as an error.
 */
static void tell_block(const struct at *at, const char *what, unsigned bytes, const char *where,
		       const struct slot *slot);
/*
 * A free of this DEAD block, whose address code with pmm.h was not given since; 1: it is the second
 * for sure, and reported.
 */
static int judge_dead(const struct at *at, const struct slot *slot);
/* code without pmm.h has freed this block, as the allocator shows */
static int is_given_back(const struct slot *slot);
/* what memory p is in that no block is in; NULL: not known to be such */
static const char *memory_of(const void *p);

/* ---- what each form has in its own way; all under the lock */
/*
 * Canaries and retained memory; returns how many blocks are damaged. at NULL: at the program's end,
 * unasked, so that only memory is looked at that can be, and what the allocator shows to be its own
 * again is let alone.
 */
static size_t inspect_all(const struct at *at);
static size_t bytes_live(void);				/* of tracked blocks */
static void trim_retained(void);				/* release until PMM_KEEP holds */
static void option_changed(void); /* an option or monitor.off has been written to */
#ifndef PMM_BARE
/* PMM_AT_EXIT, as far as there is something to write */
static unsigned tables_at_exit(void);
#endif
static void put_blocks(void);				/* tables as text */
static void put_sites(void);
static void put_classes(void);
#ifndef SHIM_KMOD
#define put_kmod()	((void)0)
#endif
static void put_in_use(const struct pmm_stats *all);	/* of its table of blocks */

#endif
