/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace on a loop: a timer empties the ring, others end it or hand results over. */
#include "src/session/trace/trace_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sysinfo.h>

#include "src/base/fmt.h"
#include "src/base/nanotime.h"
#include "src/document/event.h"
#include "src/session/trace/trace_lacks.h"
#include "src/session/trace/trace_paths.h"
#include "src/session/trace/trace_session_priv.h"
#include "src/view/trace/trace_folded.h"
#include "src/view/trace/trace_view.h"

/* ---- records ---- */

/* What reclaim works against; the kernel's program cannot read it. 0: not known. */
static uint64_t free_bytes(void)
{
	struct sysinfo now;

	return sysinfo(&now) ? 0 : (uint64_t)now.freeram * now.mem_unit;
}

static int say(struct trace_session *s, const struct trace_record *r, const void *tail,
	       uint32_t stack)
{
	struct trace_record completed = *r;
	struct event e = { 0 };
	int rc;

	memset(s->tail, 0, sizeof(s->tail));
	if (r->flags & TRACE_TEXT && r->tail_bytes <= TRACE_TEXT_MAX)
		memcpy(s->tail, tail, r->tail_bytes);
	if (r->kind >= TRACE_RECLAIM && r->kind <= TRACE_RECLAIM_NODE)
		completed.a[5] = free_bytes();
	/* before it was let go it has waited for the programs in the kernel */
	if (r->kind == TRACE_EXIT && (pid_t)r->tgid == s->command &&
	    completed.a[4] > r->time_ns - s->clock.start_ns)
		completed.a[4] = r->time_ns - s->clock.start_ns;
	if (r->kind == TRACE_KERNEL_ALLOC)
		trace_kernel_caller(&s->ksyms, r, s->tail, sizeof(s->tail));
	trace_line_walked(&e, &completed,
			  trace_paths_has(r) ? trace_paths_find(&s->files, s->source, r) : s->tail,
			  &s->clock, &s->stacks.table, s->stacks.names, stack,
			  s->with_stacks && s->stacks.last.nr ? &s->stacks.last : NULL);
	rc = session_event(s->to, &e);
	event_fini(&e);
	return rc;
}

static uint64_t since_start(const struct trace_session *s, uint64_t time_ns)
{
	return time_ns > s->clock.start_ns ? time_ns - s->clock.start_ns : 0;
}

/* What the kernel does not say with it; read at once, while it is nearly so. */
static int say_context(struct trace_session *s, const struct trace_record *r)
{
	struct memcg group;
	struct machine now;
	struct trace_oom c = {
		.pid = r->a[0],
		.since_start_ns = since_start(s, r->time_ns),
		.now = &now,
		.before = s->moments.v,
		.nr_before = s->moments.nr,
	};
	struct event e = { 0 };
	int rc;

	if (r->a[1] && !memcg_find("", r->a[1], &group))
		c.group = &group;
	if (machine_read("", &now))
		return 0;
	trace_oom_event(&e, &c);
	rc = session_event(s->to, &e);
	event_fini(&e);
	return rc;
}

/* Rare enough, and too important to be only a number at the end. */
static bool is_always_said(uint32_t kind)
{
	return trace_kinds[kind].event == EVENT_OOM;
}

static int count_and_say(struct trace_session *s, const struct trace_record *r, const void *tail,
			 uint32_t stack)
{
	int rc;

	trace_totals_add(&s->totals, r, stack ? stack : TRACE_NO_STACK);
	if (s->with_stacks && (s->o.command || s->o.kernel.nr_pids))
		trace_blocks_add(&s->blocks, r, stack,
				 trace_stacks_by_agent(&s->stacks, stack));
	if ((!s->o.lines && !is_always_said(r->kind)) ||
	    trace_libc_is_small(r, s->o.kernel.min_bytes))
		return 0;
	rc = say(s, r, tail, stack);
	return !rc && r->kind == TRACE_OOM ? say_context(s, r) : rc;
}

