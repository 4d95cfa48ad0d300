/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each kind of record of perf events, see perf_event_open(2). */
#include "src/kernel/perf/perf_taker.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "src/kernel/map_events.h"
#include "src/kernel/perf/perf_exec.h"
#include "src/kernel/perf/perf_taker_priv.h"

/* ---- mappings ---- */

static int say_mapping(struct perf_taker *t, const struct perf_mapping *m, const struct perf_who *w,
		       const struct area_news *news)
{
	struct trace_record r = perf_record(t, TRACE_MMAP, w);

	r.a[0] = news->start;
	r.a[1] = news->end - news->start;
	r.a[2] = m->prot;
	switch (news->change) {
	case AREA_NOTHING:
		return 0;
	case AREA_PROTECTED:
		r.kind = TRACE_MPROTECT;
		return perf_count(t, &r, NULL);
	case AREA_BREAK:
		r.kind = TRACE_BRK;
		r.a[0] = r.a[5] = news->end;
		r.a[1] = news->start;
		r.a[2] = news->before;
		r.a[3] = news->before ? news->end - news->before : 0;
		return perf_count(t, &r, NULL);
	case AREA_MADE:
		break;
	}
	r.a[3] = m->flags | (m->map.ino ? 0u : MAP_ANONYMOUS);
	r.a[4] = TRACE_NO_DESCRIPTOR;
	r.a[5] = news->start;
	if (m->map.ino) {
		r.a[4] |= (uint64_t)(m->map.dev_major << 20 | m->map.dev_minor) << 32;
		r.a[6] = m->map.offset + (news->start - m->map.start);
		r.a[7] = m->map.ino;
	}
	return perf_count(t, &r, NULL);
}

static int tell_mapped(struct perf_taker *t, const struct perf_mapping *m, const struct perf_who *w)
{
	struct map_event e = { .time_ns = w->time_ns, .tgid = (pid_t)w->pid, .map = m->map };

	if (!t->mapped || !(m->prot & PROT_EXEC))
		return 0;
	e.map.perms = PROC_MAP_EXEC;
	return t->mapped(t->mapped_arg, &e);
}

static int take_mapping(struct perf_taker *t, const struct perf_event_header *h,
			const struct perf_who *w)
{
	struct perf_process *p = perf_process_get(&t->tasks, (pid_t)w->pid);
	struct areas *a = p ? perf_process_areas(p, perf_note_file, t) : NULL;
	struct area_news news;
	struct area_piece piece;
	struct perf_mapping m;
	int rc = a ? 0 : -ENOMEM;

	if (!rc && !perf_mapping_read(h, h->size - PERF_TRAILER_BYTES, &m)) {
		t->damaged++;
		return 0;
	}
	if (!rc)
		rc = areas_map(a, &m, &news);
	if (rc)
		return rc;
	piece = areas_piece(&m);
	perf_note_file(t, &piece, m.map.path);
	rc = tell_mapped(t, &m, w);
	if (!rc && p->executes && m.map.ino) {
		struct trace_record r = perf_record(t, TRACE_EXEC, w);

		p->executes = false;
		r.a[0] = (uint32_t)p->parent;
		r.flags |= TRACE_TEXT;
		r.tail_bytes = perf_exec_text(t->text, p->tgid, m.map.path, &r.flags);
		rc = perf_count(t, &r, t->text);
	}
	return rc ? rc : say_mapping(t, &m, w, &news);
}

/* ---- processes ---- */

struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct record_task {		/* PERF_RECORD_FORK, PERF_RECORD_EXIT */
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

static int begin_program(struct perf_taker *t, const struct perf_who *w)
{
	struct perf_process *p = perf_process_get(&t->tasks, (pid_t)w->pid);
	struct map_event e = { .time_ns = w->time_ns, .tgid = (pid_t)w->pid, .exec = true };
	int rc = p ? perf_process_exec(p, w->time_ns) : -ENOMEM;

	perf_task_alone(&t->tasks, (pid_t)w->tid, (pid_t)w->pid);
	return rc || !t->mapped ? rc : t->mapped(t->mapped_arg, &e);
}

/* A new name; the record is the thread's own, with the name that it had. */
static int take_comm(struct perf_taker *t, const struct record_comm *c, size_t bytes,
		     const struct perf_who *w)
{
	struct trace_record r = perf_record(t, TRACE_RENAME, w);
	struct perf_task *task = perf_task_find(&t->tasks, (pid_t)w->tid);
	bool exec = c->header.misc & PERF_RECORD_MISC_COMM_EXEC;
	size_t room = bytes - sizeof(*c);
	int rc = 0;

	memset(t->text, 0, TRACE_COMM_BYTES);
	strncpy(t->text, c->comm, room < TRACE_COMM_BYTES ? room : TRACE_COMM_BYTES - 1);
	r.flags |= TRACE_TEXT;
	r.tail_bytes = strlen(t->text);
	/* of another thread: written to /proc/PID/task/TID/comm */
	if (c->tid == w->tid)
		rc = perf_count(t, &r, t->text);
	task = perf_task_find(&t->tasks, (pid_t)c->tid);
	if (task)
		memcpy(task->comm, t->text, sizeof(task->comm));
	return rc || !exec ? rc : begin_program(t, w);
}

#define NOT_FOLLOWED	(-1)	/* of no event: nothing of it counts */

static int take_fork(struct perf_taker *t, const struct record_task *f, pid_t given,
		     const struct perf_who *w)
{
	const struct perf_task *parent = perf_task_find(&t->tasks, (pid_t)w->tid);
	struct trace_record r = perf_record(t, TRACE_FORK, w);
	struct perf_process *p;
	struct perf_task *child;

	if (f->pid != f->ppid) {
		struct perf_process *c = perf_process_get(&t->tasks, (pid_t)f->pid);

		p = perf_process_find(&t->tasks, (pid_t)w->pid);
		if (!c)
			return -ENOMEM;
		if (p)
			perf_process_fork(c, p);
	}
	child = perf_task_find(&t->tasks, (pid_t)f->tid);
	if (child && child->source == child->tid && t->twice)
		t->twice(t->twice_arg, child->tid);
	child = perf_task_add(&t->tasks, (pid_t)f->tid, (pid_t)f->pid,
			      t->alone && f->pid != f->ppid ? NOT_FOLLOWED : given);
	if (!child)
		return -ENOMEM;
	parent = perf_task_find(&t->tasks, (pid_t)w->tid);
	child->start_ns = w->time_ns;
	if (parent)
		memcpy(child->comm, parent->comm, sizeof(child->comm));
	r.a[0] = f->pid;
	r.a[1] = f->tid;
	return perf_count(t, &r, NULL);
}

static int take_exit(struct perf_taker *t, const struct record_task *x, const struct perf_who *w)
{
	struct perf_task *task = perf_task_find(&t->tasks, (pid_t)x->tid);
	struct trace_record r = perf_record(t, TRACE_EXIT, w);

	r.a[0] = TRACE_NOT_KNOWN;
	r.a[3] = x->ppid;
	if (task && task->start_ns && w->time_ns > task->start_ns)
		r.a[4] = w->time_ns - task->start_ns;
	if (task)
		r.a[2] = perf_task_end(&t->tasks, task);
	return perf_count(t, &r, NULL);
}

static int take_lost(struct perf_taker *t, const struct perf_kind *kind,
		     const struct record_lost *l)
{
	if (!kind->spare)
		t->counts[kind->kind].lost += l->lost;
	return 0;
}

/* ---- */

/*
 * Does the record count for its thread? One that is not known has been started when a record was
 * lost: the first that comes of it decides.
 */
static int is_its_own(struct perf_taker *t, const struct perf_who *w, pid_t given, bool *own)
{
	struct perf_task *task = perf_task_find(&t->tasks, (pid_t)w->tid);

	if (!task) {
		task = perf_task_add(&t->tasks, (pid_t)w->tid, (pid_t)w->pid, given);
		if (!task)
			return -ENOMEM;
		perf_exec_comm((pid_t)w->pid, (pid_t)w->tid, task->comm);
	}
	*own = task->source == given;
	return 0;
}

static bool is_long_enough(const struct perf_event_header *h, size_t bytes)
{
	switch (h->type) {
	case PERF_RECORD_COMM:
		return bytes > sizeof(struct record_comm);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return bytes >= sizeof(struct record_task);
	case PERF_RECORD_LOST:
		return bytes >= sizeof(struct record_lost);
	default:
		return true;
	}
}

static int take_side(struct perf_taker *t, const struct perf_kind *kind, pid_t given,
		     const struct perf_event_header *h, const struct perf_who *w)
{
	size_t bytes = h->size - PERF_TRAILER_BYTES;

	switch (h->type) {
	case PERF_RECORD_COMM:
		return take_comm(t, (const void *)h, bytes, w);
	case PERF_RECORD_FORK:
		return take_fork(t, (const void *)h, given, w);
	case PERF_RECORD_EXIT:
		return take_exit(t, (const void *)h, w);
	case PERF_RECORD_MMAP2:
		return take_mapping(t, h, w);
	case PERF_RECORD_LOST:
		return take_lost(t, kind, (const void *)h);
	default:
		return 0;		/* of a kernel to come */
	}
}

int perf_taker_take(struct perf_taker *t, const struct perf_kind *kind, pid_t given,
		    const struct perf_event_header *h)
{
	struct perf_sample sample;
	struct perf_who w;
	bool own, is_sample = h->type == PERF_RECORD_SAMPLE;
	int rc;

	if (h->size < sizeof(*h) + PERF_TRAILER_BYTES || (is_sample && !kind->kind) ||
	    !is_long_enough(h, h->size - PERF_TRAILER_BYTES) ||
	    (is_sample && !perf_sample_read(t, kind, h, &sample))) {
		t->damaged++;
		return 0;
	}
	if (is_sample) {
		w = sample.who;
	} else {
		memcpy(&w.pid, (const char *)h + h->size - PERF_TRAILER_BYTES, 8);
		w.time_ns = perf_record_time(h);
	}
	if (h->type == PERF_RECORD_LOST)
		return take_lost(t, kind, (const void *)h);
	if ((int32_t)w.pid <= 0 || (int32_t)w.tid <= 0)
		return 0;		/* of another pid namespace, or of none any more */
	rc = is_its_own(t, &w, given, &own);
	if (rc || !own)
		return rc;
	return is_sample ? perf_sample_take(t, kind, &sample) : take_side(t, kind, given, h, &w);
}

int perf_taker_given(struct perf_taker *t, pid_t pid, pid_t tid, uint64_t start_ns, bool at_exec)
{
	struct perf_task *task = perf_task_add(&t->tasks, tid, pid, tid);
	struct perf_process *p = task ? perf_process_find(&t->tasks, pid) : NULL;

	if (!p)
		return -ENOMEM;
	task->start_ns = start_ns;
	p->parent = perf_exec_parent(pid);
	perf_exec_comm(pid, tid, task->comm);
	/* at once: its end may come before its first record is read */
	return at_exec || p->areas || perf_process_areas(p, perf_note_file, t) ? 0 : -ENOMEM;
}

void perf_taker_fini(struct perf_taker *t)
{
	perf_tasks_fini(&t->tasks);
	perf_faults_fini(&t->faults);
}
