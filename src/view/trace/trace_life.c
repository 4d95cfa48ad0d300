/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about processes: who begins, ends, and is called what. */
#include <signal.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/view/trace/trace_line.h"

/* Arguments follow each other with NULs between; one with a blank is put into quotes. */
static void describe_exec(struct str *text, struct event *e, const struct trace_record *r,
			  const char *tail)
{
	const char *arg = tail + TRACE_TEXT_SECOND, *end = tail + r->tail_bytes;

	event_text(e, "file", tail);
	event_u64(e, "parent_pid", UNIT_NUMBER, r->a[0]);
	event_list(e, "arguments");
	str_addf(text, "%s, parent %llu:", tail, (unsigned long long)r->a[0]);
	for (; arg < end; arg += strlen(arg) + 1) {
		bool quote = !*arg || strpbrk(arg, " \t\n'\"");

		event_text(e, NULL, arg);
		str_addf(text, quote ? " '%s'" : " %s", arg);
	}
	event_end(e);
	event_u64(e, "arguments_cut", UNIT_BOOL, !!(r->flags & TRACE_CUT));
	if (r->flags & TRACE_CUT)
		str_add(text, " ...");
}

static void describe_fork(struct str *text, struct event *e, const struct trace_record *r)
{
	bool thread = r->a[0] == r->tgid;

	event_u64(e, "child_pid", UNIT_NUMBER, r->a[0]);
	event_u64(e, "child_tid", UNIT_NUMBER, r->a[1]);
	if (thread)
		str_addf(text, "thread %llu", (unsigned long long)r->a[1]);
	else
		str_addf(text, "process %llu", (unsigned long long)r->a[0]);
}

#define CORE_DUMPED	0x80	/* of a wait status, wait(2) */

static void describe_status(struct str *text, struct event *e, uint64_t of)
{
	int status = of, signal = status & 0x7f;
	const char *name;

	if (of == TRACE_NOT_KNOWN) {
		str_add(text, "ended");
		return;
	}
	if (!signal) {
		event_u64(e, "exit_status", UNIT_NUMBER, status >> 8 & 0xff);
		str_addf(text, "status %d", status >> 8 & 0xff);
		return;
	}
	name = sigabbrev_np(signal);
	event_u64(e, "signal", UNIT_NUMBER, signal);
	event_u64(e, "core_dumped", UNIT_BOOL, !!(status & CORE_DUMPED));
	if (name)
		str_addf(text, "killed by SIG%s", name);
	else
		str_addf(text, "killed by signal %d", signal);
	str_add(text, status & CORE_DUMPED ? ", core dumped" : "");
}

/* Perf events do not say how it ended and how large it was; the time may not be known. */
static void describe_exit(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "parent_pid", UNIT_NUMBER, r->a[3]);
	if (r->a[4])
		event_u64(e, "age_ns", UNIT_DURATION, r->a[4]);
	event_u64(e, "thread", UNIT_BOOL, !r->a[2]);
	if (!r->a[2])
		str_addf(text, "thread %u", r->tid);
	if (r->a[2] && r->a[1])
		event_u64(e, "peak_resident_bytes", UNIT_BYTES, r->a[1]);
	if (r->a[2])
		describe_status(text, e, r->a[0]);
	if (r->a[4])
		str_addf(text, ", ran %s", fmt_duration(r->a[4]).s);
	if (!r->a[2])
		return;
	if (r->a[1])
		str_addf(text, ", peak resident size %s", fmt_bytes(r->a[1]).s);
	str_addf(text, ", parent %llu", (unsigned long long)r->a[3]);
}

void trace_describe_life(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail)
{
	switch (r->kind) {
	case TRACE_EXEC:
		describe_exec(text, e, r, tail);
		break;
	case TRACE_FORK:
		describe_fork(text, e, r);
		break;
	case TRACE_EXIT:
		describe_exit(text, e, r);
		break;
	case TRACE_RENAME:
		event_text(e, "new_command", tail);
		str_addf(text, "is now '%s'", tail);
		break;
	case TRACE_OOM_SCORE:
		event_u64(e, "oom_score_adj", UNIT_SIGNED, r->a[0]);
		event_u64(e, "of_pid", UNIT_NUMBER, r->a[1]);
		str_addf(text, "oom_score_adj of process %llu is %lld",
			 (unsigned long long)r->a[1], (long long)r->a[0]);
		break;
	}
}
