/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small process beside ours that looks after a process we work on.
 *
 * Whether we get on is seen from outside: our threads are scheduled. A thread that traces wakes
 * some hundred times a second, whatever it waits for (tracer.c), so who holds threads and is not
 * scheduled for seconds is stopped. Patience is counted in looks, not in time: a machine that was
 * suspended, or a group frozen with us and it in it, uses up one.
 */
#include "src/ptrace/watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define LOOK_MS		100
#define PATIENCE	15u		/* looks at a process that is not scheduled */
#define CLEAN_TRIES	300u
#define CLEAN_NAP_NS	100000000
#define GONE_MS		10000		/* for a process that was killed to be gone */

struct watch {
	pid_t us, target;
	uint64_t target_start;
	int fd;				/* the other end of struct watchdog's */
	int pidfd;			/* of us, -1 = not known */
	struct task_list tasks;
	uint64_t switches;		/* of all our threads, at the last look */
	unsigned nr_still;		/* looks since it changed */
};

/* ---- looking --------------------------------------------------------------------------------- */

/*
 * Has any of our threads been scheduled since the last look? What is running now may not have been
 * switched for long.
 */
static bool gets_on(struct watch *w)
{
	static const char *const kinds[] = { "voluntary_ctxt_switches",
					     "nonvoluntary_ctxt_switches" };
	uint64_t sum = 0, nr;
	char where[64];
	bool runs = task_list(w->us, &w->tasks) != 0;

	vec_each(&w->tasks.tids, tid) {
		for (unsigned i = 0; i < 2; i++)
			if (!task_status(w->us, *tid, kinds[i], 10, &nr))
				sum += nr;
		runs |= task_sleeps_in(w->us, *tid, where, sizeof(where)) == 'R';
	}
	if (sum == w->switches && !runs)
		return false;
	w->switches = sum;
	return true;
}

static bool held_by_us(struct watch *w)
{
	bool held = false;

	if (task_list(w->target, &w->tasks))
		return false;
	vec_each(&w->tasks.tids, tid)
		held |= task_tracer(w->target, *tid) == w->us;
	return held;
}

/* Once is enough: a process that is not scheduled does not begin to hold anything. */
static void kill_if_stuck(struct watch *w)
{
	w->nr_still = gets_on(w) ? 0 : w->nr_still + 1;
	if (w->nr_still != PATIENCE || !held_by_us(w) || getppid() != w->us)
		return;
	if (w->pidfd < 0 || syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0))
		kill(w->us, SIGKILL);
}

/* Until we say that all is well (true), or have died. */
static bool stays_well(struct watch *w)
{
	char c;

	for (;;) {
		struct pollfd p = { .fd = w->fd, .events = POLLIN };

		if (poll(&p, 1, LOOK_MS) > 0)
			return read(w->fd, &c, 1) == 1;
		kill_if_stuck(w);
	}
}

/* ---- afterwards ------------------------------------------------------------------------------ */

static bool target_there(const struct watch *w)
{
	uint64_t start;

	return !proc_start_time(w->target, &start) && start == w->target_start &&
	       proc_alive(w->target);
}

static void clean_up(struct watch *w, int (*clean)(pid_t target, void *arg), void *arg)
{
	struct pollfd p = { .fd = w->pidfd, .events = POLLIN };

	if (getppid() == w->us && w->nr_still >= PATIENCE && w->pidfd >= 0)
		poll(&p, 1, GONE_MS);
	for (unsigned tries = 0; tries < CLEAN_TRIES && target_there(w); tries++) {
		int rc;

		/* first, for a thread that we used to come back to where it was */
		nanosleep(&(struct timespec){ .tv_nsec = CLEAN_NAP_NS }, NULL);
		rc = clean(w->target, arg);
		if (rc != -EAGAIN && rc != -EBUSY && rc != -ETIMEDOUT)
			return;
	}
}

/* ---- becoming one ---------------------------------------------------------------------------- */

/* Where close_range(2) is not to be had, Linux 5.9. */
static void close_each(int but)
{
	const struct dirent *entry;
	DIR *d = opendir("/proc/self/fd");

	while (d && (entry = readdir(d))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && fd != but && fd != dirfd(d))
			close(fd);
	}
	if (d)
		closedir(d);
}

/* Keep nothing open but `fd`, which becomes 3. */
static int leave_all(int fd)
{
	if (fd != 3 && dup2(fd, 3) < 0)
		_exit(1);
	if (syscall(SYS_close_range, 4u, ~0u, 0u))
		close_each(3);
	for (int i = 0; i < 3; i++)
		close(i);
	if (io_open_null(0) != 0 || dup(0) != 1 || dup(0) != 2)
		_exit(1);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	if (chdir("/"))
		_exit(1);
	return 3;
}

static _Noreturn void be_watchdog(struct watch *w, int (*clean)(pid_t target, void *arg), void *arg)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, TASK_WATCHDOG_NAME);
	setsid();
	w->fd = leave_all(w->fd);
	w->pidfd = (int)syscall(SYS_pidfd_open, w->us, 0);
	if (!stays_well(w))
		clean_up(w, clean, arg);
	_exit(0);
}

static int failed(struct err *e)
{
	int rc = err_set(e, -errno, "no process to look after the target meanwhile: %s",
			 strerror(errno));

	err_hint(e, "pmm needs a second process and some descriptors; see ulimit -u, ulimit -n and "
		    "pids.max of the control group");
	return rc;
}

int watchdog_start(struct watchdog *w, pid_t target, int (*clean)(pid_t target, void *arg),
		   void *arg, struct err *e)
{
	struct watch watch = { .us = getpid(), .target = target, .pidfd = -1 };
	int fd[2], rc;

	*w = (struct watchdog){ .fd = -1 };
	if (proc_start_time(target, &watch.target_start))
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return failed(e);
	w->pid = fork();
	if (!w->pid) {
		watch.fd = fd[1];
		close(fd[0]);
		be_watchdog(&watch, clean, arg);
	}
	close(fd[1]);
	if (w->pid > 0) {
		w->fd = fd[0];
		return 0;
	}
	rc = failed(e);
	close(fd[0]);
	w->pid = 0;
	return rc;
}

void watchdog_end(struct watchdog *w, bool well)
{
	if (!w->pid)
		return;
	if (well)
		(void)!send(w->fd, "", 1, MSG_NOSIGNAL);	/* it may have been killed */
	close(w->fd);
	if (well)
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
	*w = (struct watchdog){ .fd = -1 };
}
