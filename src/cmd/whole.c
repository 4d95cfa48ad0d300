/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture written whole. */
#include "src/cmd/whole.h"

#include <errno.h>
#include <signal.h>

#include "src/store/capture.h"
#include "src/store/output.h"

int whole_write(const struct heap *h, const char *output, pid_t pid, char *name, struct err *e)
{
	sigset_t all, before;
	int rc = output_name(output, pid, h->comm, true, name);

	if (rc)
		return rc == -ENAMETOOLONG ? err_set(e, rc, "the capture's name is too long") : rc;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	rc = capture_write(h, name, e);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
