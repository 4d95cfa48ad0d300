/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy-on-write copy of a process, made inside it.
 *
 * What the copy shares with the process and what not:
 *
 *     descriptors  the table itself, so that what the program closes is closed. The price: should
 *                  the program call exec while there is a copy, what close-on-exec closes stays
 *                  open as long as that
 *     directories  not (CLONE_FS): a program that shares them with others may not enter
 *                  namespaces, nor gain rights by exec
 *     semaphores   not (CLONE_SYSVSEM): what is to be undone at the program's end must not wait for
 *                  ours
 *
 * A zombie can be waited for by its parent only when its tracer has; so the process's own wait
 * comes last, made by a thread of it that is borrowed before.
 */
#include "src/ptrace/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/stop_arch.h"
#include "src/base/nanotime.h"
#include "src/base/vec.h"
#include "src/ptrace/confined.h"
#include "src/proc/proc.h"
#include "src/proc/room.h"
#include "src/proc/task.h"
#include "src/ptrace/tracer.h"

/* for the copy to stop for the first time: the machine may be busy */
#define BIRTH_NS	10000000000u
/* for a thread of the process to be found that can reap it */
#define REAP_NS		3000000000u
#define REAP_ONE_NS	500000000u
/* for a copy that was killed to give back its memory; then a later pmm has it reaped */
#define END_NS		10000000000u
#define NAP_NS		2000000
#define MAX_TRIES	16		/* threads looked at whether they can make the copy */
#define MAX_LEFT	64		/* copies left behind that are reaped at once */
#define MAX_FAULTS	64		/* page faults of one that has done nothing but end */
/* oom_score_adj: when memory runs out the copy goes, not the program */
#define OOM_FIRST	"1000"

/* ---- making ---------------------------------------------------------------------------------- */

/* Two links of /proc/PID/task/TID/ns say different things. */
static bool differ(pid_t pid, pid_t tid, const char *a, const char *b)
{
	char path[2][80], name[2][64] = { "", "" };

	snprintf(path[0], sizeof(path[0]), "/proc/%d/task/%d/ns/%s", (int)pid, (int)tid, a);
	snprintf(path[1], sizeof(path[1]), "/proc/%d/task/%d/ns/%s", (int)pid, (int)tid, b);
	for (int i = 0; i < 2; i++)
		if (readlink(path[i], name[i], sizeof(name[i]) - 1) < 0)
			return false;	/* no such namespaces in this kernel */
	return strcmp(name[0] + strcspn(name[0], ":"), name[1] + strcspn(name[1], ":")) != 0;
}

/*
 * The first child of a new process namespace is its init: when it ends, the thread cannot make
 * children any more.
 */
static bool child_elsewhere(pid_t pid, pid_t tid)
{
	return differ(pid, tid, "pid", "pid_for_children") ||
	       differ(pid, tid, "time", "time_for_children");
}

static int make_with(struct stopped *s, size_t i, struct copy *c, struct err *e)
{
	struct remote *r;
	int rc;

	if (child_elsewhere(s->pid, s->v[i].tid))
		return err_set(
			e, -EAGAIN,
			"thread %d of process %d makes its children in a namespace of their own",
			(int)s->v[i].tid, (int)s->pid);
	rc = remote_open(s, i, &r, e);
	if (rc)
		return rc;
	rc = remote_fork(r, &c->child, e);
	remote_close(r);
	return rc;
}

int copy_possible(pid_t pid, struct err *e)
{
	int rc = confined_check(pid, CONFINED_COPY, e);

	return rc ? rc : room_for_copy(pid, e);
}

int copy_make(struct stopped *s, struct copy *c, struct err *e)
{
	struct remote_walk walk = { 0 };
	unsigned tries = 0;
	int rc = -EAGAIN;
	size_t i;

	*c = (struct copy){ .pid = s->pid, .end_fd = -1, .gadget = c->gadget };
	s->gadget = &c->gadget;
	while (rc == -EAGAIN && tries++ < MAX_TRIES && remote_next(s, &walk, &i))
		rc = make_with(s, i, c, e);
	s->gadget = NULL;
	return rc;
}

/* ---- holding --------------------------------------------------------------------------------- */

static int run_catch(void *arg)
{
	struct copy *c = arg;
	int status;

	tracer_deadline(c->tracer, nanotime() + BIRTH_NS);
	status = tracer_wait(c->tracer, c->child.pid);
	if (status < 0)
		return status;
	if (TRACER_EVENT(status) != PTRACE_EVENT_STOP)
		return -ECHILD;
	return (int)tracer_ptrace(PTRACE_SETOPTIONS, c->child.pid, 0, PTRACE_O_EXITKILL);
}

static void be_killed_first(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	/* else it may be the program that goes, as with any fork */
	(void)!write(fd, OOM_FIRST, sizeof(OOM_FIRST) - 1);
	close(fd);
}

/* Until it is a zombie; without a descriptor to wait with, look again and again. */
static void await_end(pid_t pid)
{
	const uint64_t deadline_ns = nanotime() + END_NS;
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	siginfo_t info = { 0 };

	while (!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) &&
	       !info.si_pid && nanotime() < deadline_ns)
		poll(&p, 1, p.fd < 0 ? NAP_NS / 1000000 : END_NS / 1000000);
	if (p.fd >= 0)
		close(p.fd);
}

static void reap_as_tracer(pid_t pid)
{
	siginfo_t info;

	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | __WALL);
}

/*
 * Until copy_end(): should the process end, its descriptors must be closed and the copy's parent,
 * be it the init of a namespace that waits for all in it, must be able to reap it.
 */
