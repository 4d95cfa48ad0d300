/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap as it was at one moment: what every capture source delivers and every analysis reads.
 *
 * Plain arrays and numbers, already merged over threads and checked: every index in a heap that a
 * source has delivered is in range, parents come before children, and strings are valid
 * NUL-terminated UTF-8 or ASCII. Nothing here knows where the data came from. Bytes are bytes,
 * times nanoseconds since the start of tracking unless the name says otherwise.
 */
#ifndef MODEL_HEAP_H
#define MODEL_HEAP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/model/heap_kernel.h"
#include "src/model/heap_time.h"

#define HEAP_NR_CLASSES		7
#define HEAP_NR_KINDS		16	/* enum pmm_kind, include/pmm/ledger.h */
#define HEAP_NR_DROPS		6	/* enum pmm_drop */
#define HEAP_BUILD_ID_MAX	32
#define HEAP_FRAME_MARK_MAX	4095	/* greater: a program counter */

/* How tracking began. Frees of blocks from before, where there are such, are untracked_frees. */
enum heap_began {
	HEAP_BEGAN_EXEC,	/* with the program */
	HEAP_BEGAN_FORK,	/* with a forked child: blocks of the parent are not known */
	HEAP_BEGAN_ATTACH,	/* while it ran: older blocks are not known */
};
#define HEAP_NR_BEGAN (HEAP_BEGAN_ATTACH + 1)

enum heap_mode { HEAP_EXACT, HEAP_SAMPLED };

enum heap_end {
	HEAP_RUNNING,		/* the process was still running */
	HEAP_EXITED,		/* exit(), attached to maybe _exit(); end_status, -1: not known */
	HEAP_KILLED,		/* signal end_status */
	HEAP_GONE,		/* without exit() (_exit), end_status; -1: how is not known */
	HEAP_REPLACED,		/* called exec */
};
#define HEAP_NR_ENDS (HEAP_REPLACED + 1)

struct heap_module {
	uint64_t start, end;		/* address range in the process */
	uint64_t bias;			/* run-time address = ELF address + bias */
	uint64_t load_ns, unload_ns;	/* unload_ns 0: not unloaded */
	char *path;			/* "" if unknown */
	uint8_t build_id[HEAP_BUILD_ID_MAX];
	uint8_t build_id_len;		/* 0: none */
};

/*
 * A line of the source that the program itself named (pmm.h); [0] is a placeholder, whose line is 1
 * where no other calls were recorded.
 */
struct heap_srcloc {
	char *file, *function;		/* "" if unknown */
	uint32_t line;			/* 0 if unknown */
};

/*
 * pc of a node that is such a source location: no address of any process. Its module is 0, but in
 * profiles of other tools (heap_import), which name both.
 */
#define HEAP_SRCLOC_PC		(0xffffull << 48)
#define HEAP_MAX_SRCLOCS		(1u << 16)
#define HEAP_MAX_IMPORT_SRCLOCS	(1u << 24)

/* A node of the call tree. Node 0 is the root (no frame). parent < own index. */
struct heap_node {
	/*
	 * address inside the call instruction; below 4096: enum pmm_frame_mark; from
	 * HEAP_SRCLOC_PC: a source location
	 */
	uint64_t pc;
	uint32_t parent;
	/* index into modules, 0 = none known (entry 0 is a placeholder) */
	uint32_t module;
};

/* A call site: a whole stack, innermost frame = node. */
struct heap_site {
	uint32_t node;			/* 0: stack unknown */
	uint32_t number; /* the same in all snapshots of a running process; 0: not known */
	uint32_t lifetimes;		/* its row of the heap's lifetimes, from 1 on; 0: none */
	/* the program has asked how much of a block of its can be used; in no capture */
	bool usable;
	/* in sampled mode estimates, like all counts and bytes here */
	uint64_t allocs, frees;
	uint64_t bytes_in, bytes_out;
	int64_t live_bytes, live_blocks;
	int64_t peak_bytes, peak_blocks;	/* live when the process's heap was largest */
	uint64_t temporary;		/* freed as the thread's next event */
	uint64_t max_bytes;		/* largest request */
	uint64_t failed, zero_size, huge;
	uint64_t first_ns, last_ns;	/* of allocations */
	uint64_t samples_in, samples_out;	/* sampled mode: samples behind the estimates */
	uint64_t at_once;		/* freed within a tick; others: heap_lifetimes.h */
};

