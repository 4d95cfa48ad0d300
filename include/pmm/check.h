/* SPDX-License-Identifier: MIT */
/*
 * Heap errors: what the agent's check form (`pmm check`) shares with the monitor. It is part of the
 * ledger (include/pmm/ledger.h).
 *
 * A checked block is either
 *   canaried   a block of the real allocator, with a head before it and canary bytes behind it:
 *                  [gap, canary][struct pmm_head][block, size bytes][canary, 16 to 31 bytes]
 *              PMM_HEAD_BYTES or the block's alignment, whichever is more, separate the real
 *              block's start from the block's;
 *   guarded    alone on pages of the guard pool, between pages that cannot be accessed; the rest of
 *              its own pages is canary.
 * A released block is not reused at once: a canaried one is filled with poison and put in
 * quarantine, a guarded one becomes inaccessible.
 */
#ifndef PMM_CHECK_H
#define PMM_CHECK_H

#include <stdint.h>

enum pmm_check_level {
	PMM_CHECK_NONE,
	PMM_CHECK_LIGHT,	/* every block canaried */
	/* every block guarded, within limits and budget; the others canaried */
	PMM_CHECK_GUARD,
	/* some blocks guarded, the others left as they are; with PMM_MODE_SAMPLED */
	PMM_CHECK_SAMPLED,
	PMM_NR_CHECK_LEVELS,
};

enum pmm_check_flags {
	PMM_CHECK_LEFT		= 1 << 0,	/* all guarded blocks begin at a page's start */
	/* do not use MADV_GUARD_INSTALL (6.13), even where it works */
	PMM_CHECK_MPROTECT	= 1 << 1,
	PMM_CHECK_GARBAGE	= 1 << 2,	/* fill new blocks with `garbage` */
	PMM_CHECK_ZERO		= 1 << 3,	/* requests for 0 bytes are findings */
	PMM_CHECK_NO_STRINGS	= 1 << 4,	/* string and memory functions are not checked */
	/* no option: in captures whose blocks beyond the budget were not checked */
	PMM_CHECK_THRIFT	= 1 << 5,
	PMM_CHECK_OPENED	= 1 << 6,	/* no option: pmm_check_state.opened in captures */
	PMM_CHECK_ENDED		= 1 << 7,	/* no option: pmm_ledger.own_late in captures */
	/*
	 * all guarded blocks end at a page's end; with neither of the two, some begin at a page's
	 * start and most end at a page's end
	 */
	PMM_CHECK_RIGHT		= 1 << 8,
	/* like PMM_CHECK_RIGHT, aligned only as far as their size is */
	PMM_CHECK_EXACT		= 1 << 9,
};

enum pmm_on_error { PMM_ON_ERROR_CONTINUE, PMM_ON_ERROR_ABORT, PMM_ON_ERROR_CORE };

/* The user's options; constant once the tree's magic is set. */
struct pmm_check {
	/* enum pmm_check_level; PMM_CHECK_NONE: all else means nothing */
	uint32_t level;
	uint32_t flags;			/* enum pmm_check_flags */
	uint32_t on_error;		/* enum pmm_on_error */
	uint32_t garbage;		/* byte */
	uint64_t secret;		/* canaries are made of it; random */
	uint64_t max_guarded;		/* blocks guarded at the same time; 0 = none */
	/*
	 * mappings the process may have, for PMM_CHECK_MPROTECT and old kernels (vm.max_map_count)
	 */
	uint64_t max_mappings;
	/* share of the program's CPU time that guard pages may cost; UINT64_MAX = any */
	uint64_t budget_permille;
	uint64_t quarantine_bytes;	/* of released canaried blocks */
	/* requests that would take the heap above this fail; 0 = none */
	uint64_t heap_limit_bytes;
	/* this many requests succeed, all later ones fail; UINT64_MAX = none does */
	uint64_t fail_after;
	uint64_t fail_ppb;		/* of 1,000,000,000 requests so many fail, at random */
};

/* ---- findings -------------------------------------------------------------------------------- */

