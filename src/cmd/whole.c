/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files written whole. */
#include "src/cmd/whole.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "src/store/capture.h"
#include "src/store/output.h"
#include "src/store/replace.h"

/* Returns what they were. */
static sigset_t hold_signals(void)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	return before;
}

int whole_write(const struct heap *h, const char *output, pid_t pid, char *name, struct err *e)
{
	int rc = output_name(output, pid, h->comm, true, name);
	sigset_t before;

	if (rc)
		return rc == -ENAMETOOLONG ? err_set(e, rc, "the capture's name is too long") : rc;
	before = hold_signals();
	rc = capture_write(h, name, e);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

struct bytes {
	const char *bytes, *name;
	size_t nr;
};

static int write_bytes(void *arg, FILE *f, struct err *e)
{
	const struct bytes *b = arg;

	if (fwrite(b->bytes, 1, b->nr, f) == b->nr && !fflush(f))
		return 0;
	return replace_failed(e, -errno, "report", b->name);
}

int whole_write_bytes(const char *bytes, size_t nr, const char *name, struct err *e)
{
	struct bytes b = { bytes, name, nr };
	sigset_t before = hold_signals();
	int rc = replace_file(name, "report", write_bytes, &b, e);

	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
