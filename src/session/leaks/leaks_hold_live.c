/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds blocks of a running process, and of a core file: the roots, and the wait for its end.
 */
#include <errno.h>

#include "src/base/nanotime.h"
#include "src/session/leaks/leaks_hold.h"
#include "src/session/leaks/leaks_live.h"
#include "src/ptrace/process_copy.h"
#include "src/ptrace/watchdog.h"
#include "src/session/session.h"

/* In the watchdog: we have died. */
static int reap(pid_t pid, void *unused)
{
	(void)unused;
	process_copy_reap_leftovers(pid);
	return 0;
}

/*
 * Look, and release the roots in any case; the answer is put into words when the process runs
 * again.
 */
static int find_holders(struct leaks_hold *k, struct roots *s, enum heap_search_how how,
			struct err *e)
{
	struct heap_search search = {
		.how = how	    ? how
		       : s->stopped ? HEAP_SEARCH_STOPPED
				    : HEAP_SEARCH_COPY,
		.complete = s->complete,
		.at_ns = s->heap->taken_ns,
	};
	const uint64_t begun_ns = s->begun_ns;
	struct hold_answer a;
	int rc = leaks_hold_look(k, s, NULL, &a, e);

	if (!rc) {
		a.heap = s->heap;
		s->heap = NULL;
	}
	search.pause_ns = roots_free(s);
	search.took_ns = nanotime() - begun_ns;
	session_released(k->to, false);
	if (!rc) {
		a.heap->search = search;
		rc = leaks_hold_give(k, &a, e);
	}
	hold_answer_fini(&a);
	return rc;
}

static int search_process(struct leaks_hold *k, struct stop stop, struct err *e)
{
	struct roots_options o = { .no_copy = k->job->no_copy,
				   .max_bytes = k->job->report.memory_bytes,
				   .stop = stop };
	struct roots roots = { 0 };
	int rc = roots_live(k->pid, &o, &roots, e);

	if (rc == -ENOENT)
		leaks_untracked(k->pid, false, e);
	return rc ? rc : find_holders(k, &roots, HEAP_SEARCH_NONE, e);
}

int leaks_hold_live(struct leaks_hold *k, pid_t pid, struct stop stop, struct err *e)
{
	struct watchdog w;
	int rc;

	k->pid = pid;
	rc = watchdog_start(&w, pid, reap, NULL, e);
	if (!rc)
		rc = search_process(k, stop, e);
	watchdog_end(&w, true);
	return rc ? rc : leaks_hold_end(k, e);
}

int leaks_hold_core(struct leaks_hold *k, const char *core, const char *capture, struct err *e)
{
	struct roots roots = { 0 };
	int rc = roots_core(core, capture, k->job->report.memory_bytes, &roots, e);

	if (!rc)
		rc = find_holders(k, &roots, HEAP_SEARCH_CORE, e);
	return rc ? rc : leaks_hold_end(k, e);
}
