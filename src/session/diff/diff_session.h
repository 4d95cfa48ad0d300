/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps compared: their names looked up, what they have in common found, the result as a document.
 */
#ifndef SESSION_DIFF_DIFF_SESSION_H
#define SESSION_DIFF_DIFF_SESSION_H

#include "src/analyze/diff/diff_condition.h"
#include "src/analyze/filter.h"
#include "src/analyze/suppress/suppress.h"
#include "src/base/err.h"
#include "src/document/doc.h"
#include "src/model/heap.h"
#include "src/session/session.h"

struct diff_session_options {
	enum diff_key key;
	bool key_given;		/* else live, or the peak where both gave nearly all back */
	uint64_t top;		/* rows shown of each list, 0: all */
	uint64_t depth;		/* frames shown of a stack, 0: all */
	struct filter filter;
	const char *const *skip; /* as names_skip() */
	unsigned nr_skip;
	struct suppress *suppress;	/* of leaks: borrowed; NULL = none */
	const struct diff_condition *condition;
	unsigned nr_conditions;
	bool no_symbols, debuginfod;
	uint64_t memory_bytes;	/* that names may take, 0 = limits_share() */
	/* takes the result in place of the sink, as another form; NULL. 0 or -errno with `e` */
	int (*take)(void *arg, const struct diff *d, const struct doc *doc, struct err *e);
	void *take_arg;
};

/* A heap, out of which suppressed leaks are taken, and what the user calls it. */
struct diff_session_side {
	struct heap *heap;
	const char *source;
};

/*
 * Compare two heaps. *exceeded: a condition is met. 0, -ENOENT (a filter names nothing there is in
 * either), -ENODATA (a condition is about what was not measured; or none is met, all was shown, and
 * a heap lacks something), -ENOMEM; with `e`.
 */
int diff_session(const struct diff_session_options *o, const struct diff_session_side side[2],
		 const struct session_sink *to, bool *exceeded, struct err *e);

/* Say that a heap does not know a key, which an option `what` names. -ENODATA. */
int diff_not_known(const char *source, enum diff_key key, const char *what, struct err *e);

#endif
