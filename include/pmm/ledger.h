/* SPDX-License-Identifier: MIT */
/*
 * The ledger: the memory that a traced process shares with its monitor.
 *
 * Each traced process has its own memory file (memfd), its ledger file:
 *
 *     +----------+------------+------------------------+-----------------------------+
 *     | pmm_tree | pmm_ledger | fixed tables           | arena, bump allocated,      |
 *     |          |            | (see PMM_*_OFF)        | used up to arena_used       |
 *     +----------+------------+------------------------+-----------------------------+
 *     0          slots_off                                slots_off + slot_bytes
 *
 * The process makes it, maps it for itself alone (a forked child does not inherit the mapping) and
 * hands it to the monitor (include/pmm/channel.h). Only processes that may trace the process can
 * open it. A monitor has one more small file for all processes of the tree, the board: a `struct
 * pmm_tree` alone, which the monitor writes and all others can only read (F_SEAL_FUTURE_WRITE).
 * Processes take options, the clock and the monitor's sign of life from the board; the `pmm_tree`
 * in a ledger file repeats the options for readers.
 *
 * The file is sparse. Only the header, the pages of the fixed tables that were touched, and the
 * arena below `arena_ready` have backing; a reader must not touch anything else through a mapping
 * (reading a hole of a shared mapping allocates it). All lists that a reader needs begin in the
 * header, so it never has to scan a table.
 *
 * References are `pmm_ref`: a byte offset from the start of pmm_ledger divided by 64, 0 = none. All
 * integers are little-endian, naturally aligned, and of fixed width. Words that both sides touch
 * are read and written whole. The agent is the only writer of a ledger, the monitor the only writer
 * of the fields marked [monitor].
 *
 * A reader treats everything here as outside data: a broken program may have scribbled on it.
 */
#ifndef PMM_LEDGER_H
#define PMM_LEDGER_H

#include <stddef.h>
#include <stdint.h>

#include "include/pmm/board.h"
#include "include/pmm/context.h"

#define PMM_LEDGER_MAGIC	0x3147444c4d4d50ffull	/* "\xffPMMLDG1" */
#define PMM_MEMFD_NAME		"pmm-ledger"

/* ---- one process ----------------------------------------------------------------------------- */

#define PMM_MAX_FRAMES		512
#define PMM_MAX_CTX		4096	/* threads at the same time */
#define PMM_MAX_MODULES		4096
/* over the process's life; later ones share the last number, whose sums are those of all */
#define PMM_MAX_THREADS		65535
/* numbers, including that of no site; as many as fit in a block's word */
#define PMM_MAX_SITES		(1u << 24)
#define PMM_MAX_NODES		(1u << 28)
#define PMM_MAX_STAMPS		(1u << 22)
#define PMM_MAX_SRCLOCS		(1u << 16)
#define PMM_MAX_SRCLOC_TEXT	4096	/* bytes of a file's or a function's name */
/* bucket 0: under a tick; k: [2^(k-1), 2^k) ticks; the last one also longer */
#define PMM_NR_LIFETIMES	24

/* chunked arrays: directory in the fixed area, chunk k holds entries k << SHIFT .. */
#define PMM_NODE_SHIFT		10	/* chunk of 1024 struct pmm_node */
#define PMM_NODE_DIR_SHIFT	10	/* in the arena: directory of 1024 such chunks */
#define PMM_SITE_SHIFT		12	/* chunk of 4096 struct pmm_site */
#define PMM_THREAD_SHIFT	6	/* chunk of 64 struct pmm_thread */
#define PMM_MODULE_SHIFT	5	/* chunk of 32 struct pmm_module */
#define PMM_STAMP_SHIFT		10	/* chunk of 1024 struct pmm_stamp */
#define PMM_SRCLOC_SHIFT		6	/* chunk of 64 struct pmm_srcloc */

/* pmm_ledger.total: the low bits of the epoch, whether the peak is now, and above them the bytes */
#define PMM_TOTAL_EPOCH		((1ull << 20) - 1)
#define PMM_TOTAL_RISING	(1ull << 20)
#define PMM_TOTAL_SHIFT		21

