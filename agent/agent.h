/*
 * The agent: what runs inside somebody else's process, and the state it keeps there.
 *
 * Rules for every file in agent/: raw system calls only, no libc, no TLS section, nothing from the program's heap, no
 * errno, no lock that a signal handler or a forked child could find taken for ever. Hooks come in on any thread at any
 * moment, also inside signal handlers that interrupted a hook. When in doubt the agent turns itself off.
 *
 * Two kinds of state: `struct agent` below is private memory of the process (copied by fork); everything a
 * reader needs is in the ledger (include/pmm/ledger.h), shared memory.
 *
 * Nouns:
 *   context   what one thread (or one level of signal handlers on it) records with; struct tctx
 *   event     one allocation or release, from the hook's first look at the ledger to its last
 *   memo      the last stack walked on a context, kept to be confirmed instead of walked again (agent/unwind.c)
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/cfi.h"
#include "agent/sys.h"
#include "include/pmm/ledger.h"

#define AGENT_CTX_HASH		8192		/* entries: thread pointer -> context */
#define AGENT_MAX_LEVEL		3		/* signal handlers interrupting hooks, each in turn */
#define AGENT_MAX_MODULES	2048
#define AGENT_FILTER_SLOTS	32768		/* sampled mode: live samples by hash of their page */

/* ---- contexts ------------------------------------------------------------------------------------------- */

enum tctx_busy {
	TCTX_IDLE,
	TCTX_RECORDING,		/* our own code runs: its state is half changed */
	TCTX_IN_ALLOCATOR,	/* the real allocator runs */
};

/* One frame of a memo. */
struct frame {
	uint64_t id;		/* module:16 | pc:48, as in the ledger */
	uint64_t sp;		/* rsp of the frame: the CFA of the frame it called */
	uint64_t rbp;
	uint32_t node;		/* its node in the call tree */
	int16_t rbp_off;	/* where the caller's rbp is saved, as in struct cfi_rule */
	uint8_t kind;		/* enum cfi_kind: how its caller was found */
	uint8_t flags;		/* enum frame_flags */
	int32_t aux;		/* CFI_RBP_DEREF: offset of the word that holds the CFA */
	uint32_t reserved;
};

enum frame_flags {
	FRAME_NEEDS_RBP = 1,	/* frames from here outwards depend on rbp's value here */
	FRAME_CHECK_RBP = 2,	/* the saved rbp in this frame is depended on further out */
	FRAME_NO_JOIN = 4,	/* found by full interpretation: cannot be confirmed by a look at its slots */
};

/*
 * A stack seen before, as a list of the stack slots that determine it: when the same call comes from the same stack pointer and
 * all slots hold what they held, it is the same stack.
 */
#define KNOWN_SLOTS	64
#define KNOWN_STACKS	64	/* per context, direct mapped by return address and stack pointer */

struct known_stack {
	uint64_t ra, sp, rbp;	/* of the caller; ra 0 = unused */
	uint32_t site;
	uint16_t nr_slots;	/* 0 = only the key was seen so far */
	uint16_t needs_rbp;
	uint16_t slot[KNOWN_SLOTS];	/* offset from sp, in words, less one */
	uint64_t value[KNOWN_SLOTS];
};

struct tctx {
	struct pmm_ctx pub;
	uint64_t tp;			/* thread pointer of the owner */
	uint32_t tid;
	uint32_t busy;			/* enum tctx_busy */
	uintptr_t busy_sp;		/* stack pointer at the hook that made it busy */
	struct tctx *nested;		/* for handlers interrupting this one */
	struct tctx *hash_next;
	uint64_t credit_epoch;
	uintptr_t failing_new;		/* operator new asked in vain from a frame here and calls its handler */
	uint64_t last_address;		/* block of the last event if that was an allocation, else 0 */
	bool sampling;			/* sampled mode: the thread's first sample was drawn */
	uint64_t random;
	uint32_t events;		/* wraps; paces slow checks */
	uint32_t code_gen;		/* A.code_gen the memo belongs to */
	uintptr_t stack_lo, stack_hi;	/* part of the stack known to be readable */
	uint32_t stack_gen;
	uint32_t memo_first;		/* memo frames are memo[memo_first .. max_frames), innermost first */
	uint32_t memo_valid;
	uint32_t last_site;
	struct frame *memo;		/* max_frames */
	struct frame *fresh;		/* max_frames, the walk's new frames */
	struct known_stack *known;	/* KNOWN_STACKS */
	pmm_ref site_page[PMM_MAX_SITES >> 10];	/* pages of 1024 pmm_ref: record of a site */
};

