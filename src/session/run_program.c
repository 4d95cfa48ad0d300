/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program launched and tracked with its children, to its end. */
#include "src/session/run_program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/base/hash.h"
#include "src/base/nanotime.h"
#include "src/base/str.h"
#include "src/ledger/preload.h"
#include "src/proc/elf_check.h"
#include "src/proc/limits.h"
#include "src/proc/machine.h"
#include "src/session/check/check_core.h"
#include "src/session/check/run_check.h"
#include "src/session/leaks/run_leaks.h"
#include "src/session/session.h"
#include "src/session/summary.h"
#include "src/session/trace/heap_trace.h"
#include "src/session/untracked.h"
#include "src/store/output.h"
#include "src/track/launch.h"

#define GRACE_NS 200000000ull /* for children that end just after the program */
#define STEP_NS 1000000000ll /* more than a step ever waits */
#define MAX_OTHERS 8 /* named of those that continue, beside the first */

struct run {
	const struct run_options *options;
	const struct session_sink *to;
	char **argv;
	struct launch *launch;
	char agent[PATH_MAX];
	struct elf_check program;
	struct summary summary;
	struct hash_map named; /* captures written, by their name's hash */
	uint64_t oom_kills;	/* before the program was started */
	struct run_leaks leaks;
	struct run_check check;
	struct coverage rest; /* processes that no heap was delivered of */
	uint64_t nr_idle_missed; /* of a check: of these have a ledger and were not checked */
	struct coverage living; /* that continue after the program */
	pid_t others[MAX_OTHERS]; /* of them, beside summary.living */
	unsigned nr_others;
	bool living_tracked; /* there is something to be seen in summary.living */
	struct heap *heap; /* of the program itself, kept for the summary */
	struct heap *largest; /* of another process, with a higher peak than all so far */
	bool in_background; /* the summary is not waited for any more */
	struct heap_trace *trace; /* NULL = not asked for */
	bool trace_failed;
};

/* How many captures have this one's name? One more from now on. */
static unsigned named_before(struct run *r, const struct heap *h, bool is_root)
{
	char name[PATH_MAX];
	uint32_t *nr;

	if (output_name(r->options->output, (pid_t)h->pid, h->comm, is_root, name))
		return 0;
	nr = hash_add(&r->named, hash_bytes(name, strlen(name)), 0, NULL);
	return nr ? (*nr)++ : 0;	/* without memory it takes the other's place */
}

/* For the summary. */
static void keep_name(struct run *r, const struct heap *h, const char *name, bool is_root)
{
	struct summary_capture c = { .name = strdup(name),
				     .pid = (pid_t)h->pid,
				     .peak_bytes = h->peak_bytes,
				     .is_root = is_root };

	if (!c.name || vec_push(&r->summary.captures, c)) {
		free(c.name);
		session_note(r->to, "capture      %s", name);
	}
}

/* Is it the largest so far? Then it is kept for the summary, and the one before is not. */
static bool keep_largest(struct run *r, struct heap *h)
{
	if (r->options->quiet || (r->largest && r->largest->peak_bytes >= h->peak_bytes))
		return false;
	heap_free(r->largest);
	r->largest = h;
	return true;
}

/* What the kernel did about its memory becomes part of it. */
static void add_trace(struct run *r, struct heap *h, uint64_t replaced_ns)
{
	int rc = r->trace ? heap_trace_give(r->trace, h, replaced_ns) : 0;

	if (rc)
		session_note(r->to, "the capture of process %u has no events of the kernel: %s",
			     h->pid, strerror(-rc));
}