/*
 * A live block is one word, at the granule in which it begins:
 *   time:28 (low) | site:24 | sub:2 | size:6 | kind:4
 * sub: how far into the granule, in units of 8 bytes (HEAP only). A word whose kind is 0 is no
 * block.
 *
 * size up to PMM_SIZE_SMALL is the block's size in bytes, and time is the number of a pmm_stamp. A
 * larger block has size PMM_SIZE_WIDE: it begins at least two granules before the next one, so the
 * word of the next granule is its own as well:
 *   size_bytes:44 (low) | thread:16 | 0:4
 * and time is its birth tick, as pmm_time_of_tick() has it. The first word is written last on
 * insert and set to 0 on delete; the second stays, it is no block.
 */
#define PMM_WORD_TIME_MASK	0xfffffffull
#define PMM_WORD_SITE_SHIFT	28
#define PMM_WORD_SUB_SHIFT	52
#define PMM_WORD_SIZE_SHIFT	54
#define PMM_WORD_KIND_SHIFT	60
#define PMM_WIDE_THREAD_SHIFT	44
#define PMM_SIZE_SMALL		56u
#define PMM_SIZE_WIDE		63u
/* larger sizes count as this */
#define PMM_SIZE_MAX		((1ull << PMM_WIDE_THREAD_SHIFT) - 1)

/*
 * The tick of a wide block's birth in 28 bits: exact below PMM_TIME_EXACT (15 days and 12 hours),
 * from there on in units of 32 ticks (320 ms). Each unit is read back as its first tick.
 */
#define PMM_TIME_EXACT		(1u << 27)
#define PMM_TIME_UNIT_LOG2	5

static inline uint32_t pmm_time_of_tick(uint32_t tick)
{
	return tick < PMM_TIME_EXACT
		       ? tick
		       : PMM_TIME_EXACT + ((tick - PMM_TIME_EXACT) >> PMM_TIME_UNIT_LOG2);
}

static inline uint32_t pmm_tick_of_time(uint32_t time)
{
	return time < PMM_TIME_EXACT
		       ? time
		       : PMM_TIME_EXACT + ((time - PMM_TIME_EXACT) << PMM_TIME_UNIT_LOG2);
}

/*
 * Thread and time of small blocks: each context takes a new number as time passes (agent/block.c
 * says how often).
 */
struct pmm_stamp {
	uint32_t tick;
	uint16_t thread;
	uint16_t reserved;
};

/*
 * Block tables are radix trees over the block's address:
 *     top[addr >> top_shift] -> mid[...] -> leaf[...] (PMM_LEAF_WORDS words: 256 granules, and one
 *     more so that the last block can be wide)
 * Mids are chained for readers through `next`, newest first, from pmm_ledger.table[].mids. No two
 * of a table have the same base; the newest may be empty, with no top entry yet.
 *     HEAP   granule 32 bytes: enough for glibc, whose blocks start at least 32 bytes apart
 *     DENSE  granule 8 bytes: blocks whose HEAP granule is taken by a neighbour (8- and 16-byte
 *            classes elsewhere), and blocks of custom allocators (PMM_KIND_OTHER), which are inside
 *            others
 *     MAP    granule 2 KiB: mappings made through mmap, all wide
 */
enum pmm_table_id { PMM_TABLE_HEAP, PMM_TABLE_DENSE, PMM_TABLE_MAP, PMM_NR_TABLES };
#define PMM_LEAF_BITS		8
#define PMM_LEAF_WORDS		((1u << PMM_LEAF_BITS) + 1)
#define PMM_ADDRESS_BITS	47

struct pmm_mid {
	uint64_t base;			/* address of the first byte it covers */
	pmm_ref next;			/* next mid of the same table, 0 = last */
	uint32_t nr_leaves;		/* entries in leaf[], a power of two */
	uint64_t reserved[6];
	/* each covers (1 << shift) * 256 bytes of address space; 0 = nothing there */
	pmm_ref leaf[];
};

struct pmm_table {
	uint32_t shift;			/* log2 of the granule */
	uint32_t mid_bits;		/* log2 of the leaves a mid holds */
	uint32_t top_bits;		/* log2 of the entries of the top directory */
	pmm_ref mids;			/* newest mid */
	/* byte offset of the top directory in the slot (agent only) */
	uint64_t top_off;
};

/*
 * A frame: module:16 | pc:48. pc is an address inside the call instruction (return address - 1), as
 * it was in the process; module is the number of the pmm_module that contained it, 0 = not known.
 * Marks have module 0 and these pcs:
 */
