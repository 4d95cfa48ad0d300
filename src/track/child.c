/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program under `pmm run`: start, signals, end. */
#include "src/track/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/io.h"

/* Raised for pmm: it maps ledgers, writes captures, holds a few descriptors per process. */
static const int raised[CHILD_NR_LIMITS] = { RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_NOFILE };

int child_prepare(struct child *c, const struct child_signals *signals, bool raises, struct err *e)
{
	int rc;

	memset(c, 0, sizeof(*c));
	c->signal_fd = -1;
	c->signals = signals;
	rc = signals ? signals->redirect(c, e) : 0;
	if (rc)
		return rc;
	for (unsigned i = 0; i < CHILD_NR_LIMITS; i++) {
		struct rlimit most;

		if (getrlimit(raised[i], &c->limit[i]))	/* the program would get another one */
			return err_set(e, -errno,
				       "cannot read the limits that the program is to have: %s",
				       strerror(errno));
		most = (struct rlimit){ c->limit[i].rlim_max, c->limit[i].rlim_max };
		if (raises)
			setrlimit(raised[i], &most);
	}
	if (getrlimit(RLIMIT_DATA, &c->data))
		c->data = (struct rlimit){ 0 };
	c->raises = raises;
	return 0;
}

void child_close(struct child *c)
{
	if (c->pid && !kill(c->pid, SIGKILL))
		while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
			;
	c->pid = 0;
	if (c->raises) {
		for (unsigned i = 0; i < CHILD_NR_LIMITS; i++)
			setrlimit(raised[i], &c->limit[i]);
		setrlimit(RLIMIT_DATA, &c->data);
	}
	c->raises = false;
	if (c->signal_fd >= 0)
		close(c->signal_fd);
	c->signal_fd = -1;
}

