/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/ptrace/permit.c, segv_check.c: which processes may be attached to, and which have their
 * blocks guarded, and in which words not.
 */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/proc/segv_check.h"
#include "src/ptrace/stop.h"
#include "src/proc/task.h"

static pid_t thread_tid;		/* a second one of this process */
static int told[2];

static bool says(const struct err *e, const char *text)
{
	return strstr(e->text, text) != NULL;
}

/* A process that has prepared itself. */
static pid_t start(void (*prepare)(void))
{
	pid_t pid;
	char c;

	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (prepare)
			prepare();
		if (write(told[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	assert_int_equal(read(told[0], &c, 1), 1);
	close(told[0]);
	close(told[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- may it be attached to? ------------------------------------------------------------------ */

static void who_is_not_there(void **state)
{
	struct err e = { 0 };
	char text[100];
	pid_t pid;

	(void)state;
	assert_int_equal(stop_allowed(0x7ffffff0, &e), -ESRCH);
	assert_string_equal(e.text, "no process 2147483632");
	assert_int_equal(stop_allowed(0, &e), -ESRCH);
	assert_int_equal(stop_allowed(-1, &e), -ESRCH);
	assert_int_equal(stop_allowed(getpid(), &e), -EINVAL);
	assert_true(says(&e, "is pmm itself"));
	pid = fork();
	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_int_equal(stop_allowed(pid, &e), -ESRCH);
	snprintf(text, sizeof(text), "process %d has ended", (int)pid);
	assert_string_equal(e.text, text);
	snprintf(text, sizeof(text), "its parent, process %d, has not asked for its status yet",
		 (int)getpid());
	assert_string_equal(e.hint, text);
	waitpid(pid, NULL, 0);
}

static void *waits(void *arg)
{
	char c = 0;
	pid_t tid = (pid_t)syscall(SYS_gettid);

	(void)arg;
	if (write(told[1], &tid, sizeof(tid)) != sizeof(tid) || write(told[1], &c, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void have_a_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, waits, NULL))
		_exit(1);
	for (;;)
		pause();
}

static void a_thread_is_no_process(void **state)
{
	struct err e = { 0 };
	char text[100], c;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		have_a_thread();
	}
	assert_int_equal(read(told[0], &thread_tid, sizeof(thread_tid)), sizeof(thread_tid));
	assert_int_equal(read(told[0], &c, 1), 1);
	close(told[0]);
	close(told[1]);
	assert_int_equal(stop_allowed(thread_tid, &e), -ESRCH);
	snprintf(text, sizeof(text), "%d is a thread of process %d", (int)thread_tid, (int)pid);
	assert_string_equal(e.text, text);
	snprintf(text, sizeof(text), "use the process: %d", (int)pid);
	assert_string_equal(e.hint, text);
	assert_int_equal(stop_allowed(pid, &e), 0);
	assert_int_equal(segv_check(pid, &e), 0);
	end(pid);
}

/* One tracer at a time: who it is, is said. */
static void a_traced_process(void **state)
{
	struct err e = { 0 };
	pid_t pid = start(NULL), tracer;
	char text[200], c;

	(void)state;
	assert_int_equal(stop_allowed(pid, &e), 0);
	assert_string_equal(e.text, "");
	assert_int_equal(pipe(told), 0);
	tracer = fork();
	if (!tracer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a-tracer");
		if (ptrace(PTRACE_SEIZE, pid, 0, 0) || write(told[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(told[1]);
	if (read(told[0], &c, 1) != 1) {
		close(told[0]);
		end(tracer);
		end(pid);
		print_message("processes cannot be traced here\n");
		skip();
	}
	close(told[0]);
	assert_int_equal(stop_allowed(pid, &e), -EBUSY);
	snprintf(text, sizeof(text), "process %d is being traced by 'a-tracer' (process %d)",
		 (int)pid, (int)tracer);
	assert_string_equal(e.text, text);
	end(tracer);
	assert_int_equal(stop_allowed(pid, &e), 0);
	end(pid);
}

/* Of another user, asked by one that is not root. */
static void somebody_elses_process(void **state)
{
	pid_t pid = start(NULL), asks;
	int status;

	(void)state;
	if (getuid()) {
		end(pid);
		print_message("not root: there is nobody else\n");
		skip();
	}
	asks = fork();
	if (!asks) {
		struct err e = { 0 };

		if (setgid(65534) || setuid(65534))
			_exit(3);
		_exit(stop_allowed(pid, &e) != -EPERM || !says(&e, "belongs to user") ||
		      strcmp(e.hint, "run pmm as that user or as root"));
	}
	assert_int_equal(waitpid(asks, &status, 0), asks);
	assert_int_equal(status, 0);
	end(pid);
}

/* ---- may its blocks be guarded? -------------------------------------------------------------- */

static void ignore_faults(void)
{
	signal(SIGSEGV, SIG_IGN);
}

static void block_faults(void)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGSEGV);
	sigprocmask(SIG_BLOCK, &one, NULL);
	prctl(PR_SET_NAME, "blocker");
}

static void block_others(void)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGUSR1, SIG_IGN);
}

static void be_strict(void)
{
	char c = 0;

	if (prctl(PR_SET_SECCOMP, 1 /* SECCOMP_MODE_STRICT */) || write(told[1], &c, 1) != 1)
		syscall(SYS_exit, 1);
	for (;;)
		if (read(told[0], &c, 0))
			syscall(SYS_exit, 1);
}

static void faults_must_come_through(void **state)
{
	static const struct { void (*prepare)(void); const char *why;
	} cases[] = {
		{ NULL, NULL },
		{ block_others, NULL },
		{ ignore_faults, "it ignores SIGSEGV" },
		{ block_faults, "thread 'blocker' (" },
		{ be_strict, "a seccomp filter judges its system calls" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct err e = { 0 };
		pid_t pid = start(cases[i].prepare);
		int rc = segv_check(pid, &e);

		end(pid);
		assert_int_equal(rc, cases[i].why ? -ENOTSUP : 0);
		assert_true(!cases[i].why || says(&e, cases[i].why));
		assert_string_equal(e.hint, cases[i].why ? "start the program with 'pmm check' "
							   "instead, or attach without --check"
							 : "");
	}
}

static void nobody_has_no_blocks(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(segv_check(0x7ffffff0, &e), -ESRCH);
	assert_true(says(&e, "cannot be read"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_not_there),
		cmocka_unit_test(a_thread_is_no_process),
		cmocka_unit_test(a_traced_process),
		cmocka_unit_test(somebody_elses_process),
		cmocka_unit_test(faults_must_come_through),
		cmocka_unit_test(nobody_has_no_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
