/* SPDX-License-Identifier: GPL-2.0-or-later
 * Drives src/ptrace/stop.h and remote.h from the command line, for tests/cli/stop.bats:
 *
 *	allowed PID			stop_allowed()
 *	all PID TIMES			stop all threads and let them go; prints threads and the median pause in microseconds
 *	one PID TIMES [FUNCTION]	a system call each time (getpid), and the function called
 *	each PID TIMES FUNCTION		the same with every thread, all being stopped
 *	hold PID			stop all until standard input ends
 *	die PID TIMES FUNCTION		children that do all that without end, each killed at a random moment
 *	restart PID TIMES		children that are killed with a thread borrowed that is about to restart a system call, so many of them;
 *					prints how often, which is less where hardly any such thread is met
 *	points PID 1 FUNCTION		children that do all that once, killed behind their first, second, ... request of the kernel
 *
 * A refusal is printed as "CODE: sentence" and the hint, status 3.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/ptrace/remote.h"
#include "src/ptrace/stop.h"
#include "tests/prog/requests.h"

#define WAIT_S		60	/* for threads to stop: a machine may stall */
#define RESTART_S	10
#define STACK_BYTES	65536u

static struct err e;

/* STOP_WAIT_S in the environment says otherwise. */
static uint64_t wait_ns(void)
{
	const char *s = getenv("STOP_WAIT_S");

	return (s ? strtoull(s, NULL, 10) : WAIT_S) * 1000000000ull;
}

static int refused(int rc)
{
	return requests_refused(rc, &e);
}

static int wrong(const char *what, int64_t result)
{
	printf("%s: result %lld\n", what, (long long)result);
	return 1;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int all(pid_t pid, unsigned times)
{
	uint64_t *ns = calloc(times, sizeof(*ns));
	size_t nr = 0;

	for (unsigned i = 0; i < times; i++) {
		struct stopped s;
		int rc = stop_all(pid, wait_ns(), &s, &e);

		if (rc) {
			free(ns);
			return refused(rc);
		}
		nr = s.nr;
		ns[i] = stop_resume(&s);
	}
	qsort(ns, times, sizeof(*ns), by_value);
	printf("threads=%zu median_us=%llu max_us=%llu\n", nr, (unsigned long long)ns[times / 2] / 1000,
	       (unsigned long long)ns[times - 1] / 1000);
	free(ns);
	return 0;
}

/* The function on a stack of its own. */
static int call(struct remote *r, uint64_t function, uint64_t x)
{
	const uint64_t map[6] = { 0, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0 };
	int64_t stack, result;
	int rc = remote_syscall(r, SYS_mmap, map, &stack, &e);

	if (rc)
		return rc;
	rc = remote_call(r, function, x, (uint64_t)stack + STACK_BYTES, wait_ns(), &result, &e);
	if (!rc && result != (int64_t)(3 * x + 1))
		return wrong("function", result);
	if (!rc)
		rc = remote_syscall(r, SYS_munmap, (uint64_t[6]){ (uint64_t)stack, STACK_BYTES }, &result, &e);
	return rc;
}

static int borrow(struct stopped *s, size_t i, pid_t pid, uint64_t function, uint64_t x)
{
	struct remote *r;
	int64_t result;
	int rc = remote_open(s, i, &r, &e);

	if (rc)
		return rc;
	rc = remote_syscall(r, SYS_getpid, (uint64_t[6]){ 0 }, &result, &e);
	if (!rc && result != pid)
		rc = wrong("getpid", result);
	if (!rc && function)
		rc = call(r, function, x);
	remote_close(r);
	return rc;
}

static int one(pid_t pid, unsigned times, uint64_t function)
{
	for (unsigned i = 0; i < times; i++) {
		struct stopped s;
		int rc = stop_one(pid, wait_ns(), &s, &e);

		if (!rc)
			rc = borrow(&s, 0, pid, function, i);
		stop_resume(&s);
		if (rc)
			return rc < 0 ? refused(rc) : rc;
	}
	return 0;
}

/* Every thread made to work, one after the other; those whose stack is not fit for it are passed over. */
static int each(pid_t pid, unsigned times, uint64_t function)
{
	for (unsigned n = 0; n < times; n++) {
		struct stopped s;
		int rc = stop_all(pid, wait_ns(), &s, &e);

		for (size_t i = 0; !rc && i < s.nr; i++) {
			rc = borrow(&s, i, pid, function, n + i);
			rc = rc == -EAGAIN ? 0 : rc;
		}
		stop_resume(&s);
		if (rc)
			return rc < 0 ? refused(rc) : rc;
	}
	return 0;
}

static int hold(pid_t pid)
{
	struct stopped s;
	int rc = stop_all(pid, wait_ns(), &s, &e);
	char c;

	if (rc)
		return refused(rc);
	puts("held");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	stop_resume(&s);
	return 0;
}

static int die(pid_t pid, unsigned times, uint64_t function)
{
	srand(1);
	for (unsigned i = 0; i < times; i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			int rc;

			if (!freopen("/dev/null", "w", stdout))
				_exit(1);
			do
				rc = i % 3 == 0 ? all(pid, 1) : i % 3 == 1 ? one(pid, 1, function) : each(pid, 1, function);
			while (!rc);
			_exit(rc);
		}
		nanosleep(&(struct timespec){ .tv_nsec = 100000 + rand() % 20000000 }, NULL);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		if (!WIFSIGNALED(status))
			return printf("tracer %u ended with %#x\n", i, status), 1;
	}
	return 0;
}