/* ---- the process ---------------------------------------------------------------------------------------- */

struct ctx_entry {
	uint64_t tp;
	struct tctx *ctx;
};

struct rule_entry {		/* direct mapped by pc; check = id ^ rule, so that a torn entry never matches */
	uint64_t check;
	uint64_t rule;
};

#define AGENT_RULE_BITS	15

struct agent_module {
	uint64_t start, end;
	uint64_t dev, ino;
	uint32_t id;		/* number in the ledger, 0 = not recorded */
	uint32_t seen;		/* scan that saw it last */
	struct cfi_module cfi;
};

/* struct rlimit of 64-bit machines. */
struct limit {
	uint64_t now, most;
};

/* The real allocator: the next definition of each entry after ours. NULL where there is none. */
struct next_functions {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*reallocarray)(void *, size_t, size_t);
	void (*free)(void *);
	void (*cfree)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	void *(*mmap)(void *, size_t, int, int, int, long);
	void *(*mmap64)(void *, size_t, int, int, int, long);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, void *);
	int (*brk)(void *);
	void *(*sbrk)(long);
	int (*dlclose)(void *);
	int (*prctl)(int, unsigned long, unsigned long, unsigned long, unsigned long);
	long (*syscall)(long, ...);
	int (*setrlimit)(int, const struct limit *);
	int (*getrlimit)(int, struct limit *);
	int (*prlimit)(int, int, const struct limit *, struct limit *);
	void *mallinfo2;
	void *cxx[32];		/* enum in agent/preload/hooks_cxx.c */
};

enum agent_state { AGENT_UNKNOWN, AGENT_STARTING, AGENT_ON, AGENT_OFF };

struct agent {
	uint32_t state;			/* enum agent_state */
	bool sampled;
	bool dense;			/* blocks may start closer than 32 bytes */
	uint32_t code_gen;		/* raised when code was unmapped: rules and memos are void */
	uint32_t code_epoch_seen;	/* tree->code_epoch at that time */
	uint32_t stack_gen;		/* raised when memory that may have been a stack was unmapped */
	uint32_t tid_offset;		/* of the thread id from the thread pointer; 0 = unknown */
	int pid;
	uint32_t max_frames;
	struct pmm_tree *tree;
	char *base;			/* our slot */
	int reserved_slot;		/* a forked child's slot before its first event, -1 = none */
	char *parent_base;		/* a forked child's: the parent's slot */
	struct pmm_ledger *ledger;
	const uint8_t *single_threaded;	/* glibc's __libc_single_threaded, or a 0 byte */
	uint32_t *alive;		/* 1; a page that fork wipes, so that a child notices */
	struct ctx_entry *ctx_hash;	/* likewise wiped */
	struct rule_entry *rules;
	uint64_t min_size;
	uint64_t warn_size;
	uint64_t reserved_bytes;	/* address space our mappings take */
	bool confined;			/* the program put itself under seccomp: no unusual system call any more */
	bool limit_shifted;		/* RLIMIT_AS was raised by that much */

	/* the clock without a monitor */
	bool own_clock;
	uint32_t own_tick;
	uint64_t own_clock_cycles;

	/* modules, under module_lock (agent/module.c) */
	uint32_t module_lock;		/* tid of the holder, 0 = free */
	uint32_t nr_modules;
	uint32_t module_scan;
	uint32_t modules_recorded;	/* numbers below this are in the ledger */
	uint32_t module_gen;	/* A.code_gen the list belongs to */
	struct agent_module *modules;
	char *scratch;			/* 64 KiB, for reading /proc/self/maps; under module_lock */
	uint64_t self_start, self_end;	/* our own code */

	long (*vdso_clock)(int, int64_t *);	/* the kernel's clock_gettime without a system call, or NULL */
	struct next_functions next;
	const char *allocator_path;	/* of the object that has next.malloc */
	bool own_allocator;		/* the program brings its own malloc, which goes before ours */
};

extern struct agent A __attribute__((visibility("hidden")));

/* ---- agent/core.c --------------------------------------------------------------------------------------- */

/* Make the agent ready; called by the first hook. True when it records. Safe to call again. */
bool agent_start(void);

/* Stop recording for good and say why in the ledger (enum pmm_off_reason). */
void agent_off(uint32_t reason);

/* The program leaves through exit(). */
void agent_finish(void);

/* Note where the program break is. */
void agent_note_break(void);

