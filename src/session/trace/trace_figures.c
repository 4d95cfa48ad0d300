/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at /proc on a loop: at the start, a few times a second, at the end. */
#include "src/session/trace/trace_figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "src/base/hash.h"
#include "src/base/nanotime.h"
#include "src/proc/descendants.h"
#include "src/session/trace/trace_targets.h"
#include "src/track/gate.h"
#include "src/view/trace_figures_view.h"

#define LOOK_NS		200000000ull
#define READ_SHARE	20u		/* reading exact sizes may take 1 of so many parts */
#define MAX_ROWS	65536u

struct trace_figures {
	struct trace_options o;
	struct err why;
	const struct session_sink *to;
	struct gate gate;
	pid_t command;
	struct trace_targets targets;
	struct loop_source *tick, *child, *end, *interval;
	VEC(struct trace_figure) rows;
	struct hash_map by_pid;		/* -> index into rows */
	uint64_t start_ns, exact_ns;	/* exact sizes may be read again then */
	struct vmstat before, after;
	struct machine machine_before, machine_after;
	struct rusage children;		/* of ours as it began */
	struct process_usage at_gate;	/* the command before it was executed: a copy of ours */
	bool said, collected, ending;
	int status, failed;
};

#define CLASS(name)	(1u << EVENT_##name)
#define CLASSES	(CLASS(MMAP) | CLASS(BRK) | CLASS(FAULTS) | CLASS(MAJOR) | CLASS(SWAP) |           \
		 CLASS(RECLAIM) | CLASS(COMPACTION) | CLASS(MIGRATE) | CLASS(THP) | CLASS(RSS))

bool trace_figures_can(const struct trace_options *o)
{
	return o->classes & CLASSES && !o->folded && !o->kernel.memcg && !o->kernel.by_uid &&
	       !o->kernel.comm;
}

/* ---- looks ---- */

/* Whom it is about now. */
static int list(struct trace_figures *f, struct pid_list *l)
{
	int rc = 0;

	if (!f->command && !f->o.kernel.nr_pids)
		return pid_list_all(l);
	if (f->command)
		rc = vec_push(&l->pids, f->command);
	for (size_t i = 0; !rc && i < f->o.kernel.nr_pids; i++)
		rc = vec_push(&l->pids, f->o.kernel.pids[i]);
	return rc || (!f->o.kernel.follow && !f->o.tree) ? rc : descendants_add(l);
}

static int add_row(struct trace_figures *f, pid_t pid, const struct process_usage *now)
{
	struct trace_figure row = { .pid = pid, .last = *now, .began = f->start_ns };

	if (f->rows.nr >= MAX_ROWS)
		return 0;
	if (!row.began)
		row.first = *now;
	else
		row.first.start_ticks = now->start_ticks;
	return hash_put(&f->by_pid, (uint64_t)pid, f->rows.nr) || vec_push(&f->rows, row) ? -ENOMEM
											  : 0;
}

static int look_at(struct trace_figures *f, pid_t pid, bool exact)
{
	const uint32_t *at = hash_find(&f->by_pid, (uint64_t)pid);
	struct trace_figure *row = at && *at < f->rows.nr ? &f->rows.v[*at] : NULL;
	struct process_usage now;

	if (process_usage_read("", pid, exact, &now))
		return 0;
	if (!row || row->first.start_ticks != now.start_ticks)
		return add_row(f, pid, &now);
	if (!now.resident_bytes) {	/* it ends: its memory is gone, its faults are not */
		row->last.minor_faults = now.minor_faults;
		row->last.major_faults = now.major_faults;
		row->ended = true;
		return 0;
	}
	if (!exact)
		now.nr_mappings = row->last.nr_mappings;
	row->last = now;
	row->ended = false;
	return 0;
}

