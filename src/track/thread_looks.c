/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a process, as they were seen from time to time. */
#include "src/track/thread_looks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/thread.h"
#include "src/proc/proc.h"
#include "src/proc/process_figures.h"

void thread_looks_fini(struct thread_looks *l)
{
	free(l->seen);
	*l = (struct thread_looks){ .seen = NULL };
}

static int compare_tids(const void *a, const void *b)
{
	const struct proc_thread *x = a, *y = b;

	return x->ns_tid < y->ns_tid ? -1 : x->ns_tid > y->ns_tid;
}

static struct ledger_seen seen_now(const struct proc_thread *t, uint64_t now_ns)
{
	struct ledger_seen s = { .tid = (uint32_t)t->ns_tid, .seen_ns = now_ns };

	_Static_assert(sizeof(s.name) == sizeof(t->comm), "the kernel's name, whole");
	memcpy(s.name, t->comm, sizeof(s.name));
	return s;
}

int thread_looks_add(struct thread_looks *l, struct proc_thread *now, size_t nr, uint64_t now_ns)
{
	struct ledger_seen *all = malloc((l->nr + nr + 1) * sizeof(*all));
	/* too many that have ended: all of them go */
	const bool forget = l->nr > THREAD_LOOKS_ENDED + nr;
	uint32_t to = 0, old = 0;

	if (!all)
		return -ENOMEM;
	qsort(now, nr, sizeof(*now), compare_tids);
	for (size_t i = 0; i < nr; i++) {
		struct ledger_seen new = seen_now(&now[i], now_ns);

		for (; old < l->nr && l->seen[old].tid < new.tid; old++)
			if (!forget)
				all[to++] = l->seen[old];
		old += old < l->nr && l->seen[old].tid == new.tid;
		all[to++] = new;
	}
	for (; old < l->nr && !forget; old++)
		all[to++] = l->seen[old];
	free(l->seen);
	l->seen = all;
	l->nr = to;
	l->look_ns = now_ns;
	return 0;
}

/* How many there are; 0 = not known. */
static uint64_t count(pid_t pid)
{
	struct process_figures f;

	return process_figures_stat("", pid, &f) ? 0 : f.threads;
}

/* Of a process with one thread, which is its first one: a list need not be read. */
static void look_at_one(struct thread_looks *l, pid_t pid, uint64_t now_ns)
{
	struct proc_thread only = { .tid = pid };

	if (!l->first)
		l->first = proc_ns_pid(pid);
	only.ns_tid = l->first;
	if (l->first > 0 && !proc_thread_comm(pid, pid, only.comm))
		thread_looks_add(l, &only, 1, now_ns);	/* else the look before counts */
	if (l->first < 0)
		l->first = 0;
}

/* False: not all can be looked at. */
static bool look(struct thread_looks *l, pid_t pid, uint64_t now_ns)
{
	struct proc_thread *now = NULL;
	uint64_t nr = count(pid);
	ssize_t listed;

	if (!nr || nr > THREAD_LOOKS_MOST)
		return false;
	if (nr == 1) {
		look_at_one(l, pid, now_ns);
		return true;
	}
	listed = proc_threads(pid, &now);
	/* a list that is read while a thread ends may lack others */
	if (listed > 0 && (uint64_t)listed >= count(pid))
		thread_looks_add(l, now, (size_t)listed, now_ns); /* else the look before counts */
	free(now);
	return true;
}

void thread_looks_tick(struct thread_looks *l, pid_t pid, uint64_t now_ns)
{
	const uint64_t share = l->share ? l->share : 1;
	uint64_t start, cost_ns, rest_ns;

	if (!l->next_ns)
		l->next_ns = now_ns + THREAD_LOOKS_FIRST_NS;
	if (now_ns < l->next_ns || pid <= 0)
		return;
	start = thread_cpu_ns();
	rest_ns = look(l, pid, now_ns) ? THREAD_LOOKS_NS : THREAD_LOOKS_MANY_NS;
	cost_ns = (thread_cpu_ns() - start) * share * THREAD_LOOKS_REST;
	l->next_ns = now_ns + (cost_ns > rest_ns ? cost_ns : rest_ns);
}