enum pmm_finding_type {
	PMM_FINDING_NONE,
	PMM_FINDING_OVERRUN,		/* access behind a block's end */
	PMM_FINDING_UNDERRUN,		/* access before a block's start */
	PMM_FINDING_AFTER_FREE,		/* access to a released block */
	PMM_FINDING_DOUBLE_FREE,
	PMM_FINDING_BAD_FREE,		/* release of no block: enum pmm_finding_place */
	/* released by a function that does not match the one that allocated it */
	PMM_FINDING_MISMATCH,
	PMM_FINDING_REALLOC_FREED,
	PMM_FINDING_OVERLAP,		/* memcpy and its like between ranges that overlap */
	PMM_FINDING_SIZE,		/* request of 0 bytes, or of more than PTRDIFF_MAX */
	PMM_FINDING_STACK_OVERFLOW,
	PMM_FINDING_UNINITIALISED,	/* Valgrind's */
	PMM_FINDING_WILD,		/* access to the guard pool where no block is or was near */
	PMM_FINDING_OTHER,		/* Valgrind's, in its words */
	PMM_FINDING_CRASH,		/* the fault that ended the process: struct pmm_death */
	PMM_NR_FINDING_TYPES,
};

/* How the error was detected. */
enum pmm_finding_by {
	/* the access itself was stopped: the stack is that of the access */
	PMM_BY_ACCESS,
	/* checked before a string or memory function, or the allocator, accessed it: likewise */
	PMM_BY_FUNCTION,
	/*
	 * canary found overwritten when the block was released or resized: it happened some time
	 * before
	 */
	PMM_BY_RELEASE,
	/* poison found overwritten when the block left quarantine: likewise, after its release */
	PMM_BY_QUARANTINE,
	/*
	 * canary found overwritten by a canary scan: written between the scan before (0: the
	 * block's birth) and this one
	 */
	PMM_BY_SCAN,
	PMM_BY_VALGRIND,
	/* the process died of it: the stack is that of the thread that the signal came to */
	PMM_BY_SIGNAL,
	PMM_NR_FINDING_BYS,
};

enum pmm_access {
	PMM_ACCESS_UNKNOWN,
	PMM_ACCESS_READ,
	PMM_ACCESS_WRITE,
	PMM_ACCESS_EXEC,
	PMM_NR_ACCESSES
};

/* What is at the address that PMM_FINDING_BAD_FREE released or PMM_FINDING_CRASH accessed. */
enum pmm_finding_place {
	PMM_PLACE_UNKNOWN,		/* never allocated, as far as is known */
	PMM_PLACE_INSIDE,		/* the middle of a live block: `block` */
	PMM_PLACE_STACK,		/* of some thread */
	PMM_PLACE_STATIC,		/* of a loaded object */
	PMM_PLACE_UNMAPPED,		/* no memory at all */
	/* no memory, and so close to address 0 that the pointer was null */
	PMM_PLACE_NULL,
	/* memory that may not be accessed like that: pmm_death.map_access */
	PMM_PLACE_FORBIDDEN,
	PMM_PLACE_STACK_GUARD,		/* the gap that is left free below a stack */
	PMM_PLACE_PAST_FILE,		/* a mapped file is shorter than its mapping */
	/* an address that the processor does not have; which one is not known */
	PMM_PLACE_NO_ADDRESS,
	PMM_NR_FINDING_PLACES,
};

/* A function that releases or resizes, as the program called it. */
enum pmm_release {
	PMM_RELEASE_NONE,
	PMM_RELEASE_FREE,
	PMM_RELEASE_REALLOC,
	PMM_RELEASE_DELETE,
	PMM_RELEASE_DELETE_ARRAY,
	PMM_RELEASE_DELETE_SIZED,
	PMM_RELEASE_DELETE_ARRAY_SIZED,
	PMM_RELEASE_DELETE_ALIGNED,
	PMM_RELEASE_DELETE_ARRAY_ALIGNED,
	PMM_RELEASE_DELETE_SIZED_ALIGNED,
	PMM_RELEASE_DELETE_ARRAY_SIZED_ALIGNED,
	PMM_NR_RELEASES,
};

