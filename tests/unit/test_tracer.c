/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracing thread: who gets the status of what ends under it.
 * Also of src/proc/task.c, seize.c.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"
#include "src/ptrace/tracer.h"

#define WAIT_NS		30000000000u
#define TICKS_NS	60000000u	/* a dozen of them: the tracer's timer ticks every 5 ms */

struct victim {
	struct tracer *tracer;
	pid_t pid;
	int code;			/* that it ends with once it may; 0 = it is killed */
	int go;				/* what lets it */
	bool threads;			/* it has a second one */
};

static void *wait_for_end(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* A process that ends when `go` is closed. */
static pid_t fork_victim(struct victim *v)
{
	int fds[2], begun[2];
	pthread_t other;
	char byte;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pipe(begun), 0);
	v->pid = fork();
	assert_true(v->pid >= 0);
	if (!v->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[1]);
		if (v->threads && pthread_create(&other, NULL, wait_for_end, NULL))
			_exit(97);
		close(begun[0]);
		close(begun[1]);
		while (read(fds[0], &byte, 1) < 0)
			;
		_exit(v->code);
	}
	close(fds[0]);
	close(begun[1]);
	assert_int_equal(read(begun[0], &byte, 1), 0);
	close(begun[0]);
	v->go = fds[1];
	return v->pid;
}

static void seize_all(const struct victim *v)
{
	struct proc_thread *threads = NULL;
	ssize_t nr = proc_threads(v->pid, &threads);

	assert_int_equal(nr, v->threads ? 2 : 1);
	for (ssize_t i = 0; i < nr; i++) {
		assert_int_equal(tracer_ptrace(PTRACE_SEIZE, threads[i].tid, 0, 0), 0);
		assert_int_equal(tracer_watch(v->tracer, v->pid, threads[i].tid), 0);
	}
	free(threads);
}

/*
 * It ends in the middle of being stopped, as a program does whose other thread calls exit() while
 * pmm begins to search it.
 */
static int end_when_seized(void *arg)
{
	struct victim *v = arg;
	const uint64_t begin_ns = nanotime();
	uint64_t ended_ns;

	seize_all(v);
	if (v->code)
		close(v->go);
	else
		kill(v->pid, SIGKILL);
	while (!task_ended(v->pid, v->pid) && nanotime() - begin_ns < WAIT_NS)
		usleep(1000);
	for (ended_ns = nanotime(); nanotime() - ended_ns < TICKS_NS;)
		usleep(1000);
	tracer_deadline(v->tracer, nanotime() + WAIT_NS);
	return tracer_wait(v->tracer, v->pid);
}

static void ends_traced(struct victim *v)
{
	assert_int_equal(tracer_new(&v->tracer, NULL), 0);
	assert_int_equal(tracer_do(v->tracer, end_when_seized, v), -ESRCH);
	tracer_free(v->tracer);
}

static void a_child_of_pmm_is_left_to_who_waits_for_it(void **state)
{
	struct victim exits = { .code = 5 }, killed = { .code = 0 };
	int status = -1;

	(void)state;
	assert_true(fork_victim(&exits) > 0);
	ends_traced(&exits);
	assert_int_equal(waitpid(exits.pid, &status, WNOHANG), exits.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	assert_true(fork_victim(&killed) > 0);
	ends_traced(&killed);
	close(killed.go);
	assert_int_equal(waitpid(killed.pid, &status, WNOHANG), killed.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void nor_is_one_with_threads_collected(void **state)
{
	struct victim v = { .code = 7, .threads = true };
	int status = -1;

	(void)state;
	assert_true(fork_victim(&v) > 0);
	ends_traced(&v);
	assert_int_equal(waitpid(v.pid, &status, WNOHANG), v.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/*
 * A child of our child's: reaped by us as its tracer, then by its parent, which says with what
 * status.
 */
static void another_process_is_not_kept_from_its_parent(void **state)
{
	struct victim v = { .code = 6 };
	int told[2], status = -1;
	pid_t parent;

	(void)state;
	assert_int_equal(pipe(told), 0);
	parent = fork();
	if (!parent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fork_victim(&v);
		if (write(told[1], &v, sizeof(v)) != sizeof(v) ||
		    waitpid(v.pid, &status, 0) != v.pid)
			_exit(99);
		_exit(WIFSIGNALED(status) ? WTERMSIG(status) : 98);
	}
	assert_int_equal(read(told[0], &v, sizeof(v)), sizeof(v));
	v.code = 0;			/* its way out is in another process */
	ends_traced(&v);
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == SIGKILL);
	close(told[0]);
	close(told[1]);
}

static void who_is_not_there_has_no_figures(void **state)
{
	uint64_t value = 7;

	(void)state;
	assert_int_equal(task_stat(0x7ffffff0, 0, 22, &value), -ESRCH);
	assert_int_equal(task_stat(getpid(), 0x7ffffff0, 22, &value), -ESRCH);
	assert_int_equal(task_stat(getpid(), getpid(), 1000, &value), -ESRCH);
	assert_int_equal(value, 7);
	assert_int_equal(task_stat(getpid(), getpid(), 4, &value), 0);
	assert_int_equal(value, getppid());
}

static void handle(int number)
{
	(void)number;
}

/* The one signal of the process that it uses: not when it is another's. */
static void a_signal_in_use_is_left_alone(void **state)
{
	const int number = SIGRTMAX - 3;
	const struct sigaction mine = { .sa_handler = handle }, none = { .sa_handler = SIG_IGN };
	struct sigaction before, now;
	struct err e = { .text = "" };
	struct tracer *t = NULL;

	(void)state;
	sigaction(number, &mine, &before);
	assert_int_equal(tracer_new(&t, &e), -EEXIST);
	assert_null(t);
	assert_string_equal(e.text, "something else in pmm handles signal 61");
	sigaction(number, &none, &now);
	assert_ptr_equal(now.sa_handler, handle);
	assert_int_equal(tracer_new(&t, &e), 0);
	tracer_free(t);
	sigaction(number, &before, &now);
	assert_ptr_not_equal(now.sa_handler, SIG_IGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_of_pmm_is_left_to_who_waits_for_it),
		cmocka_unit_test(nor_is_one_with_threads_collected),
		cmocka_unit_test(another_process_is_not_kept_from_its_parent),
		cmocka_unit_test(who_is_not_there_has_no_figures),
		cmocka_unit_test(a_signal_in_use_is_left_alone),
	};

	return cmocka_run_group_tests_name("tracer", tests, NULL, NULL);
}
