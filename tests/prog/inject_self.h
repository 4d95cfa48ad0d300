/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the scenarios of inject_self share: the agent in this process, and hooks of the C library's own functions.
 */
#ifndef TESTS_PROG_INJECT_SELF_H
#define TESTS_PROG_INJECT_SELF_H

#include <stddef.h>

#include "include/pmm/ledger.h"
#include "tests/prog/inject_host.h"

#define NOIPA __attribute__((noipa))

extern struct host h;
extern const char *agent;

extern void *(*hooked_malloc)(size_t);
extern void *(*hooked_calloc)(size_t, size_t);
extern void *(*hooked_realloc)(void *, size_t);
extern void (*hooked_free)(void *, size_t, size_t);

/* Start the agent and make these hooks. */
void start(struct ledger_tree_options o);
void start_exact(void);

/* What is in the ledger: events, bytes, and what is left. The heap is the caller's. */
struct heap *expect(uint64_t allocs, uint64_t frees, uint64_t bytes_in, uint64_t bytes_out, const char *where, int line);
#define LEDGER(allocs, frees, in, out) expect(allocs, frees, in, out, __func__, __LINE__)

/* Successful calls by enum pmm_kind. */
uint64_t calls(const struct heap *p, unsigned kind);

/* Does the address lie in this function of at most 2000 bytes? */
bool inside(uint64_t pc, const void *function);

/* The scenarios. */
void roles(void);
void failing(void);
void recursion(void);
void thread_end(void);
void handlers(void);
void custom(void);
void throwing(void);
void sampled(void);
void sampled_inner(void);
void gone(void);
void forked(void);
void again(void);
void refused(void);
void threads(void);
void confined(void);
void bench(void);

#endif
