/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm doctor, attaching: the injected agent and a trial attach to a child of our own. */
#include "src/session/doctor/doctor.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/track/track_attach.h"
#include "src/ledger/preload.h"

#define TRIAL_NS	100000000ull
#define SLEEP_NS	1000000

/* A child that allocates now and then until it is killed. */
static pid_t start_child(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		void *volatile p = malloc(100);

		free(p);
		nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
	}
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Attach, see something, detach. */
static void try_child(struct doctor *d, pid_t pid)
{
	struct attach_options o = { 0 };
	struct ledger_totals totals = { 0 };
	struct err e = { .text = "" };
	struct attach *a;
	bool removed = false;
	int rc = attach_open(pid, &o, &a, &e);

	if (!rc)
		rc = attach_start(a, &e);
	if (!rc) {
		attach_wait(a, attach_now_ns(a) + TRIAL_NS);
		attach_totals(a, &totals);
		rc = attach_detach(a, NULL, &removed, &e);
	}
	if (rc)
		doctor_add(d, "attach", DOCTOR_NO, false,
			   "run pmm as root, outside of a restricted container",
			   "a trial attach to a child failed: %s", e.text);
	else if (!totals.allocs || !removed)
		doctor_add(d, "attach", DOCTOR_NO, false, "see what 'pmm attach PID' says",
			   "a trial attach to a child %s",
			   removed ? "saw no allocation" : "could not be undone");
	else
		doctor_add(d, "attach", DOCTOR_OK, false, NULL,
			   "a trial attach to a child saw its allocations and left it as it was; "
			   "stopped for %s and %s",
			   fmt_duration(attach_info(a)->pause_ns).s,
			   fmt_duration(attach_info(a)->detach_pause_ns).s);
	attach_close(a);
}

void doctor_attach(struct doctor *d)
{
	char path[PATH_MAX];
	struct err e = { .text = "" };
	pid_t pid;

	if (preload_find_injected(path, &e)) {
		doctor_add(d, "attach", DOCTOR_NO, false,
			   "put libpmm_inject.so beside pmm, or name it in PMM_INJECT", "%s",
			   e.text);
		return;
	}
	pid = start_child();
	if (pid < 0) {
		doctor_add(d, "attach", DOCTOR_NO, false,
			   "raise the limit on processes (ulimit -u)", "no child for a trial: %s",
			   strerror(errno));
		return;
	}
	try_child(d, pid);
	end_child(pid);
}
