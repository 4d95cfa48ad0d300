/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture written whole. */
#include "src/cmd/whole.h"

#include <signal.h>

#include "src/store/capture.h"

/* A signal in the middle would leave a part under another name. */
int whole_write(const struct heap *h, const char *name, struct err *e)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	rc = capture_write(h, name, e);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