struct heap_block {
	uint64_t address;
	uint64_t size_bytes;		/* as requested */
	uint64_t birth_ns;
	uint32_t site;			/* index into sites */
	uint16_t thread;		/* index into threads */
	uint8_t kind;			/* enum pmm_kind */
};

struct heap_thread {
	/* of Valgrind's findings: its number, 1 = the first thread */
	uint32_t tid;
	char name[17];
	bool alive;		/* of a process that has ended: not seen to end before it */
	uint64_t start_ns;
	uint64_t allocs, frees, bytes_in, bytes_out;
};

struct heap_class {
	uint64_t calls[HEAP_NR_KINDS];	/* by enum pmm_kind */
	uint64_t frees;
	uint64_t bytes_in, bytes_out;
	uint64_t failed;
};

/* What of the allocator's own figures is known, or why it is not. Stored in captures. */
enum heap_figures {
	HEAP_FIGURES_KNOWN,		/* (where they are not valid: not asked for) */
	/* valid */
	/* used and free are near enough: the process changed them while they were counted */
	HEAP_FIGURES_CHANGED,
	HEAP_FIGURES_BUSY,		/* used and free are not known: it changed them too fast */
	/* used and free are not known: there are too many free chunks to count */
	HEAP_FIGURES_MANY,
	/* not valid */
	HEAP_FIGURES_OTHER,		/* the allocator is not glibc's */
	/* none of glibc's arenas was found: another allocator, or another version */
	HEAP_FIGURES_SHAPE,
	HEAP_FIGURES_SEVERAL,		/* there are several copies of the C library */
	/* its lists contradict each other: it has been written over */
	HEAP_FIGURES_SENSELESS,
	HEAP_FIGURES_DENIED,		/* the process's memory may not be read */
	HEAP_FIGURES_GONE,		/* the process ended meanwhile */
	/* at exit: counting its free chunks would have taken long */
	HEAP_FIGURES_LONG,
	HEAP_FIGURES_LOCKED,		/* at exit: the allocator may have been locked */
	HEAP_NR_FIGURES,
};

struct heap_allocator {
	bool valid;
	/* read out of the process's memory; else it was asked itself (mallinfo2) */
	bool outside;
	uint8_t why;			/* enum heap_figures */
	uint64_t taken_ns;
	char *path;			/* module whose malloc is used; "" if unknown */
	uint64_t nr_arenas;		/* 0 = not known */
	uint64_t arena_bytes, used_bytes, free_bytes, free_chunks;
	uint64_t fast_chunks, fast_bytes, mmapped_chunks, mmapped_bytes, top_bytes;
};

/* Are those of the figures known that tell of free chunks? */
static inline bool heap_figures_counted(const struct heap_allocator *a)
{
	return a->valid && a->why != HEAP_FIGURES_BUSY && a->why != HEAP_FIGURES_MANY;
}

struct heap_mapping {
	uint64_t mmap_calls, mmap_bytes, mmap_failed;
	uint64_t munmap_calls, munmap_bytes;
	uint64_t mremap_calls, mremap_grown_bytes, mremap_shrunk_bytes;
	/* break above where it started, now and at most */
	uint64_t brk_calls, brk_growth_bytes, brk_peak_bytes;
};

/* Totals at one time; a series has them in order of time. */
struct heap_point {
	uint64_t time_ns;
	uint64_t live_bytes, live_blocks;
	uint64_t allocs;		/* so far */
	uint64_t rss_bytes;		/* 0 = not known */
};

/* Live bytes of one of the top sites at one time. */
struct heap_site_point {
	uint64_t time_ns;
	uint32_t site;
	uint32_t reserved;
	uint64_t live_bytes, live_blocks;
};

/* How the memory was seen when pointers to the blocks were searched for. */
enum heap_search_how {
	HEAP_SEARCH_NONE,	/* not searched */
	HEAP_SEARCH_COPY,	/* a copy of the running process */
	HEAP_SEARCH_STOPPED,	/* its threads were stopped meanwhile */
	HEAP_SEARCH_EXIT,	/* its threads were stopped, at its end */
	HEAP_SEARCH_CORE,	/* a core file */
};
#define HEAP_NR_SEARCHES (HEAP_SEARCH_CORE + 1)

