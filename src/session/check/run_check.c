/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heap errors of a program that runs. */
#include "src/session/check/run_check.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#include "src/analyze/findings.h"
#include "src/base/fmt.h"
#include "src/session/check/check_report.h"
#include "src/session/untracked.h"

#define MOST_SWEPT 64	/* processes, before those that have ended are looked for */

/* What is known of a process; NULL when out of memory. Valid until the next call. */
static struct run_check_process *process_of(struct run_check *r, uint32_t pid, uint64_t image)
{
	struct run_check_process new = { .pid = pid,
					 .image = image,
					 .serial = r->nr_processes + 1 };

	vec_each(&r->processes, p)
		if (p->pid == pid && p->image == image)
			return p;
	r->nr_processes++;
	return vec_push(&r->processes, new) ? NULL : &r->processes.v[r->processes.nr - 1];
}

static void unreported(struct run_check *r, uint64_t nr, const struct err *why)
{
	if (!r->unreported.text[0])
		r->unreported = *why;
	r->nr_unreported += nr;
}

/* A heap's findings go with it, as far as there is memory. */
static void carry(struct run_check *r, const struct heap *from_heap, uint64_t from, struct heap *to)
{
	struct err e = { .text = "" };

	if (!findings_carry(from_heap, from, to))
		return;
	err_set(&e, -ENOMEM, "out of memory");
	unreported(r, from_heap->nr_findings - from, &e);
}

/* `canary scan`: of the process; NULL = none. */
static bool again(const void *scan, const struct heap_finding *f)
{
	return scan && canary_scan_has_found(scan, f);
}

/*
 * Which of the findings from index `from` on have been reported already, of another process; NULL:
 * out of memory. The caller's.
 */
static bool *enter_findings(struct run_check *r, const struct heap *h, uint64_t from)
{
	const struct run_check_process *p = process_of(r, h->pid, h->image);
	bool *known = calloc(h->nr_findings - from + 1, sizeof(*known));
	struct err e = { .text = "" };

	if (!p || !known || findings_tree_add(&r->tree, h, from, p->serial, known)) {
		err_set(&e, -ENOMEM, "out of memory");
		unreported(r, 0, &e);
	}
	return known;
}

static void write_new(struct run_check *r, const struct heap *h, uint64_t from,
		      const struct canary_scan *s, const bool *skip)
{
	struct check_report_options o = *r->job->report;
	struct err e = { .text = "" };

	o.view.from = from;
	o.view.skip = skip;
	o.view.again = again;
	o.view.again_ctx = s;
	o.view.no_head = true;
	o.view.top = 0;
	o.entry = r->entry;
	o.entry_ctx = r->entry_ctx;
	o.follows = r->nr_written > 0;
	r->nr_written += !r->entry;
	if (check_report(h, &o, r->to, &e) < 0)
		unreported(r, h->nr_findings - from, &e);
}

/*
 * Findings from index `from` on, at once, an empty line before all but the first; with JSON there
 * is one document at the end. What was reported of another process is only counted. `s`: the
 * process's canary scans, NULL = none.
 */
static void tell_from(struct run_check *r, const struct heap *h, uint64_t from,
		      const struct canary_scan *s)
{
	bool *known = enter_findings(r, h, from), any = !known;

	for (uint64_t i = from; i < h->nr_findings; i++) {
		r->nr_found += !again(s, &h->findings[i]);
		any |= known && !known[i - from];
	}
	if (any && !r->job->report->whole)
		write_new(r, h, from, s, known);
	free(known);
}

/* ---- canary scans ---- */

static void swept_fini(struct run_check_swept *p)
{
	canary_scan_fini(&p->scan);
	heap_free(p->heap);
}

/* Those that have ended without a canary scan, which nothing else takes out of the list. */
static void forget_unswept(struct run_check *r)
{
	size_t kept = 0;

	vec_each(&r->swept, p) {
		if (p->heap || r->canary_scanner.pid == p->pid || !kill(p->pid, 0) ||
		    errno != ESRCH)
			r->swept.v[kept++] = *p;
		else
			swept_fini(p);
	}
	r->swept.nr = kept;
	r->most_swept = kept > MOST_SWEPT / 2 ? 2 * kept : MOST_SWEPT;
}

