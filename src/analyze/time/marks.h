/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened to a process when: what its monitor noted, a search for leaks, heap errors, its
 * end or the capture of it.
 */
#ifndef ANALYZE_TIME_MARKS_H
#define ANALYZE_TIME_MARKS_H

#include <stdint.h>

#include "src/base/vec.h"
#include "src/model/heap.h"

enum mark_what {
	MARK_FORK,
	MARK_CHILD_EXEC,
	MARK_OTHER,			/* noted by a newer pmm */
	MARK_SEARCH,			/* until last_ns the process was stopped for it */
	MARK_ERROR,
	MARK_SNAPSHOT,			/* this capture, of a process that runs on */
	MARK_END,
	MARK_NR,
};

struct mark {
	uint64_t time_ns, last_ns;	/* of the first and the last of `count` */
	uint64_t count;
	uint32_t pid;			/* of a child; 0: not known, or of none */
	uint32_t number;		/* of a heap error */
	enum mark_what what;
	const char *name;		/* of a child; the heap's; "" if there is none */
};

struct marks {
	VEC(struct mark) all;		/* by time, then in the order of enum mark_what */
};

/* All marks of a heap. 0 or -ENOMEM. */
int marks_init(struct marks *out, const struct heap *h);
void marks_fini(struct marks *m);

#endif