static int take(void *arg, const struct trace_record *r, const void *tail)
{
	struct trace_session *s = arg;
	struct trace_record derived[2];
	bool asked = event_classes_have(s->o.classes, r->kind) &&
		     !trace_is_small(r, s->o.kernel.min_bytes);
	bool derives = trace_libc_wants(&s->libc, r);
	uint32_t stack;
	int rc, nr;

	rc = s->with_stacks ? trace_stacks_note(&s->stacks, r) : 0;
	if (rc || (!asked && !derives))
		return rc;
	stack = s->with_stacks ? trace_stacks_add(&s->stacks, r, tail) : 0;
	if (asked)
		rc = count_and_say(s, r, tail, stack);
	nr = derives ? trace_libc_take(&s->libc, r, s->stacks.last.nr ? &s->stacks.last : NULL,
				       s->stacks.names, derived) : 0;
	for (int i = 0; !rc && i < nr; i++)
		rc = count_and_say(s, &derived[i], tail, stack);
	return rc || nr >= 0 ? rc : nr;
}

static void drain(struct trace_session *s)
{
	uint64_t begin = nanotime();
	int rc = kernel_source_step(s->source, take, s);

	if (rc >= 0 && s->with_stacks)
		rc = trace_stacks_until(&s->stacks, begin);
	if (rc >= 0)
		return;
	s->failed = rc;
	s->ending = true;
}

/* ---- results ---- */

/* What the kernel has counted since the last result. */
static int read_counts(struct trace_session *s, struct trace_counts *counts,
		       struct kernel_group_state *groups)
{
	struct trace_counts now[TRACE_NR_KINDS];
	int rc = kernel_source_counts(s->source, now);

	if (rc)
		return rc;
	for (int i = 0; i < TRACE_NR_KINDS; i++)
		counts[i] = (struct trace_counts){
			.seen = now[i].seen - s->counted[i].seen,
			.lost = now[i].lost - s->counted[i].lost,
			.dropped = now[i].dropped - s->counted[i].dropped,
			.unpaired = now[i].unpaired - s->counted[i].unpaired,
		};
	memcpy(s->counted, now, sizeof(now));
	for (int i = 0; s->with_stacks && i < USER_STACK_NR_ENDS; i++) {
		uint64_t ended = user_stacks_ends(s->stacks.walker)[i];

		s->ends[i] = ended - s->ended[i];
		s->ended[i] = ended;
	}
	for (int i = 0; i < KERNEL_NR_GROUPS; i++) {
		uint64_t before = s->missed[i];

		groups[i] = trace_lacks_group(s->source, &s->o, i);
		s->missed[i] = groups[i].missed;
		groups[i].missed -= before;
	}
	return 0;
}

static int hand_over_folded(struct trace_session *s, const struct trace_result *r)
{
	struct str text = STR_INIT;
	int rc;

	trace_folded(&text, r);
	rc = str_error(&text);
	if (!rc)
		rc = session_text(s->to, str_text(&text), text.len);
	str_fini(&text);
	return rc;
}

/* Kinds with records of some events only: all of them are counted in the kernel. */
static void count_sampled(struct trace_totals *t, const struct trace_counts *counts)
{
	for (int kind = 0; kind < TRACE_NR_KINDS; kind++)
		if (trace_kinds[kind].sampled)
			t->kind[kind].sum.events = counts[kind].seen;
}