struct heap_search {
	enum heap_search_how how;
	/* all blocks were known; else unknown heap memory counted as what the program can get at */
	bool complete;
	uint64_t at_ns;			/* the moment */
	uint64_t pause_ns;		/* the program was stopped for that long */
	uint64_t took_ns;
	uint64_t read_bytes, unread_bytes;	/* of blocks and of what points to them */
};

#define HEAP_NR_LEAK_CLASSES	4
#define HEAP_NO_SITE		UINT32_MAX

/* The live blocks of one site and one class, at the moment of the search. */
struct heap_leak {
	uint32_t site;			/* index into sites */
	uint8_t class;			/* enum reach_class (src/analyze/reach/reach.h) */
	/*
	 * Of indirectly lost blocks the site of the block they are lost with; of others the site of
	 * other blocks that most of them are reached through. HEAP_NO_SITE: none, roots.
	 */
	uint32_t holder_site;
	uint64_t blocks, bytes;
	/* definitely lost ones: what is lost with them */
	uint64_t indirect_blocks, indirect_bytes;
	uint64_t oldest_ns, newest_ns;	/* births */
	uint64_t held_blocks;		/* of them are reached through the holder's */
	/* of them hang on another block of this site: a list, a tree */
	uint64_t chained_blocks;
	/* of them are reached by a habit of the program's only; not in a capture */
	uint64_t habit_blocks, habit_bytes;
	uint32_t header_bytes;		/* see struct leak_entry; likewise */
};

#define HEAP_NO_THREAD		UINT16_MAX
#define HEAP_FINDING_BYTES	16

/* Values of the enums of include/pmm/check.h. */
#define HEAP_NR_FINDING_TYPES	15
#define HEAP_NR_FINDING_BYS	7
#define HEAP_NR_ACCESSES	4
#define HEAP_NR_FINDING_PLACES	10
#define HEAP_NR_RELEASES	11
#define HEAP_NR_CHECK_LEVELS	4
#define HEAP_NR_MECHANISMS	3

/* A heap error (struct pmm_finding, include/pmm/check.h, whose enums the small fields are). */
struct heap_finding {
	uint8_t type, by, access, place;
	uint8_t kind, release;		/* of the block; what was called */
	bool guarded;
	uint8_t nr_code, nr_bytes;
	uint8_t code[HEAP_FINDING_BYTES];	/* the instruction */
	/* contents of memory: not to be shown unless asked for */
	uint8_t bytes[HEAP_FINDING_BYTES];
	char function[17];		/* "memcpy" of PMM_BY_FUNCTION, else "" */
	/*
	 * Valgrind's words; of a crash the file mapped there, or what abort() said; else "" (never
	 * NULL)
	 */
	char *text;
	/* the same in all snapshots of a running process: the agent's are below PMM_MAX_FINDINGS */
	uint32_t number;
	uint64_t count;			/* identical ones, at least 1 */
	uint64_t first_ns, last_ns;
	uint64_t since_ns;		/* PMM_BY_SCAN: all was well then */
	/* first byte accessed wrongly, or pointer released; 0: none */
	uint64_t address;
	uint64_t size_bytes;		/* of the access or request; 0: not known */
	uint64_t block, block_bytes;	/* the block concerned; 0: none known */
	/*
	 * source of overlapping ranges; size or alignment that was said; where a function's access
	 * begins
	 */
	uint64_t other;
	uint32_t site;			/* where; index into sites, 0 or HEAP_NO_SITE: not known */
	uint32_t alloc_site, free_site;	/* HEAP_NO_SITE: not known, not released */
	uint16_t thread, alloc_thread, free_thread;	/* indices into threads; HEAP_NO_THREAD */
	uint64_t alloc_ns, free_ns;
	/*
	 * not 0: the block was allocated before the fork, by that process, none of whose threads
	 * are in here
	 */
	uint32_t parent_pid;
};

#define HEAP_NO_FINDING		UINT32_MAX
#define HEAP_NR_REGS		17

