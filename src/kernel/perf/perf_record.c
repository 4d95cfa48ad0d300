/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records begun, counted and handed over. */
#include <string.h>

#include "src/kernel/event_class.h"
#include "src/kernel/perf/perf_taker_priv.h"

struct trace_record perf_record(const struct perf_taker *t, enum trace_kind kind,
				const struct perf_who *w)
{
	const struct perf_task *task = perf_task_find(&t->tasks, (pid_t)w->tid);
	struct trace_record r = { .time_ns = w->time_ns, .kind = kind, .tgid = w->pid,
				  .tid = w->tid, .uid = t->uid, .weight = 1 };

	if (task)
		memcpy(r.comm, task->comm, sizeof(r.comm));
	return r;
}

bool perf_passes(const struct perf_taker *t, const struct trace_record *r)
{
	return !t->comm || !strncmp(t->comm, r->comm, TRACE_COMM_BYTES);
}

int perf_hand_over(struct perf_taker *t, const struct trace_record *r, const void *tail)
{
	if (!(t->wanted[r->kind / 64] >> r->kind % 64 & 1))
		return 0;
	if (trace_is_small(r, t->min_bytes))
		return 0;
	t->taken++;
	return t->take(t->take_arg, r, tail);
}

int perf_count(struct perf_taker *t, const struct trace_record *r, const void *tail)
{
	if (!perf_passes(t, r))
		return 0;
	t->counts[r->kind].seen++;
	return perf_hand_over(t, r, tail);
}

void perf_note_file(void *arg, const struct area_piece *p, const char *path)
{
	struct perf_taker *t = arg;

	perf_faults_file(&t->faults, p, path);	/* its path is missing then, which is shown */
}