static int hand_over(struct trace_session *s)
{
	struct trace_counts counts[TRACE_NR_KINDS];
	struct trace_result result = {
		.scope = s->o.scope ? s->o.scope : s->o.command[0],
		.source = kernel_source_name(s->source),
		.start_realtime_ns = s->since_ns + s->clock.to_realtime_ns,
		.duration_ns = nanotime() - s->since_ns,
		.classes = s->o.classes,
		.stack_bytes = s->o.kernel.stack_bytes,
		.totals = &s->totals,
		.counts = counts,
		.groups = s->groups,
		.rows = s->rows,
		.stacks = &s->stacks.table,
		.names = s->stacks.names,
		.stack_ends = s->with_stacks ? s->ends : NULL,
		.mappings_lost = s->stacks.lost,
		.no_mappings = s->stacks.no_events.text[0] ? s->stacks.no_events.text : NULL,
		.before = &s->vmstat[0],
		.after = &s->vmstat[1],
		.ksyms = &s->ksyms,
		.min_ns = s->o.kernel.min_ns,
		.sort = s->o.sort,
		.top = s->o.top,
		.frames = s->o.frames,
		.older_ns = s->o.older_ns,
		.min_bytes = s->o.kernel.min_bytes,
		.libc = &s->libc.files,
		.libc_by_calls = s->libc.by_calls,
		.libc_others = s->libc.calls.others,
		.libc_unknown = s->libc.calls.unknown,
	};
	struct doc d = { 0 };
	int rc = 0;

	trace_kernel_look(&s->kernel, s->rows);
	for (int i = 0; !rc && i < KERNEL_NR_TABLES; i++) {
		if (kernel_tables[i].large && !s->o.older_ns)
			continue;
		rc = kernel_rows_read(&s->rows[i], s->source, i);
		if (!rc)
			rc = kernel_rows_since(&s->rows[i], &s->before[i], i);
	}
	vmstat_read(&s->vmstat[1]);	/* the result has no such table then */
	trace_kernel_result(&s->kernel, &result);
	if (!rc)
		rc = trace_heaps_result(&s->heap_results, s->heaps);
	if (!rc)
		rc = trace_blocks_result(&s->blocks, &s->stacks.table, &s->stacks.images.modules);
	result.blocks = s->blocks.results.v;
	result.nr_blocks = s->blocks.results.nr;
	result.heaps = s->heap_results.v.v;
	result.nr_heaps = s->heap_results.v.nr;
	if (s->o.classes >> EVENT_CACHE & 1 && !mounts_read(&s->mounts, NULL))
		result.mounts = &s->mounts;
	if (!rc)
		rc = read_counts(s, counts, s->groups);
	if (rc)
		return rc;
	count_sampled(&s->totals, counts);
	trace_libc_count(&s->libc, s->o.classes, &s->totals, counts);
	if (s->o.folded)
		return hand_over_folded(s, &result);
	trace_document(&d, &result);
	rc = doc_error(&d);
	if (!rc)
		rc = session_document(s->to, &d, s->o.lines || s->said);
	s->said = true;
	doc_fini(&d);
	return rc;
}

/* ---- the loop ---- */

static void on_tick(void *arg, uint64_t now_ns)
{
	struct trace_session *s = arg;

	drain(s);
	loop_set_timer(s->o.loop, s->tick, now_ns + KERNEL_STEP_NS);
}

static void on_filling(void *arg, uint32_t events)
{
	(void)events;
	drain(arg);
}

static void on_end(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	trace_session_end(arg);
}

static void on_interval(void *arg, uint64_t now_ns)
{
	struct trace_session *s = arg;
	int rc;

	drain(s);
	rc = s->heaps ? trace_heaps_look(s->heaps) : 0;
	if (!rc && !s->failed)
		rc = hand_over(s);
	if (rc) {
		s->failed = rc;
		s->ending = true;
	}
	trace_totals_clear(&s->totals);
	s->since_ns = nanotime();
	vmstat_read(&s->vmstat[0]);
	loop_set_timer(s->o.loop, s->interval, now_ns + s->o.interval_ns);
}

static void on_second(void *arg, uint64_t now_ns)
{
	struct trace_session *s = arg;

	trace_moments_add(&s->moments);
	loop_set_timer(s->o.loop, s->second, now_ns + TRACE_MOMENT_NS);
}

static void on_child(void *arg, pid_t pid, int status)
{
	struct trace_session *s = arg;

	(void)pid;
	gate_collected(&s->gate);
	s->child = NULL;
	s->status = status;
	s->ending = true;
}

