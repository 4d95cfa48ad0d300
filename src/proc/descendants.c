/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parents of all processes, sorted; then children of each one in the list, which grows. */
#include "src/proc/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/proc/proc.h"
#include "src/proc/task.h"

struct child {
	pid_t parent, pid;
	bool listed;
};

struct children {
	VEC(struct child) all;		/* by parent */
};

static int by_parent(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int read_children(struct children *c)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (errno = 0, entry = readdir(dir))) {
		struct child child = { .pid = proc_parse_pid(entry->d_name) };
		uint64_t parent;

		if (!child.pid || task_stat(child.pid, child.pid, 4, &parent))
			continue;	/* it has ended by now */
		child.parent = (pid_t)parent;
		rc = vec_push(&c->all, child);
	}
	if (!rc && errno)
		rc = -errno;
	closedir(dir);
	vec_sort(&c->all, by_parent);
	return rc;
}

int pid_list_all(struct pid_list *list)
{
	struct children c = { 0 };
	int rc = read_children(&c);

	for (size_t i = 0; !rc && i < c.all.nr; i++)
		rc = vec_push(&list->pids, c.all.v[i].pid);
	vec_fini(&c.all);
	return rc;
}

/* Index of the first child of a process, or where it would be. */
static size_t first_of(const struct children *c, pid_t parent)
{
	size_t low = 0, high = c->all.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->all.v[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void mark_listed(struct children *c, const struct pid_list *list)
{
	vec_each(&c->all, child)
		for (size_t i = 0; i < list->pids.nr && !child->listed; i++)
			child->listed = list->pids.v[i] == child->pid;
}

int descendants_add(struct pid_list *list)
{
	struct children c = { 0 };
	int rc = read_children(&c);

	mark_listed(&c, list);
	for (size_t i = 0; !rc && i < list->pids.nr; i++) {
		pid_t parent = list->pids.v[i];

		for (size_t at = first_of(&c, parent);
		     !rc && at < c.all.nr && c.all.v[at].parent == parent; at++) {
			if (c.all.v[at].listed)
				continue;
			c.all.v[at].listed = true;
			rc = vec_push(&list->pids, c.all.v[at].pid);
		}
	}
	vec_fini(&c.all);
	return rc;
}