struct rlimit child_limit(const struct child *c, int resource)
{
	for (unsigned i = 0; i < CHILD_NR_LIMITS; i++)
		if (raised[i] == resource)
			return c->limit[i];
	return (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
}

static rlim_t plus(rlim_t limit, uint64_t bytes)
{
	return limit > RLIM_INFINITY - bytes ? RLIM_INFINITY : limit + bytes;
}

bool child_raise_data(struct child *c, uint64_t bytes)
{
	struct rlimit l = { plus(c->data.rlim_cur, bytes), plus(c->data.rlim_max, bytes) };

	if (!c->raises)
		return c->data.rlim_cur == RLIM_INFINITY;
	return c->data.rlim_max && !setrlimit(RLIMIT_DATA, &l);
}

/*
 * In the child: give back what child_prepare() took and become the program. It may run in pmm's own
 * memory (vfork) and writes nothing but its stack and errno.
 */
static _Noreturn void become(const struct child *c, const char *path, char **argv, char **env,
			     int report_fd)
{
	int error = 0;

	for (unsigned i = 0; i < CHILD_NR_LIMITS; i++)
		if (setrlimit(raised[i], &c->limit[i]))
			error = errno;
	if (c->signals)
		c->signals->restore(c);
	if (!error) {
		execve(path, argv, env);
		error = errno;
	}
	if (write(report_fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* The child, which waits for a byte: it ends without one, as when pmm is killed meanwhile. */
static void wait_for_go(const int go[2])
{
	char byte;
	ssize_t got;

	close(go[1]);
	do {
		got = read(go[0], &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(127);
}

/* 0 or -errno with `e`: the child ends. */
static int let_go(const struct child *c, pid_t pid, int go[2], struct err *e)
{
	int rc = c->forked(c->forked_arg, pid, e);

	if (!rc && write(go[1], "", 1) != 1)
		rc = err_set(e, -errno, "cannot start the program: %s", strerror(errno));
	close(go[0]);
	close(go[1]);
	return rc;
}

int child_start(struct child *c, const char *path, char **argv, char **env, struct err *e)
{
	int fds[2], go[2] = { -1, -1 }, error = 0, rc = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return err_no_file(e, -errno, "cannot make a pipe");
	if (c->forked && pipe2(go, O_CLOEXEC)) {
		rc = err_no_file(e, -errno, "cannot make a pipe");
		close(fds[0]);
		close(fds[1]);
		return rc;
	}
	pid = c->forked ? fork() : vfork();	/* which copies no page tables, but has us wait */
	if (pid == 0) {
		if (c->forked)
			wait_for_go(go);
		become(c, path, argv, env, fds[1]);
	}
	error = errno;
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		close(go[0]);
		close(go[1]);
		return err_set(e, -error, "cannot fork: %s", strerror(error));
	}
	if (c->forked)
		rc = let_go(c, pid, go, e);
	do {
		got = read(fds[0], &error, sizeof(error));
	} while (got < 0 && errno == EINTR);
	close(fds[0]);
	if (got == sizeof(error))
		rc = err_set(e, -error, "cannot execute '%s': %s", path, strerror(error));
	if (rc)
		waitpid(pid, NULL, 0);
	else
		c->pid = pid;
	return rc;
}

/*
 * Is a shell waiting to hear that the job stopped? Job control needs a terminal, and SIGSTOP is
 * only mirrored by the job's leader: a sender of that to a part of a job knows the part, and will
 * continue the part.
 */
static bool shell_watches(int sig)
{
	int tty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	if (tty < 0)
		return false;
	close(tty);
	return sig != SIGSTOP || getpgrp() == getpid();
}

/* What it was called last, and its last figures, as long as they can be seen. */
static void look_at_end(struct child *c)
{
	siginfo_t info = { 0 };

	if (!c->pid || waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	    !info.si_pid)
		return;
	if (proc_comm(c->pid, c->comm))
		c->comm[0] = '\0';
	c->last_known = !process_figures_stat("", c->pid, &c->last);
}

/* What happened to it last, which stays to be collected. */
static bool peek_event(const struct child *c, siginfo_t *info)
{
	int rc;

	do {
		info->si_pid = 0;
		rc = waitid(P_PID, (id_t)c->pid, info,
			    WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT);
	} while (rc < 0 && errno == EINTR);
	return !rc && info->si_pid == c->pid;
}

static bool collect_end(struct child *c)
{
	pid_t n;

	do
		n = waitpid(c->pid, &c->status, WNOHANG);
	while (n < 0 && errno == EINTR);
	c->ended = n == c->pid;
	if (c->ended)
		c->pid = 0;
	return c->ended;
}

static void on_stop(struct child *c, int sig)
{
	siginfo_t info;

	c->stopped = true;
	if (!c->signals || !shell_watches(sig))
		return;
	c->signals->stop(c->pid);	/* here until the shell continues the job */
	if (peek_event(c, &info) && info.si_code == CLD_STOPPED)
		kill(c->pid, SIGCONT);
	c->stopped = false;
}

/*
 * Collect what happened to the program: ended, continued. A stop is only looked at: while pmm
 * traces the program, a stop may turn into one that the tracer waits for, and what is collected
 * here is lost to it.
 */
static void reap(struct child *c)
{
	siginfo_t info, none = { 0 };

	look_at_end(c);
	while (c->pid && peek_event(c, &info)) {
		if (info.si_code == CLD_TRAPPED || (info.si_code == CLD_STOPPED && c->stopped))
			return;
		if (info.si_code == CLD_STOPPED) {
			on_stop(c, info.si_status);
		} else if (info.si_code == CLD_CONTINUED) {
			c->stopped = false;
			waitid(P_PID, (id_t)c->pid, &none, WCONTINUED | WNOHANG);
		} else if (!collect_end(c)) {
			return;
		}
	}
}

/* Under nohup the terminal may go. */
static bool asks_to_end(const struct child *c, uint32_t sig)
{
	if (sig == SIGHUP)
		return c->action[SIGHUP].sa_handler != SIG_IGN;
	return sig == SIGTERM || sig == SIGINT || sig == SIGQUIT;
}

bool child_signals(struct child *c, bool (*from_inside)(void *arg, pid_t pid), void *arg)
{
	struct signalfd_siginfo si;
	bool end = false;

	while (read(c->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			continue;
		if (c->ended) {
			end |= asks_to_end(c, si.ssi_signo);
			continue;
		}
		if (si.ssi_signo == SIGCONT && !c->stopped)
			continue;
		/*
		 * a hang-up: the kernel signals the session's leader, a shell then signals the job
		 */
		if (si.ssi_code > 0 && getsid(0) != getpid())
			continue;
		if (si.ssi_code <= 0 &&
		    ((pid_t)si.ssi_pid == c->pid || from_inside(arg, (pid_t)si.ssi_pid)))
			continue;
		if (c->pid)
			kill(c->pid, (int)si.ssi_signo);
	}
	reap(c);
	return end;
}

int child_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool is_kept(int fd, const int *keep, unsigned nr_keep)
{
	for (unsigned i = 0; i < nr_keep; i++)
		if (keep[i] == fd)
			return true;
	return fd == STDERR_FILENO;
}

void child_drop_fds(const int *keep, unsigned nr_keep)
{
	int null = io_open_null(O_CLOEXEC);
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *d;

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
	while (dir && (d = readdir(dir))) {
		int fd = atoi(d->d_name);

		if (d->d_name[0] != '.' && fd > STDERR_FILENO && fd != dirfd(dir) &&
		    !is_kept(fd, keep, nr_keep) && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			close(fd);
	}
	if (dir)
		closedir(dir);
}
