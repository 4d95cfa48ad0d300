/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all lines have in common. */
#include "src/view/trace/trace_line.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "src/base/utf8.h"
#include "src/view/trace/trace_segv.h"
#include "src/view/trace/trace_stack.h"

#define COLUMNS "%*s  %-15s %7s  %-15s %s\n"

/* Groups of kinds in the order of enum trace_kind: up to `last`, described by `describe`. */
static const struct {
	enum trace_kind last;
	trace_describe *describe;
} describers[] = {
	{ TRACE_OOM_SCORE, trace_describe_life },
	{ TRACE_SHM_UNLINK, trace_describe_call },
	{ TRACE_SWAP_IN, trace_describe_fault },
	{ TRACE_WRITEBACK, trace_describe_reclaim },
	{ TRACE_MIGRATE, trace_describe_compaction },
	{ TRACE_HUGE_SPLIT, trace_describe_huge },
	{ TRACE_OOM_REAPED, trace_describe_oom },
	{ TRACE_RSS, trace_describe_rss },
	{ TRACE_CACHE_REMOVE, trace_describe_cache },
	{ TRACE_RENAME_FILE, trace_describe_file },
	{ TRACE_STACK_GROWTH, trace_describe_growth },
	{ TRACE_SEGV, NULL },			/* needs more */
	{ TRACE_KERNEL_ALLOC, trace_describe_kernel },
	{ TRACE_PAGE_FAULTS, trace_describe_sample },
	{ TRACE_EXEC_FAILED, trace_describe_file },
	{ TRACE_LIBC_TRIM, trace_describe_libc },
};

const char *trace_errno(uint64_t result)
{
	const char *name = strerrorname_np((int)-(int64_t)result);

	return name ? name : "unknown error";
}

static int time_columns(const struct trace_clock *clock)
{
	return clock->show_realtime ? 15 : 12;
}

void trace_heading(struct event *e, const struct trace_clock *clock)
{
	str_addf(&e->text, COLUMNS, time_columns(clock), "TIME", "COMMAND", "PID", "EVENT",
		 "DETAILS");
}

static void describe(struct str *text, struct event *e, const struct trace_record *r,
		     const char *tail)
{
	for (size_t i = 0; i < sizeof(describers) / sizeof(*describers); i++) {
		if (r->kind > describers[i].last)
			continue;
		if (describers[i].describe)
			describers[i].describe(text, e, r, tail);
		return;
	}
}

/* Seconds since the start, or the local time of day. */
static void format_time(char text[32], const struct trace_record *r,
			const struct trace_clock *clock, uint64_t since)
{
	uint64_t now = r->time_ns + clock->to_realtime_ns;
	unsigned micros = (clock->show_realtime ? now : since) / 1000 % 1000000;
	time_t seconds = (time_t)(now / 1000000000);
	struct tm tm;

	if (clock->show_realtime && localtime_r(&seconds, &tm))
		snprintf(text, 32, "%02d:%02d:%02d.%06u", tm.tm_hour, tm.tm_min, tm.tm_sec, micros);
	else
		snprintf(text, 32, "%llu.%06u", (unsigned long long)(since / 1000000000), micros);
}

void trace_line(struct event *e, const struct trace_record *r, const char *tail,
		const struct trace_clock *clock, const struct stack_table *stacks,
		struct stack_names *names, uint32_t number)
{
	trace_line_walked(e, r, tail, clock, stacks, names, number, NULL);
}

void trace_line_walked(struct event *e, const struct trace_record *r, const char *tail,
		       const struct trace_clock *clock, const struct stack_table *stacks,
		       struct stack_names *names, uint32_t number, const struct user_stack *walked)
{
	const struct trace_walked w = { walked, names };
	static const struct trace_clock none;
	uint64_t since;
	char comm[TRACE_COMM_BYTES + 1], time[32], pid[16];
	struct str text = STR_INIT, name = STR_INIT, clean = STR_INIT;

	snprintf(comm, sizeof(comm), "%.*s", TRACE_COMM_BYTES, r->comm);
	clock = clock ? clock : &none;
	since = r->time_ns > clock->start_ns ? r->time_ns - clock->start_ns : 0;
	format_time(time, r, clock, since);
	snprintf(pid, sizeof(pid), "%u", r->tgid);
	event_text(e, "schema", TRACE_SCHEMA);
	event_text(e, "event", trace_kinds[r->kind].name);
	event_u64(e, "since_start_ns", UNIT_DURATION, since);
	if (clock->to_realtime_ns)
		event_u64(e, "realtime_ns", UNIT_TIME, r->time_ns + clock->to_realtime_ns);
	event_u64(e, "pid", UNIT_NUMBER, r->tgid);
	event_u64(e, "tid", UNIT_NUMBER, r->tid);
	event_text(e, "command", comm);
	event_u64(e, "uid", UNIT_NUMBER, r->uid);
	if (r->memcg)
		event_u64(e, "memory_cgroup", UNIT_NUMBER, r->memcg);
	if (r->weight > 1)
		event_u64(e, "weight", UNIT_COUNT, r->weight);
	if (r->kind == TRACE_SEGV)
		trace_describe_segv(&text, e, r, walked ? &w : NULL);
	else
		describe(&text, e, r, tail);
	if (number)
		trace_stack_event(e, &text, stacks, names, number);
	utf8_add_clean(&name, comm);
	utf8_add_clean(&clean, str_text(&text));
	str_addf(&e->text, COLUMNS, time_columns(clock), time, str_text(&name), pid,
		 trace_kinds[r->kind].name, str_text(&clean));
	e->failed |= str_error(&text) || str_error(&name) || str_error(&clean);
	str_fini(&clean);
	str_fini(&name);
	str_fini(&text);
}
