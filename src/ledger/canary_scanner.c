/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sweeping in a thread of its own. */
#include "src/ledger/canary_scanner.h"

#include "src/base/thread.h"

#define STACK_BYTES (1u << 20)

static void *run(void *arg)
{
	struct canary_scanner *w = arg;

	w->found = canary_scan_file(&w->scan, w->pid, -1, -1, &w->heap, &w->err);
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

int canary_scanner_start(struct canary_scanner *w, pid_t pid, struct canary_scan *s)
{
	int rc;

	*w = (struct canary_scanner){ .pid = pid, .scan = *s };
	*s = (struct canary_scan){ 0 };
	rc = thread_start(&w->thread, STACK_BYTES, run, w);
	if (rc) {
		*s = w->scan;
		*w = (struct canary_scanner){ 0 };
	}
	return rc;
}

bool canary_scanner_done(const struct canary_scanner *w)
{
	return w->pid && __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
}

int canary_scanner_take(struct canary_scanner *w, struct canary_scan *s, struct heap **out,
			struct err *e)
{
	int found;

	pthread_join(w->thread, NULL);
	found = w->found;
	*s = w->scan;
	*out = w->heap;
	*e = w->err;
	*w = (struct canary_scanner){ 0 };
	return found;
}