#define PMM_FINDING_BYTES	16
#define PMM_FUNCTION_BYTES	16

/*
 * A finding. Errors with the same type, by, access and sites are one finding. `count` and
 * `last_tick` change, all else is constant once `type` is set (last, with release). Sites are
 * numbers of call sites of this ledger, threads are numbers of its threads; UINT32_MAX: a thread of
 * a process that this one was forked from. The stacks of what such a thread allocated or released
 * are copied into this ledger; tick 0: time not known.
 */
struct pmm_finding {
	uint32_t type;			/* enum pmm_finding_type */
	uint32_t by;			/* enum pmm_finding_by */
	uint32_t access;		/* enum pmm_access */
	uint32_t place;			/* enum pmm_finding_place */
	uint64_t count;
	uint32_t first_tick, last_tick;
	uint32_t site;			/* where the error happened or was detected */
	uint32_t thread;
	/* first byte accessed wrongly, or pointer released; 0 = none */
	uint64_t address;
	uint64_t size_bytes;		/* of the access or request; 0 = not known: see code[] */

	uint64_t block, block_bytes;	/* the block concerned; 0 = none known */
	uint32_t kind;			/* enum pmm_kind of it */
	uint32_t release;		/* enum pmm_release: what was called now */
	uint32_t alloc_site, alloc_tick, alloc_thread;	/* site 0 = not known */
	uint32_t free_site, free_tick, free_thread;	/* site 0 = not released, or not known */
	/*
	 * of a block from before the fork: pid of the process that allocated it, in its own
	 * namespace; else 0
	 */
	uint32_t parent_pid;
	uint32_t since_tick;		/* PMM_BY_SCAN: the canary scan before, 0 = none */
	/*
	 * PMM_FINDING_OVERLAP: the source; PMM_FINDING_MISMATCH: size or alignment that was passed;
	 * of other accesses by PMM_BY_FUNCTION: where the access begins
	 */
	uint64_t other;

	char function[PMM_FUNCTION_BYTES];	/* PMM_BY_FUNCTION: "memcpy", NUL-terminated */
	/* PMM_BY_ACCESS: the instruction and what follows */
	uint8_t code[PMM_FINDING_BYTES];
	/* what has overwritten canary or poison, from `address` on */
	uint8_t bytes[PMM_FINDING_BYTES];
	uint32_t nr_code, nr_bytes;
	uint32_t guarded;		/* 1 = the block was guarded, 0 = canaried or none */
	uint32_t reserved[3];
};

#define PMM_MAX_FINDINGS	1024
#define PMM_FINDING_SHIFT	5	/* chunk of 32 */

_Static_assert(sizeof(struct pmm_finding) % 64 == 0, "layout");

/*
 * What ended the process, as far as its agent knows. Filled once, `state` last (with release). A
 * crash has its own finding, or one that already reports the same fault (a stack overflow); an end
 * by a signal that was sent has none.
 */
#define PMM_DEATH_TEXT	120

/*
 * The processor's general registers by their numbers (x86-64: rax, rcx, rdx, rbx, rsp, rbp, rsi,
 * rdi, r8 to r15), then the program counter.
 */
#define PMM_DEATH_REGS	17

struct pmm_death {
	uint32_t state;			/* 1 = all below is set */
	/*
	 * the one that ends the process; 0 = a handler of the fault's signal ends it by exit() or
	 * _exit()
	 */
	uint32_t signal;
	uint32_t fault;			/* signal of the fault; 0 = there was none */
	int32_t code;			/* si_code of the fault, else of the signal */
	/* pid of the sender in the process's namespace; 0 = the kernel, or not known */
	uint32_t sender;
	uint32_t finding;		/* number + 1 of the finding that reports it; 0 = none */
	uint32_t by_choice;		/* 1 = the end that pmm_check.on_error asks for */
	uint32_t status;		/* of exit() or _exit() in a handler */
	/* of the mapping at the address: 1 read, 2 write, 4 execute; 8 = there is one */
	uint32_t map_access;
	uint32_t reserved;
	uint64_t map_start, map_end;
	uint64_t regs[PMM_DEATH_REGS];
	/*
	 * the mapping's file, cut at its front; of abort() the C library's message. NUL-terminated
	 */
	char text[PMM_DEATH_TEXT];
};