/* A process has ended: its capture. */
static void on_ended(struct run *r, const struct launch_event *ev)
{
	const bool is_root = ev->is_root;
	struct heap *h = ev->heap;
	struct err e = { .text = "" };
	char name[PATH_MAX];
	bool moved;

	add_trace(r, h, ev->replaced_ns);
	run_leaks_ended(&r->leaks, h, is_root, ev->replaced);
	run_check_ended(&r->check, h, ev->replaced);
	if (!r->options->output) {
		/* a search or check needs none */
	} else if (output_write(h, r->options->output, is_root, named_before(r, h, is_root), name,
				&moved, &e)) {
		session_note(r->to, "the capture of process %u is LOST", h->pid);
		session_error(r->to, &e);
	} else {
		if (moved) {
			session_error(r->to, &e);
			session_note(r->to, "the capture of process %u is in '%s' instead", h->pid,
				     name);
		}
		keep_name(r, h, name, is_root);
	}
	if (is_root && !r->heap)
		r->heap = h;
	else if (r->in_background || !keep_largest(r, h))
		heap_free(h);
}

/* Nothing to keep; but its heap may have been there unseen. */
static void on_idle(struct run *r, const struct heap *h)
{
	const char *why = untracked_why(h);

	if (why)
		coverage_miss(&r->rest, untracked_name(h), why, COVERAGE_UNTRACKED, h->pid);
	else if (r->check.job)
		r->nr_idle_missed += run_check_missed(&r->rest, h);
}

static void on_leaving(struct run *r, pid_t pid, const struct leaving *l)
{
	if (r->check.job)
		run_check_leaving(&r->check, pid, l->fd, launch_board(r->launch));
	if (r->options->leaks)
		run_leaks_search(&r->leaks, pid, l);
}

static void on_unreadable(struct run *r, pid_t pid, const struct err *e)
{
	if (r->in_background)
		return;
	coverage_miss(&r->rest, "[unknown]", "its ledger cannot be read", COVERAGE_MISSED,
		      (uint32_t)pid);
	session_note(r->to, "the ledger of process %d cannot be read; no capture", (int)pid);
	session_error(r->to, e);
}

/* What processes met with in the last step. */
static void take_events(struct run *r)
{
	struct launch_event e;

	for (;;) {
		switch (launch_next(r->launch, &e)) {
		case LAUNCH_NONE:
			return;
		case LAUNCH_FOUND:
			run_check_found(&r->check, e.heap);
			heap_free(e.heap);
			break;
		case LAUNCH_LEAVING:
			on_leaving(r, e.pid, e.leaving);
			break;
		case LAUNCH_ENDED:
			on_ended(r, &e);
			break;
		case LAUNCH_IDLE:
			on_idle(r, e.heap);
			heap_free(e.heap);
			break;
		case LAUNCH_UNREADABLE:
			on_unreadable(r, e.pid, &e.err);
			break;
		}
	}
}

/* Once it has failed, nothing more comes, and the program runs on. */
static void step_trace(struct run *r)
{
	int rc = r->trace && !r->trace_failed ? heap_trace_step(r->trace) : 0;

	if (!rc)
		return;
	r->trace_failed = true;
	session_note(r->to, "the kernel's events are not recorded any more: %s", strerror(-rc));
}

static void step(struct run *r)
{
	pid_t pid;

	launch_step(r->launch, r->trace ? (int64_t)KERNEL_STEP_NS : STEP_NS);
	step_trace(r);
	for (size_t at = 0; r->check.job && (pid = launch_living(r->launch, &at));)
		run_check_alive(&r->check, pid, launch_now_ns(r->launch));
	take_events(r);
}

static int block_at(void *arg, pid_t pid, uint64_t address, struct ledger_at_block *out)
{
	return launch_block_at(((struct run *)arg)->launch, pid, address, out);
}

static int open_trace(struct run *r, struct err *e)
{
	const struct heap_trace_options o = { .source = r->options->trace,
					      .classes = r->options->trace_classes,
					      .follow = !r->options->no_follow,
					      .block_at = block_at,
					      .arg = r };
	int rc = r->options->trace ? heap_trace_open(&r->trace, &o, r->to, e) : 0;

	if (r->trace)
		heap_trace_set_zero(r->trace, nanotime() - launch_now_ns(r->launch));
	return rc;
}

