/*
 * Accesses of string and memory functions against the bounds of blocks.
 *
 * Where a canaried block begins and how large it is is taken from the ledger's tables, without reading the program's memory. Before
 * anything is said of a block its head must say the same: tables may be behind for blocks that came or went without a context.
 * Blocks of a parent process are in no table: nothing is said of them unless they are guarded.
 */
#include "agent/check/bounds.h"

#include "agent/block.h"
#include "agent/check/canary.h"
#include "agent/check/guard.h"
#include "agent/check/quarantine.h"
#include "agent/check/ways.h"
#include "agent/preload/preload.h"

#define REACH		256u		/* how far before an address its block is looked for each time: 8 words of the table */
#define REACH_FAR	16384u		/* ... once in a while, and when a finding is made */
#define SEEN		1024u		/* pages */
#define LARGE		256u
#define TRUST		64u
#define SCAN		256u		/* bytes that are gone through */
#define POISON		(PMM_POISON_BYTE * 0x0101010101010101ull)
#define TOLD		256u
#define WHAT_FREED	(PMM_HEAD_FREED >> PMM_HEAD_ALIGN_SHIFT)

bool bounds_on, bounds_canaried;
uint64_t bounds_secret;

/* After the agent has begun (agent/preload/life.c). */
static __attribute__((constructor(102))) void begin(void)
{
	if (LOAD(A.state) != AGENT_ON || !check_ready() || K.o.flags & PMM_CHECK_NO_STRINGS)
		return;
	bounds_secret = K.o.secret;
	bounds_canaried = K.o.level == PMM_CHECK_LIGHT || K.o.level == PMM_CHECK_GUARD;
	bounds_on = true;
}

/* Are the tables this process's, and kept? */
static inline bool tables_hold(void)
{
	return bounds_canaried && LOAD(A.state) == AGENT_ON && LOAD(*A.alive) && K.ledger == A.ledger;
}

/* ---- how much is left ----------------------------------------------------------------------------------- */

static size_t left_guarded(uint64_t at)
{
	uint32_t run = guard_find(at);
	const struct pmm_guard *g;
	uint32_t state;

	if (run == UINT32_MAX)
		return SIZE_MAX;
	g = guard_at(run);
	state = LOAD_ACQUIRE(g->state);
	if (state == PMM_GUARD_LIVE)
		return at - g->address <= g->size_bytes ? g->address + g->size_bytes - at : 0;
	return state == PMM_GUARD_FREED ? 0 : SIZE_MAX;
}

/*
 * Is `at` in a released block? Going by its head, if it begins there; that lies on the page that is about to be accessed, or else is not
 * looked at. Or by what is in it.
 */
static bool in_freed(uint64_t at)
{
	const struct pmm_head *h = (const struct pmm_head *)at - 1;
	struct quarantined q;
	size_t size, align;

	if (!(at & 15) && at & (ARCH_PAGE - 1) && LOAD(h->what) >> PMM_HEAD_ALIGN_SHIFT >= WHAT_FREED &&
	    canary_look((const void *)at, &size, &align) == CANARY_FREED)
		return true;
	return *(const uint64_t *)(at & ~7ull) == POISON && quarantine_find(at, true, &q);
}

/*
 * The block last found on a page, if it is a large one, so that it is not looked for each time. Threads write here as they like: whatever
 * is mixed up is either found out or allows too much. A page where none was found is believed to have none for a while.
 */
static struct seen {
	uint64_t page;
	uint64_t start;			/* 0: none was found */
	uint64_t words;			/* where it has them, from A.base */
	uint64_t trust;			/* how often `none` is still believed */
} seen[SEEN];

void bounds_forked(void)
{
	memset(seen, 0, sizeof(seen));
}

static inline struct seen *seen_at(uint64_t at)
{
	return &seen[at / ARCH_PAGE % SEEN];
}

static void see(uint64_t at, uint64_t start, const uint64_t *words)
{
	struct seen *s = seen_at(at);

	STORE(s->start, 0);
	STORE(s->words, words ? (uint64_t)((const char *)words - A.base) : 0);
	STORE(s->trust, TRUST);
	STORE(s->page, at / ARCH_PAGE);
	STORE(s->start, start);
}