/* Hook entry: the context to record with, marked busy, or NULL when this event is not to be recorded. sp: the hook's frame. */
struct tctx *agent_enter(uintptr_t sp);

/* Hook exit. */
static inline void agent_leave(struct tctx *c)
{
	STORE(c->busy, TCTX_IDLE);
}

/* Is the agent on? Starts it at the very first call. */
static inline bool agent_on(void)
{
	return likely(LOAD(A.state) == AGENT_ON) || (LOAD(A.state) == AGENT_UNKNOWN && agent_start());
}

/* Find the tree: environment, monitor, or an own one; agent/segment.c. Sets A.tree; 0 or -errno. */
int segment_open(void);

/*
 * Claim a slot, make its fixed area usable and set A.base and A.ledger. new_image: we come from exec, an older slot of this
 * process is replaced. 0 or -1.
 */
int segment_claim(bool new_image);

/*
 * fork is about to happen / has happened in the child: tell the monitor at once that there is one more process. The child's
 * ledger is made at its first event.
 */
void segment_forking(void);
void segment_forked(void);

/* ---- agent/clock.c -------------------------------------------------------------------------------------- */

/* Nanoseconds of a clock, without a system call where the kernel offers it. */
uint64_t clock_ns(int clock);

/* Look whether the monitor still ticks; now and then. */
void clock_check(void);
uint32_t clock_own(void);

/* Ticks since the tree's start. */
static inline uint32_t clock_now(void)
{
	return unlikely(A.own_clock) ? clock_own() : LOAD(A.tree->tick);
}

/* ---- agent/arena.c -------------------------------------------------------------------------------------- */

/* Zeroed memory in the ledger, `align` a power of two >= 64. NULL at the limit or when there is no memory. */
void *arena_get(size_t bytes, size_t align);

/* Give bytes [from, to) of the slot, whole pages, access and backing. */
bool arena_back(uint64_t from, uint64_t to);

static inline pmm_ref arena_ref(const void *p)
{
	return (pmm_ref)((uint64_t)((const char *)p - A.base) >> PMM_REF_SHIFT);
}

static inline void *arena_at(pmm_ref ref)
{
	return A.base + ((uint64_t)ref << PMM_REF_SHIFT);
}

/* Element `nr` of a chunked array, creating the chunk: NULL when there is no room. */
void *arena_chunk(pmm_ref *dir, uint32_t nr, uint32_t shift, size_t bytes);

/* Copy a string into the arena; 0 when there is no room. */
pmm_ref arena_string(const char *s, size_t length);

/* ---- agent/ctx.c ---------------------------------------------------------------------------------------- */

/* The calling thread's context, making or adopting one. NULL when there is none. Detects a forked child. */
struct tctx *ctx_find_slow(uint64_t tp);

/* The calling thread's id, without a system call where the C library keeps it. */
static inline uint32_t ctx_tid(uint64_t tp)
{
	uint32_t tid = A.tid_offset ? *(volatile uint32_t *)(tp + A.tid_offset) : 0;

	return tid ? tid : (uint32_t)sys0(gettid);
}

/* A context for a signal handler that interrupted `c`; may reset `c` if its hook was left by longjmp. */
struct tctx *ctx_nested(struct tctx *c, uintptr_t sp);

static inline uint32_t ctx_hash_of(uint64_t tp)
{
	return (uint32_t)((tp * 0x9e3779b97f4a7c15ull) >> 51);	/* 13 bits: AGENT_CTX_HASH */
}

/* The calling thread's context or NULL; also checks that the thread is still the one that made it. */
static inline struct tctx *ctx_find(void)
{
	uint64_t tp = arch_thread_pointer();
	struct ctx_entry *e = &A.ctx_hash[ctx_hash_of(tp)];

	if (likely(LOAD(e->tp) == tp)) {
		struct tctx *c = LOAD(e->ctx);

		if (likely(c && c->tid == *(volatile uint32_t *)(tp + A.tid_offset)))
			return c;
	}
	return ctx_find_slow(tp);
}

/* ---- agent/total.c -------------------------------------------------------------------------------------- */

/* Add to (remove from) the process's live bytes. Returns the epoch the event belongs to. */
uint64_t total_add(struct tctx *c, uint64_t bytes);
uint64_t total_sub(struct tctx *c, uint64_t bytes);

/* ---- agent/block.c -------------------------------------------------------------------------------------- */

/* What was live at an address. */
struct block_info {
	uint64_t size;
	uint32_t site;
	uint32_t birth_tick;
	uint32_t kind;
	uint8_t lifetime;	/* what record_free counted, for record_restore */
	bool temporary;
};

