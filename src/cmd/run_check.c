/* Heap errors of a program that runs, told. */
#include "src/cmd/run_check.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#include "src/analyze/findings.h"
#include "src/base/fmt.h"
#include "src/cmd/check_report.h"
#include "src/cmd/cmd.h"

static FILE *out_of(const struct run_check *r)
{
	return r->out ? r->out : stderr;
}

/* What is known of a process; NULL when out of memory. Valid until the next call. */
static struct run_check_process *process_of(struct run_check *r, uint32_t pid, uint64_t image)
{
	struct run_check_process new = { .pid = pid, .image = image };

	vec_each(&r->processes, p)
		if (p->pid == pid && p->image == image)
			return p;
	return vec_push(&r->processes, new) ? NULL : &r->processes.v[r->processes.nr - 1];
}

static void untold(struct run_check *r, uint64_t nr, const struct err *why)
{
	if (!r->untold.text[0])
		r->untold = *why;
	r->nr_untold += nr;
}

/* A heap's findings go with it, as far as there is memory. */
static void carry(struct run_check *r, const struct heap *from_heap, uint64_t from, struct heap *to)
{
	struct err e = { .text = "" };

	if (!findings_carry(from_heap, from, to))
		return;
	err_set(&e, -ENOMEM, "out of memory");
	untold(r, from_heap->nr_findings - from, &e);
}

/* `sweep`: of the process; NULL = none. */
static bool again(const void *sweep, const struct heap_finding *f)
{
	return sweep && sweep_has_found(sweep, f);
}

/*
 * Findings from index `from` on, at once, an empty line before all but the first; with JSON there is one document at the end. `s`: the
 * process's sweeps, NULL = none.
 */
static void tell_from(struct run_check *r, const struct heap *h, uint64_t from, const struct sweep *s)
{
	struct check_report_options o = *r->job->report;
	struct err e = { .text = "" };
	bool first = !r->nr_found;

	for (uint64_t i = from; i < h->nr_findings; i++)
		r->nr_found += !again(s, &h->findings[i]);
	if (o.json)
		return;
	o.view.from = from;
	o.view.again = again;
	o.view.again_ctx = s;
	o.view.no_head = true;
	o.view.top = 0;
	if (!first)
		fputc('\n', out_of(r));
	if (check_report(h, &o, out_of(r), &e) < 0)
		untold(r, h->nr_findings - from, &e);
	fflush(out_of(r));
}

/* ---- sweeps ---- */

/* NULL when out of memory. Valid until the next call. */
static struct run_check_swept *swept_of(struct run_check *r, pid_t pid)
{
	struct run_check_swept new = { .pid = pid };

	vec_each(&r->swept, p)
		if (p->pid == pid)
			return p;
	return vec_push(&r->swept, new) ? NULL : vec_last(&r->swept);
}

static void swept_fini(struct run_check_swept *p)
{
	sweep_fini(&p->sweep);
	heap_free(p->heap);
}

/* What a sweep found is the last of the heap's findings; what earlier ones found in this image of the process comes behind. */
static void tell_swept(struct run_check *r, struct run_check_swept *p, struct heap *h, uint64_t found)
{
	bool same = p->heap && heap_same_image(p->heap, h);
	uint64_t from = h->nr_findings - found;

	if (found)
		tell_from(r, h, from, &p->sweep);
	if (same)
		carry(r, p->heap, p->from, h);
	heap_free(p->heap);
	p->heap = h;
	p->from = from;
}

/* Take what the sweeper found, waiting for it. */
static void collect(struct run_check *r)
{
	struct run_check_swept *p = swept_of(r, r->sweeper.pid);
	struct sweep none = { 0 };
	struct err e = { .text = "" };
	struct heap *h = NULL;
	int found = sweeper_take(&r->sweeper, p ? &p->sweep : &none, &h, &e);

	if (found >= 0 && p)
		tell_swept(r, p, h, (uint64_t)found);
	sweep_fini(&none);		/* unless it was given to the process */
}

/* The sweeps of a process; NULL: there were none. */
static struct run_check_swept *swept_like(struct run_check *r, const struct heap *h)
{
	vec_each(&r->swept, p)
		if (p->heap && heap_same_image(p->heap, h))
			return p;
	return NULL;
}

/*
 * What sweeps found by now in a process of which findings from index `from` on are new: a block that a sweep under way has found damaged may
 * have been released meanwhile, so that one is waited for.
 */
static const struct sweep *sweep_of(struct run_check *r, const struct heap *h, uint64_t from)
{
	bool released = false;
	struct run_check_swept *p;

	for (uint64_t i = from; i < h->nr_findings; i++)
		released |= h->findings[i].by == PMM_BY_RELEASE;
	if (!released)
		return NULL;
	if (r->sweeper.pid)
		collect(r);
	p = swept_like(r, h);
	return p ? &p->sweep : NULL;
}

void run_check_found(struct run_check *r, const struct heap *h)
{
	struct run_check_process *p = process_of(r, h->pid, h->image);

	if (!p || h->nr_findings <= p->nr_told)
		return;
	tell_from(r, h, p->nr_told, sweep_of(r, h, p->nr_told));
	p->nr_told = h->nr_findings;
}

void run_check_rest(struct run_check *r)
{
	if (r->sweeper.pid)
		collect(r);
}

