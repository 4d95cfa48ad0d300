/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of `pmm run`, which a signal may cut short. */
#include "src/cmd/run_end.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t exit_code;

static void on_end(int sig)
{
	_exit(exit_code ? exit_code : 128 + sig);
}

void run_may_end(const struct child *c)
{
	static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction end = { .sa_handler = on_end };
	struct signalfd_siginfo drop;
	sigset_t mask;

	while (c->signal_fd >= 0 &&
	       read(c->signal_fd, &drop, sizeof(drop)) == (ssize_t)sizeof(drop))
		;	/* was passed on, or came too late for that */
	exit_code = child_exit_code(c->status);
	sigemptyset(&mask);
	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (c->action[ends[i]].sa_handler == SIG_IGN)
			continue;
		sigaction(ends[i], &end, NULL);
		sigaddset(&mask, ends[i]);
	}
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
}
