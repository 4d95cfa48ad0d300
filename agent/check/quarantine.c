/* SPDX-License-Identifier: MIT */
/*
 * Released canaried blocks, kept poisoned for a while.
 *
 * Rings of entries, first in, first out, each under a lock that is only ever tried: who finds one
 * taken goes to the next. The bytes of all rings together stay below the bound but for what is on
 * its way: each ring is allowed a part of it, which changes.
 *
 * A ring that is full takes what is spare. When nothing is, blocks have to leave: those of the ring
 * whose oldest block was released before all others' oldest ones, and what they took is the full
 * ring's from then on. So what leaves next is about what was released first, by any thread, a
 * thread that rests keeps nothing from the others, and any block fits that is smaller than the
 * bound.
 */
#include "agent/check/quarantine.h"

#include "agent/guard/own.h"

#define MIN_ENTRIES	1024ull
#define MAX_ENTRIES	(1ull << 18)
/*
 * what a block takes on average with head, tail and what the allocator adds; many small ones leave
 * earlier
 */
#define BYTES_PER_ENTRY	128
/* as many blocks of a size as glibc's malloc holds ready for a thread */
#define BATCH		7
#define MANY		(32 * BATCH)
/* of so many parts of the bound a ring takes one at least, while some are spare */
#define GRANTS		64
/* a ring that has the oldest block itself looks at the others' only so often, */
#define WAIT		32
#define FEW		16		/* unless it lacks more than such a part of what it has */

_Static_assert(sizeof(struct quarantined) == 48, "what a block in quarantine costs beside itself");

struct quarantine quarantine;

bool quarantine_start(uint64_t bytes)
{
	uint64_t nr = MIN_ENTRIES;
	struct quarantined *all;

	while (nr < MAX_ENTRIES && nr * BYTES_PER_ENTRY < bytes)
		nr *= 2;
	all = sys_mmap(QUARANTINE_RINGS * nr * sizeof(*all), SYS_PROT_READ | SYS_PROT_WRITE,
		       SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS | SYS_MAP_NORESERVE, -1);
	if (!all)
		return false;
	own_note(PMM_OWN_TABLES, all, QUARANTINE_RINGS * nr * sizeof(*all));
	sys3(madvise, all, QUARANTINE_RINGS * nr * sizeof(*all), SYS_MADV_DONTDUMP);
	for (unsigned i = 0; i < QUARANTINE_RINGS; i++)
		quarantine.ring[i] = (struct quarantine_ring){ .entry = all + i * nr };
	quarantine.nr_entries = nr;
	quarantine.bytes = quarantine.spare = bytes;
	return true;
}

void quarantine_describe(const struct quarantined *q, struct check_block *out)
{
	*out = (struct check_block){
		.address = q->address,
		.size = q->size,
		.kind = q->kind,
		.freed = true,
		.alloc_site = q->alloc_site,
		.alloc_tick = q->alloc_tick,
		.alloc_thread = q->alloc_thread,
		.free_site = q->free_site,
		.free_tick = q->free_tick,
		.free_thread = q->free_thread,
		.parent_pid = q->pid == (uint32_t)agent.pid ? 0 : q->pid,
		.alloc_from = q->alloc_generation + 1u,
		.free_from = q->free_generation + 1u,
	};
}

#define LINE		64u		/* of the processor's caches */
#define AHEAD_LINES	4u		/* of a block, from its head on */

/* A block is about to leave: what is looked at then has long left the processor's caches. */
static inline void fetch(const struct quarantined *q)
{
	uint64_t at = q->address - PMM_HEAD_BYTES,
		 end = at + PMM_HEAD_BYTES + q->size + PMM_TAIL_BYTES;

	arch_prefetch((const void *)at);
	for (unsigned i = 1; i < AHEAD_LINES && (at += LINE) < end; i++)
		arch_prefetch((const void *)at);
}

/*
 * Take up to BATCH blocks out, those that have to go for there to be at most `keep` bytes and a
 * free entry. When one has to of many, BATCH do, and as many more are fetched for the next time: by
 * then they are there.
 */