/* NULL when out of memory. Valid until the next call. */
static struct run_check_swept *swept_of(struct run_check *r, pid_t pid)
{
	struct run_check_swept new = { .pid = pid };

	vec_each(&r->swept, p)
		if (p->pid == pid)
			return p;
	if (r->swept.nr >= MOST_SWEPT && r->swept.nr >= r->most_swept)
		forget_unswept(r);
	return vec_push(&r->swept, new) ? NULL : vec_last(&r->swept);
}

/*
 * What a canary scan found is the last of the heap's findings; what earlier ones found in this
 * image of the process comes behind.
 */
static void tell_swept(struct run_check *r, struct run_check_swept *p, struct heap *h,
		       uint64_t found)
{
	bool same = p->heap && heap_same_image(p->heap, h);
	uint64_t from = h->nr_findings - found;

	if (found)
		tell_from(r, h, from, &p->scan);
	if (same)
		carry(r, p->heap, p->from, h);
	heap_free(p->heap);
	p->heap = h;
	p->from = from;
}

/* Take what the canary scanner found, waiting for it. */
static void collect(struct run_check *r)
{
	struct run_check_swept *p = swept_of(r, r->canary_scanner.pid);
	struct canary_scan none = { 0 };
	struct err e = { .text = "" };
	struct heap *h = NULL;
	int found = canary_scanner_take(&r->canary_scanner, p ? &p->scan : &none, &h, &e);

	if (found >= 0 && p)
		tell_swept(r, p, h, (uint64_t)found);
	canary_scan_fini(&none);		/* unless it was given to the process */
}

/* The canary scans of a process; NULL: there were none. */
static struct run_check_swept *swept_like(struct run_check *r, const struct heap *h)
{
	vec_each(&r->swept, p)
		if (p->heap && heap_same_image(p->heap, h))
			return p;
	return NULL;
}

/*
 * What canary scans found by now in a process of which findings from index `from` on are new: a
 * block that a canary scan under way has found damaged may have been released meanwhile, so that
 * one is waited for.
 */
static const struct canary_scan *canary_scan_of(struct run_check *r, const struct heap *h,
						uint64_t from)
{
	bool released = false;
	struct run_check_swept *p;

	for (uint64_t i = from; i < h->nr_findings; i++)
		released |= h->findings[i].by == PMM_BY_RELEASE;
	if (!released)
		return NULL;
	if (r->canary_scanner.pid)
		collect(r);
	p = swept_like(r, h);
	return p ? &p->scan : NULL;
}

void run_check_found(struct run_check *r, const struct heap *h)
{
	struct run_check_process *p = process_of(r, h->pid, h->image);
	uint64_t from;

	if (!p || h->nr_findings <= p->nr_told)
		return;
	for (uint64_t i = p->nr_told; i < h->nr_findings; i++)
		if (vec_push(&p->times, h->findings[i].count))
			break;		/* its last count is not reported then */
	from = p->nr_told;
	p->nr_told = h->nr_findings;
	tell_from(r, h, from, canary_scan_of(r, h, from));
}

void run_check_rest(struct run_check *r)
{
	if (r->canary_scanner.pid)
		collect(r);
}

