/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ledger got at from outside: where it is, what part of it has backing, and bounded reading.
 *
 * Reading never faults and never allocates: where the memfd cannot shrink (F_SEAL_SHRINK) the parts
 * that have backing are mapped, else every read is a pread() of the file or of the process's
 * memory. All reads copy out, so that what has been checked cannot change afterwards.
 */
#ifndef LEDGER_LEDGER_MAP_H
#define LEDGER_LEDGER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/ledger.h"
#include "src/base/err.h"

struct ledger_map {
	struct pmm_tree tree;		/* checked copy; `tick` as of opening */
	unsigned slot;
	pid_t pid;			/* process as we see it; 0 = not known (opened by fd) */
	uint64_t slot_off;		/* of the slot in the file */
	uint64_t arena_off;		/* in the slot: the arena as far as it has backing ... */
	uint64_t arena_ready;		/* ... grows by ledger_map_refresh() */
	uint64_t arena_end;		/* ... and at most to here */
	/* how it is read */
	int fd;				/* memfd (own copy), or /proc/PID/mem */
	bool is_memory;			/* fd is /proc/PID/mem, the file begins at `delta` */
	bool writable;			/* want_view can be raised */
	bool shared;			/* fd is another's */
	uint64_t delta;
	/*
	 * where `tick` is advanced: the board, of a process that was launched; -1 = in the file
	 * itself
	 */
	int clock_fd;
	uint64_t clock_off;
	unsigned char *base;		/* slot in our memory: header and arena; NULL = pread */
	uint64_t base_bytes;		/* address space reserved at base */
	/* of memory that a heap read from it may take; 0 = limits_share(). The caller's to set */
	uint64_t max_bytes;
};

/*
 * Open slot `slot` of the memfd `fd` (the caller keeps its fd). The slot's header must be complete.
 * 0 or -errno with `e`: -EBADMSG not a ledger or damaged, -EPROTO other version, -EAGAIN not
 * written yet, -ENOMEM.
 */
int ledger_map_open_fd(int fd, unsigned slot, struct ledger_map **out, struct err *e);

/* The same with `fd` itself, which must stay open as long as the map is. */
int ledger_map_open_shared(int fd, struct ledger_map **out, struct err *e);

/*
 * Open the ledger of a running process (pid as we see it). As above, and -ESRCH no such process,
 * -ENOENT not tracked, -EPERM not allowed to look.
 */
int ledger_map_open_pid(pid_t pid, struct ledger_map **out, struct err *e);

void ledger_map_close(struct ledger_map *m);

/* Look again how far the arena reaches. 0 or -ENOMEM. */
int ledger_map_refresh(struct ledger_map *m);

/*
 * Copy `size` bytes at byte offset `off` of the slot; the range must be in the header or in the
 * arena's backed part (which is looked up again when it does not). Aligned 8-byte words are never
 * torn in a mapped ledger. 0, -EFAULT out of range, -EIO could not be read.
 */
int ledger_map_read(struct ledger_map *m, uint64_t off, void *to, size_t size);

/*
 * May any of `words` aligned words at `off` have one of these bits? One look at each, without a
 * copy; true as well where they are not mapped.
 */
bool ledger_map_may_have(struct ledger_map *m, uint64_t off, size_t words, uint64_t bits);

/*
 * The same by reference and element: entry `index` of an array of `size`-byte elements; ref 0 is
 * -EFAULT.
 */
int ledger_map_read_at(struct ledger_map *m, pmm_ref ref, uint64_t index, void *to, size_t size);

/* Have a part that will be read soon fetched into the cache. */
static inline void ledger_map_prefetch(const struct ledger_map *m, uint64_t off)
{
	if (m->base && off < m->arena_ready)
		__builtin_prefetch(m->base + off);
}

/* Bytes of memory the slot takes, tables and arena. */
uint64_t ledger_map_backing(struct ledger_map *m);

/* The tree's clock now, in ticks, also where no monitor advances `tick`. */
uint32_t ledger_map_tick(struct ledger_map *m);

/*
 * What the process takes for that: it is stopped while the monitor does. Of a process that was
 * launched this is on the board: found where the ledger was opened by pid, else to be said by
 * ledger_map_set_clock(). Otherwise that of the ledger's beginning, in doubt.
 */
uint32_t ledger_map_clock(struct ledger_map *m);

/*
 * Is there a board, and its monitor alive (pmm_tree.life)? Then the clock continues, late as it may
 * be.
 */
bool ledger_map_ticked(struct ledger_map *m);

/* The board is `fd` (the caller keeps it). */
void ledger_map_set_clock(struct ledger_map *m, int fd);

/* State of the slot now (enum pmm_slot_state) and the pid in it. */
struct pmm_slot ledger_map_slot(struct ledger_map *m);

/*
 * Raise want_view and wait at most `wait_ms` for a fresh view. 1 fresh, 0 not answered, -EROFS
 * cannot write.
 */
int ledger_map_ask_view(struct ledger_map *m, unsigned wait_ms);

#endif
