/* SPDX-License-Identifier: MIT */
/*
 * Released canaried blocks, kept poisoned for a while: first in, first out, up to
 * pmm_check.quarantine_bytes. No thread waits: one that finds its part in use takes another, or
 * does without.
 */
#ifndef AGENT_CHECK_QUARANTINE_H
#define AGENT_CHECK_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/check/agent_check.h"
#include "agent/sys.h"

/* Private memory for it. False: there is none, nothing is kept. */
bool quarantine_start(uint64_t bytes);

/*
 * A block there. Numbers of sites and threads are those of the ledgers of these generations; `pid`
 * allocated it.
 */
struct quarantined {
	uint64_t address;
	union {
		struct {
			uint64_t size : 44, align_log2 : 6, kind : 8;
			uint64_t damaged : 1;	/* what is next to it may be, too */
			uint64_t gone : 1;	/* it was never kept, only noted */
		};
		uint64_t what;		/* all of these, to be set at once: quarantined_what() */
	};
	uint32_t alloc_site, free_site;
	uint32_t alloc_tick, free_tick;
	uint16_t alloc_thread, free_thread;
	uint32_t pid;
	uint16_t alloc_generation, free_generation;
	uint32_t reserved;
};

static inline uint64_t quarantined_what(size_t size, size_t align, uint32_t kind, bool damaged)
{
	return size | (uint64_t)__builtin_ctzl(align) << 44 | (uint64_t)kind << 50 |
	       (uint64_t)damaged << 58;
}

/* The same for everybody. */
void quarantine_describe(const struct quarantined *q, struct check_block *out);

static inline size_t quarantine_align(const struct quarantined *q)
{
	return (size_t)1 << q->align_log2;
}

/* What a block takes. */
static inline uint64_t quarantined_bytes(size_t size, size_t align)
{
	return size + pmm_front_bytes(align) + PMM_TAIL_BYTES;
}

#define QUARANTINE_RINGS	8

/*
 * Blocks that leave in the order they came in. A thread keeps to one ring as long as it can; a
 * process of one thread has a single one.
 */
struct quarantine_ring {
	uint64_t lock;
	/* entries [first, end), numbered through; those before stay until their places are taken */
	uint64_t first, end;
	uint64_t bytes;
	/* bytes, but for what is on its way; changed by who has the lock */
	uint64_t allowed;
	struct quarantined *entry;
	uint32_t turns;
	uint32_t wait;			/* so often no other ring is asked for room */
} __attribute__((aligned(64)));

struct quarantine {
	uint64_t bytes;			/* of all rings; 0 = nothing is kept */
	/*
	 * of these, what no ring is allowed: bytes >= spare + the sum of all `allowed` at any time
	 */
	uint64_t spare;
	uint64_t nr_entries;		/* of a ring, a power of two */
	struct quarantine_ring ring[QUARANTINE_RINGS];
};

extern struct quarantine quarantine __attribute__((visibility("hidden")));

_Static_assert(sizeof(struct quarantine_ring) == 64, "one line of the processor's caches");

/* Would it take a block of this size? */
static inline bool quarantine_takes(size_t size)
{
	return size < quarantine.bytes;
}

static inline bool quarantine_lock(struct quarantine_ring *r)
{
	uint64_t free = 0;

	if (unlikely(LOAD(r->lock)))
		return false;
	return likely(*agent.single_threaded) ? arch_cas_local(&r->lock, &free, 1)
					  : CAS(r->lock, free, 1);
}

static inline void quarantine_unlock(struct quarantine_ring *r)
{
	STORE_RELEASE(r->lock, 0);
}

/*
 * A ring that is ours now; NULL: all are in use. Its owner changes one entry: that its number has
 * left the ring, or that the ring's end has come to it, was stored with a release before the unlock
 * whose word is acquired here, so it is seen before the change (by ring_find() and ring_gone(),
 * which read without the lock).
 */
static inline struct quarantine_ring *quarantine_take(void)
{
	unsigned at = likely(*agent.single_threaded)
			      ? 0
			      : (unsigned)(arch_thread_pointer() * 0x9e3779b97f4a7c15ull >> 61);

	for (unsigned i = 0; i < QUARANTINE_RINGS; i++)
		if (likely(quarantine_lock(&quarantine.ring[(at + i) % QUARANTINE_RINGS])))
			return &quarantine.ring[(at + i) % QUARANTINE_RINGS];
	return NULL;
}

static inline struct quarantined *quarantine_entry(const struct quarantine_ring *r, uint64_t nr)
{
	return &r->entry[nr & (quarantine.nr_entries - 1)];
}

/* Must some leave? */
static inline bool quarantine_overfull(const struct quarantine_ring *r)
{
	return r->bytes > r->allowed || r->end - r->first >= quarantine.nr_entries;
}

typedef void (*quarantine_leave)(void *arg, const struct quarantined *q);

/* Let those leave that must, and unlock it. */
void quarantine_drain(struct quarantine_ring *r, quarantine_leave leave, void *arg);

/* The monitor's figure, now and then. */
void quarantine_report(void);

/*
 * The ring that we have has one more entry, just filled in, a block, poisoned already, that takes
 * so many bytes. It belongs to no ring afterwards. What has to leave for the block is handed to
 * `leave` one by one, which gives it to the real allocator.
 */
static inline void quarantine_put(struct quarantine_ring *r, uint64_t bytes, quarantine_leave leave,
				  void *arg)
{
	uint64_t *figure = &agent.ledger->check.quarantined_bytes;

	r->bytes += bytes;
	STORE_RELEASE(r->end, r->end + 1);
	if (likely(*agent.single_threaded))
		STORE(*figure, *figure + bytes);
	else if (unlikely(!(r->turns++ & 63)))
		quarantine_report();
	if (unlikely(quarantine_overfull(r)))
		quarantine_drain(r, leave, arg);
	else
		quarantine_unlock(r);
}

/* Note a block that was released and is not kept, for quarantine_gone(). */
void quarantine_note(const struct quarantined *q);

/*
 * One that began at an address and was noted, or has left, not too many releases ago; whose the
 * memory is now is not known.
 */
bool quarantine_gone(uint64_t address, struct quarantined *out);

/* The same of one that covered an address. */
bool quarantine_went(uint64_t address, struct quarantined *out);

/*
 * The kept block that begins at, or (inside) covers, an address; looks at all: for the moment of an
 * error.
 */
bool quarantine_find(uint64_t address, bool inside, struct quarantined *out);

/* Call for each kept block, at the process's end: is it still poison? */
void quarantine_each(void (*fn)(void *arg, const struct quarantined *q), void *arg);

/* In a forked child: what other threads held is free. */
void quarantine_forked(void);

#endif