static int look(struct trace_figures *f, bool final)
{
	uint64_t begin = nanotime();
	bool exact = final || begin >= f->exact_ns;
	struct pid_list l = { 0 };
	int rc = list(f, &l);

	vec_each(&f->rows, r)
		r->ended = true;	/* until it is seen */
	for (size_t i = 0; rc != -ENOMEM && i < l.pids.nr; i++)
		rc = look_at(f, l.pids.v[i], exact);
	vec_fini(&l.pids);
	if (exact)
		f->exact_ns = begin + (nanotime() - begin) * READ_SHARE;
	return rc == -ENOMEM ? rc : 0;
}

/* ---- the result ---- */

static int by_faults(const void *a, const void *b)
{
	uint64_t x = trace_figure_faults(a), y = trace_figure_faults(b);

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Of all processes those that have changed. */
static bool is_shown(const struct trace_figures *f, const struct trace_figure *r)
{
	return f->command || f->o.kernel.nr_pids || r->began || trace_figure_faults(r) ||
	       r->first.resident_bytes != r->last.resident_bytes ||
	       r->first.swapped_bytes != r->last.swapped_bytes;
}

static void add_usage(const struct trace_figures *f, struct trace_figures_result *r)
{
	struct rusage now;

	r->command = f->collected && !getrusage(RUSAGE_CHILDREN, &now);
	if (!r->command)
		return;
	r->minor_faults = (uint64_t)(now.ru_minflt - f->children.ru_minflt) -
			  f->at_gate.minor_faults;
	r->major_faults = (uint64_t)(now.ru_majflt - f->children.ru_majflt) -
			  f->at_gate.major_faults;
}

static int hand_over(struct trace_figures *f)
{
	VEC(struct trace_figure) rows = { 0 };
	struct doc d = { 0 };
	int rc = look(f, true);

	for (size_t i = 0; !rc && i < f->rows.nr; i++)
		if (is_shown(f, &f->rows.v[i]))
			rc = vec_push(&rows, f->rows.v[i]);
	if (!rc) {
		struct trace_figures_result r = {
			.scope = f->o.scope ? f->o.scope : f->o.command[0],
			.duration_ns = nanotime() - f->start_ns,
			.classes = f->o.classes,
			.nothing_of = f->o.classes & ~CLASSES,
			.why = &f->why,
			.rows = rows.v,
			.nr_rows = rows.nr,
			.before = &f->before,
			.after = &f->after,
			.machine_before = &f->machine_before,
			.machine_after = &f->machine_after,
			.top = f->o.top,
		};

		vec_sort(&rows, by_faults);
		vmstat_read(&f->after);		/* there is no table then */
		machine_read("", &f->machine_after);
		add_usage(f, &r);
		trace_figures_document(&d, &r);
		rc = doc_error(&d);
	}
	if (!rc)
		rc = session_document(f->to, &d, f->said);
	f->said = true;
	doc_fini(&d);
	vec_fini(&rows);
	return rc;
}

/* The next result begins where this one ends. */
static void start_anew(struct trace_figures *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->rows.nr; i++) {
		struct trace_figure r = f->rows.v[i];

		if (r.ended) {
			hash_put(&f->by_pid, (uint64_t)r.pid, UINT32_MAX);	/* is in there */
			continue;
		}
		r.first = r.last;
		r.began = false;
		hash_put(&f->by_pid, (uint64_t)r.pid, nr);
		f->rows.v[nr++] = r;
	}
	f->rows.nr = nr;
	f->start_ns = nanotime();
	vmstat_read(&f->before);
	machine_read("", &f->machine_before);
}

/* ---- the loop ---- */

static void stop(struct trace_figures *f, int rc)
{
	if (rc)
		f->failed = rc;
	f->ending |= rc != 0;
}

static void on_tick(void *arg, uint64_t now_ns)
{
	struct trace_figures *f = arg;

	stop(f, look(f, false));
	loop_set_timer(f->o.loop, f->tick, now_ns + LOOK_NS);
}