/* What ended the process, as its agent saw it (struct pmm_death, include/pmm/check.h). */
struct heap_death {
	bool known;			/* else all below is 0 */
	bool by_choice;			/* --on-error asked for it */
	/* 0 = the handler of the fault's signal ended it with `status` */
	uint8_t signal;
	uint8_t fault;			/* signal of the fault; 0 = none */
	/* of the mapping there: 1 read, 2 write, 4 execute; 8 = there is one */
	uint8_t map_access;
	int32_t code;			/* si_code */
	uint32_t sender;		/* process; 0 = the kernel, or not known */
	uint32_t status;
	/* number of the one that reports it; HEAP_NO_FINDING = none */
	uint32_t finding;
	uint64_t map_start, map_end;
	uint64_t regs[HEAP_NR_REGS];	/* PMM_DEATH_REGS */
};

/*
 * How heap errors were looked for, and what it cost (struct pmm_check and pmm_check_state,
 * include/pmm/check.h).
 */
struct heap_check {
	uint8_t level;			/* enum pmm_check_level; 0: not checked */
	uint8_t mechanism;		/* enum pmm_guard_mechanism */
	uint32_t flags;			/* enum pmm_check_flags */
	uint64_t guarded, guarded_now, guarded_most, canaried, passed;	/* blocks */
	uint64_t passed_early, unkept_large, unkept_busy;
	uint64_t unguarded_limit, unguarded_budget, unguarded_large, unguarded_refused;
	uint64_t failed_on_purpose, quarantined_bytes, findings_lost, left_open;
	/* how often all live blocks were looked at; the last time */
	uint64_t scans, swept_ns;
};

/*
 * A heap that is the kernel module's log of a process (struct pmm_kmod_process), and what the log
 * lacks. The log has what is outstanding: of what was released only number and bytes are known,
 * which are in site 0; the bytes only with `sums`, which captures before 1.8 do not have.
 */
struct heap_kmod {
	bool logged;			/* else all below is 0 */
	/* allocations without an entry: too many of them; no memory for it */
	uint64_t over_limit, no_memory;
	uint64_t overflows;		/* records that found the ring full */
	uint64_t torn;			/* records that a thread began and never finished */
	uint64_t bad;			/* records that made no sense */
	uint64_t sites_lost;		/* records whose place in the source had no number left */
	/* entries whose pointer was handed out again without a free */
	uint64_t replaced;
	uint64_t foreign_frees, double_frees;
	/* allocations whose entry gave way because memory was short */
	uint64_t evicted;
	bool sums;			/* bytes_in and bytes_out are of all, and below is known */
	uint64_t lost_bytes;		/* of what has, or had, no entry and was not freed */
	uint64_t peak_bytes, peak_blocks;	/* outstanding; when is not known */
};

/* What a heaptrack file of sampled figures says behind this in a comment, with printf and scanf. */
#define HEAP_ESTIMATES_TEXT "figures are estimates, sampled every %" PRIu64 " bytes"

/* Tools whose profiles are read as heaps. */
enum heap_tool {
	HEAP_TOOL_PMM,
	HEAP_TOOL_HEAPTRACK,
	HEAP_TOOL_JEMALLOC,
	HEAP_TOOL_GPERFTOOLS,
	HEAP_TOOL_PPROF,
};
#define HEAP_NR_TOOLS (HEAP_TOOL_PPROF + 1)

/* What is known of a heap that another tool recorded. It has no blocks, threads or mappings. */
struct heap_import {
	uint8_t tool;			/* enum heap_tool; HEAP_TOOL_PMM: else all is 0 */
	/* what was freed again is in the sums; else allocations are those still live */
	bool allocated;
	bool history;			/* peak, temporary blocks, series */
	bool pid, start, duration;	/* are known */
	bool whole;			/* a file that is cut off would have been noticed */
	uint32_t version;		/* of the tool, as its files have it; 0: not said */
};

struct heap {
	/* what ran */
	uint32_t pid, ppid;
	char *comm, *exe;		/* never NULL */
	char *cmdline;			/* arguments joined by spaces, quoted where needed */
	char *host;			/* node name, "" if unknown */
	uint64_t start_realtime_ns;	/* wall clock at time 0 */
	/*
	 * of a process that is watched: differs between programs that exec put in it; 0 in captures
	 */
	uint64_t image;
	/* this process's tracking began here on the tree's time axis */
	uint64_t attach_ns;
	uint64_t taken_ns;		/* the moment described: now, or the end */
	enum heap_end end;
	int end_status;
	bool captured;			/* read from a capture: taken_ns is past, not now */
	enum heap_began began;

