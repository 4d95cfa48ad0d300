/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that a trace was given, and, where that is wanted, what descends from them. */
#ifndef SESSION_TRACE_TRACE_TARGETS_H
#define SESSION_TRACE_TRACE_TARGETS_H

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/vec.h"
#include "src/kernel/kernel_source.h"
#include "src/proc/descendants.h"

struct trace_targets {
	struct pid_list all;		/* the given ones first */
	size_t nr_given, nr_left;	/* of those, how many have not ended */
	bool tree;
	bool *ending;			/* borrowed; set with the last given one's end */
	struct loop *loop;		/* borrowed */
	VEC(struct loop_source *) watched; /* of each given one; NULL: it has ended */
};

/* Watch the given processes; `tree`: find what descends from them. 0 or -errno with `e`. */
int trace_targets_init(struct trace_targets *t, const pid_t *pids, size_t nr, bool tree,
		       struct err *e);

/* Have *ending set when the last of the given processes has ended. 0 or -errno with `e`. */
int trace_targets_watch(struct trace_targets *t, struct loop *loop, bool *ending, struct err *e);

/* Programs are in place, which see children from now on: add those born before. 0 or -errno. */
int trace_targets_complete(struct trace_targets *t, struct kernel_source *source);

void trace_targets_fini(struct trace_targets *t);

#endif
