/* SPDX-License-Identifier: MIT */
/*
 * Taking and putting back runs of the guard pool.
 */
#include "agent/guard/area.h"

#include "agent/agent.h"
#include "agent/guard/own.h"
#include "agent/guard/guard_pages.h"
#include "agent/limit.h"

#define MAX_CHUNKS	(1u << (AREA_RUNS_LOG2 - CHUNK_LOG2))
/* released runs that are kept back in area 0; half of it in each next one */
#define KEPT_LOG2	15
#define TRIES		8
#define RLIMIT_DATA	2
#define RLIMIT_AS	9
#define DATA_SHARE	4
#define SHARE		16
#define AHEAD_AREAS	2		/* whose blocks fill all pages of a run */
#define AHEAD_CELLS	256
/* PAGES_MANY blocks in less time are worth being made ready together */
#define AHEAD_CYCLES	1000000u

_Static_assert(AREA_RUNS_LOG2 >= PMM_GUARD_AREAS - 1 && CHUNK_LOG2 >= PMM_GUARD_AREAS - 1,
	       "every area has whole chunks");
_Static_assert(2u << AREA_RUNS_LOG2 <= PMM_MAX_GUARDS, "areas halve");

struct areas areas;

/* ---- the reservation ------------------------------------------------------------------------- */

/*
 * Runs of each area for so many blocks at once: all of one size, or of any. Halved `shrink` times.
 */
static void lay_out(uint64_t blocks, unsigned shrink)
{
	uint64_t at = 0;
	uint32_t first = 0;

	for (unsigned k = 0; k < PMM_GUARD_AREAS; k++) {
		struct area *a = &areas.area[k];
		uint64_t most = 1u << (AREA_RUNS_LOG2 - k), chunk = chunk_runs(a);
		uint64_t kept = 1u << (KEPT_LOG2 - k);
		uint64_t runs = blocks < most - kept ? blocks + kept : most;

		runs = ((runs >> shrink) + chunk - 1) / chunk * chunk;
		a->runs = (uint32_t)(runs ? runs : chunk);
		a->kept = (uint32_t)(kept < runs / 2 ? kept : runs / 2);
		a->first = first;
		a->start = at;
		/* a guard page is before where the next one would be */
		a->end = run_start(a, a->runs);
		at = a->end;
		first += a->runs;
	}
	areas.start = 0;
	areas.end = at;
}

static uint32_t cells(uint32_t runs)
{
	uint32_t n = 64;

	while (n < runs)
		n *= 2;
	return n;
}

/* Queues and what is prepared, one mapping: its size, and the places in it. */
static uint64_t lists_place(char *base)
{
	uint64_t used = 0;

	for (unsigned k = 0; k < PMM_GUARD_AREAS; k++) {
		struct area *a = &areas.area[k];
		uint32_t freed = cells(a->runs);

		a->prepared = (uint8_t *)base + used;
		used += MAX_CHUNKS;
		a->freed.cell = (uint32_t *)(base + used);
		a->freed.mask = freed - 1;
		used += freed * sizeof(uint32_t);
		a->ahead.cell = (uint32_t *)(base + used);
		a->ahead.mask = AHEAD_CELLS - 1;
		used += AHEAD_CELLS * sizeof(uint32_t);
	}
	return used;
}

static void *reserve(uint64_t bytes, int prot)
{
	return sys_mmap(bytes, prot, SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS | SYS_MAP_NORESERVE, -1);
}

static uint64_t record_bytes(void)
{
	const struct area *last = &areas.area[PMM_GUARD_AREAS - 1];

	return (last->first + last->runs) * sizeof(struct pmm_guard);
}

static bool reserve_all(void)
{
	uint64_t records = record_bytes(), lists = lists_place(NULL);
	char *pool = reserve(areas.end, SYS_PROT_NONE);
	char *record = reserve(records, SYS_PROT_NONE);
	char *list = reserve(lists, SYS_PROT_READ | SYS_PROT_WRITE);

	if (!pool || !record || !list) {
		if (pool)
			sys2(munmap, pool, areas.end);
		if (record)
			sys2(munmap, record, records);
		if (list)
			sys2(munmap, list, lists);
		return false;
	}
	lists_place(list);
	own_note(PMM_OWN_TABLES, record, records);
	own_note(PMM_OWN_POOL, pool, areas.end);
	areas.record = (struct pmm_guard *)record;
	areas.record_bytes = records;
	areas.lists = list;
	areas.lists_bytes = lists;
	areas.start = (uint64_t)pool;
	areas.end += (uint64_t)pool;
	for (unsigned k = 0; k < PMM_GUARD_AREAS; k++) {
		areas.area[k].start += (uint64_t)pool;
		areas.area[k].end += (uint64_t)pool;
	}
	return true;
}