static unsigned take_out(struct quarantine_ring *r, uint64_t keep, struct quarantined out[BATCH])
{
	uint64_t first = r->first, end = r->end, bytes = r->bytes,
		 *figure = &agent.ledger->check.quarantined_bytes;
	/* entries that may stay, once one has to go */
	uint64_t most = end - first > MANY ? MANY : quarantine.nr_entries - 1;
	unsigned nr = 0;

	while (nr < BATCH && first < end &&
	       (bytes > keep || end - first > (nr ? most : quarantine.nr_entries - 1))) {
		const struct quarantined *q = quarantine_entry(r, first++);

		if (unlikely(q->gone))
			continue;
		out[nr++] = *q;
		bytes -= quarantined_bytes(q->size, quarantine_align(q));
	}
	if (unlikely(first == end))
		bytes = 0; /* in a forked child another thread's change may be half made */
	STORE_RELEASE(r->first, first);
	for (uint64_t i = first; i < end && i - first < BATCH; i++)
		fetch(quarantine_entry(r, i));
	if (likely(*agent.single_threaded))
		STORE(*figure, *figure + bytes - r->bytes);
	r->bytes = bytes;
	return nr;
}

/* Let the ring have what is spare, as far as it needs that and some more. */
static void spare_take(struct quarantine_ring *r)
{
	uint64_t need = r->bytes - r->allowed, grant = quarantine.bytes / GRANTS,
		 spare = LOAD(quarantine.spare), take;

	do {
		take = need > grant ? need : grant;
		take = take < spare ? take : spare;
	} while (take && !CAS(quarantine.spare, spare, spare - take));
	STORE(r->allowed, r->allowed + take);
}

/*
 * When the ring's oldest block was released; for comparison. One that has none and may have some
 * comes first, then those from before a fork.
 */
static uint64_t age(const struct quarantine_ring *r)
{
	uint64_t first = LOAD(r->first);
	const struct quarantined *q = quarantine_entry(r, first);

	if (first >= LOAD(r->end))
		return 0;
	return q->free_generation == (uint16_t)LOAD(agent.ledger->check.generation)
		       ? 2 + (uint64_t)LOAD(q->free_tick)
		       : 1;
}

static bool lacks_few(const struct quarantine_ring *r)
{
	return r->bytes <= r->allowed + r->bytes / FEW;
}

/*
 * The ring whose blocks have to leave for those of `r`: that itself, or another one, which we have
 * then, too. Of those of the same tick the fullest.
 */
static struct quarantine_ring *donor(struct quarantine_ring *r)
{
	struct quarantine_ring *best = r;
	uint64_t oldest = age(r);

	if (r->wait && lacks_few(r)) {
		r->wait--;
		return r;
	}
	for (unsigned i = 0; i < QUARANTINE_RINGS; i++) {
		struct quarantine_ring *o = &quarantine.ring[i];
		uint64_t a;

		if (o == r || !LOAD(o->allowed))
			continue;
		a = age(o);
		if (a < oldest || (a == oldest && LOAD(o->bytes) / 2 > LOAD(best->bytes))) {
			best = o;
			oldest = a;
		}
	}
	r->wait = best == r ? WAIT : 0;
	return best == r || quarantine_lock(best) ? best : r;
}

/*
 * What `r` lacks, from another ring: what that does not use, then what leaves it. Never more than
 * there is, at no moment: first taken, then given.
 */
static unsigned take_over(struct quarantine_ring *r, struct quarantine_ring *o,
			  struct quarantined out[BATCH])
{
	uint64_t need = r->bytes - r->allowed,
		 unused = o->allowed > o->bytes ? o->allowed - o->bytes : 0, left, give;
	unsigned nr = 0;

	give = unused < need ? unused : need;
	if (give < need) {
		left = o->bytes > need - give ? o->bytes - (need - give) : 0;
		nr = take_out(o, left, out);
		give += o->allowed > o->bytes + unused ? o->allowed - o->bytes - unused : 0;
	}
	STORE(o->allowed, o->allowed - give);
	STORE(r->allowed, r->allowed + give);
	return nr;
}

/* One step: what has to leave, and whether there is more to do. */
static unsigned step(struct quarantine_ring *r, struct quarantined out[BATCH], bool *more)
{
	struct quarantine_ring *from = r;
	unsigned nr = 0;

	if (r->bytes > r->allowed && LOAD(quarantine.spare))
		spare_take(r);
	if (r->bytes > r->allowed)
		from = donor(r);
	if (from != r) {
		nr = take_over(r, from, out);
		quarantine_unlock(from);
		*more = true;
	} else if (quarantine_overfull(r)) {
		/* one, and all rings are looked at again */
		nr = take_out(r, lacks_few(r) ? r->allowed : r->bytes - 1, out);
		*more = nr;
	} else {
		*more = false;
	}
	return nr;
}