/* The program's process is there and has not executed it. */
static int on_forked(void *arg, pid_t pid, struct err *e)
{
	struct run *r = arg;
	int rc = heap_trace_target(r->trace, pid, true);

	return rc ? err_set(e, rc, "process %d cannot be traced: %s", (int)pid, strerror(-rc)) : 0;
}

/* Everything that can be refused before the program runs. 0 or -errno with `e`. */
static int prepare(struct run *r, struct err *e)
{
	const struct run_options *given = r->options;
	struct launch_options o = {
		.argv = r->argv,
		.agent = r->agent,
		.tree = { .mode = given->sampled ? PMM_MODE_SAMPLED : PMM_MODE_EXACT,
			  .follow = !given->no_follow,
			  /* processes wait at their ends */
			  .leaks = given->leaks || given->check,
			  .sample_bytes = given->sample_bytes,
			  .min_size_bytes = given->min_size_bytes,
			  .warn_size_bytes = given->warn_size_bytes,
			  .limit_bytes = given->limit_bytes,
			  .max_frames = given->max_frames },
		.signals = given->signals,
		.raises_limits = true,
		.interval_ns = given->interval_ns,
		.every_tick = r->check.job && r->check.job->scan_every_ns,
		.forked = given->trace ? on_forked : NULL,
		.forked_arg = r,
	};
	int rc;

	if (elf_check(r->argv[0], &r->program, e) != ELF_CHECK_OK)
		return -ENOEXEC;
	if (r->check.job && elf_check_leak_sanitizer(&r->program, e))
		return -ENOEXEC;
	o.path = r->program.path;
	if (r->check.job)
		o.tree.check = r->check.job->check;
	rc = r->check.job ? preload_find_check(r->agent, e) : preload_find(r->agent, e);
	if (!rc && given->leaks)
		rc = run_leaks_init(&r->leaks, given->leaks, r->to, e);
	r->leaks.apart = given->apart;
	if (!rc && given->output)
		rc = output_check(given->output, e);
	if (!rc)
		rc = launch_open(&o, &r->launch, e);
	if (!rc)
		rc = open_trace(r, e);
	if (!rc && launch_totals(r->launch).data_not_raised)
		session_note(r->to,
			     "the limit on data (ulimit -d) cannot be raised; up to %s of it go to "
			     "the agent",
			     fmt_bytes(PMM_OWN_DATA_BYTES).s);
	return rc;
}

static int start(struct run *r, struct err *e)
{
	int keep[LAUNCH_NR_FDS + 1] = { r->options->keep_fd };
	int rc;

	r->oom_kills = machine_oom_kills("");
	rc = launch_start(r->launch, e);
	if (rc)
		return rc;
	if (r->options->shared)
		r->options->shared->pid = run_child(r)->pid;
	launch_fds(r->launch, keep + 1);
	child_drop_fds(keep, sizeof(keep) / sizeof(*keep));
	return 0;
}

/* Children outlive the program: a process without terminal continues for them. */
static void go_on(struct run *r)
{
	pid_t pid;

	run_check_rest(&r->check);
	pid = launch_fork(r->launch);
	if (pid)
		return;
	r->in_background = true;
	setsid();
	session_background(r->to);
	heap_trace_forked(r->trace);
	while (launch_goes_on(r->launch))
		step(r);
	launch_give_up(r->launch);
	take_events(r);
	heap_trace_close(r->trace);
	launch_close(r->launch);
	_exit(0);
}