static int add_timers(struct trace_session *s)
{
	uint64_t now = nanotime();
	int rc = loop_add_timer(s->o.loop, now + KERNEL_STEP_NS, on_tick, s, &s->tick);
	int fd = kernel_source_fd(s->source);

	if (!rc && fd >= 0)
		rc = loop_add_fd(s->o.loop, fd, EPOLLIN, on_filling, s, &s->filling);
	if (!rc && s->o.classes >> EVENT_OOM & 1)
		rc = loop_add_timer(s->o.loop, now, on_second, s, &s->second);
	if (!rc && s->o.duration_ns)
		rc = loop_add_timer(s->o.loop, now + s->o.duration_ns, on_end, s, &s->end);
	if (!rc && s->o.interval_ns)
		rc = loop_add_timer(s->o.loop, now + s->o.interval_ns, on_interval, s,
				    &s->interval);
	return rc;
}

/* ---- */

static int open_source(struct trace_session *s, struct err *e)
{
	struct kernel_options k = s->o.kernel;
	int rc = 0;

	k.by_targets = s->o.command;
	if (s->gate.pid) {
		k.pids = &s->gate.pid;
		k.nr_pids = 1;
		k.at_exec = true;
	} else if (!s->o.command) {
		k.pids = s->targets.all.pids.v;
		k.nr_pids = s->targets.all.pids.nr;
	}
	event_classes_ask(&k, s->o.classes);
	if (k.nr_pids || k.by_targets)
		k.groups |= 1u << KERNEL_LIFE;	/* it forgets those that end */
	if (s->with_stacks) {
		event_classes_ask_life(&k);	/* what is mapped where is known by these */
		k.mapped = trace_stacks_mapped;
		k.mapped_arg = &s->stacks;
	}
	if (s->o.classes >> EVENT_LIBC & 1) {
		rc = trace_libc_prepare(&s->libc, k.pids, s->o.command ? 0 : k.nr_pids,
					!k.nr_pids && !s->o.command, k.kinds);
		k.libc = &s->libc.files;
	}
	if (!rc)
		rc = kernel_source_open(trace_session_source(&s->o), &k, &s->source, e);
	if (!rc && k.libc && s->with_stacks)
		s->libc.by_calls = trace_libc_fails(s->source);
	return rc;
}

/* Until it executes, the command is a copy of ours. */
static void follow_mappings(struct trace_session *s)
{
	const pid_t *pids = s->o.command ? &s->gate.pid : s->targets.all.pids.v;
	size_t nr = s->o.command ? 1 : s->targets.all.pids.nr;

	if (kernel_source_by_process(s->source))
		trace_stacks_told(&s->stacks, pids, nr);
	else if (s->o.map_events)
		trace_stacks_follow(&s->stacks, pids, nr);
}

