/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads and processes by their numbers; the places of those that have ended are used again. */
#include "src/kernel/perf/perf_tasks.h"

#include <errno.h>
#include <string.h>

#include "src/proc/task.h"

#define NONE	UINT32_MAX

static uint32_t index_of(const struct hash_map *m, pid_t number)
{
	const uint32_t *at = hash_find(m, (uint64_t)number);

	return at ? *at : NONE;
}

struct perf_task *perf_task_find(const struct perf_tasks *t, pid_t tid)
{
	uint32_t at = index_of(&t->by_tid, tid);

	return at == NONE ? NULL : &t->tasks.v[at];
}

struct perf_process *perf_process_find(const struct perf_tasks *t, pid_t tgid)
{
	uint32_t at = index_of(&t->by_tgid, tgid);

	return at == NONE ? NULL : &t->processes.v[at];
}

struct perf_process *perf_process_get(struct perf_tasks *t, pid_t tgid)
{
	struct perf_process *p = perf_process_find(t, tgid), fresh = { .tgid = tgid };
	uint32_t at = t->processes.nr;

	if (p)
		return p;
	if (t->free_processes.nr)
		at = t->free_processes.v[--t->free_processes.nr];
	else if (vec_push(&t->processes, fresh))
		return NULL;
	t->processes.v[at] = fresh;
	if (!hash_put(&t->by_tgid, (uint64_t)tgid, at))
		return &t->processes.v[at];
	vec_push(&t->free_processes, at);	/* else its place is lost, and no more */
	return NULL;
}

#define MANY_NUMBERS	65536u

/* Numbers of what has ended are many after some time. 0 or -ENOMEM. */
static int numbers_shrink(struct perf_tasks *t)
{
	struct hash_map tids = { 0 }, tgids = { 0 };
	size_t live = t->tasks.nr - t->free_tasks.nr;
	int rc = 0;

	if (t->by_tid.nr < MANY_NUMBERS || t->by_tid.nr < 4 * live)
		return 0;
	for (uint32_t i = 0; !rc && i < t->tasks.nr; i++)
		if (t->tasks.v[i].tid)
			rc = hash_put(&tids, (uint64_t)t->tasks.v[i].tid, i);
	for (uint32_t i = 0; !rc && i < t->processes.nr; i++)
		if (t->processes.v[i].tgid)
			rc = hash_put(&tgids, (uint64_t)t->processes.v[i].tgid, i);
	if (rc) {
		hash_fini(&tids);
		hash_fini(&tgids);
		return rc;
	}
	hash_fini(&t->by_tid);
	hash_fini(&t->by_tgid);
	t->by_tid = tids;
	t->by_tgid = tgids;
	return 0;
}

struct perf_task *perf_task_add(struct perf_tasks *t, pid_t tid, pid_t tgid, pid_t source)
{
	struct perf_task fresh = { .tid = tid, .tgid = tgid, .source = source };
	struct perf_task *known = perf_task_find(t, tid);
	uint32_t at = t->tasks.nr;
	struct perf_process *p;

	if (known)			/* its end was lost */
		perf_task_end(t, known);
	if (numbers_shrink(t))
		return NULL;
	p = perf_process_get(t, tgid);
	if (!p)
		return NULL;
	if (t->free_tasks.nr)
		at = t->free_tasks.v[--t->free_tasks.nr];
	else if (vec_push(&t->tasks, fresh))
		return NULL;
	t->tasks.v[at] = fresh;
	if (hash_put(&t->by_tid, (uint64_t)tid, at)) {
		vec_push(&t->free_tasks, at);	/* as above */
		return NULL;
	}
	p->nr_threads++;
	return &t->tasks.v[at];
}

static void process_end(struct perf_tasks *t, struct perf_process *p)
{
	uint32_t at = p - t->processes.v;

	areas_drop(p->areas);
	hash_put(&t->by_tgid, (uint64_t)p->tgid, NONE);	/* it is in there */
	*p = (struct perf_process){ 0 };
	vec_push(&t->free_processes, at);
}

bool perf_task_end(struct perf_tasks *t, struct perf_task *task)
{
	struct perf_process *p = perf_process_find(t, task->tgid);
	uint32_t at = task - t->tasks.v;

	hash_put(&t->by_tid, (uint64_t)task->tid, NONE);	/* it is in there */
	*task = (struct perf_task){ 0 };
	vec_push(&t->free_tasks, at);
	if (!p || !p->nr_threads || --p->nr_threads)
		return false;
	process_end(t, p);
	return true;
}

void perf_task_alone(struct perf_tasks *t, pid_t tid, pid_t tgid)
{
	const struct perf_process *p = perf_process_find(t, tgid);

	if (!p || p->nr_threads <= 1)
		return;
	vec_each(&t->tasks, task)
		if (task->tgid == tgid && task->tid != tid)
			perf_task_end(t, task);
}

struct areas *perf_process_areas(struct perf_process *p, areas_file *file, void *arg)
{
	struct areas *own;

	if (!p->areas) {
		p->areas = areas_new();
		if (p->areas)
			areas_read(p->areas, task_proc(p->tgid), file, arg); /* or nothing */
		return p->areas;
	}
	own = areas_own(p->areas);
	if (own)
		p->areas = own;
	return own;
}

int perf_process_exec(struct perf_process *p, uint64_t time_ns)
{
	struct areas *fresh = areas_new();

	if (!fresh)
		return -ENOMEM;
	fresh->beginning = true;
	areas_drop(p->areas);
	p->areas = fresh;
	p->executes = true;
	p->exec_ns = time_ns;
	return 0;
}

void perf_process_fork(struct perf_process *child, struct perf_process *parent)
{
	child->parent = parent->tgid;
	if (!parent->areas)
		return;			/* it is read when it is needed */
	areas_drop(child->areas);
	child->areas = parent->areas;
	child->areas->refs++;
}

void perf_tasks_fini(struct perf_tasks *t)
{
	vec_each(&t->processes, p)
		areas_drop(p->areas);
	vec_fini(&t->processes);
	vec_fini(&t->tasks);
	vec_fini(&t->free_processes);
	vec_fini(&t->free_tasks);
	hash_fini(&t->by_tid);
	hash_fini(&t->by_tgid);
	*t = (struct perf_tasks){ 0 };
}