static void give_summary(struct run *r)
{
	struct summary *s = &r->summary;
	const struct child *child = run_child(r);
	struct launch_totals totals = launch_totals(r->launch);
	struct coverage missed = { 0 };

	untracked_rest(&r->rest, &totals, r->nr_idle_missed);
	s->untracked = &r->rest;
	s->searched = r->options->leaks != NULL;
	s->heap = r->heap;
	s->largest = r->largest;
	s->argv = r->argv;
	s->status = child->status;
	s->run_ns = totals.run_ns;
	if (child_exit_code(child->status) == 128 + SIGKILL) {
		s->nr_oom_kills = machine_oom_kills("") - r->oom_kills;
		s->group_bytes = limits_cgroup("", getpid());
	}
	s->nr_replaced = totals.nr_replaced;
	s->nr_lost = totals.nr_lost;
	s->shrunk = totals.shrunk;
	s->data_limit_bytes = totals.data_not_raised ? child->data.rlim_cur : 0;
	untracked_lost(&missed, totals.nr_lost);
	coverage_add(&missed, &r->living);
	if (!r->heap) /* the summary says so in its own words */
		coverage_miss(&missed, r->argv[0], census_why(PMM_EXEC_TRACKED), COVERAGE_UNTRACKED,
			      (uint32_t)child->pid);
	if (r->check.job) {
		coverage_add(&r->check.coverage, &r->rest);
		coverage_add(&r->check.coverage, &missed);
	}
	s->losses_reported = run_check_reports_losses(&r->check, r->heap);
	summary_note(s, r->options->quiet, r->to);
	coverage_add(&r->rest, &missed);
	coverage_fini(&missed);
}

/* What was looked for and not looked at must not be taken for good. */
static bool unseen(const struct run *r)
{
	const struct run_options *o = r->options;

	if (!r->heap)
		return true;
	return (o->leaks && r->heap->search.how == HEAP_SEARCH_NONE) ||
	       (o->check && (!r->heap->check.level || !r->heap->check.scans));
}

/* Was there a process, tracked or not, that was not checked? */
static bool any_unchecked(const struct run *r)
{
	const struct coverage *c = &r->check.coverage;

	return r->check.job && (coverage_missed(c, true) || coverage_missed(c, false));
}

/* Is it what is looked for? `found`: more than 0 = something was. */
static bool is_find(const struct run *r, int found)
{
	bool any = found > 0 || r->check.nr_found;

	if (!r->check.job)
		return any;
	return (r->options->fail_errors && any) || (r->options->fail_unchecked && any_unchecked(r));
}

/* More than 0 = something was found, 0 = not, -errno with `e`. */
static int give_verdicts(struct run *r, struct err *e)
{
	int found = 0, lost = 0;

	if (r->check.job)
		found = run_check_tell(&r->check, r->heap, e);
	if (found >= 0 && r->options->leaks) {
		coverage_add(&r->leaks.coverage, &r->rest);
		lost = run_leaks_tell(&r->leaks, r->heap, run_child(r)->comm,
				      r->options->only_losses, e);
	}
	return lost ? lost : found;
}

static void hint_others(const struct run *r)
{
	const unsigned rest = r->summary.nr_living - 1 - r->nr_others;
	struct str s = STR_INIT;

	for (unsigned i = 0; i < r->nr_others; i++)
		str_addf(&s, "%s%d", i ? ", " : "", (int)r->others[i]);
	if (rest)
		str_addf(&s, " and %u more", rest);
	if (!str_error(&s))
		session_hint(r->to, "the same holds for %s that still %s: %s",
			     fmt_many(r->summary.nr_living - 1, "other process").s,
			     fmt_agree(r->summary.nr_living - 1, "runs", "run"), str_text(&s));
	str_fini(&s);
}

/* How to look at what is not in the verdict, because it continues; and when it is too late. */
static void hint_living(const struct run *r)
{
	const struct run_options *o = r->options;
	const int pid = (int)r->summary.living;
	const char *later = o->output ? "; its capture shows all once it has ended"
			    : o->wait ? "; when it ends all is lost: -o keeps a capture"
				      : "; when it ends all is lost: --wait waits for that, -o "
					"keeps a capture";

	if (!r->living_tracked || o->shared || o->only_losses || !o->quiet)
		return;			/* or give_summary() has said it */
	if (o->check)
		session_hint(r->to, "'pmm check %d' shows what was found in process %d so far%s",
			     pid, pid, later);
	else if (o->leaks)
		session_hint(r->to, "'pmm leaks %d' shows what process %d has lost so far%s", pid,
			     pid, later);
	if (r->nr_others)
		hint_others(r);
}

