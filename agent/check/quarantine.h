/*
 * Released canaried blocks, kept poisoned for a while: first in, first out, up to pmm_check.quarantine_bytes. No locks: who finds its
 * part in use takes another, or does without.
 */
#ifndef AGENT_CHECK_QUARANTINE_H
#define AGENT_CHECK_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/check/check.h"

/* Private memory for it. False: there is none, nothing is kept. */
bool quarantine_start(uint64_t bytes);

/* A block there. Numbers of sites and threads are those of the ledgers of these generations; `pid` allocated it. */
struct quarantined {
	uint64_t address;
	uint64_t size : 44, align_log2 : 6, kind : 8, damaged : 1;	/* damaged: what lies next to it may be, too */
	uint32_t alloc_site, free_site;
	uint32_t alloc_tick, free_tick;
	uint16_t alloc_thread, free_thread;
	uint32_t pid;
	uint16_t alloc_generation, free_generation;
	uint32_t reserved;
};

/* The same for everybody. */
void quarantine_describe(const struct quarantined *q, struct check_block *out);

static inline size_t quarantine_align(const struct quarantined *q)
{
	return (size_t)1 << q->align_log2;
}

/* Would a block of this size be kept? */
bool quarantine_keeps(size_t size);

/*
 * Keep a block, poisoned already. What has to leave for it is handed to `leave` one by one, which gives it to the real allocator. False:
 * not kept, it is the caller's to release.
 */
bool quarantine_add(const struct quarantined *q, void (*leave)(void *arg, const struct quarantined *q), void *arg);

/* The kept block that begins at, or (inside) covers, an address; looks at all: for the moment of an error. */
bool quarantine_find(uint64_t address, bool inside, struct quarantined *out);

/* Call for each kept block, at the process's end: is it still poison? */
void quarantine_each(void (*fn)(void *arg, const struct quarantined *q), void *arg);

/* In a forked child: what other threads held is free. */
void quarantine_forked(void);

#endif
