/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process as it was at one moment, to be read at leisure while it runs on: a copy-on-write copy
 * of it, made inside it, and the registers of its threads.
 *
 * The copy never executes an instruction and is invisible to the program: it is a child with exit
 * signal 0 (no SIGCHLD, not seen by wait() without __WALL or __WCLONE), shares the table of
 * descriptors (so that what the program closes is closed), is killed by the kernel when we die
 * (PTRACE_O_EXITKILL) and is waited for by the program's own thread, borrowed for that moment,
 * before process_copy_free() returns.
 *
 * Where no copy can be had (no memory, a limit on processes, a system call filter) the threads stay
 * stopped until process_copy_free(), unless that would be too long (most_held_bytes).
 */
#ifndef PTRACE_PROCESS_COPY_H
#define PTRACE_PROCESS_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/ptrace/altstack.h"
#include "src/proc/entrusted.h"
#include "src/proc/proc.h"

struct process_copy_thread {
	pid_t tid;
	/* as the program has them: of an interrupted system call, before it */
	struct user_regs_struct regs;
	uint64_t *words;		/* every 8 bytes of general and vector registers */
	size_t nr_words;
};

struct process_copy_options {
	uint64_t timeout_ns;		/* for all threads to stop; 0 = 5 s */
	bool no_copy;			/* leave the threads stopped */
	/*
	 * without a copy: give up (-E2BIG) rather than hold a process that has more memory; 0 = any
	 */
	uint64_t most_held_bytes;
	/*
	 * Called while all threads are stopped, after the copy is made; may read the process, must
	 * be quick. Non-zero: give up. May be NULL.
	 */
	int (*stopped)(void *arg, struct err *e);
	void *arg;
};

struct process_copy {
	pid_t pid;			/* the process */
	pid_t copy;			/* 0 = there is none, the threads are stopped */
	struct err why;			/* why there is no copy */
	VEC(struct process_copy_thread) threads;
	struct proc_maps maps;		/* as of that moment */
	struct entrusted entrusted;	/* the same */
	/*
	 * read while the threads were stopped, since the copy has them not as of that moment
	 * (apart.h)
	 */
	uint64_t held_bytes;
	bool late;			/* some memory is not of that moment but read later */
	/* all threads were stopped for that long; without a copy 0 until process_copy_free() */
	uint64_t pause_ns;
	struct process_copy_state *state;
};

/* 0 or -errno with `e` (as stop_allowed(), stop_all()); then the process is as it was. */
int process_copy_take(pid_t pid, const struct process_copy_options *o, struct process_copy *s,
		      struct err *e);

/*
 * Read memory as it was; how many bytes could be read from `address` on. What the copy has not as
 * of that moment was read while all were stopped, or is read as it is now (`late`). From several
 * threads at once.
 */
size_t process_copy_read(const struct process_copy *s, uint64_t address, void *to, size_t bytes);

/*
 * How much of the memory at an address, up to `bytes`, is zero because it was never touched: it
 * need not be read, which would fill page tables. 0: it has been touched, or is not known. From
 * several threads at once.
 */
uint64_t process_copy_untouched(const struct process_copy *s, uint64_t address, uint64_t bytes);

/*
 * Is the copy still there? The kernel kills it, rather than the program, when memory runs out: what
 * was read since the last time that this was true is not all there was. Without a copy: has the
 * process not been killed? All zero is fine.
 */
bool process_copy_intact(const struct process_copy *s);

/*
 * Ask each of the process copy's threads that still lives for its alternate signal stack, as it is
 * now; added to `a`. Where there is a copy the threads are stopped for that once more, one at a
 * time, which the pause includes. 0, -ENOMEM, -EACCES: the process's filters do not allow it.
 */
int process_copy_ask(struct process_copy *s, struct altstacks *a);

/*
 * Let go of the copy, or of the threads, and release. Returns how long all threads were stopped, in
 * nanoseconds. All zero is fine.
 */
uint64_t process_copy_free(struct process_copy *s);

/* Wait for copies that a killed pmm has left in a process as zombies; their number. */
unsigned process_copy_reap_leftovers(pid_t pid);

#endif
