/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The roots of a search for leaks: a heap's blocks and the process's memory, both of the same
 * moment, and what is a root in it.
 *
 * Sources: a running process (copy or stopped), a process about to end (stopped), a core file with
 * the capture of the same process. What is a root and what is not: doc/leaks.md.
 */
#ifndef ROOTS_ROOTS_H
#define ROOTS_ROOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/model/heap.h"
#include "src/model/memory.h"

struct core;
struct proc_maps;
struct process_copy;
struct process_copy_thread;

struct roots {
	struct heap *heap;
	struct memory memory;
	uint64_t begun_ns;		/* when the search was: before the program was stopped */
	/*
	 * the program was stopped for that long; known after roots_free() where it is stopped
	 * meanwhile
	 */
	uint64_t pause_ns;
	/* no copy could be made: the program is stopped until roots_free() */
	bool stopped;
	struct err why_stopped;
	/* of a copy: read during the pause, as the copy has them not, or shares them */
	uint64_t held_bytes;
	bool late;			/* of a copy: some such memory was not, and is read later */
	/* of roots that are left out, because a core file has not what it says */
	uint64_t unread_bytes;
	/*
	 * every block there is is known; else unknown heap memory is root (attached, forked,
	 * limits, --min-size)
	 */
	bool complete;
	bool has_chunks;		/* the allocator is glibc's */
	/* the program may have asked how much of blocks can be used; it is not known of which */
	bool asks_usable;
	struct roots_state *state;
};

struct roots_options {
	bool no_copy;			/* scan with the threads stopped */
	/* at exit: the first thread's stack counts from here up; 0 = from its stack pointer */
	uint64_t leave_sp;
	pid_t leave_tid;		/* ... the thread that is */
	uint64_t max_bytes;		/* of memory that the heap may take; 0 = limits_share() */
	struct stop stop;		/* asked while the roots are searched */
};

/* Of a running process that pmm tracks. 0 or -errno with `e`. */
int roots_live(pid_t pid, const struct roots_options *o, struct roots *s, struct err *e);

/*
 * Of a core file and the capture that was written when that process died (blocks compared by pid,
 * modules). 0 or -errno with `e`.
 */
int roots_core(const char *core_path, const char *capture_path, uint64_t max_bytes, struct roots *s,
	       struct err *e);

/*
 * Ask the threads of a running process, where anything is lost that could be one, for their
 * alternate signal stacks. `class`: of each block, 0 = reached (enum reach_class). How many of
 * these stacks are in blocks that were not reached; they are roots from then on, so that it pays to
 * search again. -ENOMEM.
 */
int roots_ask(struct roots *s, const uint8_t *class);

/*
 * A heap for the search for pointers, whose blocks are as large as what can be used of them: of
 * call sites of whose blocks the program has asked for that, or `all`. Everything else is the
 * roots' heap's, and borrowed: roots_wide_free(). `wide` blocks differ: their number, or -ENOMEM.
 */
int64_t roots_widen(const struct roots *s, bool all, struct heap *wide);
void roots_wide_free(struct heap *wide);

/*
 * Was all there to be read until now? 0; with `e` -ECHILD: memory ran out, and the kernel has
 * killed the copy; -ESRCH: the process was killed, or has ended, and its copy with it.
 */
int roots_intact(const struct roots *s, struct err *e);

/*
 * Its threads with their registers, and its mappings, as of that moment; valid until roots_free().
 * NULL = there are none.
 */
const struct process_copy_thread *roots_threads(const struct roots *s, size_t *nr);
const struct proc_maps *roots_maps(const struct roots *s);

/* Release; lets the program continue where it was stopped. Returns the pause in nanoseconds. */
uint64_t roots_free(struct roots *s);

/*
 * The parts, for tests: fill in roots, words, owned blocks and code for a heap whose blocks are
 * known, from a snapshot or a core.
 */
int roots_settle(struct roots *s, const struct process_copy *copied, const struct core *core,
		 const struct roots_options *o, struct err *e);

#endif