void run_finish(struct run *r, struct session_end *end)
{
	const char *root_capture = summary_root_capture(&r->summary);
	struct run_shared *shared = r->options->shared;
	struct err e = { .text = "" };
	int found;

	give_summary(r);
	found = give_verdicts(r, &e);
	if (found < 0)
		session_error(r->to, &e);
	if (found > 0 && r->check.job && root_capture && !shared && r->heap && r->heap->nr_findings)
		session_note(r->to, "'pmm check %s' shows it again", root_capture);
	hint_living(r);
	if (r->check.job && r->check.job->check.on_error == PMM_ON_ERROR_CORE && !shared && r->heap)
		check_core_note(r->to, (pid_t)r->heap->pid, run_child(r)->status);
	if (shared)
		shared->unchecked = any_unchecked(r);
	*end = (struct session_end){
		.code = child_exit_code(run_child(r)->status),
		.found = is_find(r, found),
		.failed = found < 0 && r->check.job,
		.unseen = r->options->for_verdict && (unseen(r) || found < 0),
	};
}

const struct child *run_child(const struct run *r)
{
	return launch_child(r->launch);
}

void run_close(struct run *r)
{
	if (!r)
		return;
	summary_fini(&r->summary);
	hash_fini(&r->named);
	heap_free(r->heap);
	heap_free(r->largest);
	run_leaks_fini(&r->leaks);
	run_check_fini(&r->check);
	coverage_fini(&r->rest);
	coverage_fini(&r->living);
	heap_trace_close(r->trace);
	launch_close(r->launch);
	free(r);
}

int run_open(struct run **out, const struct run_options *o, char **argv,
	     const struct session_sink *to, struct err *e)
{
	struct run *r = calloc(1, sizeof(*r));
	int rc;

	*out = NULL;
	if (!r)
		return err_set(e, -ENOMEM, "out of memory");
	r->options = o;
	r->to = to;
	r->argv = argv;
	r->check.to = to;
	r->check.apart = o->apart;
	r->check.job = o->check;
	rc = prepare(r, e);
	if (!rc)
		rc = start(r, e);
	if (rc)
		run_close(r);
	else
		*out = r;
	return rc;
}

/* What ends about now. */
static void settle(struct run *r)
{
	uint64_t end_ns = launch_now_ns(r->launch) + GRACE_NS;

	while ((r->summary.nr_living = launch_left(r->launch, &r->summary.living)) &&
	       launch_now_ns(r->launch) < end_ns)
		step(r);
}

static void name_living(struct run *r)
{
	pid_t pid;

	r->living_tracked = r->summary.nr_living && launch_tracks(r->launch, r->summary.living);
	untracked_living(&r->living, r->launch, r->summary.nr_living, r->summary.living);
	for (size_t at = 0; r->nr_others < MAX_OTHERS && r->nr_others + 1 < r->summary.nr_living &&
			    (pid = launch_living(r->launch, &at));)
		if (pid != r->summary.living)
			r->others[r->nr_others++] = pid;
}

/* What a signal to us ends is let end before the report. */
static void await_all(struct run *r)
{
	session_progress(r->to,
			 "the program has ended, and process %d%s is waited for (Ctrl-C: no more)",
			 (int)r->summary.living,
			 r->summary.nr_living > 1 ? " and others" : "");
	while (launch_goes_on(r->launch))
		step(r);
	settle(r);
}

void run_wait(struct run *r)
{
	while (!launch_root_done(r->launch))
		step(r);
	if (r->options->shared)
		r->options->shared->ended = run_child(r)->status;
	if (r->options->wait)
		launch_await_all(r->launch);
	settle(r);
	if (r->summary.nr_living && r->options->wait)
		await_all(r);
	name_living(r);
	if (r->summary.nr_living && r->options->output && !r->options->shared)
		go_on(r);
}