static uint64_t all_bytes(void)
{
	return areas.end + record_bytes() + lists_place(NULL);
}

/*
 * Where the program's limit on address space cannot be raised for the pool, a small part of it must
 * do.
 */
static uint64_t most_bytes(void)
{
	uint64_t limit[2] = { UINT64_MAX, UINT64_MAX };

	if (limit_room(all_bytes()))
		return UINT64_MAX;
	sys4(prlimit, 0, RLIMIT_AS, 0, limit);
	return limit[0] / SHARE;
}

bool areas_start(const struct pmm_check *options)
{
	uint64_t most = UINT64_MAX;

	for (unsigned shrink = 0; shrink < AREA_RUNS_LOG2; shrink++) {
		lay_out(options->max_guarded, shrink);
		if (!shrink)
			most = most_bytes();
		if (all_bytes() <= most && reserve_all())
			return true;
	}
	return false;
}

/* ---- taking runs ----------------------------------------------------------------------------- */

static bool run_own(const struct area *a, uint32_t i)
{
	uint32_t hold = LOAD(run_record(a, i)->hold);

	while (!(hold & (HOLD_TURN - 1)))
		if (CAS(run_record(a, i)->hold, hold, hold + HOLD_TURN + HOLD_OWNED))
			return true;
	return false;
}

/*
 * May the pool have that much more of what the program's limit on data leaves? A part of it: the
 * program's own blocks come first.
 */
static bool data_allows(uint64_t bytes)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };
	uint64_t own = agent.tree && agent.tree->flags & PMM_TREE_DATA ? PMM_OWN_DATA_BYTES : 0;

	if (LOAD(agent.confined))
		return true;
	sys4(prlimit, 0, RLIMIT_DATA, 0, &l);
	return l.now == UINT64_MAX ||
	       (l.now > own && LOAD(areas.prepared_bytes) + bytes <= (l.now - own) / DATA_SHARE);
}

static bool chunk_prepare(struct area *a, uint32_t chunk)
{
	uint32_t runs = chunk_runs(a), first = chunk * runs;
	uint64_t lo = (uint64_t)run_record(a, first) & ~(ARCH_PAGE - 1);
	uint64_t hi = ((uint64_t)run_record(a, first + runs) + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1);
	uint64_t at = run_start(a, first);

	if (!first)
		at -= ARCH_PAGE;	/* the area's first guard page */
	if (!data_allows(run_start(a, first + runs) - at) ||
	    sys_failed(sys3(mprotect, lo, hi - lo, SYS_PROT_READ | SYS_PROT_WRITE)) ||
	    !pages_prepare(at, run_start(a, first + runs) - at))
		return false;
	ADD(areas.prepared_bytes, run_start(a, first + runs) - at);
	STORE_RELEASE(a->prepared[chunk], 1);
	return true;
}

/*
 * The first run of a chunk, the rest of which is for all; NO_RUN: no more chunks, or the kernel
 * refuses.
 */
static uint32_t run_new(struct area *a, enum guard_refusal *why)
{
	uint32_t chunk = LOAD(a->next_chunk), end = (chunk + 1) * chunk_runs(a);
	uint32_t i, after = chunk + 1;
	uint64_t fresh;

	do {
		end = (chunk + 1) * chunk_runs(a);
		if (end > a->runs)
			return NO_RUN;
	} while (!CAS(a->next_chunk, chunk, chunk + 1));
	if (!chunk_prepare(a, chunk)) {
		after = chunk + 1;
		CAS(a->next_chunk, after, chunk);	/* perhaps another time */
		*why = GUARD_KERNEL;
		return NO_RUN;
	}
	i = end - chunk_runs(a);
	fresh = LOAD(a->fresh);
	do {
		if (fresh >> 32 < (uint32_t)fresh) {	/* another thread's came between */
			for (uint32_t rest = i + 1; rest < end; rest++)
				ring_push(&a->freed, rest);
			break;
		}
	} while (!CAS(a->fresh, fresh, (uint64_t)(i + 1) << 32 | end));
	return i;
}