int trace_session_open(struct trace_session **out, const struct trace_options *o,
		       const struct session_sink *to, struct err *e)
{
	struct trace_session *s = calloc(1, sizeof(*s));
	int rc = 0;

	*out = NULL;
	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	s->o = *o;
	if (o->why_source) {
		s->why_source = *o->why_source;
		s->o.why_source = &s->why_source;
	}
	s->to = to;
	s->gate = GATE_NONE;
	s->status = -1;
	if (o->kernel.stack_bytes && !trace_session_heap_alone(o)) {
		s->with_stacks = true;
		rc = trace_stacks_init(&s->stacks);
	}
	if (!rc)
		rc = trace_session_open_heaps(s, e);
	if (!rc && s->heaps && !o->command)	/* before the trace sees what that does */
		rc = trace_heaps_start(s->heaps, e);
	if (!rc && o->command && !s->heaps)
		rc = gate_fork(&s->gate, o->command, o->mask, e);
	if (!rc)
		rc = trace_targets_init(&s->targets, o->kernel.pids, o->kernel.nr_pids, o->tree, e);
	if (!rc)
		rc = trace_targets_watch(&s->targets, o->loop, &s->ending, e);
	if (!rc)
		rc = open_source(s, e);
	if (!rc && s->heaps && o->command && kernel_source_by_process(s->source))
		rc = trace_session_refuse_both(e);
	if (!rc && trace_targets_complete(&s->targets, s->source))
		rc = err_set(e, -ENOMEM, "processes cannot be listed");
	if (!rc)
		rc = trace_lacks_warn(s->source, &s->o, to, e);
	if (rc) {
		trace_session_close(s);
		return rc;
	}
	if (s->with_stacks && !(s->heaps && o->command))
		follow_mappings(s);	/* last: nothing empties its rings before the run */
	if (trace_session_hide_hooks(s)) {
		trace_session_close(s);
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (o->classes >> EVENT_KERNEL & 1)
		trace_kernel_start(&s->kernel, &o->kernel, to);
	s->command = s->gate.pid;
	s->clock.start_ns = s->since_ns = nanotime();
	s->clock.to_realtime_ns = nanotime_of(CLOCK_REALTIME) - nanotime();
	s->clock.show_realtime = o->clock;
	vmstat_read(&s->vmstat[0]);	/* no comparison then */
	*out = s;
	return 0;
}

static int say_heading(struct trace_session *s)
{
	struct event e = { 0 };
	int rc;

	trace_heading(&e, &s->clock);
	rc = session_event(s->to, &e);
	event_fini(&e);
	return rc;
}

static int let_go(struct trace_session *s, struct err *e)
{
	int rc = s->heaps ? trace_heaps_start(s->heaps, e) : gate_open(&s->gate, e);

	if (!rc && s->heaps)
		return 0;
	if (!rc)
		return loop_add_child(s->o.loop, s->gate.pid, on_child, s, &s->child);
	if (!*e->text)
		err_set(e, rc, "cannot execute '%s': %s", s->o.command[0], strerror(-rc));
	e->exit_code = rc == -ENOENT ? 127 : 126;
	return rc;
}

int trace_session_run(struct trace_session *s, struct err *e)
{
	int rc = add_timers(s);

	if (!rc && s->o.lines && !trace_session_heap_alone(&s->o))
		rc = say_heading(s);
	if (!rc && s->o.command)
		rc = let_go(s, e);
	else if (!rc && !s->o.quiet && !s->o.duration_ns)
		session_note(s->to, "tracing %s until Ctrl-C", s->o.scope);
	else if (!rc && !s->o.quiet)
		session_note(s->to, "tracing %s for %s", s->o.scope,
			     fmt_duration_given(s->o.duration_ns).s);
	prompt_begin(&s->prompt);	/* after a command was forked, which is as we were */
	while (!rc && !s->ending) {
		rc = loop_step(s->o.loop, -1);
		rc = rc > 0 ? 0 : rc;
	}
	return rc ? rc : s->failed;
}

void trace_session_end(struct trace_session *s)
{
	s->ending = true;
}

int trace_session_finish(struct trace_session *s, struct err *e)
{
	int rc = 0;

	drain(s);
	if (s->heaps) {
		trace_session_leave_alone(s);
		drain(s);
		rc = trace_heaps_end(s->heaps);
	}
	if (!rc)
		rc = s->failed ? s->failed : hand_over(s);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory") : rc;
}

int trace_session_status(const struct trace_session *s)
{
	return s->status;
}

void trace_session_close(struct trace_session *s)
{
	if (!s)
		return;
	prompt_end(&s->prompt);
	loop_del(s->o.loop, s->tick);
	loop_del(s->o.loop, s->filling);
	loop_del(s->o.loop, s->end);
	loop_del(s->o.loop, s->interval);
	loop_del(s->o.loop, s->second);
	loop_del(s->o.loop, s->child);
	trace_blocks_fini(&s->blocks);
	trace_heaps_close(s->heaps);
	vec_fini(&s->heap_results.v);
	kernel_source_close(s->source);
	gate_close(&s->gate);
	trace_targets_fini(&s->targets);
	trace_totals_fini(&s->totals);
	if (s->with_stacks)
		trace_stacks_fini(&s->stacks);
	fault_names_fini(&s->files);
	trace_libc_fini(&s->libc);
	for (int i = 0; i < KERNEL_NR_TABLES; i++) {
		kernel_rows_fini(&s->rows[i]);
		kernel_rows_fini(&s->before[i]);
	}
	vmstat_fini(&s->vmstat[0]);
	vmstat_fini(&s->vmstat[1]);
	ksyms_fini(&s->ksyms);
	trace_kernel_fini(&s->kernel);
	mounts_fini(&s->mounts);
	free(s);
}
