/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking at a running process again and again. */
#include "src/cmd/again.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/cmd/cmd.h"

#define ENDING_NS	1000000000ull	/* of a process with much memory */

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

static void on_time(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	((struct again *)arg)->is_due = true;
}

static void on_signal(void *arg, uint32_t events)
{
	struct again *a = arg;

	(void)events;
	a->signalled = true;
	loop_del(a->loop, a->on_signal);	/* it stays readable */
	a->on_signal = NULL;
}

static void on_process(void *arg, uint32_t events)
{
	(void)events;
	((struct again *)arg)->has_ended = true;
}

/* What is waited for. A process whose end cannot be watched is looked at until a look fails. */
static int listen_to(struct again *a)
{
	int rc = a->signals < 0 ? -errno : loop_new(&a->loop);

	if (!rc)
		rc = loop_add_timer(a->loop, LOOP_NEVER, on_time, a, &a->timer);
	if (!rc)
		rc = loop_add_fd(a->loop, a->signals, EPOLLIN, on_signal, a, &a->on_signal);
	if (!rc && a->process >= 0)
		rc = loop_add_fd(a->loop, a->process, EPOLLIN, on_process, a, NULL);
	return rc;
}

static void close_all(struct again *a)
{
	loop_free(a->loop);
	if (a->process >= 0)
		close(a->process);
	if (a->signals >= 0)
		close(a->signals);
}

int again_begin(struct again *a, pid_t pid, uint64_t every_ns, struct err *e)
{
	sigset_t mask;
	int rc;

	*a = (struct again){ .every_ns = every_ns, .next_ns = nanotime() };
	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaction(ends[i], NULL, &a->actions[i]);
	mask_of(a, &mask);
	sigprocmask(SIG_BLOCK, &mask, &a->old);
	a->process = (int)syscall(SYS_pidfd_open, pid, 0);
	a->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	rc = listen_to(a);
	if (!rc)
		return 0;
	close_all(a);
	sigprocmask(SIG_SETMASK, &a->old, NULL);
	return err_set(e, rc, "cannot wait for process %d: %s", (int)pid, strerror(-rc));
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
	uint64_t now = nanotime();

	a->next_ns += a->every_ns;
	if (a->next_ns < now)
		a->next_ns = now;	/* a look took longer than that */
}

bool again_wait(struct again *a)
{
	if (!a->every_ns)
		return false;
	a->is_due = false;
	loop_set_timer(a->loop, a->timer, a->next_ns);
	while (!a->is_due && !a->signalled && !a->has_ended)
		if (loop_step(a->loop, -1) < 0)
			return false;
	if (a->has_ended)
		cmd_note("the process has ended");
	return !a->signalled && !a->has_ended;
}

bool again_ended(struct again *a)
{
	const uint64_t until_ns = nanotime() + ENDING_NS;

	a->is_due = false;
	loop_set_timer(a->loop, a->timer, until_ns);
	while (!a->is_due && !a->has_ended)
		if (loop_step(a->loop, -1) < 0)
			return false;
	if (a->has_ended)
		cmd_note("the process has ended");
	return a->has_ended;
}

void again_end(struct again *a)
{
	close_all(a);
	if (!a->every_ns)
		sigprocmask(SIG_SETMASK, &a->old, NULL);
}