static uint32_t run_fresh(struct area *a)
{
	uint64_t fresh = LOAD_ACQUIRE(a->fresh);

	while (fresh >> 32 < (uint32_t)fresh)
		if (CAS(a->fresh, fresh, fresh + (1ull << 32)))
			return (uint32_t)(fresh >> 32);
	return NO_RUN;
}

/* A run of this area, owned, its pages closed. */
static uint32_t run_take(struct area *a, enum guard_refusal *why)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint32_t run = NO_RUN;

		if (ring_length(&a->freed) > a->kept)
			run = ring_pop(&a->freed);
		if (run == NO_RUN)
			run = run_fresh(a);
		if (run == NO_RUN)
			run = run_new(a, why);
		if (run == NO_RUN)
			run = ring_pop(&a->freed);
		if (run == NO_RUN || run_own(a, run))
			return run;
		ring_push(&a->freed, run);
	}
	return NO_RUN;
}

static void run_give_back(struct area *a, uint32_t i)
{
	ADD(run_record(a, i)->hold, -HOLD_OWNED);
	ring_push(&a->freed, i);
}

/* Open several runs at once where blocks come one after the other; one for the caller. */
static uint32_t runs_ahead(struct area *a, enum guard_refusal *why)
{
	uint64_t now = arch_cycles(), at[PAGES_MANY];
	uint32_t run[PAGES_MANY];
	unsigned nr = 0;
	bool often = now - LOAD(a->opened_ahead) < AHEAD_CYCLES;

	STORE(a->opened_ahead, now);
	if (!often || !pages_vectors())
		return NO_RUN;
	while (nr < PAGES_MANY && (run[nr] = run_take(a, why)) != NO_RUN) {
		at[nr] = run_start(a, run[nr]);
		nr++;
	}
	if (!nr)
		return NO_RUN;
	if (pages_open_many(at, nr, run_bytes(a))) {
		while (nr > 1 && ring_push(&a->ahead, run[nr - 1]))
			nr--;
		if (nr == 1)
			return run[0];
	}
	while (nr)
		area_close(a, run[--nr]);
	return NO_RUN;
}

static void run_lay(struct pmm_guard *r, uint32_t pages, enum pmm_guard_bias bias)
{
	r->pages = (uint16_t)pages;
	r->bias = (uint16_t)bias;
}

uint32_t area_open(struct area *a, uint32_t pages, enum pmm_guard_bias bias,
		   enum guard_refusal *why)
{
	bool ahead = area_log2(a) < AHEAD_AREAS && pages == 1u << area_log2(a);
	uint32_t i = ahead ? ring_pop(&a->ahead) : NO_RUN;
	uint64_t bytes;

	if (i == NO_RUN && ahead)
		i = runs_ahead(a, why);
	if (i != NO_RUN) {
		run_lay(run_record(a, i), pages, bias);
		return i;
	}
	i = pages_full() ? NO_RUN : run_take(a, why);
	if (i == NO_RUN) {
		if (pages_full())
			*why = GUARD_KERNEL;
		return NO_RUN;
	}
	STORE(run_record(a, i)->state, PMM_GUARD_UNUSED);
	run_lay(run_record(a, i), pages, bias);
	if (pages_open(block_pages(a, i, &bytes), pages * ARCH_PAGE))
		return i;
	run_give_back(a, i);
	*why = GUARD_KERNEL;
	return NO_RUN;
}

/*
 * No longer owned first: an access that is being let through from now on closes its page itself,
 * and until it has, the run is not taken; one before that leaves the page as it is, for us. All
 * pages, since such an access may have opened any.
 */
void area_close(struct area *a, uint32_t i)
{
	ADD(run_record(a, i)->hold, -HOLD_OWNED);
	if (pages_close(run_start(a, i), run_bytes(a)))
		ring_push(&a->freed, i);
}