/* The nearest block that begins at or before `at`; further away than `reach` only once in a while. */
static inline bool nearest(uint64_t at, uint64_t reach, uint64_t *start, uint64_t *size)
{
	struct seen *s = seen_at(at);
	bool known = LOAD(s->page) == at / ARCH_PAGE;
	const uint64_t *words;
	struct block_info was;

	if (unlikely(A.dense)) {
		if (!block_below(at, reach, start, &was))
			return false;
		*size = was.size;
		return true;
	}
	*start = LOAD(s->start);
	if (known && *start && *start <= at && block_there((const uint64_t *)(A.base + LOAD(s->words)), *start, size) &&
	    at < pmm_tail_end(*start, *size))
		return true;
	words = block_span(at, reach, start, size);
	if (words) {
		if (*size > LARGE && at - *start < *size)
			see(at, *start, words);
		return true;
	}
	if (known && LOAD(s->trust)) {
		STORE(s->trust, LOAD(s->trust) - 1);
		return false;
	}
	words = block_span(at, REACH_FAR, start, size);
	see(at, words && at - *start < *size ? *start : 0, words);
	return words;
}

size_t bounds_left_slow(const void *p, size_t bytes)
{
	uint64_t at = (uint64_t)p, start, size;

	if (!bounds_on)
		return SIZE_MAX;
	if (unlikely(at - areas.start < areas.end - areas.start))
		return left_guarded(at);
	if (!tables_hold())
		return SIZE_MAX;
	if (likely(nearest(at, bytes < REACH_FAR ? REACH + bytes / 4 : REACH_FAR, &start, &size))) {
		if (likely(at - start <= size))
			return start + size - at;
		if (at < pmm_tail_end(start, size))
			return 0;
	}
	return bytes && block_near(at) && in_freed(at) ? 0 : SIZE_MAX;
}

/* What looks like canary or poison is where [at, at + bytes) is: is it a block's that is left there? */
static SLOW bool fits_slow(uint64_t at, size_t bytes, uint64_t block)
{
	uint64_t start, size;
	const uint64_t *words;

	/* of a block that is left over where another one is now nothing is known */
	if (block && block <= at && tables_hold() && (words = block_span(block, 0, &start, &size)) && start == block &&
	    at < pmm_tail_end(block, size))
		see(at, block, words);
	return bytes <= bounds_left((const void *)at, bytes);
}

static inline uint64_t canary_at(uint64_t slot)
{
	return pmm_canary_of(bounds_secret, *(const uint64_t *)slot, slot);
}

bool bounds_fits(const void *p, size_t bytes)
{
	uint64_t at = (uint64_t)p, end = at + bytes, slot = at & ~15ull, behind = (end + 15) & ~15ull, block;

	if (!bounds_suspect(p) || !bytes)
		return true;
	if (unlikely(bytes > SCAN) || bounds_guarded(p) || unlikely(!(behind & (ARCH_PAGE - 1))))
		return bytes <= bounds_left(p, bytes);
	if (unlikely(*(const uint64_t *)slot == POISON))
		return fits_slow(at, bytes, 0);
	for (; slot < behind; slot += 16)
		if (unlikely(block = canary_at(slot)))
			return fits_slow(at, bytes, block);
	/* the granule that it ends in may be the block's last one, which canary fills up */
	if (unlikely(block = canary_at(behind)) && unlikely(*(const uint8_t *)(end - 1) == pmm_canary_byte(bounds_secret, block, end - 1)))
		return fits_slow(at, bytes, block);
	return true;
}

/* ---- findings ------------------------------------------------------------------------------------------- */

/* Does the real allocator call, which may do what it likes with blocks in its hands? */
static bool from_allocator(void)
{
	struct tctx *c = ctx_find();

	while (c && c->nested && c->nested->busy)
		c = c->nested;
	return c && c->busy == TCTX_IN_ALLOCATOR;
}

/* The block that an access to `at` concerns, if it is known for sure. */
static bool block_of(uint64_t at, struct check_block *b)
{
	bool freed = !guard_in_pool(at) && in_freed(at);
	uint64_t start, size, where = at;
	size_t align;

	if (!guard_in_pool(at) && !freed && nearest(at, REACH_FAR, &start, &size) && at < pmm_tail_end(start, size))
		at = start;
	if (!check_find(at, freed ? CHECK_REACH_ALL : 0, b))
		return false;
	if (b->guarded || b->freed)
		return b->guarded || freed;
	return where + PMM_HEAD_BYTES >= b->address && where < pmm_tail_end(b->address, b->size) &&
	       canary_look((const void *)b->address, &size, &align) == CANARY_LIVE && size == b->size;
}