/*
 * Blocks whose canary or poison was overwritten by a call that has a finding already, so that the
 * damage is not reported again when it is found later. A hash table: an entry is one of the
 * PMM_REPORTED_WAYS from pmm_reported_at() on, where others may replace it.
 */
#define PMM_REPORTED_LOG2	14
#define PMM_REPORTED		(1u << PMM_REPORTED_LOG2)
#define PMM_REPORTED_WAYS	4u

struct pmm_reported {
	uint64_t block;			/* 0 = no entry */
	/* of the finding; the entry does not apply to a younger block */
	uint32_t tick;
	uint32_t reserved;
};

static inline uint32_t pmm_reported_at(uint64_t block)
{
	return (uint32_t)(block * 0x9e3779b97f4a7c15ull >> (64 - PMM_REPORTED_LOG2)) &
	       ~(PMM_REPORTED_WAYS - 1);
}

/* ---- guarded blocks -------------------------------------------------------------------------- */

/*
 * The pool is one reservation of address space. Area k holds runs of 1 << k data pages with one
 * guard page before each, and one more behind the last run. Runs are numbered across areas: those
 * of area 0, then those of area 1, and so on.
 */
#define PMM_GUARD_AREAS		9	/* runs of 1, 2, ... 256 pages: blocks up to 1 MiB */
#define PMM_MAX_GUARDS		(1u << 21)
#define PMM_GUARD_SHIFT		9	/* chunk of 512 struct pmm_guard */

enum pmm_guard_state {
	PMM_GUARD_UNUSED,
	PMM_GUARD_LIVE,
	PMM_GUARD_FREED,		/* inaccessible; still describes the block it held last */
};

/* At which end of its pages a block is. */
enum pmm_guard_bias { PMM_GUARD_RIGHT, PMM_GUARD_LEFT };

/* A run and the block in it. */
struct pmm_guard {
	uint64_t address;		/* of the block */
	uint64_t size_bytes;
	uint32_t state;			/* enum pmm_guard_state */
	uint32_t kind;			/* enum pmm_kind */
	/* of the allocation; numbers in the ledger of process `pid`, of `generation` */
	uint32_t site, tick;
	uint32_t free_site, free_tick;	/* ... of free_generation */
	uint16_t thread, free_thread;
	uint32_t pid;
	/* data pages that hold it: at the run's end, with PMM_GUARD_LEFT at the run's start */
	uint16_t pages;
	uint16_t bias;			/* enum pmm_guard_bias */
	uint32_t hold;			/* agent only: who holds the run */
	uint32_t align;			/* requested; 0 = none */
	uint16_t generation, free_generation;
};

_Static_assert(sizeof(struct pmm_guard) == 64, "one cache line");

/*
 * What the agent did, in pmm_ledger.check. What may happen at every event is counted in contexts
 * (struct pmm_ctx).
 */
struct pmm_check_state {
	uint32_t mechanism;		/* enum pmm_guard_mechanism */
	uint32_t nr_findings;		/* numbers in use: 0 .. below this */
	uint64_t findings_lost;		/* had no room: counted only */
	/* times a page of the pool stayed open for a while, as errors were met on it too often */
	uint64_t left_open;
	uint64_t guarded;		/* blocks that were guarded, ever */
	uint64_t guarded_now, guarded_most;
	uint64_t unguarded_limit;	/* canaried because of max_guarded */
	uint64_t unguarded_large;	/* ... of their size */
	uint64_t unguarded_refused;	/* ... because the kernel refused: mappings, memory */
	/* blocks not checked at all: of threads without a context, for example */
	uint64_t passed;
	uint64_t passed_early;		/* ... of which before the agent was ready */
	/* released canaried blocks that were not put in quarantine: too large for it */
	uint64_t unkept_large;
	uint64_t unkept_busy;		/* ... as all of it was in use, or there is none */
	uint64_t failed_on_purpose;	/* requests */
	uint64_t quarantined_bytes;	/* now */
	uint64_t pool_start, pool_end;
	uint32_t area_runs[PMM_GUARD_AREAS];	/* runs of each area */
	uint32_t nr_guards;		/* runs that were ever used have numbers below this */
	/* 1 = the pool was opened for good: the program put itself under seccomp */
	uint32_t opened;
	uint32_t generation;		/* ledgers before this one, since exec */
	uint32_t stopped;		/* enum pmm_check_stop */
	uint32_t reserved;
	/* address of PMM_REPORTED struct pmm_reported in the process; 0 = none */
	uint64_t reported;
};

