/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the monitor writes for the processes of a tree: the board, a file of its own with a `struct
 * pmm_tree` alone. Of an attached process it is the head of the process's ledger file, made here as
 * well.
 */
#ifndef LEDGER_LEDGER_TREE_H
#define LEDGER_LEDGER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/ledger.h"
#include "src/base/err.h"

struct ledger_tree_options {
	enum pmm_mode mode;
	bool follow; /* trace children too */
	uint64_t sample_bytes, min_size_bytes, warn_size_bytes;
	uint64_t limit_bytes; /* for one ledger's arena; 0 = ledger_tree_default_limit() */
	uint32_t max_frames;  /* 0 = 128 */
	uint64_t space_bytes; /* RLIMIT_AS of the program to come; UINT64_MAX = none */
	uint64_t file_bytes;  /* largest file pmm may make; UINT64_MAX = any */
	bool leaks;	      /* processes wait at their end for a search */
	/*
	 * level PMM_CHECK_NONE: heap errors are not looked for; the secret is filled in,
	 * max_guarded bounded
	 */
	struct pmm_check check;
	bool data_raised;     /* child_raise_data() was done */
	/* for a process that runs already: a ledger file rather than a board */
	bool attached;
	pid_t pid;	      /* ... whose control group's limit counts; 0 = pmm's own */
};

struct ledger_tree {
	int fd;		       /* the memfd, close-on-exec, sealed against resizing */
	/*
	 * of a board: no other process can write it, where the kernel knows F_SEAL_FUTURE_WRITE
	 * (Linux 5.1)
	 */
	struct pmm_tree *head;
	uint64_t slot_bytes, slots_off;	/* of each process's ledger file */
	uint64_t start_monotonic_ns, cookie;
	bool follow; /* as asked for */
	bool shrunk; /* a resource limit left less than was asked for */
};

/*
 * What one ledger may take when the user does not say: a quarter of RAM (or of the limit of the
 * process's control group), at most 16 GiB.
 */
uint64_t ledger_tree_default_limit(pid_t pid);

/*
 * Make the board; -ENOMEM when no ledger fits the limits, -EINVAL what `check` asks there is not,
 * -errno with `e`.
 */
int ledger_tree_init(struct ledger_tree *t, const struct ledger_tree_options *o, struct err *e);

/*
 * The head of a ledger file, in a memfd that exists, still empty; `fd` is the tree's from now on,
 * also on failure. Errors as above.
 */
int ledger_tree_init_fd(struct ledger_tree *t, int fd, const struct ledger_tree_options *o,
			struct err *e);

/* Unmap and close. A process that has the file mapped keeps it. */
void ledger_tree_fini(struct ledger_tree *t);

/* Size of a process's ledger file. */
uint64_t ledger_tree_file_bytes(const struct ledger_tree *t);

/*
 * An empty ledger file, sealed against resizing, for a process that may not make one. The
 * descriptor (close-on-exec) or -errno.
 */
int ledger_tree_file(const struct ledger_tree *t);

/*
 * Set the tick to the number that belongs to the clock's time; returns nanoseconds since the
 * start. From several threads at once.
 */
uint64_t ledger_tree_tick(struct ledger_tree *t);

/*
 * How long a ticking monitor may sleep when nothing happens: each time the monitor wakes costs some
 * 20 us and the program its caches. In sampled mode processes look at the clock themselves.
 */
uint64_t ledger_tree_calm_ns(const struct ledger_tree *t);

/* Nanoseconds since tick 0. */
uint64_t ledger_tree_now_ns(const struct ledger_tree *t);

#endif
