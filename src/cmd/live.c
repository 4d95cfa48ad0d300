/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks of a session at a running process. */
#include "src/cmd/live.h"

#include <errno.h>

#include "src/cmd/again.h"

struct looking {
	const struct live *live;
	struct again again;
};

static void released(void *arg, bool found)
{
	struct looking *x = arg;

	again_free(&x->again, found ? x->live->found_code : 0);
}

static int repeat(struct looking *x, struct err *e)
{
	const struct live *l = x->live;
	uint64_t number = 0;
	int found = 0, rc;

	do {
		again_due(&x->again);
		number++;
		rc = l->examine(l->arg, again_stop(&x->again), e);
		again_hold(&x->again);
		if (rc == -EINTR && l->every_ns)
			break;
		if (rc < 0 && number > 1 && again_ended(&x->again))
			break;
		if (rc < 0)
			return rc;
		found |= rc;
		if (number == 1 && l->looked && (rc = l->looked(l->looked_arg, e)))
			return rc;
	} while (number != l->count && again_wait(&x->again));
	return found;
}

int live_run(const struct live *l, struct err *e)
{
	struct looking x = { .live = l };
	int rc = again_begin(&x.again, l->pid, l->every_ns, e);

	if (rc)
		return rc;
	l->to->released = released;
	l->to->released_arg = &x;
	rc = repeat(&x, e);
	again_end(&x.again);
	l->to->released = NULL;
	return rc;
}
