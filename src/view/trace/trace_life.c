/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about processes: who begins, ends, and is called what. */
#include <signal.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/view/trace/trace_line.h"

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

static void describe_exit(struct str *text, struct event *e, const struct trace_record *r)
{
	int status = r->a[0], signal = status & 0x7f;

	if (!r->a[2]) {
		event_u64(e, "thread", UNIT_BOOL, true);
		str_addf(text, "thread %u", r->tid);
		return;
	}
	event_u64(e, "thread", UNIT_BOOL, false);
	event_u64(e, "exit_status", UNIT_NUMBER, signal ? 0 : status >> 8 & 0xff);
	event_u64(e, "signal", UNIT_NUMBER, signal);
	event_u64(e, "peak_resident_bytes", UNIT_BYTES, r->a[1]);
	if (signal) {
		const char *name = sigabbrev_np(signal);

		str_addf(text, "killed by SIG%s%s", name ? name : "RT",
			 status & CORE_DUMPED ? ", core dumped" : "");
	} else {
		str_addf(text, "status %d", status >> 8 & 0xff);
	}
	str_addf(text, ", peak resident size %s", fmt_bytes(r->a[1]).s);
}

void trace_describe_life(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail)
{
	switch (r->kind) {
	case TRACE_EXEC:
		event_text(e, "file", tail);
		str_add(text, tail);
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
