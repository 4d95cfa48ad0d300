/* SPDX-License-Identifier: MIT */
/*
 * Pages of the guard pool: closed ones stop every access, open ones are zeroed memory. How the
 * kernel is asked: guard markers, which split no mapping (MADV_GUARD_INSTALL, Linux 6.13), or
 * protection, which takes two mappings for each run of open pages.
 *
 * Addresses and lengths are of whole pages. Any thread, signal handlers included; who opens and
 * closes the same pages at the same time is the caller's to order. Nothing may be asked for once
 * there are to be no guards (struct agent).
 */
#ifndef AGENT_GUARD_GUARD_PAGES_H
#define AGENT_GUARD_GUARD_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/pmm/check.h"

/*
 * The pool is [start, start + bytes), one mapping without access. Finds out what works, with the
 * first page. max_mappings: of those the process may have; a quarter of them is left to the
 * program.
 */
enum pmm_guard_mechanism pages_start(uint64_t start, uint64_t bytes, bool force_mprotect,
				     uint64_t max_mappings);

/*
 * Make a part of the pool ready for use, all of it closed; at most once. Until then it cannot be
 * opened. False: no memory, mappings.
 */
bool pages_prepare(uint64_t at, uint64_t bytes);

/* Would pages_open() be refused for the number of mappings? */
bool pages_full(void);

/* Open, or nothing happens and false: mappings, memory. */
bool pages_open(uint64_t at, uint64_t bytes);

/* Does pages_open_many() work? */
bool pages_vectors(void);

/*
 * Open up to PAGES_MANY ranges of `bytes` each, and give them memory, in two calls. False: not all
 * of them are open.
 */
#define PAGES_MANY 16
bool pages_open_many(const uint64_t *at, unsigned nr, uint64_t bytes);

/* Close; what was in them is gone. False: that failed, they cannot be used again. */
bool pages_close(uint64_t at, uint64_t bytes);

/*
 * From now on pages that are closed, and pages to be looked at, are made readable and writable
 * first: the program may have protected them.
 */
void pages_distrust(void);
bool pages_distrusted(void);
void pages_regain(uint64_t at, uint64_t bytes);

/* Open for good what was prepared; what was open stays as it is. */
void pages_open_all(uint64_t at, uint64_t bytes);

/* The same of whatever is there, prepared or not. False: not all of it is open. */
bool pages_force(uint64_t at, uint64_t bytes);

/*
 * Before pages are opened and closed, and after. False: the program confined itself, nothing may be
 * asked of the kernel.
 */
bool pages_enter(void);
void pages_leave(void);

/* Until no thread is in between these, for a second at most. */
void pages_wait(void);

/* In a forked child. */
void pages_forked(void);

#endif
