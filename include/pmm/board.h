/* SPDX-License-Identifier: MIT */
/*
 * The board: options and clock, written by the monitor for all processes of a tree. Each ledger
 * file begins with the same struct (include/pmm/ledger.h), which repeats the options for readers.
 */
#ifndef PMM_BOARD_H
#define PMM_BOARD_H

#include <stdint.h>

#include "include/pmm/check.h"

#define PMM_TREE_MAGIC		0x31454552544d4d50ull	/* "PMMTREE1" */
#define PMM_LEDGER_VERSION	11u
#define PMM_BYTE_ORDER_MARK	0x01020304u
#define PMM_BOARD_NAME		"pmm-board"
/* where the monitor is: see include/pmm/channel.h */
#define PMM_ENV			"PMM_LEDGER"

#define PMM_REF_SHIFT		6
#define PMM_MAX_SLOTS		1	/* ledgers in a file */
#define PMM_TICK_NS		10000000ull		/* one tick: 10 ms */

typedef uint32_t pmm_ref;

enum pmm_slot_state {
	PMM_SLOT_FREE,		/* no ledger begun */
	PMM_SLOT_LIVE,		/* in use */
	/* [monitor] its process called exec; the new image has its own file */
	PMM_SLOT_REPLACED,
};

enum pmm_limit {
	PMM_LIMIT_AS_IT_WAS,	/* RLIMIT_AS */
	PMM_LIMIT_RAISED,	/* ... was raised by the size of the ledger's mapping */
	PMM_LIMIT_RAISED_POOL,	/* ... and of the pool of guarded blocks */
	PMM_LIMIT_TAKEN,	/* could not be raised: the mapping takes of the program's */
};

/* What process and monitor exchange, in the process's own file. */
struct pmm_slot {
	uint32_t state;		/* enum pmm_slot_state */
	uint32_t pid;		/* in the pid namespace of the process */
	uint32_t limit_raised;	/* enum pmm_limit; exec keeps it so */
	uint32_t leave;		/* enum pmm_leave_state; a futex, with [monitor] */
	uint32_t reserved[4];
};

/* so far back stacks from before a fork are known to forked processes (PMM_CHECK_*) */
#define PMM_MAX_ANCESTORS	8

/*
 * The end of a process, where the board has PMM_TREE_LEAKS. At the last moment at which it can act,
 * the agent fills pmm_ledger.leave, sets PMM_LEAVE_ASKED, sends PMM_SAY_LEAVE, and waits until the
 * monitor has searched the process for leaks. It stops waiting at once when the monitor has died
 * (pmm_tree.life), and after a while when the clock does not advance (pmm_tree.tick).
 */
enum pmm_leave_state {
	PMM_LEAVE_NOT,		/* it runs */
	PMM_LEAVE_FILLING,	/* one of its threads is ending the process and fills the record */
	PMM_LEAVE_ASKED,	/* the record is complete; it waits */
	PMM_LEAVE_SEARCHED,	/* [monitor] is searching */
	PMM_LEAVE_DONE,		/* [monitor] may end; or the agent no longer waits */
};

enum pmm_leave_cause {
	PMM_LEAVE_NO_CAUSE,
	PMM_LEAVE_EXIT,		/* exit(), after all handlers and destructors */
	PMM_LEAVE_RETURN,	/* main, or the start function of the last thread, returned */
	PMM_LEAVE_QUICK_EXIT,	/* quick_exit(), after its handlers */
	PMM_LEAVE_AT_ONCE,	/* _exit() or _Exit() */
	PMM_LEAVE_CALL,		/* syscall(SYS_exit_group) */
	PMM_LEAVE_SIGNAL,	/* a signal whose default action is death */
	PMM_NR_LEAVE_CAUSES,
};

struct pmm_leave {
	/*
	 * the leaving thread's stack counts from here up, its registers do not; 0 = both count in
	 * full
	 */
	uint64_t sp;
	uint32_t tid;			/* that thread, as in the process's pid namespace */
	uint32_t cause;			/* enum pmm_leave_cause */
	uint32_t number;		/* exit status or signal; of a return not known */
	uint32_t reserved;
};

enum pmm_mode { PMM_MODE_EXACT, PMM_MODE_SAMPLED };

/*
 * Most private memory that the agent takes, not counting guarded blocks and what it puts around
 * other blocks.
 */
#define PMM_OWN_DATA_BYTES	(10ull << 20)

enum pmm_tree_flags {
	PMM_TREE_FOLLOW		= 1 << 0,	/* trace children too; else only root_pid */
	PMM_TREE_STANDALONE	= 1 << 1,	/* made by an agent that found no monitor */
	/* made by pmm for a running process: see include/pmm/inject.h */
	PMM_TREE_ATTACHED	= 1 << 2,
	/* processes are searched for leaks when they end; the monitor clears it when it ends */
	PMM_TREE_LEAKS		= 1 << 3,
	/* limits on data, where there are any, are raised by PMM_OWN_DATA_BYTES */
	PMM_TREE_DATA		= 1 << 4,
};

struct pmm_tree {
	uint64_t magic;			/* PMM_TREE_MAGIC, written last when the file is made */
	uint32_t version;		/* PMM_LEDGER_VERSION */
	uint32_t byte_order;		/* PMM_BYTE_ORDER_MARK */
	uint32_t word_bytes;		/* 8 */
	uint32_t nr_slots;		/* 1 */
	/* size of a ledger, a multiple of 2 MiB; a ledger file has slots_off + slot_bytes bytes */
	uint64_t slot_bytes;
	/* byte offset of struct pmm_ledger in a ledger file, page aligned */
	uint64_t slots_off;

	/* what the user asked for; constant once magic is set */
	uint32_t mode;			/* enum pmm_mode */
	uint32_t flags;			/* enum pmm_tree_flags */
	uint64_t sample_bytes;		/* mean bytes between samples, sampled mode */
	uint64_t min_size_bytes;	/* smaller blocks are only counted (pmm_ctx.skipped_*) */
	uint64_t warn_size_bytes;	/* a request of at least this is "huge"; 0 = none */
	uint64_t limit_bytes;		/* backing the arena of a single ledger may take */
	uint32_t max_frames;		/* deepest stack kept, 1..PMM_MAX_FRAMES */
	uint32_t monitor_pid;		/* 0 = none */
	uint32_t root_pid;		/* [monitor] process launched, 0 until known */
	uint32_t monitor_uid;		/* its effective user */
	/* board: the secret of this tree, see include/pmm/channel.h; 0 in ledger files */
	uint64_t cookie;
	uint64_t monitor_start;		/* when the monitor was started, as in /proc/PID/stat */
	uint64_t start_realtime_ns;	/* CLOCK_REALTIME and ... */
	uint64_t start_monotonic_ns;	/* ... CLOCK_MONOTONIC at tick 0 */
	struct pmm_check check;

	/* live */
	/* [monitor] ticks since start, advanced every PMM_TICK_NS; in sampled mode now and then */
	uint32_t tick;
	/* [monitor] raised when executable mappings changed under a live process */
	uint32_t code_epoch;
	/*
	 * [monitor] It is alive while life[life_at] is its thread id and does not have
	 * FUTEX_OWNER_DIED (linux/futex.h), which the kernel sets when it dies, however
	 * (set_robust_list(2)). Two words, so that the monitor can hand over to a forked process.
	 */
	uint32_t life[2];
	uint32_t life_at;
	uint32_t reserved1;
	struct pmm_slot slot[PMM_MAX_SLOTS];
};

#endif
