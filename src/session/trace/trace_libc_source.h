/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The class `libc` of a trace: its files, and what is derived where they have no probes. */
#ifndef SESSION_TRACE_TRACE_LIBC_SOURCE_H
#define SESSION_TRACE_TRACE_LIBC_SOURCE_H

#include "src/analyze/trace/libc_calls.h"
#include "src/analyze/trace/trace_totals.h"
#include "src/kernel/libc/libc_probes.h"
#include "src/kernel/user_stack.h"
#include "src/names/stack_names.h"

/* All zero is: it was not asked for. */
struct trace_libc {
	struct libc_files files;
	struct libc_calls calls;
	bool by_calls;
};

/*
 * Find the libraries of these processes (none: of all, if `all`) and pmm's own, which programs that
 * begin have; what malloc's calls are recorded as is wanted as well. 0 or -ENOMEM.
 */
int trace_libc_prepare(struct trace_libc *l, const pid_t *pids, size_t nr, bool all,
		       uint64_t kinds[2]);

/*
 * What a record says of malloc, by its stack (NULL: none): out[0..2), how many, or -ENOMEM. None
 * where probes are seen.
 */
int trace_libc_take(struct trace_libc *l, const struct trace_record *r,
		    const struct user_stack *stack, struct stack_names *names,
		    struct trace_record out[2]);

/* Are no probes seen, so that records are to be derived? */
bool trace_libc_fails(struct kernel_source *s);

/* Is it a record that trace_libc_take() is to look at? */
bool trace_libc_wants(const struct trace_libc *l, const struct trace_record *r);

/* Is it one of `libc` about fewer bytes, which is counted only? */
bool trace_libc_is_small(const struct trace_record *r, uint64_t min_bytes);

/* Derived records have been seen; what calls have lost was lost to them, unless it is shown. */
void trace_libc_count(const struct trace_libc *l, uint32_t classes,
		      const struct trace_totals *totals,
		      struct trace_counts counts[TRACE_NR_KINDS]);

void trace_libc_fini(struct trace_libc *l);

#endif
