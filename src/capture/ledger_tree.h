/*
 * The tree memfd: made, laid out and emptied slot by slot on the monitor's side.
 *
 * The file is sparse and large (address space, not memory); only its first page group, `head`,
 * stays mapped here.
 */
#ifndef CAPTURE_LEDGER_TREE_H
#define CAPTURE_LEDGER_TREE_H

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
	struct pmm_check check; /* level PMM_CHECK_NONE: heap errors are not looked for; the secret is filled in, max_guarded bounded */
	bool data_raised;     /* child_raise_data() was done */
	bool attached;	      /* for a process that runs already: a single slot */
	pid_t pid;	      /* ... whose control group's limit counts; 0 = pmm's own */
};

struct ledger_tree {
	int fd;		       /* the memfd, close-on-exec, sealed against resizing */
	struct pmm_tree *head; /* programs may scribble on it, hence the copies: */
	uint32_t nr_slots;
	uint64_t slot_bytes, slots_off;
	uint64_t start_monotonic_ns, cookie;
	bool follow; /* as asked for */
	bool shrunk; /* a resource limit left less than was asked for */
};

/*
 * What one ledger may take when the user does not say: a quarter of RAM (or of the limit of the
 * process's control group), at most 16 GiB.
 */
uint64_t ledger_tree_default_limit(pid_t pid);

/* Make the memfd and write its head; -ENOMEM when no ledger fits the limits, -EINVAL what `check` asks there is not, -errno with `e`. */
int ledger_tree_init(struct ledger_tree *t, const struct ledger_tree_options *o, struct err *e);

/* The same in a memfd that exists, still empty; `fd` is the tree's from now on, also on failure. */
int ledger_tree_init_fd(struct ledger_tree *t, int fd, const struct ledger_tree_options *o,
			struct err *e);

/* Unmap and close. A process that has the file mapped keeps it. */
void ledger_tree_fini(struct ledger_tree *t);

/* Byte offset of slot `k` in the file. */
uint64_t ledger_tree_slot_off(const struct ledger_tree *t, unsigned k);

/* State and pid of a slot as they are now; a state no enum names reads as PMM_SLOT_LIVE. */
enum pmm_slot_state ledger_tree_slot_state(const struct ledger_tree *t, unsigned k, uint32_t *pid);

/* Keep a slot from everybody else while its ledger is read. */
void ledger_tree_slot_take(struct ledger_tree *t, unsigned k);

/*
 * Give a slot's memory back to the system and the slot to the next process. 0 or -errno (the slot
 * then stays taken).
 */
int ledger_tree_slot_release(struct ledger_tree *t, unsigned k);

/*
 * Set the tick to the number that belongs to the clock's time; returns nanoseconds since the
 * start. From several threads at once.
 */
uint64_t ledger_tree_tick(struct ledger_tree *t);

/*
 * How long whoever ticks may sleep when nothing happens: each time the monitor wakes costs some 20 us and the program its caches. In sampled
 * mode processes look at the clock themselves. Where checking has a budget for all it does, which such wakes would use up, times are told
 * less exactly.
 */
uint64_t ledger_tree_calm_ns(const struct ledger_tree *t);

/* Nanoseconds since tick 0. */
uint64_t ledger_tree_now_ns(const struct ledger_tree *t);

#endif
