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

void again_begin(struct again *a, pid_t pid, uint64_t every_ns)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	*a = (struct again){ .every_ns = every_ns, .next_ns = now_ns() };
	sigprocmask(SIG_BLOCK, &mask, &a->old);
	a->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	a->process = (int)syscall(SYS_pidfd_open, pid, 0);
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
	struct pollfd fds[] = { { .fd = a->signals, .events = POLLIN }, { .fd = a->process, .events = POLLIN } };

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
