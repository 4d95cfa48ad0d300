/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals that end `pmm attach`. */
#include "src/cmd/attach_signals.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/*
 * Under nohup the terminal may go. (SIGINT counts also where a shell ignores it for us, in the
 * background.) Ctrl-Z would stop the clock, and with it the agent: it is ignored.
 */
int attach_signals_take(struct attach_signals *t)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, hangup;
	sigset_t mask;
	int rc;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &t->old_mask);
	t->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (t->fd < 0) {
		rc = -errno;
		sigprocmask(SIG_SETMASK, &t->old_mask, NULL);
		return rc;
	}
	sigaction(SIGTSTP, &ignore, &t->old_stop);
	return 0;
}

void attach_signals_give_back(struct attach_signals *t, bool obeyed)
{
	struct signalfd_siginfo drop;

	if (t->fd < 0)
		return;
	while (obeyed && read(t->fd, &drop, sizeof(drop)) == (ssize_t)sizeof(drop))
		;	/* one that came while detaching, too */
	close(t->fd);
	t->fd = -1;
	sigaction(SIGTSTP, &t->old_stop, NULL);
	sigprocmask(SIG_SETMASK, &t->old_mask, NULL);
}

bool attach_signals_came(const struct attach_signals *t)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}