/* Does it stand before a system call that is to begin again by restart_syscall? */
static bool restarts(const struct stop_thread *t)
{
	return t->regs.rax == SYS_restart_syscall && (long)t->regs.orig_rax != SYS_restart_syscall;
}

/* Stop all twice in a row, so that some have come no further; borrow those and be killed. 0 = there was none. */
static int borrow_restarting(pid_t pid)
{
	struct remote *r;
	struct stopped s;
	int found = 0;

	if (stop_all(pid, wait_ns(), &s, &e))
		return 1;
	stop_resume(&s);
	if (stop_all(pid, wait_ns(), &s, &e))
		return 1;
	for (size_t i = 0; i < s.nr; i++)
		found += restarts(&s.v[i]) && !remote_open(&s, i, &r, &e);
	if (found)
		kill(getpid(), SIGKILL);
	stop_resume(&s);
	return 0;
}

/* How often one is met is the scheduler's affair: so often, or as often as it is in the time. */
static int restart(pid_t pid, unsigned times)
{
	time_t end = time(NULL) + RESTART_S;
	unsigned found = 0;

	while (found < times && time(NULL) < end) {
		pid_t child = fork();
		int status;

		if (!child)
			_exit(borrow_restarting(pid));
		waitpid(child, &status, 0);
		if (!WIFSIGNALED(status) && status)
			return printf("tracer ended with %#x\n", status), 1;
		found += WIFSIGNALED(status);
	}
	printf("found=%u\n", found);
	return 0;
}

struct work {
	unsigned what;
	pid_t pid;
	uint64_t function;
};

static int work(void *arg)
{
	const struct work *w = arg;

	return w->what == 0 ? all(w->pid, 1) : w->what == 1 ? one(w->pid, 1, w->function) : each(w->pid, 1, w->function);
}

static int points(pid_t pid, uint64_t function)
{
	int nr[3];

	for (unsigned what = 0; what < 3; what++) {
		nr[what] = requests_die_behind_each(work, NULL, &(struct work){ what, pid, function });
		if (nr[what] < 0)
			return 1;
	}
	printf("all=%d one=%d each=%d\n", nr[0], nr[1], nr[2]);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	pid_t pid = argc > 2 ? atoi(argv[2]) : 0;
	unsigned times = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	uint64_t function = argc > 4 ? strtoull(argv[4], NULL, 0) : 0;

	if (!strcmp(what, "allowed")) {
		int rc = stop_allowed(pid, &e);

		return rc ? refused(rc) : 0;
	}
	if (!strcmp(what, "all"))
		return all(pid, times);
	if (!strcmp(what, "one"))
		return one(pid, times, function);
	if (!strcmp(what, "each"))
		return each(pid, times, function);
	if (!strcmp(what, "hold"))
		return hold(pid);
	if (!strcmp(what, "restart"))
		return restart(pid, times);
	if (!strcmp(what, "points"))
		return points(pid, function);
	if (!strcmp(what, "die"))
		return die(pid, times, function);
	fprintf(stderr, "usage: stop_driver allowed|all|one|each|hold|die|points PID [TIMES] [FUNCTION]\n");
	return 2;
}
