/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `pmm leaks PID`: search a running process, once or step by step; `pmm leaks --core`: a dead one.
 */
#ifndef SESSION_LEAKS_LEAKS_LIVE_H
#define SESSION_LEAKS_LEAKS_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/cancel.h"
#include "src/session/leaks/leaks_report.h"
#include "src/session/leaks/leaks_search.h"

struct leaks_job {
	struct leaks_search_options search;
	struct leaks_report_options report;
	bool no_copy; /* search with the threads stopped */
	/* a running process is searched again and again: growth is judged by what was seen */
	bool repeated;
};

struct leaks_live;

/* Nothing of the process is held yet. `job` and `to` are borrowed. NULL: out of memory. */
struct leaks_live *leaks_live_new(pid_t pid, const struct leaks_job *job,
				  const struct session_sink *to);

/*
 * Search once, and hand over the verdict; from the second time on only what is new. The process is
 * held from the call on until session_ops.released. `stop` ends the search early. 1 = found what is
 * asked for, 0 = not, -errno with `e`: -EINTR stopped.
 */
int leaks_live_look(struct leaks_live *x, struct stop stop, struct err *e);

void leaks_live_free(struct leaks_live *x);

/* Fill in why a process that pmm does not track cannot be searched; `any_more`: it was before. */
void leaks_untracked(pid_t pid, bool any_more, struct err *e);

/* Search a core file with the process's capture. As leaks_live_look(). */
int leaks_core(const char *core, const char *capture, const struct leaks_job *job,
	       const struct session_sink *to, struct err *e);

#endif