	/* how it was watched */
	enum heap_mode mode;
	uint64_t sample_bytes, min_size_bytes, warn_size_bytes;
	uint64_t tick_ns;
	uint64_t ledger_bytes, ledger_limit_bytes, space_taken_bytes; /* of its limit (ulimit -v) */
	uint64_t ledger_slots_used, ledger_slots; /* entries of the block tables */
	uint64_t dropped[HEAP_NR_DROPS], dropped_bytes;
	int off_reason;			/* enum pmm_off_reason, 0 = tracked to the end */
	uint64_t drift_blocks;	/* that changed while a running process was read; 0 = exact */
	/* calls of its allocator's own functions are missing: 1, 2 = a library's loaded later */
	uint64_t own_calls;
	/* one of these, or one that looks at blocks; its caller's path, or NULL. No captures' */
	char *own_function, *own_caller;
	unsigned own_late;		/* ... enum pmm_own_late */

	/* totals */
	uint64_t allocs, frees, bytes_in, bytes_out;
	uint64_t live_bytes, live_blocks;
	uint64_t peak_bytes, peak_ns;
	uint64_t temporary;
	uint64_t failed, zero_size, huge;
	uint64_t untracked_frees;
	/* as the kernel knew it when it was last asked; 0 = not known */
	uint64_t peak_resident_bytes;
	/* blocks found to be free although that was not seen: they count among the frees, too */
	uint64_t missed_frees;
	uint64_t skipped_allocs, skipped_bytes;	/* below min_size_bytes */

	struct heap_class class[HEAP_NR_CLASSES];
	struct heap_allocator allocator;
	struct heap_mapping mapping;
	struct heap_search search;
	struct heap_check check;
	struct heap_death death;
	struct heap_kernel kernel;
	struct heap_kmod kmod;
	struct heap_usage usage;
	struct heap_import import;	/* in no capture */

	struct heap_module *modules;	/* [0] is a placeholder */
	struct heap_node *nodes;	/* [0] is the root */
	struct heap_srcloc *srclocs;	/* NULL: none */
	struct heap_site *sites;	/* heap allocations; [0] = stack unknown */
	/* mmap call sites: bytes_in/out are bytes mapped/unmapped */
	struct heap_site *map_sites;
	struct heap_lifetimes *lifetimes;	/* of some sites and map_sites, each its own row */
	struct heap_block *blocks;	/* live, by address */
	struct heap_block *maps;	/* live mappings, by address; .site indexes map_sites */
	struct heap_thread *threads;
	struct heap_point *points;
	struct heap_site_point *site_points;
	/* none without `usage.sampled` */
	struct heap_usage_point *usage_points;
	struct heap_mark *marks;
	/* what the search found, by class, site and holder; none without a search */
	struct heap_leak *leaks;
	struct heap_finding *findings;	/* by number */
	/* of the kernel's events; none without `kernel.traced` */
	struct heap_kernel_kind *kernel_kinds;	/* by kind */
	struct heap_kernel_row *kernel_rows;
	struct heap_kernel_bin *kernel_bins;
	struct heap_block *forgotten;	/* taken out by heap_forget(), by address; in no capture */
	uint32_t nr_modules, nr_nodes, nr_srclocs, nr_sites, nr_map_sites, nr_lifetimes, nr_threads,
		nr_points, nr_site_points, nr_usage_points, nr_marks, nr_kernel_kinds,
		nr_kernel_rows, nr_kernel_bins;
	uint64_t nr_leaks, nr_findings;
	uint64_t nr_blocks, nr_maps, nr_forgotten;
};

/* An empty heap: all zero, strings "", arrays with their placeholders. NULL when out of memory. */
struct heap *heap_new(void);

/* Release a heap and all it holds. NULL is fine. */
void heap_free(struct heap *h);

/* Do both tell of the same program in the same process, of those that are watched? */
bool heap_same_image(const struct heap *a, const struct heap *b);

/*
 * Check the invariants named above (indices, parents, order of blocks, sums of sites against totals
 * where nothing was dropped and drift_blocks is 0). 0, or -EBADMSG with the first violation in
 * `why` (size bytes).
 */
int heap_check(const struct heap *h, char *why, size_t size);

/*
 * A stack has no more frames: pmm records 512 (PMM_MAX_FRAMES), other tools' profiles are read up
 * to this. What has more is damaged or forged.
 */
#define HEAP_MAX_DEPTH		4096u