void run_check_alive(struct run_check *r, pid_t pid, uint64_t now_ns)
{
	uint64_t every_ns = r->job ? r->job->sweep_every_ns : 0;
	struct run_check_swept *p;

	if (!every_ns)
		return;
	if (sweeper_done(&r->sweeper))
		collect(r);
	p = swept_of(r, pid);
	if (!p || r->sweeper.pid)
		return;
	if (!p->next_ns)
		p->next_ns = now_ns + every_ns;
	if (now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + every_ns;
	(void)sweeper_start(&r->sweeper, pid, &p->sweep);	/* when it cannot, the next step tries again */
}

/* The last one; the sweeper may be at work for another process, and there is nothing better to do than to wait for this one. */
void run_check_leaving(struct run_check *r, pid_t pid, int fd, unsigned slot)
{
	struct err e = { .text = "" };
	struct run_check_swept *p;
	struct heap *h = NULL;
	int found = -ENOMEM;

	if (r->sweeper.pid == pid)
		collect(r);
	p = swept_of(r, pid);
	if (p)
		found = sweep_slot(&p->sweep, pid, fd, slot, &h, &e);
	if (found >= 0)
		tell_swept(r, p, h, (uint64_t)found);
	else
		r->nr_unswept++;
}

/* Does the sweeper look at a process that is not there any more? Its number is known in our namespace only. */
static bool sweeps_in_vain(const struct run_check *r, uint32_t pid)
{
	return r->sweeper.pid && (r->sweeper.pid == (pid_t)pid || (kill(r->sweeper.pid, 0) && errno == ESRCH));
}

/* Its findings into its heap; what is known of an ended process is of no use any more. */
static void give_swept(struct run_check *r, struct heap *h)
{
	struct run_check_swept *p = swept_like(r, h);

	if (!p)
		return;
	carry(r, p->heap, p->from, h);
	findings_fold(h, again, &p->sweep);
	swept_fini(p);
	*p = *vec_last(&r->swept);
	r->swept.nr--;
}

void run_check_ended(struct run_check *r, struct heap *h)
{
	struct run_check_process *p;

	if (!r->job)
		return;
	r->nr_checked += h->check.level != PMM_CHECK_NONE;
	run_check_found(r, h);
	if (sweeps_in_vain(r, h->pid))
		collect(r);
	give_swept(r, h);
	p = process_of(r, h->pid, h->image);
	if (p) {
		*p = *vec_last(&r->processes);
		r->processes.nr--;
	}
}

bool run_check_keep(struct run_check *r, struct heap *h)
{
	if (!r->job || !h->nr_findings)
		return false;
	return r->job->report->json && !vec_push(&r->ended, h);
}

/* The whole of it: with JSON; else all has been told but what was looked at. */
static int tell_whole(struct run_check *r, const struct heap *h, uint64_t others, struct err *e)
{
	struct check_report_options o = *r->job->report;

	o.view.others = others;
	if (!o.json)
		o.view.from = h->nr_findings;
	o.view.brief = true;
	if (!o.json && r->nr_found)
		fputc('\n', out_of(r));
	return check_report(h, &o, out_of(r), e);
}

static void tell_others(struct run_check *r, uint64_t nr_errors, uint64_t nr_processes)
{
	fprintf(out_of(r), "pmm: %s heap error%s in %s other process%s\n", nr_errors ? fmt_count(nr_errors).s : "no", nr_errors == 1 ? "" : "s",
		fmt_count(nr_processes).s, nr_processes == 1 ? "" : "es");
}

/* Of the program itself its own text says so. */
static void note_unswept(const struct run_check *r, const struct heap *root)
{
	bool told = root && root->check.level && !root->check.sweeps && !r->job->report->json;
	unsigned nr = r->nr_unswept > told ? r->nr_unswept - told : 0;

	if (nr)
		cmd_note("the live blocks of %u process%s could not be looked at when %s ended", nr, nr == 1 ? "" : "es", nr == 1 ? "it" : "they");
}

int run_check_tell(struct run_check *r, const struct heap *root, struct err *e)
{
	uint64_t others = r->nr_found - (root && root->nr_findings < r->nr_found ? root->nr_findings : root ? r->nr_found : 0);
	int rc = root && root->check.level ? tell_whole(r, root, r->nr_checked - 1, e) : 0;

	if (rc >= 0 && r->nr_checked > (root != NULL) && !r->job->report->json)
		tell_others(r, others, r->nr_checked - (root != NULL));
	for (size_t i = 0; rc >= 0 && i < r->ended.nr; i++)
		rc = tell_whole(r, r->ended.v[i], 0, e);
	note_unswept(r, root);
	if (rc < 0)
		untold(r, 0, e);
	if (!r->untold.text[0])
		return r->nr_found > 0;
	*e = r->untold;
	if (r->nr_untold)
		err_set(e, -EIO, "%.400s; %s heap error%s not told", r->untold.text, fmt_count(r->nr_untold).s, r->nr_untold == 1 ? " was" : "s were");
	err_hint(e, "%s", r->untold.hint);
	return -EIO;
}

bool run_check_tells_losses(const struct run_check *r, const struct heap *root)
{
	return r->job && !r->out && !r->job->report->json && root && root->check.level;
}

void run_check_fini(struct run_check *r)
{
	run_check_rest(r);
	vec_each(&r->swept, p)
		swept_fini(p);
	vec_fini(&r->swept);
	vec_each(&r->ended, h)
		heap_free(*h);
	vec_fini(&r->processes);
	vec_fini(&r->ended);
}
