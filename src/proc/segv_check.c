/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does SIGSEGV reach a handler in a process? */
#include "src/proc/segv_check.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/proc/proc.h"
#include "src/proc/task.h"

#define FAULT	(1ull << (SIGSEGV - 1))
#define LOOKS	20
#define LOOK_NS	5000000

struct status {
	uint64_t blocked, ignored, seccomp;
};

/* False: the thread has ended. */
static bool status_read(pid_t pid, pid_t tid, struct status *s)
{
	return !task_status(pid, tid, "SigBlk", 16, &s->blocked) &&
	       !task_status(pid, tid, "SigIgn", 16, &s->ignored) &&
	       !task_status(pid, tid, "Seccomp", 10, &s->seccomp);
}

/*
 * The C library blocks all signals for a moment where it makes threads and processes: that is no
 * wish of the program's.
 */
static bool status_settled(pid_t pid, pid_t tid, struct status *s)
{
	bool lives = status_read(pid, tid, s);

	for (unsigned i = 0; i < LOOKS && lives && s->blocked & FAULT; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
		lives = status_read(pid, tid, s);
	}
	return lives;
}

static int judge(pid_t pid, const struct proc_thread *t, const struct status *s, struct err *e)
{
	if (s->seccomp)
		err_set(e, -ENOTSUP,
			"blocks of process %d cannot be guarded: a seccomp filter judges its "
			"system calls",
			(int)pid);
	else if (s->ignored & FAULT)
		err_set(e, -ENOTSUP, "blocks of process %d cannot be guarded: it ignores SIGSEGV",
			(int)pid);
	else if (s->blocked & FAULT)
		err_set(e, -ENOTSUP,
			"blocks of process %d cannot be guarded: thread '%s' (%d) blocks SIGSEGV, "
			"and a heap error of it would end "
			"the process",
			(int)pid, t->comm, (int)t->tid);
	else
		return 0;
	err_hint(e, "start the program with 'pmm check' instead, or attach without --check");
	return -ENOTSUP;
}

int segv_check(pid_t pid, struct err *e)
{
	struct proc_thread *threads = NULL;
	ssize_t nr = proc_threads(pid, &threads);
	int rc = nr < 0 ? (int)nr : 0;

	if (rc)
		err_set(e, rc, "process %d cannot be read: %s", (int)pid, strerror(-rc));
	for (ssize_t i = 0; !rc && i < nr; i++) {
		struct status s;

		if (status_settled(pid, threads[i].tid, &s))
			rc = judge(pid, &threads[i], &s, e);
	}
	free(threads);
	return rc;
}