enum pmm_frame_mark {
	PMM_FRAME_NONE = 0,
	PMM_FRAME_TRUNCATED = 1,	/* the stack continues, max_frames reached */
	PMM_FRAME_NO_UNWIND = 2,	/* the stack continues in code without unwind information */
	PMM_FRAME_FULL = 3,		/* no room in the ledger for more stacks */
	PMM_FRAME_MARK_MAX = 4095,
};
#define PMM_FRAME_PC(f)		((f) & 0xffffffffffffull)
#define PMM_FRAME_MODULE(f)	((uint32_t)((f) >> 48))

/*
 * A frame that is a line of the source (struct pmm_srcloc) has this module, and the source
 * location's number for a pc.
 */
#define PMM_SRCLOC_MODULE	0xffffu
#define PMM_FRAME_SRCLOC(nr)	((uint64_t)PMM_SRCLOC_MODULE << 48 | (nr))

/* A node of the call tree. Node 0 is the root and has no frame. parent < own number always. */
struct pmm_node {
	uint64_t frame;
	uint32_t parent;		/* node number of the caller */
	uint32_t site;			/* site number when stacks end here, else 0 */
};

enum pmm_site_flags {
	/* a caller of mmap: its records count mappings, not heap blocks */
	PMM_SITE_MAPPING = 1 << 0,
	/* malloc_usable_size() was called for one of its blocks */
	PMM_SITE_USABLE	 = 1 << 24,
	/*
	 * its innermost frame is a source location; and the source location's flags (enum
	 * pmm_srcloc_flags):
	 */
	PMM_SITE_SRCLOC	 = 1 << 1,
};

/*
 * The source location of a call through pmm.h: the innermost frame of a site. The flags, which are
 * also the site's, describe how its blocks are placed in those of the real allocator, so that the
 * site alone is enough to free one.
 */
enum pmm_srcloc_flags {
	PMM_SRCLOC_BEHIND = 1 << 2,	/* a canary behind each block */
	/* blocks that are idle in a pool */
	PMM_SRCLOC_IDLE = 1 << 3,
	/* 8 bits: log2 of the bytes before each, a canary among them; 0 = none */
	PMM_SRCLOC_FRONT_SHIFT = 8,
	PMM_SRCLOC_ENTRY_SHIFT = 16,	/* 8 bits: letter of the entry, struct pmm_block in pmm.h */
};

struct pmm_srcloc {
	pmm_ref file, function;		/* NUL-terminated */
	uint32_t file_len, function_len;	/* without the NUL */
	uint32_t line;			/* 0 = not known */
	uint32_t flags;			/* enum pmm_srcloc_flags */
	uint32_t next;			/* agent only: hash chain */
	uint32_t hash;			/* agent only */
};

/* A call site: a whole stack. Site 0 stands for stacks without room (PMM_FRAME_FULL). */
struct pmm_site {
	uint32_t node;			/* innermost frame's node; 0 = number never used */
	uint32_t flags;			/* enum pmm_site_flags */
};

/*
 * One thread's counters for one site. The figures of a site are sums over its records. Live bytes =
 * bytes_in - bytes_out (in a single record either may be larger). In sampled mode bytes and counts
 * are unbiased estimates, and `samples_*` is the number of samples behind them. At the peak: if
 * epoch == the sealed epoch's number (see pmm_ledger.peak_epoch) at_peak_*, else live now.
 */
struct pmm_record {
	/* one cache line: fields that nearly every event changes */
	uint64_t bytes_in, bytes_out;
	uint64_t allocs, frees;
	uint64_t epoch;			/* epoch of the last change */
	uint64_t temporary;		/* freed as the thread's next event */
	uint64_t max_bytes;		/* largest request */
	uint32_t first_tick, last_tick;	/* of allocations */

	int64_t at_peak_bytes;		/* live at the end of the epoch before `epoch` */
	int64_t at_peak_blocks;
	uint64_t failed;		/* requests answered with NULL */
	uint64_t zero_size;		/* requests for 0 bytes */
	uint64_t huge;			/* requests of warn_size_bytes and more */
	uint32_t site;			/* whose record this is */
	pmm_ref next;			/* next record of the same context, 0 = last */
	uint32_t samples_in, samples_out;
	/* struct pmm_lifetimes; 0 = all that was released was so within a tick */
	pmm_ref lifetimes;
	/* releases whose lifetimes another record has; below zero: this one has those of others */
	int32_t lives_apart;
};