/* Why an attached process guards no more blocks. */
enum pmm_check_stop {
	PMM_CHECK_RUNS,
	PMM_CHECK_STOP_BLOCKED,		/* a thread blocks SIGSEGV: a stopped access would kill */
	/* the program set a handler for SIGSEGV past the hooks */
	PMM_CHECK_STOP_HANDLER,
	PMM_CHECK_STOP_IGNORED,		/* the program ignores SIGSEGV */
	PMM_CHECK_STOP_CONFINED,	/* it enters seccomp */
	PMM_NR_CHECK_STOPS,
};

enum pmm_guard_mechanism { PMM_GUARD_NONE, PMM_GUARD_MADVISE, PMM_GUARD_MPROTECT };

/*
 * A private mapping of the agent, recorded in its data for a search for the program's pointers: its
 * tables, where addresses of blocks are no pointers of the program, or the guard pool, most of
 * whose pages cannot be read. `tag` is PMM_OWN_TAG ^ the entry's own address, so that a copy of an
 * entry is not taken for one.
 */
#define PMM_OWN_TAG		0x5bd1e995c6a4a793ull

enum pmm_own_what { PMM_OWN_TABLES, PMM_OWN_POOL };

struct pmm_own {
	uint64_t tag, start, end;
	uint64_t what;			/* enum pmm_own_what */
};

/* ---- canaries -------------------------------------------------------------------------------- */

#define PMM_HEAD_BYTES		16u
#define PMM_TAIL_BYTES		16u	/* at least; filled up to a multiple of 16 */
#define PMM_POISON_BYTE		0xfdu

/*
 * Right before a canaried block. `seal` is pmm_seal() of the rest, which distinguishes a head from
 * the program's data, XORed in some bits with the block's facts (below): so they are known in every
 * process that fork has copied the block to, whatever became of its ledger.
 */
struct pmm_head {
	/* size:44 | alignment's log2:6 | state:1 | 0:13; state 1 = in quarantine */
	uint64_t what;
	uint64_t seal;
};

#define PMM_HEAD_ALIGN_SHIFT	44
#define PMM_HEAD_FREED		(1ull << 50)

/*
 * The allocation of a live block: site:24 | kind:4 | generation:7. 0: not known, as of released
 * ones. The site is a number in the ledger of the process that allocated it, this one or one that
 * it was forked from. The generation says which: it counts the ledgers since exec, up to
 * PMM_GENERATION_MOST, which all later ones share.
 */
#define PMM_FACTS_KIND_SHIFT		24
#define PMM_FACTS_GENERATION_SHIFT	28
#define PMM_GENERATION_MOST		127u

static inline uint64_t pmm_facts(uint32_t site, uint32_t kind, uint32_t generation)
{
	return site | kind << PMM_FACTS_KIND_SHIFT |
	       (uint64_t)generation << PMM_FACTS_GENERATION_SHIFT;
}

/* Spread 56 bits, seven to a byte; gather them again. */
static inline uint64_t pmm_spread(uint64_t x)
{
	x = (x & 0x000000000fffffffull) | (x & 0x00fffffff0000000ull) << 4;
	x = (x & 0x00003fff00003fffull) | (x & 0x0fffc0000fffc000ull) << 2;
	return (x & 0x007f007f007f007full) | (x & 0x3f803f803f803f80ull) << 1;
}

