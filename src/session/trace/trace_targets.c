/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Given processes are waited for; descendants are looked for twice, so that none is missed. */
#include "src/session/trace/trace_targets.h"

#include <errno.h>
#include <string.h>

int trace_targets_init(struct trace_targets *t, const pid_t *pids, size_t nr, bool tree,
		       struct err *e)
{
	int rc = 0;

	t->tree = tree;
	t->nr_given = nr;
	for (size_t i = 0; !rc && i < nr; i++)
		rc = vec_push(&t->all.pids, pids[i]);
	if (!rc && tree)
		rc = descendants_add(&t->all);
	return rc ? err_set(e, rc, "processes cannot be listed: %s", strerror(-rc)) : 0;
}

static void on_process(void *arg, pid_t pid, int status)
{
	struct trace_targets *t = arg;

	(void)status;
	for (size_t i = 0; i < t->watched.nr; i++)
		if (t->all.pids.v[i] == pid)
			t->watched.v[i] = NULL;
	*t->ending |= !--t->nr_left;
}

int trace_targets_watch(struct trace_targets *t, struct loop *loop, bool *ending, struct err *e)
{
	t->ending = ending;
	t->loop = loop;
	if (vec_resize(&t->watched, t->nr_given))
		return err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < t->nr_given; i++) {
		pid_t pid = t->all.pids.v[i];
		int rc = loop_add_child(loop, pid, on_process, t, &t->watched.v[i]);

		if (rc == -ESRCH) {
			err_set(e, rc, "no process %d", (int)pid);
			err_hint(e, "'ps -e' lists all processes with their numbers");
			return rc;
		}
		if (rc)
			return err_set(e, rc, "process %d cannot be waited for: %s", (int)pid,
				       strerror(-rc));
		t->nr_left++;
	}
	return 0;
}

int trace_targets_complete(struct trace_targets *t, struct kernel_source *source)
{
	size_t known = t->all.pids.nr;
	int rc = t->tree ? descendants_add(&t->all) : 0;

	for (size_t i = known; !rc && i < t->all.pids.nr; i++)
		rc = kernel_source_target(source, t->all.pids.v[i], true);
	return rc;
}

void trace_targets_fini(struct trace_targets *t)
{
	vec_each(&t->watched, w)
		loop_del(t->loop, *w);
	vec_fini(&t->watched);
	vec_fini(&t->all.pids);
}
