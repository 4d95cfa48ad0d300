/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks to which only the kernel has pointers, which it gives back one day: in the data of epoll's entries (few, and so many that they are read
 * while the program runs), in POSIX timers. What is in a pipe nobody can see; what the kernel has forgotten is lost.
 *
 * expect:
 *   in_epoll        reachable=1/901 memcheck:definite=1/901 core:definite=1/901
 *   inside_epoll    possible=1/902 memcheck:definite=1/902 core:definite=1/902
 *   out_of_epoll    definite=1/903
 *   in_large_epoll  reachable=4000/128000 memcheck:definite=4000/128000 core:definite=4000/128000
 *   in_timer        reachable=1/904 memcheck:definite=1/904 core:definite=1/904
 *   deleted_timer   definite=1/905
 *   in_pipe         definite=1/906
 */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "leak.h"

static int epoll, some[2];

SITE static int add(int to, void *p)
{
	int fd = dup(some[0]);

	if (fd < 0 || epoll_ctl(to, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN, .data.ptr = p }))
		_exit(97);
	return fd;
}

SITE static int timer(void *p)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_ptr = p };
	int id;

	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &id))
		_exit(96);
	return id;
}

SITE static void in_epoll(void) { add(epoll, make(901)); }
SITE static void inside_epoll(void) { add(epoll, (char *)make(902) + 8); }
SITE static void out_of_epoll(void) { epoll_ctl(epoll, EPOLL_CTL_DEL, add(epoll, make(903)), NULL); }
SITE static void in_timer(void) { timer(make(904)); }
SITE static void deleted_timer(void) { syscall(SYS_timer_delete, timer(make(905))); }

SITE static void in_large_epoll(void)
{
	int large = epoll_create1(0);

	for (int i = 0; i < 4000; i++)
		add(large, make(32));
}

SITE static void in_pipe(void)
{
	void *p = make(906);

	if (write(some[1], &p, sizeof(p)) < 0)
		_exit(95);
}

static void cases(void)
{
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) || pipe(some))
		_exit(94);
	epoll = epoll_create1(0);
	in_epoll(), inside_epoll(), out_of_epoll(), in_large_epoll(), in_timer(), deleted_timer(), in_pipe();
}
