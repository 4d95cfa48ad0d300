/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes searched for leaks at their end. */
#include "src/session/leaks/run_leaks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/roots/roots.h"
#include "src/session/leaks/leaks_live.h"
#include "src/session/leaks/leaks_report.h"
#include "src/session/untracked.h"
#include "src/ptrace/tracer.h"

int run_leaks_init(struct run_leaks *r, const struct leaks_job *job, const struct session_sink *to,
		   struct err *e)
{
	*r = (struct run_leaks){ .search = job->search,
				 .report = malloc(sizeof(*r->report)),
				 .to = to };
	if (!r->report)
		return err_set(e, -ENOMEM, "out of memory");
	*r->report = job->report;
	return 0;
}

/* With "it" for "process PID": reasons that name their process are all different ones. */
static void add_reason(struct str *to, pid_t pid, const char *reason)
{
	char name[32];
	const int n = snprintf(name, sizeof(name), "process %d ", (int)pid);

	if (str_starts(reason, name))
		str_addf(to, "it %s", reason + n);
	else
		str_add(to, reason);
}

/* It stays what it is until the process has ended. */
static void note(struct run_leaks *r, pid_t pid, const struct leaving *l, const struct err *e)
{
	struct run_leaks_failed new = { .pid = pid };
	struct str s = STR_INIT;

	str_addf(&s, "at its end (%s): ", leaving_cause_name(l->cause));
	add_reason(&s, pid, e->text);
	new.why = str_error(&s) ? NULL : strdup(str_text(&s));
	str_fini(&s);
	if (!new.why || vec_push(&r->failed, new))
		free(new.why);
}

/* Killed meanwhile, or another of its threads called exec. */
static bool is_gone(int rc)
{
	return rc == -ESRCH || rc == -ENOENT;
}

struct searching {
	struct run_leaks *r;
	pid_t pid;
	const struct leaving *l;
	struct err *e;
};

static int search(void *arg)
{
	const struct searching *g = arg;
	struct run_leaks *r = g->r;
	const struct leaving *l = g->l;
	const pid_t pid = g->pid;
	struct err *e = g->e;
	const struct roots_options where = { .no_copy = true,
					     .leave_sp = l->sp,
					     .leave_tid = l->tid };
	struct leaks_search_options o = r->search;
	struct roots s = { 0 };
	struct leaks_found found;
	int rc = roots_live(pid, &where, &s, e);

	if (!rc && s.heap->image != l->image) {
		roots_free(&s);
		rc = err_set(e, -ESRCH, "process %d runs another program now", (int)pid);
	}
	if (rc)
		return rc;
	o.how = HEAP_SEARCH_EXIT;
	o.left = l->let_go;
	o.left_arg = l->let_go_arg;
	rc = leaks_search(&s, &o, &found, e);
	if (!rc && vec_push(&r->searched, found.heap))
		rc = err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		found.heap = NULL;
	leaks_found_fini(&found);
	return rc;
}

void run_leaks_search(struct run_leaks *r, pid_t pid, const struct leaving *l)
{
	struct err e = { .text = "" };
	struct searching g = { .r = r, .pid = pid, .l = l, .e = &e };
	int rc = tracer_run(search, &g, &e);

	/* one of its threads does not stop: the others continue between further attempts */
	if (rc == -ETIMEDOUT)
		rc = search(&g);
	if (is_gone(rc))
		r->gone = pid;
	else if (rc)
		note(r, pid, l, &e);
}

/* What the search at its end found, into the heap of the whole process. */
static void carry(struct run_leaks *r, struct heap *h)
{
	for (size_t i = 0; i < r->searched.nr; i++) {
		struct heap *found = r->searched.v[i];

		if (!heap_same_image(found, h))
			continue;
		(void)leaks_carry(found, h);	/* without memory it counts as not searched */
		heap_free(found);
		r->searched.v[i] = r->searched.v[--r->searched.nr];
		return;
	}
}

/* Why the search of the process failed, taken out of what is remembered; NULL: it did not. */
static char *why_failed(struct run_leaks *r, pid_t pid)
{
	char *why = NULL;

	for (size_t i = 0; i < r->failed.nr && !why; i++) {
		if (r->failed.v[i].pid != pid)
			continue;
		why = r->failed.v[i].why;
		r->failed.v[i] = r->failed.v[--r->failed.nr];
	}
	return why;
}

