/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searching a running process: what a search needs of it is taken and let go of before anything is
 * named or printed.
 */
#include "src/session/leaks/leaks_live.h"

#include <errno.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/cmd/again.h"
#include "src/cmd/cmd.h"
#include "src/names/naming.h"
#include "src/ptrace/snapshot.h"
#include "src/ptrace/watchdog.h"

/* One search, and what is kept between searches. */
struct looking {
	const struct leaks_job *job;
	pid_t pid;
	FILE *out;
	struct leaks_found found;
	struct leaks_seen seen;
	struct growing growing;
	/* sites of which was told that they grow, by number and verdict */
	struct hash_map told;
	uint64_t number;
	struct again *again;		/* NULL: nobody's process */
	bool has_found;			/* so far */
};

/* ---- signals ---- */

static int code_so_far(const struct looking *x)
{
	return x->has_found ? x->job->found_code : 0;
}

/* The scene has been released. */
static void left(void *arg)
{
	const struct looking *x = arg;

	again_free(x->again, code_so_far(x));
}

static void judged(void *arg, bool found)
{
	struct looking *x = arg;

	x->has_found |= found;
	again_free(x->again, code_so_far(x));
}

/* ---- one search ---- */

/* Search a scene, which is released. 0 or -errno with `e`. */
static int search(struct looking *x, struct roots *s, enum heap_search_how how, struct err *e)
{
	struct leaks_search_options o = x->job->search;
	int rc;

	o.how = how;
	o.seen = &x->seen;
	if (x->again) {
		o.left = left;
		o.left_arg = x;
	}
	rc = leaks_search(s, &o, &x->found, e);
	if (!rc && x->job->every_ns && leaks_see(&x->seen, x->found.heap, &x->found.reach))
		rc = err_set(e, -ENOMEM, "not enough memory to tell the next search what is old");
	return rc;
}

/* In the watchdog: we have died. */
static int reap(pid_t pid, void *unused)
{
	(void)unused;
	snapshot_reap_leftovers(pid);
	return 0;
}

void leaks_untracked(pid_t pid, struct err *e)
{
	err_set(e, -ENOENT, "the blocks of process %d are not known: pmm does not track it",
		(int)pid);
	err_hint(e,
		 "'pmm attach %d' first, then all is known that is allocated from then on; or "
		 "start it with 'pmm run'",
		 (int)pid);
}

static int take(struct looking *x, struct err *e)
{
	struct roots_options o = { .no_copy = x->job->no_copy,
				   .max_bytes = x->job->report.memory_bytes,
				   .stop = again_stop(x->again) };
	struct roots roots = { 0 };
	int rc = roots_live(x->pid, &o, &roots, e);

	if (rc == -ENOENT)
		leaks_untracked(x->pid, e);
	return rc ? rc : search(x, &roots, HEAP_SEARCH_NONE, e);
}

static int look(struct looking *x, struct err *e)
{
	struct watchdog w;
	const struct heap *h;
	int rc = watchdog_start(&w, x->pid, reap, NULL, e);

	if (!rc)
		rc = take(x, e);
	watchdog_end(&w, true);
	h = x->found.heap;
	if (!rc && x->job->every_ns &&
	    (growing_totals(&x->growing, h->taken_ns, h->live_bytes, h->live_blocks,
			    h->untracked_frees) ||
	     growing_look(&x->growing, h)))
		rc = err_set(e, -ENOMEM, "not enough memory to keep book of what was seen");
	return rc;
}

/* ---- again and again ---- */

/* Lost blocks that are new, sites that began to grow. */
static bool is_new(struct looking *x, const struct leak_entry *e)
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
	struct looking *x = arg;
	size_t kept = 0;

	for (size_t i = 0; i < l->entries.nr; i++) {
		bool new = is_new(x, &l->entries.v[i]);

		if (x->number > 1 && !new)
			continue;
		l->entries.v[kept++] = l->entries.v[i];
	}
	l->entries.nr = kept;
}

static int report(struct looking *x, struct err *e)
{
	struct leaks_report_options o = x->job->report;

	o.growing = x->job->every_ns ? &x->growing : NULL;
	o.pid = x->pid;
	if (x->found.why_stopped.text[0] && !x->job->no_copy)
		o.view.why_stopped = x->found.why_stopped.text;
	if (x->again) {
		o.judged = judged;
		o.judged_arg = x;
	}
	o.view.held_bytes = x->found.held_bytes;
	o.view.late = x->found.late;
	o.view.slack_blocks = x->found.slack_blocks;
	if (x->job->every_ns) {
		o.choose = keep_new;
		o.choose_arg = x;
		o.quiet_if_none = x->number > 1;
	}
	return leaks_report(x->found.heap, &x->found.leaks, &o, x->out, e);
}

static int repeat(struct looking *x, struct again *again, struct err *e)
{
	int found = 0, rc;

	do {
		again_due(again);
		x->number++;
		rc = look(x, e);
		if (!rc)
			rc = report(x, e);
		leaks_found_fini(&x->found);
		again_hold(again);
		if (rc == -EINTR && again->every_ns)
			break;
		if (rc < 0 && x->number > 1 && again_ended(again))
			break;
		if (rc < 0)
			return rc;
		found |= rc;
	} while (x->number != x->job->count && again_wait(again));
	return found;
}

int leaks_live(pid_t pid, const struct leaks_job *job, FILE *out, struct err *e)
{
	struct again again;
	struct looking x = { .job = job, .pid = pid, .out = out, .again = &again };
	int rc;

	again_begin(&again, pid, job->every_ns);
	rc = repeat(&x, &again, e);
	again_end(&again);
	leaks_seen_fini(&x.seen);
	growing_fini(&x.growing);
	hash_fini(&x.told);
	return rc;
}

int leaks_core(const char *core, const char *capture, const struct leaks_job *job, FILE *out,
	       struct err *e)
{
	struct looking x = { .job = job, .out = out };
	struct leaks_job with = *job;
	struct roots roots = { 0 };
	int rc = roots_core(core, capture, job->report.memory_bytes, &roots, e);

	if (rc)
		return rc;
	with.every_ns = 0;
	x.job = &with;
	rc = search(&x, &roots, HEAP_SEARCH_CORE, e);
	if (!rc)
		rc = report(&x, e);
	leaks_found_fini(&x.found);
	return rc;
}