static inline uint64_t pmm_gather(uint64_t x)
{
	x = (x & 0x007f007f007f007full) | (x & 0x7f007f007f007f00ull) >> 1;
	x = (x & 0x00003fff00003fffull) | (x & 0x3fff00003fff0000ull) >> 2;
	return (x & 0x000000000fffffffull) | (x & 0x0fffffff00000000ull) >> 4;
}

/* Bits of a seal that facts leave alone: the bytes next to the block, and some of each other. */
#define PMM_SEAL_SURE		0xffffff8080808080ull

_Static_assert((0x7f7f7f7f7f7f7f7full & ~PMM_SEAL_SURE) == 0x0000007f7f7f7f7full,
	       "35 bits of facts, spread");

/*
 * In canaries and seals the highest bit of each byte is set: text and zeros written over one are
 * always noticed.
 */
#define PMM_CANARY_HIGH		0x8080808080808080ull

static inline uint64_t pmm_scramble(uint64_t secret, uint64_t address, uint64_t what)
{
	uint64_t x = (address ^ secret) * 0x9e3779b97f4a7c15ull ^ what;

	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 32;
}

static inline uint64_t pmm_seal(uint64_t secret, uint64_t address, uint64_t what)
{
	return pmm_scramble(secret, address, what) | PMM_CANARY_HIGH;
}

#define PMM_CANARY_FACTOR	0xc2b2ae3d27d4eb4full
#define PMM_CANARY_INVERSE	0xba79078168d4bafull	/* the product of both is 1, modulo 2^64 */
#define PMM_CANARY_BITS		0x00ffffffffffffffull	/* seven in each byte */

/*
 * The aligned word of canary at any address around the block that begins at `block`: differs from
 * block to block, so that a copied canary is noticed.
 */
static inline uint64_t pmm_canary(uint64_t secret, uint64_t block)
{
	return pmm_spread(((block ^ secret) * PMM_CANARY_FACTOR) & PMM_CANARY_BITS) |
	       PMM_CANARY_HIGH;
}

/*
 * The inverse of pmm_canary(): the block whose canary `word`, in memory at `at` (a multiple of 16),
 * would be, if the block begins up to 2^40 bytes before it; else 0.
 */
static inline uint64_t pmm_canary_of(uint64_t secret, uint64_t word, uint64_t at)
{
	uint64_t x = word & ~PMM_CANARY_HIGH, block;

	if ((word & PMM_CANARY_HIGH) != PMM_CANARY_HIGH)
		return 0;
	block = (pmm_gather(x) * PMM_CANARY_INVERSE ^ secret) & PMM_CANARY_BITS;
	return (at - block) & 0x00ffff000000000full ? 0 : block;
}

/* Its byte at `address`. */
static inline uint8_t pmm_canary_byte(uint64_t secret, uint64_t block, uint64_t address)
{
	return (uint8_t)(pmm_canary(secret, block) >> ((address & 7) * 8));
}

/* First byte behind the canary of a canaried block of `size` bytes at `block`. */
static inline uint64_t pmm_tail_end(uint64_t block, uint64_t size)
{
	return ((block + size + 15) & ~15ull) + PMM_TAIL_BYTES;
}

/* Bytes between the real block's start and the block's, for a block with this alignment. */
static inline uint64_t pmm_front_bytes(uint64_t align)
{
	return align > PMM_HEAD_BYTES ? align : PMM_HEAD_BYTES;
}

/*
 * Canary right before the head: all that the alignment leaves there, but no more than is on the
 * head's page, so that no other page is touched.
 */
#define PMM_GAP_MOST		(4096u - PMM_HEAD_BYTES)

static inline uint64_t pmm_gap_bytes(uint64_t align)
{
	uint64_t bytes = pmm_front_bytes(align) - PMM_HEAD_BYTES;

	return bytes < PMM_GAP_MOST ? bytes : PMM_GAP_MOST;
}

#endif
