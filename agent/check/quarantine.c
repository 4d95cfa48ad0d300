/*
 * Released canaried blocks, kept poisoned for a while.
 *
 * Rings of entries, first in, first out, each under a lock that is only ever tried: who finds one taken goes to the next. A thread keeps to
 * one ring as long as it can, and a process of one thread has a single one. The bytes of all rings together stay below the bound but for
 * what is on its way.
 */
#include "agent/check/quarantine.h"

#include "agent/agent.h"
#include "agent/check/own.h"
#include "agent/sys.h"

#define RINGS		8
#define MIN_ENTRIES	1024ull
#define MAX_ENTRIES	(1ull << 18)
#define BYTES_PER_ENTRY	128		/* what a block takes on average with head, tail and what the allocator adds; many small ones leave earlier */
#define BATCH		8

_Static_assert(sizeof(struct quarantined) == 48, "what a block in quarantine costs beside itself");

struct ring {
	uint32_t lock;
	uint32_t reserved;
	uint64_t first, end;		/* entries [first, end), numbered through */
	uint64_t bytes;
	uint64_t turns;
	struct quarantined *entry;
} __attribute__((aligned(64)));

static struct {
	uint64_t bytes;			/* of all rings; 0 = nothing is kept */
	uint64_t nr_entries;		/* of a ring, a power of two */
	struct ring ring[RINGS];
} Q;

bool quarantine_start(uint64_t bytes)
{
	uint64_t nr = MIN_ENTRIES;
	struct quarantined *all;

	while (nr < MAX_ENTRIES && nr * BYTES_PER_ENTRY < bytes)
		nr *= 2;
	if (!bytes)
		return false;
	all = sys_mmap(RINGS * nr * sizeof(*all), SYS_PROT_READ | SYS_PROT_WRITE,
		       SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS | SYS_MAP_NORESERVE, -1);
	if (!all)
		return false;
	own_note(PMM_OWN_TABLES, all, RINGS * nr * sizeof(*all));
	sys3(madvise, all, RINGS * nr * sizeof(*all), SYS_MADV_DONTDUMP);
	for (unsigned i = 0; i < RINGS; i++)
		Q.ring[i] = (struct ring){ .entry = all + i * nr };
	Q.nr_entries = nr;
	Q.bytes = bytes;
	return true;
}

static inline bool try_lock(struct ring *r)
{
	uint32_t free = 0;

	return !LOAD(r->lock) && CAS(r->lock, free, 1);
}

static inline void unlock(struct ring *r)
{
	STORE_RELEASE(r->lock, 0);
}

/* A ring that is ours now; NULL: all are in use. */
static struct ring *ring_take(void)
{
	unsigned at = *A.single_threaded ? 0 : (unsigned)(arch_thread_pointer() * 0x9e3779b97f4a7c15ull >> 61);

	for (unsigned i = 0; i < RINGS; i++)
		if (likely(try_lock(&Q.ring[(at + i) % RINGS])))
			return &Q.ring[(at + i) % RINGS];
	return NULL;
}

static inline struct quarantined *entry_at(const struct ring *r, uint64_t nr)
{
	return &r->entry[nr & (Q.nr_entries - 1)];
}

void quarantine_describe(const struct quarantined *q, struct check_block *out)
{
	*out = (struct check_block){
		.address = q->address, .size = q->size, .kind = q->kind, .freed = true,
		.alloc_site = q->alloc_site, .alloc_tick = q->alloc_tick, .alloc_thread = q->alloc_thread,
		.free_site = q->free_site, .free_tick = q->free_tick, .free_thread = q->free_thread,
		.parent_pid = q->pid == (uint32_t)A.pid ? 0 : q->pid,
		.alloc_from = q->alloc_generation + 1u, .free_from = q->free_generation + 1u,
	};
}

/* What a block takes. */
static inline uint64_t bytes_of(const struct quarantined *q)
{
	return q->size + pmm_front_bytes(quarantine_align(q)) + PMM_TAIL_BYTES;
}

/* What this ring may hold: all of it where there is one thread. */
static inline uint64_t share(void)
{
	return *A.single_threaded ? Q.bytes : Q.bytes / RINGS;
}

/* Take up to BATCH blocks out that have to go. */
static unsigned take_out(struct ring *r, struct quarantined out[BATCH])
{
	unsigned nr = 0;

	while (nr < BATCH && r->first < r->end && (r->bytes > share() || r->end - r->first >= Q.nr_entries)) {
		__builtin_prefetch((const void *)entry_at(r, r->first + 4)->address);
		out[nr] = *entry_at(r, r->first);
		r->bytes -= bytes_of(&out[nr++]);
		STORE_RELEASE(r->first, r->first + 1);
	}
	return nr;
}

/* The monitor's figure: exact where there is one thread, else now and then. */
static void report(void)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < RINGS; i++)
		bytes += LOAD(Q.ring[i].bytes);
	STORE(A.ledger->check.quarantined_bytes, bytes);
}

static inline void report_change(struct ring *r, uint64_t before)
{
	if (likely(*A.single_threaded))
		STORE(A.ledger->check.quarantined_bytes, A.ledger->check.quarantined_bytes + r->bytes - before);
	else if (unlikely(!(r->turns++ & 63)))
		report();
}

bool quarantine_keeps(size_t size)
{
	return size < share();
}

bool quarantine_add(const struct quarantined *q, void (*leave)(void *arg, const struct quarantined *q), void *arg)
{
	struct quarantined out[BATCH];
	uint64_t before;
	struct ring *r;
	unsigned nr;

	if (!quarantine_keeps(q->size) || !(r = ring_take()))
		return false;
	before = r->bytes;
	*entry_at(r, r->end) = *q;
	r->bytes += bytes_of(q);
	STORE_RELEASE(r->end, r->end + 1);
	for (;;) {
		nr = take_out(r, out);
		report_change(r, before);
		before = r->bytes;
		unlock(r);
		for (unsigned i = 0; i < nr; i++)
			leave(arg, &out[i]);
		if (likely(nr < BATCH) || !try_lock(r))
			return true;
	}
}

/* Without its lock: an entry that another thread overwrites meanwhile is told by its ring having moved on. */
static bool ring_find(const struct ring *r, uint64_t address, bool inside, struct quarantined *out)
{
	for (uint64_t nr = LOAD_ACQUIRE(r->end); nr-- > LOAD_ACQUIRE(r->first);) {
		*out = *entry_at(r, nr);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (out->address == address || (inside && address - out->address < out->size))
			return nr >= LOAD(r->first);
	}
	return false;
}

bool quarantine_find(uint64_t address, bool inside, struct quarantined *out)
{
	for (unsigned i = 0; Q.bytes && i < RINGS; i++)
		if (ring_find(&Q.ring[i], address, inside, out))
			return true;
	return false;
}

void quarantine_each(void (*fn)(void *arg, const struct quarantined *q), void *arg)
{
	for (unsigned i = 0; Q.bytes && i < RINGS; i++) {
		struct ring *r = &Q.ring[i];

		if (!try_lock(r))
			continue;
		for (uint64_t nr = r->first; nr < r->end; nr++)
			fn(arg, entry_at(r, nr));
		unlock(r);
	}
	report();
}

void quarantine_forked(void)
{
	for (unsigned i = 0; i < RINGS; i++)
		Q.ring[i].lock = 0;
}
