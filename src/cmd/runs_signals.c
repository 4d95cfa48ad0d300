/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals of pmm while it runs a program several times. */
#include "src/cmd/runs_signals.h"

#include <signal.h>

#include "src/cmd/run_end.h"

static volatile sig_atomic_t runner; /* the run under way */
static volatile sig_atomic_t asked; /* pmm was asked to end */

static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
_Static_assert(sizeof(passed) / sizeof(*passed) == RUNS_NR_SIGNALS, "one action each");

static void pass_on(int sig)
{
	asked = sig;
	if (runner > 0)
		kill(runner, sig);
}

/* A terminal's signals reach the run by themselves. */
static void forward_signals(void *arg)
{
	struct runs_signals_before *before = arg;

	for (unsigned i = 0; i < sizeof(passed) / sizeof(*passed); i++) {
		struct sigaction a = { .sa_handler = pass_on, .sa_flags = SA_RESTART };

		if (passed[i] == SIGINT || passed[i] == SIGQUIT)
			a.sa_handler = SIG_IGN;
		sigaction(passed[i], NULL, &before->action[i]);
		if (before->action[i].sa_handler != SIG_IGN)
			sigaction(passed[i], &a, NULL);
	}
}

static void give(void *arg)
{
	const struct runs_signals_before *before = arg;

	for (unsigned i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		sigaction(passed[i], &before->action[i], NULL);
}

static void under_way(void *arg, pid_t pid)
{
	(void)arg;
	runner = pid;
}

static bool enough(void *arg)
{
	(void)arg;
	return asked;
}

static void program_ended(void *arg, const struct child *c)
{
	(void)arg;
	run_may_end(c);
}

const struct check_exhaustive_ops runs_signals = {
	.begin = forward_signals,
	.inside = give,
	.program_ended = program_ended,
	.under_way = under_way,
	.enough = enough,
	.end = give,
};