/*
 * Releases by lifetime. Separate from the record: in a program with very many stacks, blocks of
 * most of them are never released, or soon. frees[0] stays 0: within a tick were released all of
 * the record's `frees`, without `lives_apart`, that are not here. (Of mappings, releases by
 * lifetime are not counted.)
 */
struct pmm_lifetimes {
	uint64_t frees[PMM_NR_LIFETIMES];
};

/* How many of the record's blocks were released within a tick; `lifetimes` where it has any. */
static inline uint64_t pmm_released_at_once(const struct pmm_record *r,
					    const struct pmm_lifetimes *lifetimes)
{
	uint64_t nr = r->frees - (uint64_t)(int64_t)r->lives_apart;

	for (unsigned k = 1; r->lifetimes && k < PMM_NR_LIFETIMES; k++)
		nr -= lifetimes->frees[k];
	return nr >> 63 ? 0 : nr;
}

#define PMM_BUILD_ID_MAX	32

/* An ELF file mapped in the process. Number 0 is unused. */
struct pmm_module {
	uint64_t start, end;		/* address range it took in the process */
	uint64_t bias;			/* run-time address = ELF address + bias */
	uint64_t dev, ino;
	uint32_t load_tick;		/* first seen */
	uint32_t unload_tick;		/* 0 = still there as far as is known */
	pmm_ref path;			/* NUL-terminated, 0 = none */
	uint32_t path_len;		/* without the NUL */
	uint8_t build_id_len;		/* 0 = none */
	uint8_t build_id[PMM_BUILD_ID_MAX];
	uint8_t reserved[31];
};

enum pmm_view {
	PMM_VIEW_NONE,
	PMM_VIEW_TAKEN,
	PMM_VIEW_LONG,			/* not at exit: too many free chunks to walk, perhaps */
	/* not taken at exit: the allocator's locks could not be waited for */
	PMM_VIEW_LOCKED,
};

/* The allocator's own figures, taken inside the process. */
struct pmm_allocator_view {
	uint32_t tick;			/* when taken */
	/* enum pmm_view: PMM_VIEW_TAKEN = the figures below are set */
	uint32_t valid;
	uint64_t arena_bytes;		/* mallinfo2.arena: obtained with brk/mmap for arenas */
	uint64_t used_bytes;		/* uordblks */
	uint64_t free_bytes;		/* fordblks */
	uint64_t free_chunks;		/* ordblks */
	uint64_t fast_chunks, fast_bytes;	/* smblks, fsmblks */
	uint64_t mmapped_chunks, mmapped_bytes;	/* hblks, hblkhd */
	uint64_t top_bytes;		/* keepcost */
};

enum pmm_state {
	PMM_STATE_STARTING, PMM_STATE_RUNNING,
	/* left through exit(); a ledger left RUNNING by a dead process was killed or _exit */
	PMM_STATE_EXITED,
	PMM_STATE_OFF,			/* the agent turned itself off: off_reason */
};

enum pmm_off_reason {
	PMM_OFF_NONE,
	PMM_OFF_NO_ALLOCATOR,
	PMM_OFF_NO_MEMORY,
	PMM_OFF_NO_SLOT,
	PMM_OFF_NOT_FOLLOWED,
	PMM_OFF_INTERNAL,
	/* state stays RUNNING: the program's own malloc precedes ours, nothing is recorded */
	PMM_OFF_OWN_ALLOCATOR,
	PMM_OFF_MONITOR_GONE, /* attached, and the monitor no longer ticks */
	PMM_OFF_CONFINED, /* the program put itself under seccomp; attached, or strict */
	/*
	 * state stays RUNNING: under seccomp the ledger could not grow; `dropped` counts what is
	 * missing
	 */
	PMM_OFF_NO_GROWTH,
	/*
	 * state stays RUNNING: processes and programs that it starts under its seccomp filter have
	 * no ledger
	 */
	PMM_OFF_NO_CHILDREN,
	PMM_NR_OFF_REASONS,
};

