/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files written whole. */
#include "src/cmd/whole.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "src/store/capture.h"
#include "src/store/output.h"

/* Returns what they were. */
static sigset_t hold_signals(void)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	return before;
}

/* That a file would be too large is an error of the write, and no signal any more. */
static void release_signals(const sigset_t *before)
{
	sigset_t too_large;

	sigemptyset(&too_large);
	sigaddset(&too_large, SIGXFSZ);
	if (!sigismember(before, SIGXFSZ))
		sigtimedwait(&too_large, NULL, &(struct timespec){ 0, 0 });
	sigprocmask(SIG_SETMASK, before, NULL);
}

int whole_write(const struct heap *h, const char *output, pid_t pid, char *name, struct err *e)
{
	int rc = output_name(output, pid, h->comm, true, name);
	sigset_t before;

	if (rc)
		return rc == -ENAMETOOLONG ? err_set(e, rc, "the capture's name is too long") : rc;
	before = hold_signals();
	rc = capture_write(h, name, true, e);
	release_signals(&before);
	return rc;
}

int whole_write_report(const char *name, replace_write *write, void *arg, struct err *e)
{
	sigset_t before = hold_signals();
	int rc = replace_file(name, "report", true, write, arg, e);

	release_signals(&before);
	return rc;
}