/* Is nothing known of its blocks, for that reason? It is said before the verdict. */
static bool own_allocator(const struct heap *h)
{
	return h->off_reason == PMM_OFF_OWN_ALLOCATOR && !h->allocs;
}

/* It was not even tried. */
static const char *why_untried(const struct run_leaks *r, const struct heap *h)
{
	if (own_allocator(h))
		return "it has its own malloc, so its blocks are not recorded";
	if (h->end == HEAP_KILLED && h->end_status == SIGKILL)
		return "killed by SIGKILL";
	if (h->end == HEAP_KILLED)
		return "its stack was used up when a signal killed it, or it was under seccomp";
	if (h->end == HEAP_RUNNING)
		return "it still runs";
	if (r->gone == (pid_t)h->pid)
		return "another of its threads ended it first";
	return "its end was not seen: _exit() inside the C library (daemon(), for example), a "
	       "system call of its own, or another program in its place";
}

/* The search's blocks are each in one of its rows. */
static void cover(struct run_leaks *r, const struct heap *h)
{
	struct coverage *c = &r->coverage;

	if (leaks_tree_add(&r->tree, h, r->report->old_ns)) {
		coverage_miss(c, untracked_name(h), "out of memory when what it lost was summed up",
			      COVERAGE_MISSED, h->pid);
		return;
	}
	c->processes++;
	c->covered++;
	for (uint64_t i = 0; i < h->nr_leaks; i++) {
		c->blocks += h->leaks[i].blocks;
		c->bytes += h->leaks[i].bytes;
	}
}

/* Nothing is left that could be lost, and all that there was is known of. */
static bool has_nothing(const struct heap *h)
{
	return !h->live_blocks && !h->off_reason && !h->dropped[PMM_DROP_BLOCK_FULL];
}

void run_leaks_ended(struct run_leaks *r, struct heap *h, bool is_root, bool replaced)
{
	char *why;

	if (!r->report)
		return;
	carry(r, h);
	why = why_failed(r, (pid_t)h->pid);
	if (untracked_why(h)) {
		coverage_miss(&r->coverage, untracked_name(h), untracked_why(h), COVERAGE_UNTRACKED,
			      h->pid);
	} else if (h->search.how != HEAP_SEARCH_NONE) {
		cover(r, h);
	} else if (replaced) {
		r->coverage.replaced++;
		r->root_replaced |= is_root;
	} else if (!is_root && has_nothing(h)) {
		r->coverage.processes++;
		r->coverage.covered++;
	} else {
		coverage_miss(&r->coverage, untracked_name(h), why ? why : why_untried(r, h),
			      COVERAGE_MISSED, h->pid);
		if (is_root) {
			r->why_root = why;
			why = NULL;
		}
	}
	free(why);
}

static const char *text_of(const struct str *s)
{
	return str_error(s) ? "out of memory" : str_text(s);
}

static void unsearched(const struct run_leaks *r, const struct heap *root, const char *why,
		       const char *hint)
{
	session_note(r->to, "process %u was not searched for leaks: %s", root->pid, why);
	if (hint)
		session_hint(r->to, "%s", hint);
}

/* Its end was none that the agent in it could see. */
static void tell_unseen(const struct run_leaks *r, const struct heap *root, const char *comm)
{
	struct str s = STR_INIT;

	if (own_allocator(root)) {
		unsearched(r, root, "its blocks are not recorded",
			   "'pmm attach PID' and then 'pmm leaks PID' search such a program while "
			   "it runs");
	} else if (*comm && strcmp(comm, root->comm)) {
		str_addf(&s,
			 "at its end it was '%s', which pmm's agent is not in (static, "
			 "set-user-ID, under seccomp, or started without LD_PRELOAD)",
			 comm);
		unsearched(r, root, text_of(&s),
			   "'pmm attach PID' and then 'pmm leaks PID' search such a program while "
			   "it runs");
	} else if (root->end == HEAP_KILLED) {
		str_addf(&s,
			 "signal %d left no room for a handler (a stack that has run over), or "
			 "system calls are restricted (seccomp)",
			 root->end_status);
		unsearched(r, root, text_of(&s), NULL);
	} else {
		unsearched(r, root,
			   "it ended as pmm's agent does not see it, by _exit() inside the C "
			   "library (daemon() in the parent, for example) or a system call of its "
			   "own; or pmm was stopped and did not answer it in time",
			   "'pmm leaks PID' searches it while it runs");
	}
	str_fini(&s);
}

