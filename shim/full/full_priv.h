/* SPDX-License-Identifier: MIT */
/*
 * The state of pmm_full.c: what is beside the ledger. Under the lock but where it says otherwise.
 */
#ifndef SHIM_FULL_FULL_PRIV_H
#define SHIM_FULL_FULL_PRIV_H

#define SHIM_KMOD		/* kmod.c is there; whether it logs is asked at run time */
#include "shim/shim_priv.h"

#include "shim/full/full.h"
#include "include/pmm/ledger.h"

#define NR_OPTIONS	PMM_NR_OPTIONS
#define MOST_AT_EXIT	1000	/* blocks that are listed then */

enum { FEW_BITS = 4 };

/*
 * A block in no-man's-land, a marked pointer, or a block with something before it: a list of its
 * own each.
 */
struct listed {
	struct listed *next, *last;	/* that came after it, before it */
	struct listed *same;		/* next one in the chain of its address */
	struct slot slot;		/* RETAINED, MARKED or LIVE */
};

struct slot_list {
	struct listed *first, *last;	/* the oldest, the youngest */
	struct listed **chain;		/* 2^bits of them; NULL: those in `few` */
	unsigned bits;
	size_t nr;
	struct listed *few[1 << FEW_BITS];
};

/* A block whose damage was reported. */
struct reported {
	uintptr_t unlike;	/* its address */
	size_t size;
	uint32_t time;
};

#define NR_REPORTED	64

struct own_text;

struct monitor {
	const char *volatile owner;
	volatile unsigned char late;
	unsigned char off;
	unsigned char begun;
	unsigned char started;		/* it was looked for where blocks are recorded */
	unsigned char forking;		/* the lock's holder has it for a fork before the start */
	/* blocks are recorded by an agent that was preloaded, or pass to it */
	unsigned char foreign;
	const struct pmm_shim_table *table;	/* where blocks are recorded; NULL: they pass */
	/* the program's copy, which has the kernel module's ring; NULL: we have */
	const struct pmm_shim_table *program;
	unsigned char refused;
	volatile uint32_t turn;
	uint32_t signal_tables;
	volatile uint32_t late_tables;
	int pid;
	size_t retained_bytes;
	struct slot_list retained, marked;
	struct listed *listed_free;	/* full_memory.c: entries of lists that are in none, */
	struct own_text *own_texts;	/* ... texts, */
	char *own;			/* ... and what is left */
	size_t own_left;
	/* blocks with something before them, of which children must know */
	struct slot_list before;
	/*
	 * what the ledger does not count: nr_passed, nr_foreign, nr_errors, nr_lost; nr_failed,
	 * nr_huge in part
	 */
	struct pmm_stats stats;
	pmm_output *output;
	void *output_ctx;
	pmm_react *react;
	void *react_ctx;
	void *grabbed;
	struct reported reported[NR_REPORTED];
	unsigned next_reported;
	const char *volatile late_free[NR_LATE];
	uint32_t text_len;
	char text[256];
};

/* ---- full_kmod.c, for shim/kmod*.c: one ring a process, also where libraries bring copies */
#define KMOD_STATE		full_kmod
#define KMOD_BY_DEFAULT		(&pmm_kmod_wanted != NULL)
#define KMOD_TEXT(at)		full_text(at)
#define KMOD_ELSEWHERE		full_log_elsewhere
#define KMOD_SWITCH(on)		full_log_switch(on)
/* a file of the program is compiled with PMM_KMOD */
extern const char pmm_kmod_wanted __attribute__((weak, visibility("default")));
HOT uint32_t full_text(const struct at *at);
/* 1: it is done, or lost */
HOT int full_log_elsewhere(const struct at *at, unsigned kind, const void *p, size_t size,
			   const void *prev, unsigned flags);

/* ---- full_options.c */
static void begin_full(void);		/* what the first call does */

#endif