static int watch(void *arg)
{
	struct copy *c = arg;
	struct pollfd on[3] = {
		{ .fd = c->end_fd, .events = POLLIN },
		{ .fd = (int)syscall(SYS_pidfd_open, c->pid, 0), .events = POLLIN },
		{ .fd = (int)syscall(SYS_pidfd_open, c->child.pid, 0), .events = POLLIN },
	};

	while (poll(on, 3, -1) < 0 && errno == EINTR)
		;
	if (!on[0].revents && (on[1].revents || on[2].revents)) {
		c->ended = true;
		kill(c->child.pid, SIGKILL);
		await_end(c->child.pid);
		reap_as_tracer(c->child.pid);
	}
	for (int i = 1; i < 3; i++)
		if (on[i].fd >= 0)
			close(on[i].fd);
	return 0;
}

static void watch_begin(struct copy *c)
{
	c->end_fd = eventfd(0, EFD_CLOEXEC);
	c->watched = c->end_fd >= 0 && tracer_begin(c->tracer, watch, c);
}

static void watch_end(struct copy *c)
{
	const uint64_t one = 1;

	if (c->watched && write(c->end_fd, &one, sizeof(one)) == sizeof(one))
		tracer_await(c->tracer);
	if (c->end_fd >= 0)
		close(c->end_fd);
	c->watched = false;
	c->end_fd = -1;
}

int copy_is_gone(pid_t pid, const char *why, struct err *e)
{
	if (!proc_alive(pid))
		return err_set(e, -ESRCH, "process %d has ended", (int)pid);
	err_set(e, -ECHILD, "the copy of process %d has ended (%s)", (int)pid, why);
	err_hint(e, "try again; when memory runs out it is the first to be killed");
	return -ECHILD;
}

int copy_hold(struct stopped *s, struct copy *c, uint64_t *ns, struct err *e)
{
	int rc;

	*ns = stop_resume_traced(s, &c->tracer);
	rc = tracer_do(c->tracer, run_catch, c);
	if (rc) {
		copy_end(c);
		return copy_is_gone(s->pid, strerror(-rc), e);
	}
	be_killed_first(c->child.pid);
	watch_begin(c);
	return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * Have a thread of the process wait for children that have ended. 0, -ESRCH, or -errno and it may
 * work later.
 */
static int reap_inside(pid_t pid, const struct gadget *gadget, const struct remote_child *v,
		       size_t nr)
{
	struct stopped s;
	struct remote *r;
	int64_t result;
	int rc = stop_one(pid, REAP_ONE_NS, &s, NULL);

	if (rc)
		return rc;
	s.gadget = gadget;
	rc = remote_open(&s, 0, &r, NULL);
	if (!rc) {
		for (size_t i = 0; !rc && i < nr; i++) {
			reap_as_tracer(v[i].pid);
			rc = remote_syscall(r, SYS_wait4,
					    (uint64_t[6]){ (uint64_t)v[i].ns_pid, 0,
							   WNOHANG | (unsigned)__WALL },
					    &result, NULL);
		}
		remote_close(r);
	}
	stop_resume(&s);
	return rc;
}

static void reap_soon(pid_t pid, const struct gadget *gadget, const struct remote_child *v,
		      size_t nr)
{
	const uint64_t deadline_ns = nanotime() + REAP_NS;
	int rc = reap_inside(pid, gadget, v, nr);

	while (rc && rc != -ESRCH && nanotime() < deadline_ns) {
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
		rc = reap_inside(pid, gadget, v, nr);
	}
}

void copy_end(struct copy *c)
{
	if (!c->child.pid)
		return;
	watch_end(c);
	if (!c->ended) {	/* else the number may be another's */
		kill(c->child.pid, SIGKILL);
		await_end(c->child.pid);
	}
	reap_soon(c->pid, &c->gadget, &c->child, 1);
	reap_as_tracer(c->child.pid);
	tracer_free(c->tracer);
	*c = (struct copy){ .end_fd = -1 };
}

/* ---- what others left behind ----------------------------------------------------------------- */

/*
 * A zombie that looks like a copy: its end was signalled to no process, it was killed or ended as
 * they do, and has done nothing.
 */
static bool is_left_over(pid_t pid)
{
	uint64_t signal, status, faults, time;

	if (!task_ended(pid, pid) || task_stat(pid, pid, 38, &signal) ||
	    task_stat(pid, pid, 52, &status) || task_stat(pid, pid, 10, &faults) ||
	    task_stat(pid, pid, 14, &time))
		return false;
	return !signal && (status == SIGKILL || status == REMOTE_CHILD_STATUS << 8) &&
	       faults <= MAX_FAULTS && !time;
}

static size_t left_over_of(pid_t pid, pid_t tid, struct remote_child *v, size_t room)
{
	char path[80];
	size_t nr = 0;
	int child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	f = fopen(path, "re");
	while (f && nr < room && fscanf(f, "%d", &child) == 1)
		if (is_left_over(child)) {
			v[nr] = (struct remote_child){ child, proc_ns_pid(child) };
			nr += v[nr].ns_pid > 0;		/* else the next one reaps it */
		}
	if (f)
		fclose(f);
	return nr;
}

unsigned copy_reap_leftovers(pid_t pid)
{
	struct remote_child left[MAX_LEFT];
	struct task_list tasks = { 0 };
	size_t nr = 0;

	if (!task_list(pid, &tasks))
		vec_each(&tasks.tids, tid)
			nr += left_over_of(pid, *tid, left + nr, MAX_LEFT - nr);
	vec_fini(&tasks.tids);
	if (nr && !confined_check(pid, CONFINED_COPY, NULL))
		reap_soon(pid, NULL, left, nr);
	for (size_t i = nr; i-- > 0; )
		nr -= is_left_over(left[i].pid);
	return (unsigned)nr;
}