/* Set up the tables of a new ledger. */
void block_init(void);

/* Note a live block. False when there was no room (counted). The address belongs to the caller until block_del. */
bool block_add(uint64_t address, uint64_t size, uint32_t site, uint32_t kind, uint32_t thread, uint32_t tick);

/* Start fetching the entry of an address that block_add or block_del will ask for soon. */
void block_prefetch(uint64_t address);

/* Take a block out. False when it is not known. */
bool block_del(uint64_t address, struct block_info *out);

/* Give a live block another kind; returns the old one and sets *size, or PMM_KIND_NONE. */
uint32_t block_rename(uint64_t address, uint32_t kind, uint64_t *size);

/* The same for mappings (page-aligned addresses). */
bool block_add_map(uint64_t address, uint64_t size, uint32_t site, uint32_t thread, uint32_t tick);

/*
 * Take out the mapping that begins at or, failing that, nearest above `from` and below `to`; its start goes to *at. With
 * `below`, the one that begins nearest below `from` instead. False when there is none.
 */
bool block_take_map(uint64_t from, uint64_t to, bool below, uint64_t *at, struct block_info *out);

/* ---- agent/site.c --------------------------------------------------------------------------------------- */

/* The node for `frame` below `parent`. 0 when there is no room. */
uint32_t node_get(uint32_t parent, uint64_t frame);

/* The site whose stack ends at `node`; 0 when there is no room. */
uint32_t site_get(uint32_t node, uint32_t flags);

/* The context's record of a site, with its peak part brought up to `epoch`. NULL when there is no room. */
struct pmm_record *site_record(struct tctx *c, uint32_t site, uint64_t epoch);

/* ---- agent/unwind.c, agent/module.c --------------------------------------------------------------------- */

/* Read the list of modules now, while the process can still open files. */
void module_start(void);

/* Where a hook was called from. */
struct caller {
	uint64_t ra;		/* return address into the program */
	uint64_t sp;		/* rsp after the return */
	uint64_t rbp;		/* the program's rbp */
};

/* Walk the stack and return its site. */
uint32_t unwind_site(struct tctx *c, const struct caller *from, uint32_t site_flags);

/* Forget what is known of the context's stacks. */
void unwind_forget(struct tctx *c);

/* Code came or went: throw away all rules. */
void unwind_flush(void);

/* The rule for a pc, through the cache. *id gets module:16 | pc:48. */
struct cfi_rule unwind_rule(uint64_t pc, uint64_t *id);

/* The module that holds pc, reading /proc/self/maps when none is known. Copies it to *out; false when there is none. */
bool module_find(uint64_t pc, struct agent_module *out);

/* A forked child's ledger: record all modules known again, under the same numbers. */
void module_record_all(void);

/* ---- agent/record.c ------------------------------------------------------------------------------------- */

/* A block was allocated / is about to be released / an allocation failed. The context is busy with RECORDING. */
void record_alloc(struct tctx *c, uint64_t address, uint64_t size, uint32_t kind, const struct caller *from);
void record_failed(struct tctx *c, uint64_t size, uint32_t kind, const struct caller *from);

/* Returns whether the block was tracked; *was is set then. */
bool record_free(struct tctx *c, uint64_t address, struct block_info *was);

/* Put back a block that record_free took out although it stayed (failed realloc). */
void record_restore(struct tctx *c, uint64_t address, const struct block_info *was);

/* The block was allocated by another name than was recorded: operator new, on top of aligned_alloc. */
void record_rename(struct tctx *c, uint64_t address, uint32_t kind);

void record_map(struct tctx *c, uint64_t address, uint64_t size, const struct caller *from);
void record_unmap(struct tctx *c, uint64_t address, uint64_t size);

/* ---- agent/sample.c ------------------------------------------------------------------------------------- */

/* Bytes until the next sample: exponentially distributed with the mean asked for. */
uint64_t sample_next(struct tctx *c);

/* How many allocations of this size one sample stands for, rounded at random but the same for the same block. */
uint64_t sample_weight(uint64_t size, uint64_t address);

/* ... and how many bytes. */
uint64_t sample_bytes(uint64_t size);

extern uint8_t sample_pages[AGENT_FILTER_SLOTS] __attribute__((visibility("hidden")));

/* How many live samples lie on pages that share this address's slot; 255 = many, for ever. */
static inline uint8_t *sample_filter(uint64_t address)
{
	return &sample_pages[(address >> 12) % AGENT_FILTER_SLOTS];
}

#endif