/*
 * Blocks whose canary is, or is about to be, overwritten by what a finding has told already. An entry that is lost to another thread or to
 * many others means a second finding, no more.
 */
static uint64_t told[TOLD];
static uint32_t told_next;

static void told_add(uint64_t block)
{
	STORE(told[ADD(told_next, 1) % TOLD], block);
}

bool bounds_told(uint64_t block)
{
	for (unsigned i = 0; i < TOLD; i++)
		if (LOAD(told[i]) == block) {
			STORE(told[i], 0);
			return true;
		}
	return false;
}

/* Bytes from `at` on that can be accessed and belong to nobody else: canary, and the rest of pages. */
static size_t harmless(uint64_t at, size_t bytes, enum pmm_access access, const struct check_block *b)
{
	uint64_t end = pmm_tail_end(b->address, b->size);

	if (b->guarded) {
		end = b->freed ? at : (b->address + b->size + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1);
		if (at < (b->address & ~(ARCH_PAGE - 1)))
			end = at;
	} else if (access != PMM_ACCESS_WRITE) {
		return bytes;
	}
	return at >= end ? 0 : bytes < end - at ? bytes : end - at;
}

/* A context, unless it is better to say nothing. */
static struct tctx *enter(const struct caller *from)
{
	if (!bounds_on || !agent_on() || from_allocator())
		return NULL;
	return hook_enter(from);
}

/* Bytes of the block that [at, ...) begins in, or none. */
static size_t room(uint64_t at, const struct check_block *b)
{
	return b->freed || at - b->address > b->size ? 0 : b->address + b->size - at;
}

static SLOW void tell(struct tctx *c, uint64_t at, size_t bytes, enum pmm_access access, const char *function, const struct caller *from,
		      const struct check_block *b)
{
	struct pmm_finding f = { .by = PMM_BY_FUNCTION, .access = access, .size_bytes = bytes, .other = at };

	if (bytes == SIZE_MAX)		/* a string: to the block's end, and on */
		f.size_bytes = room(at, b) + 1;
	f.type = b->freed ? PMM_FINDING_AFTER_FREE : at < b->address ? PMM_FINDING_UNDERRUN : PMM_FINDING_OVERRUN;
	f.address = at + room(at, b);
	finding_block(&f, b);
	finding_function(&f, function);
	f.site = unwind_site(c, from, 0);
	finding_add(c, &f);
}

SLOW size_t bounds_over(const void *p, size_t bytes, enum pmm_access access, const char *function, const struct caller *from)
{
	struct check_block b = { 0 };
	struct tctx *c = enter(from);
	uint64_t at = (uint64_t)p;
	size_t may = bytes;

	if (!c)
		return bytes;
	if (check_ready() && block_of(at, &b) && bytes > room(at, &b)) {
		tell(c, at, bytes, access, function, from, &b);
		may = harmless(at, bytes, access, &b);
		if (access == PMM_ACCESS_WRITE && may > room(at, &b))
			told_add(b.address);
	}
	agent_leave(c);
	return may;
}

size_t bounds_check(const void *at, size_t bytes, enum pmm_access access, const char *function, const struct caller *from)
{
	if (likely(bytes <= bounds_left(at, bytes)))
		return bytes;
	return bounds_over(at, bytes, access, function, from);
}

SLOW void bounds_overlap(const void *to, const void *source, size_t bytes, const char *function, const struct caller *from)
{
	struct pmm_finding f = { .type = PMM_FINDING_OVERLAP, .by = PMM_BY_FUNCTION, .address = (uint64_t)to, .other = (uint64_t)source,
				 .size_bytes = bytes };
	struct tctx *c = enter(from);
	struct check_block b = { 0 };

	if (!c)
		return;
	if (bounds_left(to, 0) != SIZE_MAX && block_of((uint64_t)to, &b))
		finding_block(&f, &b);
	finding_function(&f, function);
	f.site = unwind_site(c, from, 0);
	finding_add(c, &f);
	agent_leave(c);
}
