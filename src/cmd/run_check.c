/* Heap errors of a program that runs, told. */
#include "src/cmd/run_check.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "src/analyze/findings.h"
#include "src/capture/ledger_map.h"
#include "src/cmd/check_report.h"
#include "src/cmd/cmd.h"

static FILE *out_of(const struct run_check *r)
{
	return r->out ? r->out : stderr;
}

/* What is known of a process; NULL when out of memory. Valid until the next call. */
static struct run_check_process *process_of(struct run_check *r, uint32_t pid, uint64_t attach_ns)
{
	struct run_check_process new = { .pid = pid, .attach_ns = attach_ns };

	vec_each(&r->processes, p)
		if (p->pid == pid && p->attach_ns == attach_ns)
			return p;
	return vec_push(&r->processes, new) ? NULL : &r->processes.v[r->processes.nr - 1];
}

/* Findings from index `from` on, at once; with JSON there is one document at the end. */
static void tell_from(struct run_check *r, const struct heap *h, uint64_t from)
{
	struct check_report_options o = *r->job->report;
	struct err e = { .text = "" };

	r->nr_found += h->nr_findings - from;
	if (o.json)
		return;
	o.view.from = from;
	o.view.no_head = true;
	o.view.top = 0;
	if (check_report(h, &o, out_of(r), &e) < 0)
		r->nr_untold++;
	fflush(out_of(r));
}

void run_check_found(struct run_check *r, const struct heap *h)
{
	struct run_check_process *p = process_of(r, h->pid, h->attach_ns);

	if (!p || h->nr_findings <= p->nr_told)
		return;
	tell_from(r, h, p->nr_told);
	p->nr_told = h->nr_findings;
}

/* What a sweep found is the last of the heap's findings; what earlier ones found comes behind. */
static void keep_swept(struct run_check *r, struct run_check_process *p, struct heap *h, uint64_t found)
{
	uint64_t from = h->nr_findings - found;

	if (p->swept && findings_carry(p->swept, p->swept_from, h))
		r->nr_untold++;
	heap_free(p->swept);
	p->swept = h;
	p->swept_from = from;
}

/* One sweep of a process. 0, or -errno with `e`. */
static int sweep(struct run_check *r, pid_t pid, struct run_check_process *p, struct err *e)
{
	struct ledger_map *m = NULL;
	struct heap *h = NULL;
	int found = ledger_map_open_pid(pid, &m, e);

	if (found)
		return found;
	found = sweep_process(&p->sweep, pid, m, PMM_MAX_FINDINGS + (uint32_t)p->sweep.seen.nr, &h, e);
	ledger_map_close(m);
	if (found < 0)
		return found;
	p->pid = h->pid;
	p->attach_ns = h->attach_ns;
	if (found)
		tell_from(r, h, h->nr_findings - (uint64_t)found);
	keep_swept(r, p, h, (uint64_t)found);
	return 0;
}

void run_check_leaving(struct run_check *r, pid_t pid)
{
	struct run_check_process *p = NULL, new = { 0 };
	struct err e = { .text = "" };

	vec_each(&r->processes, known)
		if (known->host_pid == pid)
			p = known;
	if (!p && !vec_push(&r->processes, new))
		p = &r->processes.v[r->processes.nr - 1];
	if (p && sweep(r, pid, p, &e) && e.text[0])
		r->nr_unswept++;
}

void run_check_ended(struct run_check *r, struct heap *h)
{
	struct run_check_process *p;

	if (!r->job)
		return;
	run_check_found(r, h);
	p = process_of(r, h->pid, h->attach_ns);
	if (p && p->swept && findings_carry(p->swept, p->swept_from, h))
		r->nr_untold++;
}

bool run_check_keep(struct run_check *r, struct heap *h)
{
	if (!r->job || !h->nr_findings)
		return false;
	return r->job->report->json && !vec_push(&r->ended, h);
}

/* The whole of it: with JSON; else all has been told but what was looked at. */
static int tell_whole(struct run_check *r, const struct heap *h, struct err *e)
{
	struct check_report_options o = *r->job->report;

	if (!o.json)
		o.view.from = h->nr_findings;
	return check_report(h, &o, out_of(r), e);
}

int run_check_tell(struct run_check *r, const struct heap *root, struct err *e)
{
	int rc = root && root->check.level ? tell_whole(r, root, e) : 0;

	for (size_t i = 0; rc >= 0 && i < r->ended.nr; i++)
		rc = tell_whole(r, r->ended.v[i], e);
	if (r->nr_untold)
		cmd_note("%u heap errors could not be told: out of memory; the captures have them", r->nr_untold);
	if (r->nr_unswept)
		cmd_note("the live blocks of %u processes could not be looked at when they ended", r->nr_unswept);
	return rc < 0 ? rc : r->nr_found > 0;
}

void run_check_fini(struct run_check *r)
{
	vec_each(&r->processes, p) {
		sweep_fini(&p->sweep);
		heap_free(p->swept);
	}
	vec_each(&r->ended, h)
		heap_free(*h);
	vec_fini(&r->processes);
	vec_fini(&r->ended);
}
