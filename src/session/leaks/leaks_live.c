/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searching a running process: what a search needs of it is taken and let go of before anything is
 * named or printed.
 */
#include "src/session/leaks/leaks_live.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/hash.h"
#include "src/ledger/ledger_find.h"
#include "src/ptrace/process_copy.h"
#include "src/ptrace/watchdog.h"

/* One search, and what is kept between searches. */
struct leaks_live {
	const struct leaks_job *job;
	const struct session_sink *to;
	pid_t pid; /* 0 = no process: a core file */
	struct leaks_found found;
	struct leaks_seen seen;
	struct growing growing;
	/* sites reported to grow, by number and verdict */
	struct hash_map told;
	uint64_t number;
	bool has_found;			/* so far */
};

/* The process has been released. */
static void left(void *arg)
{
	const struct leaks_live *x = arg;

	session_released(x->to, x->has_found);
}

static void judged(void *arg, bool found)
{
	struct leaks_live *x = arg;

	x->has_found |= found;
	session_released(x->to, x->has_found);
}

/* ---- one search ---- */

/* Search from roots, which are released. 0 or -errno with `e`. */
static int search(struct leaks_live *x, struct roots *s, enum heap_search_how how, struct err *e)
{
	struct leaks_search_options o = x->job->search;
	int rc;

	o.how = how;
	o.seen = &x->seen;
	if (x->pid) {
		o.left = left;
		o.left_arg = x;
	}
	rc = leaks_search(s, &o, &x->found, e);
	if (!rc && x->job->repeated && leaks_see(&x->seen, x->found.heap, &x->found.reach))
		rc = err_set(e, -ENOMEM, "not enough memory to note what is old");
	return rc;
}

/* In the watchdog: we have died. */
static int reap(pid_t pid, void *unused)
{
	(void)unused;
	process_copy_reap_leftovers(pid);
	return 0;
}

void leaks_untracked(pid_t pid, bool any_more, struct err *e)
{
	if (ledger_awaited(pid))
		return;			/* it is said already */
	if (any_more) {
		ledger_let_go(pid, e);
		return;
	}
	err_set(e, -ENOENT, "the blocks of process %d are not known: pmm does not track it",
		(int)pid);
	err_hint(e,
		 "'pmm attach %d' first, then all is known that is allocated from then on; or "
		 "start it with 'pmm run'",
		 (int)pid);
}

static int search_process(struct leaks_live *x, struct stop stop, struct err *e)
{
	struct roots_options o = { .no_copy = x->job->no_copy,
				   .max_bytes = x->job->report.memory_bytes,
				   .stop = stop };
	struct roots roots = { 0 };
	int rc = roots_live(x->pid, &o, &roots, e);

	if (rc == -ENOENT)
		leaks_untracked(x->pid, x->number > 1, e);
	return rc ? rc : search(x, &roots, HEAP_SEARCH_NONE, e);
}

static int search_once(struct leaks_live *x, struct stop stop, struct err *e)
{
	struct watchdog w;
	const struct heap *h;
	int rc = watchdog_start(&w, x->pid, reap, NULL, e);

	if (!rc)
		rc = search_process(x, stop, e);
	watchdog_end(&w, true);
	h = x->found.heap;
	if (!rc && x->job->repeated &&
	    (growing_totals(&x->growing, h->taken_ns, h->live_bytes, h->live_blocks,
			    h->untracked_frees) ||
	     growing_look(&x->growing, h)))
		rc = err_set(e, -ENOMEM, "not enough memory to record what was seen");
	return rc;
}

/* ---- again and again ---- */

/* Lost blocks that are new, sites that began to grow. */
static bool is_new(struct leaks_live *x, const struct leak_entry *e)
{
	uint64_t number = x->found.heap->sites[e->site].number;
	bool added = true;

	if (e->reason == LEAK_GROWS || e->reason == LEAK_FILLS) {
		hash_add(&x->told,
			 (uint64_t)e->verdict << 33 | (number ? number : 1ull << 32 | e->site), 0,
			 &added);
		return added;
	}
	if (e->class == REACH_POSSIBLE && e->verdict == LEAK_UNLIKELY &&
	    !leaks_view_shows(e, x->job->report.view.show))
		return false;
	return e->class != REACH_REACHED && e->fresh_blocks;
}

static void keep_new(void *arg, struct leaks *l)
{
	struct leaks_live *x = arg;
	size_t kept = 0;

	for (size_t i = 0; i < l->entries.nr; i++) {
		bool new = is_new(x, &l->entries.v[i]);

		if (x->number > 1 && !new)
			continue;
		l->entries.v[kept++] = l->entries.v[i];
	}
	l->entries.nr = kept;
}

static int report(struct leaks_live *x, struct err *e)
{
	struct leaks_report_options o = x->job->report;

	o.growing = x->job->repeated ? &x->growing : NULL;
	o.pid = x->pid;
	if (x->found.why_stopped.text[0] && !x->job->no_copy)
		o.view.why_stopped = x->found.why_stopped.text;
	if (x->pid) {
		o.judged = judged;
		o.judged_arg = x;
	}
	o.view.held_bytes = x->found.held_bytes;
	o.view.late = x->found.late;
	o.view.slack_blocks = x->found.slack_blocks;
	if (x->job->repeated) {
		o.choose = keep_new;
		o.choose_arg = x;
		o.quiet_if_none = x->number > 1;
	}
	return leaks_report(x->found.heap, &x->found.leaks, &o, x->to, e);
}

struct leaks_live *leaks_live_new(pid_t pid, const struct leaks_job *job,
				  const struct session_sink *to)
{
	struct leaks_live *x = calloc(1, sizeof(*x));

	if (x)
		*x = (struct leaks_live){ .job = job, .to = to, .pid = pid };
	return x;
}

int leaks_live_look(struct leaks_live *x, struct stop stop, struct err *e)
{
	int rc;

	x->number++;
	rc = search_once(x, stop, e);
	if (!rc)
		rc = report(x, e);
	leaks_found_fini(&x->found);
	return rc;
}

void leaks_live_free(struct leaks_live *x)
{
	if (!x)
		return;
	leaks_seen_fini(&x->seen);
	growing_fini(&x->growing);
	hash_fini(&x->told);
	free(x);
}

int leaks_core(const char *core, const char *capture, const struct leaks_job *job,
	       const struct session_sink *to, struct err *e)
{
	struct leaks_live x = { .job = job, .to = to };
	struct roots roots = { 0 };
	int rc = roots_core(core, capture, job->report.memory_bytes, &roots, e);

	if (rc)
		return rc;
	rc = search(&x, &roots, HEAP_SEARCH_CORE, e);
	if (!rc)
		rc = report(&x, e);
	leaks_found_fini(&x.found);
	return rc;
}