/* What was not recorded, and why. */
enum pmm_drop {
	PMM_DROP_BLOCK_FULL,		/* ledger at its limit: block not recorded */
	PMM_DROP_SITE_FULL,		/* stack charged to site 0 */
	PMM_DROP_CTX_FULL,		/* event of a thread without context */
	/* event in signal handlers nested deeper than contexts reach */
	PMM_DROP_NESTED,
	PMM_DROP_MODULE_FULL,		/* module not recorded */
	PMM_DROP_ADDRESS,		/* block outside the address range the tables cover */
	PMM_NR_DROPS,
};

/* Mappings and brk, through the C library's entries, by the program and its libraries. */
struct pmm_mapping_totals {
	uint64_t mmap_calls, mmap_bytes, mmap_failed;
	uint64_t munmap_calls, munmap_bytes;
	uint64_t mremap_calls, mremap_grown_bytes, mremap_shrunk_bytes;
	/* calls of brk/sbrk; addresses of the break */
	uint64_t brk_calls, brk_start, brk_now, brk_max;
};

struct pmm_ledger {
	uint64_t magic;			/* PMM_LEDGER_MAGIC, written last */
	uint32_t version;
	uint32_t header_bytes;		/* sizeof(struct pmm_ledger) */
	uint32_t state;			/* enum pmm_state */
	uint32_t off_reason;		/* enum pmm_off_reason */
	uint32_t pid, ppid;
	uint32_t start_tick, end_tick;	/* end_tick: set at exit(), else 0 */
	/* 1 = began in a running process, so older blocks are freed as untracked */
	uint32_t attached;
	uint32_t nr_marks;		/* [scanner] see `changing` */
	/* 1 = began at fork, so blocks of the parent are freed as untracked */
	uint32_t forked;
	uint32_t dense;			/* 1 = allocator may place blocks closer than 32 bytes */
	char comm[16];			/* /proc/self/comm */
	pmm_ref exe, cmdline;		/* path; arguments separated by NUL */
	uint32_t exe_len, cmdline_len;
	pmm_ref allocator;		/* path of the module whose malloc is used */
	uint32_t allocator_len;

	/* the arena */
	uint64_t arena_off;		/* byte offsets in the slot */
	uint64_t arena_used;		/* handed out up to here */
	uint64_t arena_ready;		/* backed up to here */
	uint64_t arena_end;		/* the limit */
	/*
	 * live bytes and the peak, see agent/total.c. `total` packs epoch:20 | rising:1 | bytes:43
	 * (PMM_TOTAL_*). Credits are counted in full when they are granted: the exact
	 * total is what remains after subtracting, for each ctx with a valid credit, what is left
	 * of it.
	 */
	uint64_t total;
	uint64_t credit_out;		/* number of credits that are out */
	uint64_t peak_bytes;		/* highest sealed total */
	/* epoch that ended at that total; a record's at_peak_* apply when its epoch is later */
	uint64_t peak_epoch;
	uint32_t peak_tick;
	/*
	 * [monitor] raised to ask for a fresh allocator_view; here, in a line that every event
	 * reads
	 */
	uint32_t want_view;
	uint64_t epoch;			/* current epoch in full */
	/*
	 * pc of frames that belong to a hook of the agent and are none of the program's; 0 = none
	 */
	uint64_t hook_pc;
	/*
	 * [scanner] While this is not 0, the agent sets the byte at PMM_MARKS_OFF + ((offset in the
	 * arena) >> mark_shift), if that is one of nr_marks, after each store to a block table.
	 * nr_marks bytes have backing before this is raised. See doc/ledger.md, "The pre-copy".
	 * Who raises it holds a lock on these four bytes of the file (F_OFD_SETLK), which ends with
	 * its process.
	 */
	uint32_t changing;		/* pid of the scanner */
	uint32_t mark_shift;

	struct pmm_table table[PMM_NR_TABLES];

	/*
	 * chunked arrays: numbers in use run from 1 (nodes, sites, modules) or 0 (threads,
	 * contexts) to below nr_*
	 */
	uint32_t nr_nodes, nr_sites, nr_modules, nr_threads, nr_ctx;
	uint32_t nr_stamps;		/* numbers from 1 */
	uint64_t dropped[PMM_NR_DROPS];
	uint64_t dropped_bytes;		/* of PMM_DROP_BLOCK_FULL */