/* The program had blocks but was not searched, and no reason was given so far. */
static void tell_unsearched(const struct run_leaks *r, const struct heap *root, const char *comm)
{
	if (root->end == HEAP_REPLACED)
		return;
	if (r->root_replaced)		/* said already */
		session_hint(r->to,
			     "'pmm attach PID' and then 'pmm leaks PID' search such a program "
			     "while it runs");
	else if (r->why_root)
		session_note(r->to, "process %u was not searched for leaks %s", root->pid,
			     r->why_root);
	else if (root->end == HEAP_KILLED && root->end_status == SIGKILL)
		session_note(
			r->to,
			"process %u could not be searched for leaks at its end: SIGKILL leaves no "
			"time for that",
			root->pid);
	else if (r->gone == (pid_t)root->pid)
		unsearched(r, root, "another of its threads ended it before that", NULL);
	else
		tell_unseen(r, root, comm);
}

/* Where nothing is certain or likely there is nothing to tell. */
static void only_losses(void *arg, struct leaks *l)
{
	(void)arg;
	vec_each(&l->entries, e)
		if (e->verdict <= LEAK_LIKELY)
			return;
	l->entries.nr = 0;
}

/* Other processes than the program itself that were not searched, where no document says so. */
static void note_missed(struct run_leaks *r, const struct heap *root)
{
	uint64_t nr = coverage_missed(&r->coverage, false);
	struct str s = STR_INIT;

	if (nr <= (root && root->search.how == HEAP_SEARCH_NONE))
		return;
	coverage_names(&s, &r->coverage, false);
	session_warn(r->to, "%s %s not searched for leaks: %s", fmt_many(nr, "process").s,
		     fmt_agree(nr, "was", "were"), text_of(&s));
	str_fini(&s);
}

/*
 * One process has its own report, also where it is the only one of several that was searched;
 * several have that of a tree.
 */
static int report(struct run_leaks *r, const struct heap *root,
		  const struct leaks_report_options *o, struct err *e)
{
	struct leaks_report_options options = *o;
	int rc;

	options.view.coverage = &r->coverage;
	if (r->tree.nr == 1 && root && root->search.how != HEAP_SEARCH_NONE)
		return leaks_report(root, NULL, &options, r->to, e);
	rc = leaks_tree_begin(&r->tree, root);
	if (rc)
		return err_set(e, rc, "not enough memory for the verdict");
	options.view.tree = &r->tree;
	return leaks_report(r->tree.merge.heap, &r->tree.leaks, &options, r->to, e);
}

int run_leaks_tell(struct run_leaks *r, const struct heap *root, const char *comm, bool brief,
		   struct err *e)
{
	struct leaks_report_options options = *r->report;
	int found;

	if (root && root->search.how == HEAP_SEARCH_NONE)
		tell_unsearched(r, root, comm);
	if (brief)
		note_missed(r, root);
	options.quiet_if_none = brief;
	options.choose = brief ? only_losses : NULL;
	options.view.untracked_reported = !r->apart && options.format == LEAKS_TEXT;
	found = report(r, root, &options, e);
	if (found >= 0 && options.fail_on & LEAKS_FAIL_UNSEARCHED)
		found |= r->coverage.gaps.nr > 0;
	return found;
}

void run_leaks_fini(struct run_leaks *r)
{
	vec_each(&r->searched, h)
		heap_free(*h);
	vec_each(&r->failed, f)
		free(f->why);
	free(r->why_root);
	leaks_tree_fini(&r->tree);
	coverage_fini(&r->coverage);
	free(r->report);
	vec_fini(&r->searched);
	vec_fini(&r->failed);
}