/* How many nodes there are from each one to the root, which has 0; free(). NULL: no memory. */
uint32_t *heap_depths(const struct heap *h);

/*
 * Time since this process's tracking began, of a time on the tree's axis; finer than by the agent's
 * clock.
 */
static inline uint64_t heap_since(const struct heap *h, uint64_t ns)
{
	return ns > h->attach_ns ? ns - h->attach_ns : 0;
}

static inline uint64_t heap_whole_ticks(const struct heap *h, uint64_t ns)
{
	return h->tick_ns ? ns - ns % h->tick_ns : ns;
}

/* Is it known how it ended, if it has? */
static inline bool heap_end_known(const struct heap *h)
{
	return h->end != HEAP_GONE || h->end_status >= 0;
}

/* In whole ticks of the agent's clock; no more than it ran for, which may be known finer. */
static inline uint64_t heap_tick_span(const struct heap *h, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t run_ns = heap_since(h, h->taken_ns);
	uint64_t ns = heap_whole_ticks(h, to_ns) - heap_whole_ticks(h, from_ns);

	if (to_ns <= from_ns)
		return 0;
	return run_ns && ns > run_ns ? heap_whole_ticks(h, run_ns) : ns;
}

/* heap_since() so: the one time that every report and page shows. */
static inline uint64_t heap_tick_time(const struct heap *h, uint64_t ns)
{
	return heap_tick_span(h, h->attach_ns, ns);
}

/* Are they known, as far as it depends on the tool that recorded the heap? See heap_import. */
static inline bool heap_import_history(const struct heap *h)
{
	return !h->import.tool || h->import.history;
}

static inline bool heap_import_allocated(const struct heap *h)
{
	return !h->import.tool || h->import.allocated;
}

/*
 * Are the peak, temporary blocks, lifetimes and times known? Not of a profile of one moment; of
 * what was freed the kernel module's log knows sums alone.
 */
static inline bool heap_has_history(const struct heap *h)
{
	return !h->kmod.logged && heap_import_history(h);
}

/*
 * Live mappings made through mmap: bytes, and their number in *nr (may be NULL). They are no part
 * of live_bytes.
 */
uint64_t heap_mapped_bytes(const struct heap *h, uint64_t *nr);

/* Resident memory (VmRSS) as it was seen at the points of the series, pmm's own ledger in it. */
struct heap_resident {
	uint64_t bytes, at_ns;		/* at the last point that knows it */
	/*
	 * the highest of those points; a higher one that the kernel knows of was at no known time:
	 * UINT64_MAX
	 */
	uint64_t peak_bytes, peak_ns;
	uint64_t peak_live_bytes;	/* of the heap, at that moment */
};

/* False when it was never seen. */
bool heap_resident(const struct heap *h, struct heap_resident *out);

/* The order of leaks, as for qsort(): class, site, holder. Equal is the same row twice. */
int heap_leak_order(const void *a, const void *b);

/* The source location that a node stands for, NULL: none. */
static inline const struct heap_srcloc *heap_srcloc(const struct heap *h, const struct heap_node *n)
{
	return n->pc >= HEAP_SRCLOC_PC && n->pc - HEAP_SRCLOC_PC < h->nr_srclocs
		       ? &h->srclocs[n->pc - HEAP_SRCLOC_PC]
		       : NULL;
}

/*
 * Blocks were freed unseen: `gone` (a bit for each block, 64 to a word) go out of the live ones,
 * and count as freed and missed; sums of sampled mode, which are estimates, stay as they are. Once
 * for each heap. 0 or -ENOMEM, and nothing has changed.
 */
int heap_forget(struct heap *h, const uint64_t *gone);

/* The same of what went out of another heap of the same process, as far as it is there. */
int heap_forget_as(const struct heap *from, struct heap *to);

/*
 * Were only those calls recorded that name a source location? Then the allocator has blocks that
 * are not in the heap.
 */
static inline bool heap_srclocs_only(const struct heap *h)
{
	return h->nr_srclocs && h->srclocs[0].line;
}

/* Size class 0..6 of a request: <=16 <=256 <=1024 <=4096 <=16384 <=65536 larger. */
unsigned heap_class_of(uint64_t size_bytes);

/* Is the allocator that a heap names glibc's, or can it be? */
bool heap_allocator_is_glibc(const struct heap *h);

#endif
