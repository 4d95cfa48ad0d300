/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals of pmm while a program runs under it. */
#include "src/cmd/run_signals.h"

#include <errno.h>
#include <string.h>

/*
 * Terminal signals: the program's group gets them from the kernel. SIGPIPE, SIGXFSZ: an error
 * code serves pmm better.
 */
static const int ignored[] = { SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ };
static const int watched[] = { SIGCHLD, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT };

static int take(struct child *c, struct err *e)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL };
	sigset_t set;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, NULL, &c->action[sig]);
	for (unsigned i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		sigaction(ignored[i], &ignore, NULL);
	sigemptyset(&set);
	for (unsigned i = 0; i < sizeof(watched) / sizeof(*watched); i++) {
		sigaddset(&set, watched[i]);
		sigaction(watched[i], &normal,
			  NULL); /* an ignored SIGCHLD would take the status away */
	}
	sigprocmask(SIG_BLOCK, &set, &c->mask);
	c->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->signal_fd < 0)
		return err_set(e, -errno, "cannot watch for signals: %s", strerror(errno));
	return 0;
}

/* In the forked child. */
static void give(const struct child *c)
{
	for (unsigned i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		sigaction(ignored[i], &c->action[ignored[i]], NULL);
	for (unsigned i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		sigaction(watched[i], &c->action[watched[i]], NULL);
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
}

/* Returns when the shell continues the job. */
static void stop(void)
{
	raise(SIGSTOP);
}

const struct child_signals run_signals = { .take = take, .give = give, .stop = stop };
