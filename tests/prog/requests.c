/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Drivers that are killed behind each of their requests of the kernel in turn. */
#include "tests/prog/requests.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAST	5	/* so many in a row have come to their end before: it hangs on the scheduler how many requests there are */

static atomic_uint nr_requests, die_at;	/* 0 = never */

/* In place of the real ones (ld --wrap). */
long __real_ptrace(int request, pid_t pid, void *address, void *data);
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
long __wrap_ptrace(int request, pid_t pid, void *address, void *data);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);

static void requested(void)
{
	int saved = errno;

	if (++nr_requests == die_at)
		kill(getpid(), SIGKILL);
	errno = saved;
}

long __wrap_ptrace(int request, pid_t pid, void *address, void *data)
{
	long rc = __real_ptrace(request, pid, address, data);

	requested();
	return rc;
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	int rc = __real_waitid(type, id, info, options);

	requested();
	return rc;
}

int requests_die_behind_each(int (*work)(void *arg), int (*behind)(void *arg), void *arg)
{
	for (int nr = 0, idle = 0;;) {
		pid_t child = fork();
		int status;

		if (!child) {
			nr_requests = 0;
			die_at = (unsigned)nr + 1;
			if (!freopen("/dev/null", "w", stdout))
				_exit(1);
			_exit(work(arg));
		}
		waitpid(child, &status, 0);
		if (behind && behind(arg))
			return printf("wrong behind request %d\n", nr + 1), -1;
		if (!WIFSIGNALED(status) && status)
			return printf("tracer ended with %#x\n", status), -1;
		if (WIFSIGNALED(status))
			nr++, idle = 0;
		else if (++idle == LAST)
			return nr;
	}
}

int requests_refused(int rc, const struct err *e)
{
	printf("%s: %s\n", strerrorname_np(-rc), e->text);
	if (e->hint[0])
		printf("hint: %s\n", e->hint);
	return 3;
}