void quarantine_drain(struct quarantine_ring *r, quarantine_leave leave, void *arg)
{
	struct quarantined out[BATCH];
	bool more;

	do {
		unsigned nr = step(r, out, &more);

		quarantine_unlock(r);
		for (unsigned i = 0; i < nr; i++)
			leave(arg, &out[i]);
	} while (unlikely(more && quarantine_overfull(r)) && quarantine_lock(r));
}

/* Exact where there is one thread. */
void quarantine_report(void)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < QUARANTINE_RINGS; i++)
		bytes += LOAD(quarantine.ring[i].bytes);
	STORE(agent.ledger->check.quarantined_bytes, bytes);
}

void quarantine_note(const struct quarantined *q)
{
	struct quarantine_ring *r = quarantine.nr_entries ? quarantine_take() : NULL;

	if (!r)
		return;
	/* the next one to be kept finds a place */
	if (r->end - r->first < quarantine.nr_entries - 1) {
		struct quarantined *entry = quarantine_entry(r, r->end);

		*entry = *q;
		entry->gone = 1;
		if (r->first == r->end)
			STORE_RELEASE(r->first, r->first + 1);
		STORE_RELEASE(r->end, r->end + 1);
	}
	quarantine_unlock(r);
}

/*
 * Without its lock: an entry that another thread overwrites meanwhile is recognised by its ring
 * having moved on.
 */
static bool ring_find(const struct quarantine_ring *r, uint64_t address, bool inside,
		      struct quarantined *out)
{
	for (uint64_t nr = LOAD_ACQUIRE(r->end); nr-- > LOAD_ACQUIRE(r->first);) {
		*out = *quarantine_entry(r, nr);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!out->gone &&
		    (out->address == address || (inside && address - out->address < out->size)))
			return nr >= LOAD(r->first);
	}
	return false;
}

static bool ring_gone(const struct quarantine_ring *r, uint64_t address, bool inside,
		      struct quarantined *out)
{
	uint64_t end = LOAD_ACQUIRE(r->end), most = quarantine.nr_entries;

	for (uint64_t nr = end; nr-- > 0 && nr + most > LOAD_ACQUIRE(r->end);) {
		*out = *quarantine_entry(r, nr);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if ((out->address == address || (inside && address - out->address < out->size)) &&
		    (out->gone || nr < LOAD(r->first)))
			return nr + most > LOAD(r->end);
	}
	return false;
}

static bool gone(uint64_t address, bool inside, struct quarantined *out)
{
	for (unsigned i = 0; quarantine.nr_entries && i < QUARANTINE_RINGS; i++)
		if (ring_gone(&quarantine.ring[i], address, inside, out))
			return true;
	return false;
}

bool quarantine_gone(uint64_t address, struct quarantined *out)
{
	return gone(address, false, out);
}

bool quarantine_went(uint64_t address, struct quarantined *out)
{
	return gone(address, true, out);
}

bool quarantine_find(uint64_t address, bool inside, struct quarantined *out)
{
	for (unsigned i = 0; quarantine.nr_entries && i < QUARANTINE_RINGS; i++)
		if (ring_find(&quarantine.ring[i], address, inside, out))
			return true;
	return false;
}

void quarantine_each(void (*fn)(void *arg, const struct quarantined *q), void *arg)
{
	for (unsigned i = 0; quarantine.nr_entries && i < QUARANTINE_RINGS; i++) {
		struct quarantine_ring *r = &quarantine.ring[i];

		if (!quarantine_lock(r))
			continue;
		for (uint64_t nr = r->first; nr < r->end; nr++)
			if (!quarantine_entry(r, nr)->gone)
				fn(arg, quarantine_entry(r, nr));
		quarantine_unlock(r);
	}
	quarantine_report();
}

void quarantine_forked(void)
{
	uint64_t allowed = 0;

	for (unsigned i = 0; i < QUARANTINE_RINGS; i++) {
		quarantine.ring[i].lock = 0;
		allowed += quarantine.ring[i].allowed;
	}
	quarantine.spare = quarantine.bytes - allowed;
	quarantine_report();		/* its ledger begins with none */
}
