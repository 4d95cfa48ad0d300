/*
 * Released canaried blocks, kept poisoned for a while.
 *
 * Rings of entries, first in, first out, each under a lock that is only ever tried: who finds one taken goes to the next. A thread keeps to
 * one ring as long as it can, and a process of one thread has a single one. The bytes of all rings together stay below the bound but for
 * what is on its way.
 */
#include "agent/check/quarantine.h"

#include "agent/agent.h"
#include "agent/sys.h"

#define RINGS		8
#define MIN_ENTRIES	1024ull
#define MAX_ENTRIES	(1ull << 18)
#define BYTES_PER_ENTRY	64		/* blocks are seldom smaller on average, with what the allocator adds */
#define BATCH		8

/* A struct quarantined in 48 bytes. */
struct entry {
	uint64_t address;
	uint64_t what;			/* size:44 | alignment's log2:6 | kind:8 */
	uint32_t alloc_site, free_site;
	uint32_t alloc_tick, free_tick;
	uint16_t alloc_thread, free_thread;
	uint32_t pid;			/* whose ledger the numbers are of */
	uint64_t bytes;			/* counted */
};

#define ALIGN_SHIFT	44
#define KIND_SHIFT	50

struct ring {
	uint32_t lock;
	uint32_t reserved;
	uint64_t first, end;		/* entries [first, end), numbered through */
	uint64_t bytes;
	uint64_t turns;
	struct entry *entry;
} __attribute__((aligned(64)));

static struct {
	uint64_t bytes;			/* of all rings; 0 = nothing is kept */
	uint64_t nr_entries;		/* of a ring, a power of two */
	struct ring ring[RINGS];
} Q;

bool quarantine_start(uint64_t bytes)
{
	uint64_t nr = MIN_ENTRIES;
	struct entry *all;

	while (nr < MAX_ENTRIES && nr * BYTES_PER_ENTRY < bytes)
		nr *= 2;
	if (!bytes)
		return false;
	all = sys_mmap(RINGS * nr * sizeof(*all), SYS_PROT_READ | SYS_PROT_WRITE,
		       SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS | SYS_MAP_NORESERVE, -1);
	if (!all)
		return false;
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

static inline struct entry *entry_at(const struct ring *r, uint64_t nr)
{
	return &r->entry[nr & (Q.nr_entries - 1)];
}

static void entry_unpack(const struct entry *e, struct quarantined *q)
{
	q->align = 1ul << (e->what >> ALIGN_SHIFT & 63);
	q->block = (struct check_block){
		.address = e->address,
		.size = e->what & ((1ull << ALIGN_SHIFT) - 1),
		.kind = e->what >> KIND_SHIFT & 0xff,
		.freed = true,
		.alloc_site = e->alloc_site, .alloc_tick = e->alloc_tick, .alloc_thread = e->alloc_thread,
		.free_site = e->free_site, .free_tick = e->free_tick, .free_thread = e->free_thread,
		.parent_pid = e->pid == (uint32_t)A.pid ? 0 : e->pid,
	};
}

static void entry_pack(struct entry *e, const struct quarantined *q)
{
	const struct check_block *b = &q->block;
	unsigned align = q->align ? 63 - (unsigned)__builtin_clzll(q->align) : 0;

	*e = (struct entry){
		.address = b->address,
		.what = b->size | (uint64_t)align << ALIGN_SHIFT | (uint64_t)b->kind << KIND_SHIFT,
		.alloc_site = b->alloc_site, .alloc_tick = b->alloc_tick, .alloc_thread = (uint16_t)b->alloc_thread,
		.free_site = b->free_site, .free_tick = b->free_tick, .free_thread = (uint16_t)b->free_thread,
		.pid = b->parent_pid ? b->parent_pid : (uint32_t)A.pid,
		.bytes = b->size + pmm_front_bytes(q->align) + PMM_TAIL_BYTES,
	};
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
		const struct entry *e = entry_at(r, r->first);

		__builtin_prefetch((const void *)entry_at(r, r->first + 4)->address);
		entry_unpack(e, &out[nr++]);
		r->bytes -= e->bytes;
		STORE_RELEASE(r->first, r->first + 1);
	}
	return nr;
}

/* The monitor's figure, now and then. */
static void report(void)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < RINGS; i++)
		bytes += LOAD(Q.ring[i].bytes);
	if (A.ledger)
		STORE(A.ledger->check.quarantined_bytes, bytes);
}

bool quarantine_add(const struct quarantined *q, void (*leave)(void *arg, const struct quarantined *q), void *arg)
{
	struct quarantined out[BATCH];
	struct ring *r;
	unsigned nr;

	if (q->block.size >= share() || !(r = ring_take()))
		return false;
	entry_pack(entry_at(r, r->end), q);
	r->bytes += entry_at(r, r->end)->bytes;
	STORE_RELEASE(r->end, r->end + 1);
	if (unlikely(!(r->turns++ & 63)) || *A.single_threaded)
		report();
	for (;;) {
		nr = take_out(r, out);
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
		struct entry e = *entry_at(r, nr);
		uint64_t size = e.what & ((1ull << ALIGN_SHIFT) - 1);

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (e.address != address && !(inside && address - e.address < size))
			continue;
		if (nr < LOAD(r->first))
			return false;
		entry_unpack(&e, out);
		return true;
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
	struct quarantined q;

	for (unsigned i = 0; Q.bytes && i < RINGS; i++) {
		struct ring *r = &Q.ring[i];

		if (!try_lock(r))
			continue;
		for (uint64_t nr = r->first; nr < r->end; nr++) {
			entry_unpack(entry_at(r, nr), &q);
			fn(arg, &q);
		}
		unlock(r);
	}
	report();
}

void quarantine_forked(void)
{
	for (unsigned i = 0; i < RINGS; i++)
		Q.ring[i].lock = 0;
}
