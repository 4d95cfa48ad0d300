/* SPDX-License-Identifier: MIT */
/*
 * The areas of the guard pool (include/pmm/check.h): where each run is, and which is taken next.
 *
 * A run is taken from its area's queue, the oldest of those released, as long as more than a
 * certain number of them are kept back, else it is one never used, so that a pointer into a
 * released block stays one into closed pages as long as possible. Never used ones are made ready by
 * the chunk (agent/guard/guard_pages.h), each chunk by one thread, which hands its rest out to all.
 *
 * A thread that takes a run owns it until it puts the run back, and no thread waits for it. One
 * that never comes back from the middle of it (a jump out of a signal handler, a thread of the
 * parent seen from a forked child) keeps it: it is lost, and all else is as it was.
 */
#ifndef AGENT_GUARD_AREA_H
#define AGENT_GUARD_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guard/guard.h"
#include "agent/check/ring.h"
#include "agent/sys.h"

#define AREA_RUNS_LOG2	20		/* at most, in area 0; half of it in each next one */
/* runs of a chunk in area 0, half of it in each next one: at least one */
#define CHUNK_LOG2	8
#define NO_RUN		UINT32_MAX

/*
 * pmm_guard.hold: taken from the queue; how many accesses are being let through to a page of it,
 * which keep it from being taken; and, above these, how often it was taken, which tells its blocks
 * apart.
 */
#define HOLD_OWNED	1u
#define HOLD_ACCESS	2u
#define HOLD_TURN	0x10000u

struct area {
	struct ring freed;		/* runs released, and some never used: closed, not owned */
	struct ring ahead;		/* opened ahead, owned; in the first areas */
	/* next << 32 | end of a chunk's runs that were never used */
	uint64_t fresh;
	uint64_t opened_ahead;		/* cycles, when none was found ahead */
	uint64_t start, end;		/* addresses; the first page is a guard page */
	uint32_t first;			/* number of its first run */
	uint32_t runs;
	uint32_t kept;			/* released runs kept back */
	uint32_t next_chunk;
	uint8_t *prepared;		/* by chunk */
};

struct areas {
	uint64_t start, end;
	/* by number of the run; accessible where its chunk is prepared */
	struct pmm_guard *record;
	uint64_t record_bytes;
	char *lists;			/* what the areas point to */
	uint64_t lists_bytes;
	struct area area[PMM_GUARD_AREAS];
	/* of all chunks, guard pages included: limits on data count them */
	uint64_t prepared_bytes;
};

extern struct areas areas __attribute__((visibility("hidden")));

/*
 * Reserve address space for max_guarded blocks and their records, as much as there is. False: none.
 */
bool areas_start(const struct pmm_check *options);

/*
 * A run's place in its area, owned, with `pages` of its pages open, at that end of it, and both
 * said in its record; NO_RUN: *why is GUARD_LIMIT or GUARD_KERNEL.
 */
uint32_t area_open(struct area *a, uint32_t pages, enum pmm_guard_bias bias,
		   enum guard_refusal *why);

/* Close all of a run and put it back; its owner calls. */
void area_close(struct area *a, uint32_t i);

static inline unsigned area_log2(const struct area *a)
{
	return (unsigned)(a - areas.area);
}

static inline uint32_t chunk_runs(const struct area *a)
{
	return 1u << (CHUNK_LOG2 - area_log2(a));
}

/* Pages from one run's to the next one's. */
static inline uint32_t stride(const struct area *a)
{
	return (1u << area_log2(a)) + 1;
}

static inline uint64_t run_start(const struct area *a, uint32_t i)
{
	return a->start + (1 + (uint64_t)i * stride(a)) * ARCH_PAGE;
}

static inline uint64_t run_bytes(const struct area *a)
{
	return ARCH_PAGE << area_log2(a);
}

static inline struct area *area_of(uint64_t address)
{
	for (struct area *a = areas.area; a < areas.area + PMM_GUARD_AREAS; a++)
		if (address < a->end)
			return address >= a->start ? a : NULL;
	return NULL;
}

static inline struct area *area_of_run(uint32_t run)
{
	struct area *a = areas.area;

	while (a < areas.area + PMM_GUARD_AREAS - 1 && run >= a->first + a->runs)
		a++;
	return a;
}

static inline bool run_prepared(const struct area *a, uint32_t i)
{
	return i < a->runs && LOAD_ACQUIRE(a->prepared[i / chunk_runs(a)]);
}

static inline struct pmm_guard *run_record(const struct area *a, uint32_t i)
{
	return &areas.record[a->first + i];
}

/* The pages that hold the block. */
static inline uint64_t block_pages(const struct area *a, uint32_t i, uint64_t *bytes)
{
	const struct pmm_guard *r = run_record(a, i);

	*bytes = r->pages * ARCH_PAGE;
	return run_start(a, i) + (r->bias == PMM_GUARD_LEFT ? 0 : run_bytes(a) - *bytes);
}

#endif