static void on_interval(void *arg, uint64_t now_ns)
{
	struct trace_figures *f = arg;

	stop(f, hand_over(f));
	start_anew(f);
	loop_set_timer(f->o.loop, f->interval, now_ns + f->o.interval_ns);
}

static void on_end(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	trace_figures_end(arg);
}

static void on_child(void *arg, pid_t pid, int status)
{
	struct trace_figures *f = arg;

	(void)pid;
	gate_collected(&f->gate);
	f->child = NULL;
	f->status = status;
	f->collected = f->ending = true;
}

static int add_timers(struct trace_figures *f)
{
	uint64_t now = nanotime();
	int rc = loop_add_timer(f->o.loop, now + LOOK_NS, on_tick, f, &f->tick);

	if (!rc && f->o.duration_ns)
		rc = loop_add_timer(f->o.loop, now + f->o.duration_ns, on_end, f, &f->end);
	if (!rc && f->o.interval_ns)
		rc = loop_add_timer(f->o.loop, now + f->o.interval_ns, on_interval, f,
				    &f->interval);
	return rc;
}

int trace_figures_open(struct trace_figures **out, const struct trace_options *o,
		       const struct err *why, const struct session_sink *to, struct err *e)
{
	struct trace_figures *f = calloc(1, sizeof(*f));
	int rc = 0;

	*out = NULL;
	if (!f)
		return err_set(e, -ENOMEM, "out of memory");
	f->o = *o;
	f->why = *why;
	f->to = to;
	f->gate = GATE_NONE;
	f->status = -1;
	getrusage(RUSAGE_CHILDREN, &f->children);
	if (o->command)
		rc = gate_fork(&f->gate, o->command, o->mask, e);
	f->command = f->gate.pid;
	if (!rc)
		rc = trace_targets_init(&f->targets, o->kernel.pids, o->kernel.nr_pids, false, e);
	if (!rc)
		rc = trace_targets_watch(&f->targets, o->loop, &f->ending, e);
	if (!rc && f->command)
		process_usage_read("", f->command, false, &f->at_gate);
	if (!rc && look(f, true))
		rc = err_set(e, -ENOMEM, "out of memory");
	if (rc) {
		trace_figures_close(f);
		return rc;
	}
	if (!o->quiet)
		session_note(to, "no events can be seen: %s%s%s", why->text,
			     *why->hint ? "; " : "", why->hint);
	start_anew(f);
	*out = f;
	return 0;
}

static int let_go(struct trace_figures *f, struct err *e)
{
	int rc = gate_open(&f->gate, e);

	if (!rc)
		return loop_add_child(f->o.loop, f->gate.pid, on_child, f, &f->child);
	if (!*e->text)
		err_set(e, rc, "cannot execute '%s': %s", f->o.command[0], strerror(-rc));
	e->exit_code = rc == -ENOENT ? 127 : 126;
	return rc;
}

int trace_figures_run(struct trace_figures *f, struct err *e)
{
	int rc = add_timers(f);

	if (!rc && f->o.command)
		rc = let_go(f, e);
	while (!rc && !f->ending) {
		rc = loop_step(f->o.loop, -1);
		rc = rc > 0 ? 0 : rc;
	}
	if (!rc)
		rc = f->failed ? f->failed : hand_over(f);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory") : rc;
}

void trace_figures_end(struct trace_figures *f)
{
	if (f)
		f->ending = true;
}

int trace_figures_status(const struct trace_figures *f)
{
	return f->status;
}

void trace_figures_close(struct trace_figures *f)
{
	if (!f)
		return;
	loop_del(f->o.loop, f->tick);
	loop_del(f->o.loop, f->end);
	loop_del(f->o.loop, f->interval);
	loop_del(f->o.loop, f->child);
	trace_targets_fini(&f->targets);
	gate_close(&f->gate);
	vec_fini(&f->rows);
	hash_fini(&f->by_pid);
	vmstat_fini(&f->before);
	vmstat_fini(&f->after);
	free(f);
}
