/* SPDX-License-Identifier: MIT */
/*
 * The agent: what runs inside the traced process, and its private state there (copied by
 * fork). What a reader needs is in the ledger (include/pmm/ledger.h), shared memory.
 *
 * Rules for every file in agent/: raw system calls only, no libc, nothing from the program's heap,
 * no errno, no lock that a signal handler or a forked child could find taken for ever. Hooks come
 * in on any thread at any moment, also inside signal handlers that interrupted a hook. When in
 * doubt the agent turns itself off.
 *
 * Nouns:
 *     context  what one thread (or one level of signal handlers on it) records with; agent/ctx.h
 *     event    one allocation or release, from the hook's first look at the ledger to its last
 *     memo     the last stack walked on a context, kept to be confirmed instead of walked again;
 *              agent/unwind/unwind.c
 *     piece    four frames at a fixed place of a stack, numbered with one look-up; agent/piece.h
 *     known    a stack that came back, kept as the words of the stack that determine it;
 *              agent/known.h
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/unwind/cfi.h"
#include "agent/next.h"
#include "agent/preload/own_called.h"
#include "include/pmm/ledger.h"

struct agent_module;
struct ctx_entry;
struct rules;
struct tctx;

enum agent_state { AGENT_UNKNOWN, AGENT_STARTING, AGENT_ON, AGENT_OFF };

struct agent {
	/* what every event reads: two cache lines */
	/* what makes events other than the usual ones of agent/record.h: asked for all at once */
	union {
		struct {
			bool sampled;
			/* there is no monitor that ticks: see agent/clock.c */
			bool own_clock;
			/* pmm.h's full form: calls through it are all that is recorded */
			bool compiled_in;
			bool sizes;	/* min_size or warn_size is set */
			bool reserved[4];
		};
		uint64_t unusual;
	};
	uint32_t state;			/* enum agent_state */
	bool dense;			/* blocks may start closer than 32 bytes */
	bool glibc;			/* the C library's malloc is the real one */
	bool follow;			/* forked children are recorded as well */
	bool stacks;			/* compiled_in: ... with their stacks */
	/* ... and Valgrind runs the program: a look at memory beside blocks is an error to it */
	bool valgrind;
	bool touches_pages;		/* the kernel has no MADV_POPULATE_WRITE */
	/* the program put itself under seccomp: no unusual system call any more */
	bool confined;
	bool no_growth;			/* ... and its filter does not let the ledger grow */
	bool no_asking;			/* ... nor be asked what can be read */
	bool no_break;			/* ... nor be asked where the program break is */
	/* check form: what is last of the arena is for stacks, not for blocks */
	bool stacks_last;
	bool no_files;			/* ... nor a forked child make a file for its ledger */
	/* tree is a monitor's board: there is a way to it (agent/preload/preload_channel.h) */
	bool monitored;
	bool no_return;			/* ... nor a signal handler return */
	/* ... nor pages of the guard pool be opened and closed: it is open */
	bool no_guards;
	uint32_t tid_offset;		/* of the thread id from the thread pointer; 0 = unknown */
	uint32_t code_epoch_seen;	/* tree->code_epoch when code_gen was raised for it */
	union {
		struct {
			/* raised when code was unmapped: rules and memos are void */
			uint32_t code_gen;
			/* raised when memory that may have been a stack was unmapped */
			uint32_t stack_gen;
		};
		uint64_t gens;		/* both, to be compared at once */
	};
	/*
	 * What is asked for, and the clock: the monitor's board, private memory, or, injected, the
	 * file's own head: then, too, this process's only if agent_begun().
	 */
	const struct pmm_tree *tree;
	char *base;			/* the ledger, in ... */
	/* ... the same; this, base, file and slot: of this process only if agent_begun() */
	struct pmm_ledger *ledger;
	const uint8_t *single_threaded;	/* glibc's __libc_single_threaded, or a 0 byte */
	struct ctx_entry *ctx_hash;	/* memory that fork wipes */
	/* likewise; of [leaves_from, leaves_from + leaves_reach): agent/block_words.h */
	uint64_t **leaves;
	uint64_t leaves_from, leaves_reach;
	/*
	 * where source locations' texts are not replaced by others at the same address
	 * (agent/srcloc.h)
	 */
	uint64_t texts_at, texts_bytes;

	/* injected: of the guard pool, also when the agent is off */
	uint64_t guards_at, guards_bytes;
	uint64_t min_size;
	uint64_t warn_size;
	struct rules *rules;
	uint32_t max_frames;
	/* newest source location of each bucket, or NULL: agent/srcloc.c */
	uint32_t *srcloc_hash;
	int pid;
	struct next_functions next;
	/* called when a thread has taken a context; NULL = not called */
	void (*taken)(struct tctx *c);

	/* injected: calls of real functions from frames of ours with no context busy */
	uint32_t passing;
	/*
	 * which process of a line this is, not 0; a page that fork wipes, so that a child notices;
	 * [1]: the tid of who is about to set it; [2]: bounds.c has begun anew
	 */
	uint32_t *alive;
	uint32_t generation;		/* the same, and after a fork still the parent's */
	char *file;			/* ... the file that we have mapped */
	struct pmm_slot *slot;		/* in its head: what we and the monitor tell each other */
	/*
	 * check form: stacks as they are numbered, for processes that will be forked from this one;
	 * NULL = not called
	 */
	void (*node_added)(uint32_t nr, uint32_t parent, uint64_t frame);
	void (*site_added)(uint32_t nr, uint32_t node);
	void (*mid_added)(uint64_t base);
	bool limit_shifted;		/* RLIMIT_AS was raised by these */
	bool limit_has_pool;		/* the image before exec had raised it for a pool, too */
	uint64_t reserved_bytes;	/* address space the file's mapping takes */
	/* ... and the pool of guarded blocks, for which the limit was raised too */
	uint64_t pool_bytes;
	/* RLIMIT_AS was raised by this process itself by that much */
	uint64_t limit_raised_bytes;
	bool limit_most_raised;		/* ... the hard limit, too */
	bool limit_taken;		/* it could not be: the mapping takes of the program's */
	uint64_t longest_map;		/* bytes of the longest mapping that was recorded */
	uint64_t credits_lost;		/* credits that never came back (agent/total.c) */
	uint64_t credit_stop;		/* threads take no credit in epochs below this one */

	/* the clock without a monitor */
	uint32_t own_tick;
	uint64_t own_clock_cycles;
	/* what our CLOCK_MONOTONIC is ahead of the monitor's, modulo 2^64 (agent/clock.c) */
	uint64_t clock_ahead_ns;

	/* modules, under module_lock (agent/unwind/module.c) */
	uint32_t module_lock;		/* tid of the holder, 0 = free */
	bool module_reading;		/* ... and it changes the list */
	uint32_t nr_modules;
	uint32_t module_scan;
	uint32_t module_gen;	/* agent.code_gen the list belongs to */
	struct agent_module *modules;
	char *paths;			/* of the modules, one after the other */
	uint32_t paths_used;
	char *scratch;			/* 64 KiB, for reading /proc/self/maps; under module_lock */

	/* the kernel's clock_gettime without a system call, or NULL */
	long (*vdso_clock)(int, int64_t *);
	int (*find_object)(void *, void *);	/* glibc's _dl_find_object, or NULL */
	const char *allocator_path;	/* of the object that has next.malloc */
	/* the program brings its own malloc, which goes before ours */
	bool own_allocator;
	/*
	 * the allocator's own function that an object calls. In the check form nothing is checked
	 * then
	 */
	struct own_called own_called;
	uint64_t code_start, code_end;	/* our own code, in the preloaded forms */
	uint64_t allocator_start, allocator_end;	/* of that object; end 0 = not known yet */

	/* injected only */
	/* of the program, where its file has no .eh_frame_hdr: made by pmm; hdr 0 = none */
	struct cfi_module given;
	struct cfi_module own;		/* our own code, which the program's loader does not know */
	/*
	 * return address of functions called by hooks of any signature
	 * (agent/inject/inject_borrow.c)
	 */
	uint64_t borrowed;
	/* alive, ctx_hash, rules, modules, scratch, paths: one mapping */
	void *private_start;
	size_t private_bytes;
	/* the monitor's last tick, when it was first found late ... */
	uint32_t stale_tick;
	uint32_t stale_since;		/* ... at that time; 0 = it is not late */
};

_Static_assert(offsetof(struct agent, state) == sizeof(uint64_t), "`unusual` is all of its flags");

extern struct agent agent __attribute__((visibility("hidden")));

/*
 * Does it record? Pairs with the store of AGENT_ON in agent_start(): who sees that also sees the
 * ledger and all else that was set up before.
 */
static inline bool agent_is_on(void)
{
	return __atomic_load_n(&agent.state, __ATOMIC_ACQUIRE) == AGENT_ON;
}

#endif
