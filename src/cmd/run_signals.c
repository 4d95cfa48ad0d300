/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals of pmm while a program runs under it. */
#include "src/cmd/run_signals.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/proc/task.h"

#define LOOK_NS 50000000 /* between two looks whether a stopped program continues */

/*
 * Terminal signals: the program's group gets them from the kernel. SIGPIPE, SIGXFSZ: an error
 * code serves pmm better.
 */
static const int ignored[] = { SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ };
static const int watched[] = { SIGCHLD, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT };

static void add_watched(sigset_t *set)
{
	sigemptyset(set);
	for (unsigned i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		sigaddset(set, watched[i]);
}

static int redirect(struct child *c, struct err *e)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL };
	sigset_t set;

	for (unsigned i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		sigaction(ignored[i], &ignore, &c->action[ignored[i]]);
	for (unsigned i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		sigaction(watched[i], &normal,	/* an ignored SIGCHLD would take the status away */
			  &c->action[watched[i]]);
	add_watched(&set);
	sigprocmask(SIG_BLOCK, &set, &c->mask);
	c->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->signal_fd < 0)
		return err_set(e, -errno, "cannot watch for signals: %s", strerror(errno));
	return 0;
}

/*
 * Ctrl-C is the way to end the waiting: SIGINT counts also where a shell ignores it for us, in the
 * background.
 */
static void heed(struct child *c)
{
	const bool quit = c->action[SIGQUIT].sa_handler != SIG_IGN;
	struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t set;

	add_watched(&set);
	sigaddset(&set, SIGINT);
	if (quit)
		sigaddset(&set, SIGQUIT);
	if (signalfd(c->signal_fd, &set, SFD_CLOEXEC | SFD_NONBLOCK) < 0)
		return;		/* they are ignored as before */
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGINT, &normal, NULL);
	if (quit)
		sigaction(SIGQUIT, &normal, NULL);
}

/* In the forked child. */
static void restore(const struct child *c)
{
	for (unsigned i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		sigaction(ignored[i], &c->action[ignored[i]], NULL);
	for (unsigned i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		sigaction(watched[i], &c->action[watched[i]], NULL);
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
}

/*
 * While we are stopped: who continues the program alone says nothing to us, and nothing but its
 * state shows it. Holds none of our signals, and ends with us.
 */
static void look_on(pid_t us, pid_t program)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	char where[64];
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (getppid() == us) {
		nanosleep(&pause, NULL);
		if (task_sleeps_in(program, program, where, sizeof(where)) != 'T')
			kill(us, SIGCONT);
	}
	_exit(0);
}

/* Returns when the shell continues the job, or another process the program. */
static void stop(pid_t program)
{
	pid_t us = getpid(), looker = fork();

	if (!looker)
		look_on(us, program);
	raise(SIGSTOP);
	if (looker < 0)
		return;		/* then the shell alone continues us */
	kill(looker, SIGKILL);
	while (waitpid(looker, NULL, 0) < 0 && errno == EINTR)
		;
}

const struct child_signals run_signals = {
	.redirect = redirect,
	.restore = restore,
	.stop = stop,
	.heed = heed,
};
