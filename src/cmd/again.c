/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking at a running process again and again. */
#include "src/cmd/again.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/cmd/cmd.h"

#define ENDING_MS	1000	/* of a process with much memory */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t exit_code;	/* while nothing is held and a signal is a way to end */

static void on_end(int sig)
{
	(void)sig;
	_exit(exit_code);
}

/*
 * One that is ignored changes nothing, but where it is the way to end: there SIGINT counts also
 * when a shell ignores it for us, in the background. Under nohup the terminal may go.
 */
static bool counts(const struct again *a, unsigned i)
{
	return a->actions[i].sa_handler != SIG_IGN || (a->every_ns && ends[i] != SIGHUP);
}

static void mask_of(const struct again *a, sigset_t *mask)
{
	sigemptyset(mask);
	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (counts(a, i))
			sigaddset(mask, ends[i]);
}

void again_begin(struct again *a, pid_t pid, uint64_t every_ns)
{
	sigset_t mask;

	*a = (struct again){ .every_ns = every_ns, .next_ns = now_ns() };
	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], NULL, &a->actions[i]);
	mask_of(a, &mask);
	sigprocmask(SIG_BLOCK, &mask, &a->old);
	a->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	a->process = (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool signal_came(void *arg)
{
	const struct again *a = arg;
	struct pollfd p = { .fd = a->signals, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

struct stop again_stop(struct again *a)
{
	return (struct stop){ signal_came, a };
}

/*
 * Those that came meanwhile take effect here. A descriptor of signals does not keep them from that.
 */
void again_free(struct again *a, int code)
{
	struct sigaction end = { .sa_handler = on_end };

	exit_code = code;
	for (unsigned i = 0; a->every_ns && i < sizeof(ends) / sizeof(*ends); i++)
		if (counts(a, i))
			sigaction(ends[i], &end, NULL);
	sigprocmask(SIG_SETMASK, &a->old, NULL);
}

void again_hold(struct again *a)
{
	sigset_t mask;

	mask_of(a, &mask);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	for (unsigned i = 0; a->every_ns && i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], &a->actions[i], NULL);
}

void again_due(struct again *a)
{
	uint64_t now = now_ns();

	a->next_ns += a->every_ns;
	if (a->next_ns < now)
		a->next_ns = now;	/* a look took longer than that */
}

bool again_wait(struct again *a)
{
	struct pollfd fds[] = { { .fd = a->signals, .events = POLLIN },
				{ .fd = a->process, .events = POLLIN } };

	while (a->every_ns) {
		uint64_t now = now_ns(), left = a->next_ns > now ? a->next_ns - now : 0;
		struct timespec t = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
		int n = ppoll(fds, 2, &t, NULL);

		if (n == 0)
			return true;
		if (n > 0 && fds[1].revents)
			cmd_note("the process has ended");
		if (n > 0 || errno != EINTR)
			break;
	}
	return false;
}

bool again_ended(struct again *a)
{
	struct pollfd process = { .fd = a->process, .events = POLLIN };
	bool ended = poll(&process, 1, ENDING_MS) > 0;

	if (ended)
		cmd_note("the process has ended");
	return ended;
}

void again_end(struct again *a)
{
	if (a->process >= 0)
		close(a->process);
	if (a->signals >= 0)
		close(a->signals);
	if (!a->every_ns)
		sigprocmask(SIG_SETMASK, &a->old, NULL);
}