	struct pmm_mapping_totals mapping;
	struct pmm_allocator_view allocator_view;

	/* of directories: pmm_ref[1 << PMM_NODE_DIR_SHIFT] */
	pmm_ref node_dir[PMM_MAX_NODES >> (PMM_NODE_SHIFT + PMM_NODE_DIR_SHIFT)];
	pmm_ref site_dir[PMM_MAX_SITES >> PMM_SITE_SHIFT];
	pmm_ref thread_dir[(PMM_MAX_THREADS >> PMM_THREAD_SHIFT) + 1];
	pmm_ref module_dir[PMM_MAX_MODULES >> PMM_MODULE_SHIFT];
	pmm_ref ctx[PMM_MAX_CTX];	/* struct pmm_ctx */
	pmm_ref stamp_dir[PMM_MAX_STAMPS >> PMM_STAMP_SHIFT];

	struct pmm_leave leave;
	/*
	 * cycle counter at the start: distinguishes programs that exec starts in one process, even
	 * within one tick
	 */
	uint64_t image;

	struct pmm_check_state check;
	pmm_ref finding_dir[PMM_MAX_FINDINGS >> PMM_FINDING_SHIFT];	/* struct pmm_finding */
	/* struct pmm_guard, by number of the run */
	pmm_ref guard_dir[PMM_MAX_GUARDS >> PMM_GUARD_SHIFT];

	uint32_t nr_srclocs;		/* numbers from 1 */
	/* 1 = pmm.h's full form: only calls through it are recorded */
	uint32_t compiled_in;
	/* 1 = an event was left in the middle (longjmp), so counts may differ from what is there */
	uint32_t cut;
	pmm_ref srcloc_dir[PMM_MAX_SRCLOCS >> PMM_SRCLOC_SHIFT];

	struct pmm_death death;

	/*
	 * the allocator's own function that the program calls, and the path of the object that
	 * does ("": the program's file); 0 = none. What it does is not recorded, and `pmm check`
	 * checks nothing there
	 */
	pmm_ref own_function, own_caller;
	uint32_t own_function_len, own_caller_len;
	/* 1 = none of those that are called does more than to look at a block: all is recorded */
	uint32_t own_looks;
	uint32_t own_late;		/* enum pmm_own_late */
};

/* When the object was noticed that calls pmm_ledger.own_function. */
enum pmm_own_late {
	PMM_OWN_FIRST,			/* the program is started with it */
	/* it was loaded later: from then on `pmm check` gives no block a head or guard pages */
	PMM_OWN_LATE,
	PMM_OWN_LAST,			/* it was loaded later, and noticed at the program's end */
	PMM_NR_OWN_LATE
};

/* the fixed area of a slot, after the header */
#define PMM_PAGE		4096ull
#define PMM_HEADER_BYTES	(128ull << 10)	/* the header's share */
/* agent only: where the parts of the nodes' hash table are; agent/node.c */
#define PMM_NODE_HASH_BYTES	(32ull << 10)
#define PMM_NODE_HASH_OFF	(26ull << 20)
#define PMM_TOP_OFF(table)	((1ull << 20) + (uint64_t)(table) * (8ull << 20))
#define PMM_MARKS_OFF		(28ull << 20)	/* backed only when a scanner asked for it */
#define PMM_MAX_MARKS		(4u << 20)
#define PMM_ARENA_OFF		(32ull << 20)

_Static_assert(sizeof(struct pmm_ledger) <= PMM_HEADER_BYTES, "the header must fit");
_Static_assert(sizeof(struct pmm_node) == 16 && sizeof(struct pmm_site) == 8 &&
		       sizeof(struct pmm_stamp) == 8,
	       "layout");
_Static_assert(offsetof(struct pmm_record, at_peak_bytes) == 64 &&
		       sizeof(struct pmm_record) == 128 && sizeof(struct pmm_lifetimes) % 64 == 0,
	       "cache lines");
_Static_assert(offsetof(struct pmm_ledger, changing) / 64 ==
		       offsetof(struct pmm_ledger, total) / 64,
	       "a line that every event reads");
_Static_assert(PMM_MARKS_OFF + PMM_MAX_MARKS <= PMM_ARENA_OFF, "the marks must fit");
_Static_assert(sizeof(struct pmm_mid) == 64, "mid header is one cache line");

#endif
