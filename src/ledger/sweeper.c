/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sweeping in a thread of its own. */
#include "src/ledger/sweeper.h"

#include "src/base/thread.h"

#define STACK_BYTES (1u << 20)

static void *run(void *arg)
{
	struct sweeper *w = arg;

	w->found = sweep_file(&w->sweep, w->pid, -1, -1, &w->heap, &w->err);
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

int sweeper_start(struct sweeper *w, pid_t pid, struct sweep *s)
{
	int rc;

	*w = (struct sweeper){ .pid = pid, .sweep = *s };
	*s = (struct sweep){ 0 };
	rc = thread_start(&w->thread, STACK_BYTES, run, w);
	if (rc) {
		*s = w->sweep;
		*w = (struct sweeper){ 0 };
	}
	return rc;
}

bool sweeper_done(const struct sweeper *w)
{
	return w->pid && __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
}

int sweeper_take(struct sweeper *w, struct sweep *s, struct heap **out, struct err *e)
{
	int found;

	pthread_join(w->thread, NULL);
	found = w->found;
	*s = w->sweep;
	*out = w->heap;
	*e = w->err;
	*w = (struct sweeper){ 0 };
	return found;
}