void run_check_alive(struct run_check *r, pid_t pid, uint64_t now_ns)
{
	uint64_t every_ns = r->job ? r->job->scan_every_ns : 0;
	struct run_check_swept *p;

	if (!every_ns)
		return;
	if (canary_scanner_done(&r->canary_scanner))
		collect(r);
	p = swept_of(r, pid);
	if (!p || r->canary_scanner.pid)
		return;
	if (!p->next_ns)
		p->next_ns = now_ns + every_ns;
	if (now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + every_ns;
	/* when it cannot, the next step tries again */
	(void)canary_scanner_start(&r->canary_scanner, pid, &p->scan);
}

/*
 * The last one; the canary scanner may be at work for another process, and there is nothing better
 * to do than to wait for this one.
 */
void run_check_leaving(struct run_check *r, pid_t pid, int fd, int board_fd)
{
	struct err e = { .text = "" };
	struct run_check_swept *p;
	struct heap *h = NULL;
	int found = -ENOMEM;

	if (r->canary_scanner.pid == pid)
		collect(r);
	p = swept_of(r, pid);
	if (p)
		found = canary_scan_file(&p->scan, pid, fd, board_fd, &h, &e);
	if (found >= 0)
		tell_swept(r, p, h, (uint64_t)found);
	else if (found != -ENODATA)	/* it is not checked */
		r->nr_unswept++;
}

/*
 * Does the canary scanner look at a process that is not there any more? Its number is known in our
 * namespace only.
 */
static bool scans_in_vain(const struct run_check *r, uint32_t pid)
{
	return r->canary_scanner.pid && (r->canary_scanner.pid == (pid_t)pid ||
					 (kill(r->canary_scanner.pid, 0) && errno == ESRCH));
}

/* Its findings into its heap; what is known of an ended process is of no use any more. */
static void give_swept(struct run_check *r, struct heap *h)
{
	struct run_check_swept *p = swept_like(r, h);

	if (!p)
		return;
	carry(r, p->heap, p->from, h);
	findings_fold(h, again, &p->scan);
	swept_fini(p);
	*p = *vec_last(&r->swept);
	r->swept.nr--;
}

/* Did a signal end it before anything was found? */
static bool was_killed(const struct heap *h)
{
	return h->check.level && !h->nr_findings &&
	       (h->end == HEAP_KILLED || (h->death.known && h->death.signal));
}

/* It has a function that may be given blocks by that allocator alone. */
static void own_function_missed(struct coverage *c, const struct heap *h)
{
	struct str s = STR_INIT;
	bool libc = !strncmp(h->own_function, "__libc_", strlen("__libc_"));
	const char *caller = h->own_caller[0] ? str_basename(h->own_caller) : "it";
	const char *of = libc ? "glibc" : str_basename(h->allocator.path);

	if (h->own_late == PMM_OWN_LATE)
		str_addf(&s,
			 "checking ended when %s was loaded, which calls %s() of %s, its "
			 "allocator's own function, which must get no block of 'pmm check'",
			 caller, h->own_function, of);
	else if (h->own_late)
		str_addf(&s,
			 "%s, loaded later, calls %s() of %s, its allocator's own function: what "
			 "it allocates so was not checked",
			 caller, h->own_function, of);
	else
		str_addf(&s,
			 "%s calls %s() of %s, its allocator's own function, which must get no "
			 "block of 'pmm check'",
			 caller, h->own_function, of);
	str_add(&s, ": have it call malloc and free to check it");
	coverage_miss(c, untracked_name(h), str_text(&s), COVERAGE_MISSED, h->pid);
	str_fini(&s);
}

bool run_check_missed(struct coverage *c, const struct heap *h)
{
	if (h->own_function)
		own_function_missed(c, h);
	else if (!h->check.level)
		coverage_miss(c, untracked_name(h), "recorded without being checked",
			      COVERAGE_MISSED, h->pid);
	return h->own_function || !h->check.level;
}

/* A process that was checked up to some time. */
static bool is_partly(const struct heap *h)
{
	return h->own_function && h->own_late && h->check.level;
}

/* ... its figures and what was found until then hold. */
static void cover_partly(struct run_check *r, const struct heap *h)
{
	struct coverage *c = &r->coverage;

	c->partly++;
	c->blocks += h->check.guarded + h->check.canaried;
	c->failed |= findings_tree_ended(&r->tree, h) != 0;
}

/* What was looked at in it. */
static void cover(struct run_check *r, const struct heap *h, bool replaced)
{
	struct coverage *c = &r->coverage;

	if (untracked_why(h)) {
		coverage_miss(c, untracked_name(h), untracked_why(h), COVERAGE_UNTRACKED, h->pid);
	} else if (run_check_missed(c, h)) {
		if (is_partly(h))
			cover_partly(r, h);
	} else if (findings_tree_ended(&r->tree, h)) {
		coverage_miss(c, untracked_name(h), "out of memory", COVERAGE_MISSED, h->pid);
	} else if (replaced) {
		c->replaced++;
	} else {
		c->processes++;
		c->covered++;
		c->killed += was_killed(h);
		c->blocks += h->check.guarded + h->check.canaried;
	}
}

void run_check_ended(struct run_check *r, struct heap *h, bool replaced)
{
	struct run_check_process *p;

	if (!r->job)
		return;
	if (h->check.level != PMM_CHECK_NONE && findings_note_crash(h) < 0)
		unreported(r, 1, &(struct err){ .text = "out of memory" });
	run_check_found(r, h);
	p = process_of(r, h->pid, h->image);
	if (p)		/* without memory the last counts are not reported */
		(void)findings_tree_recount(&r->tree, h, p->times.v, p->times.nr);
	if (scans_in_vain(r, h->pid))
		collect(r);
	give_swept(r, h);
	cover(r, h, replaced);
	p = process_of(r, h->pid, h->image);
	if (p) {
		vec_fini(&p->times);
		*p = *vec_last(&r->processes);
		r->processes.nr--;
	}
}

/* The whole of it: with JSON; else all has been reported but what was looked at. */
static int tell_whole(struct run_check *r, const struct heap *h, struct err *e)
{
	struct check_report_options o = *r->job->report;

	if (!o.whole)
		o.view.from = h->nr_findings;
	o.view.brief = true;
	o.follows = r->nr_written > 0;
	return check_report(h, &o, r->to, e);
}

static int tell_tree(struct run_check *r, const struct heap *root, struct err *e)
{
	struct check_report_options o = *r->job->report;
	int rc = findings_tree_begin(&r->tree, root);

	if (rc)
		return err_set(e, rc, "out of memory");
	/* no process was checked, which is to be reported */
	if (!r->tree.merge.heap->check.level)
		r->tree.merge.heap->check.level = (uint8_t)r->job->check.level;
	o.view.tree = &r->tree;
	o.view.coverage = &r->coverage;
	o.view.turn = findings_tree_turn;
	o.view.turn_ctx = &r->tree;
	o.view.others = r->coverage.covered ? r->coverage.covered - 1 : 0;
	o.follows = r->nr_written > 0;
	return check_report(r->tree.merge.heap, &o, r->to, e);
}

bool run_check_is_tree(const struct run_check *r, const struct heap *root)
{
	return r->job &&
	       (!root || !root->check.level || r->coverage.processes > 1 || r->coverage.gaps.nr);
}

/* Of the program itself its own text says so. */
static void note_unswept(const struct run_check *r, const struct heap *root)
{
	bool told = root && root->check.level && !root->check.scans && !r->job->report->whole;
	unsigned nr = r->nr_unswept > told ? r->nr_unswept - told : 0;

	if (nr)
		session_note(r->to, "the live blocks of %s could not be scanned when %s ended",
			     fmt_many(nr, "process").s, fmt_agree(nr, "it", "they"));
}

int run_check_tell(struct run_check *r, const struct heap *root, struct err *e)
{
	int rc = run_check_is_tree(r, root) ? tell_tree(r, root, e) : tell_whole(r, root, e);

	note_unswept(r, root);
	if (rc < 0)
		unreported(r, 0, e);
	if (!r->unreported.text[0])
		return r->nr_found > 0;
	*e = r->unreported;
	if (r->nr_unreported)
		err_set(e, -EIO, "%.400s; %s %s not reported", r->unreported.text,
			fmt_many(r->nr_unreported, "heap error").s,
			fmt_agree(r->nr_unreported, "was", "were"));
	err_hint(e, "%s", r->unreported.hint);
	return -EIO;
}

bool run_check_reports_losses(const struct run_check *r, const struct heap *root)
{
	return r->job && !r->apart && !r->job->report->whole && root && root->check.level &&
	       !run_check_is_tree(r, root);
}

void run_check_fini(struct run_check *r)
{
	run_check_rest(r);
	vec_each(&r->swept, p)
		swept_fini(p);
	vec_fini(&r->swept);
	vec_each(&r->processes, p)
		vec_fini(&p->times);
	vec_fini(&r->processes);
	findings_tree_fini(&r->tree);
	coverage_fini(&r->coverage);
}
