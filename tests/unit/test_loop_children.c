/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event loop: children that end, and signals. */
#include "tests/unit/loop_calls.h"

#include <sys/time.h>
#include <sys/wait.h>

/* ---- children ---- */

static void ends_are_reported_with_their_status(void **state)
{
	struct source a = { .name = 'a' }, b = { .name = 'b' }, gone = { .name = 'g' };
	struct loop *l = *state;
	siginfo_t info;
	int gate[2];
	pid_t pid[2];

	a_pipe(gate);
	for (unsigned i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct pollfd p = { .fd = gate[0], .events = POLLIN };

			close(gate[1]);
			while (i && poll(&p, 1, -1) < 0)
				;
			if (i)
				kill(getpid(), SIGKILL);
			_exit(7);
		}
	}
	/* the first has ended before it is added */
	assert_int_equal(waitid(P_PID, (id_t)pid[0], &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(loop_add_child(l, pid[0], on_child, &a, &a.self), 0);
	assert_int_equal(loop_add_child(l, pid[1], on_child, &b, &b.self), 0);
	assert_int_equal(loop_step(l, -1), 1);
	assert_calls("a");
	assert_true(WIFEXITED(a.status));
	assert_int_equal(WEXITSTATUS(a.status), 7);
	assert_int_equal(waitpid(pid[0], NULL, WNOHANG), -1);	/* it was collected */
	assert_int_equal(loop_step(l, 0), 0);			/* once */
	assert_int_equal(loop_add_child(l, pid[0], on_child, &gone, NULL), -ESRCH);
	close_both(gate);
	assert_int_equal(loop_step(l, -1), 1);
	assert_calls("b");
	assert_true(WIFSIGNALED(b.status));
	assert_int_equal(WTERMSIG(b.status), SIGKILL);
	loop_del(l, b.self);
}

static void of_a_child_collected_elsewhere_the_status_is_not_known(void **state)
{
	struct source a = { .name = 'a', .status = 1 };
	struct loop *l = *state;
	pid_t pid = fork();

	if (!pid)
		_exit(3);
	assert_int_equal(loop_add_child(l, pid, on_child, &a, &a.self), 0);
	a.loop = l;
	a.kill[0] = a.self;
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(loop_step(l, -1), 1);
	assert_int_equal(a.status, -1);
	assert_calls("a");
}

/* ---- signals ---- */

static void signals_are_taken_one_call_each(void **state)
{
	struct source a = { .name = 'a' };
	struct loop *l = *state;
	sigset_t set, old, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	assert_int_equal(loop_add_signals(l, &set, on_signal, &a, &a.self), 0);
	assert_int_equal(loop_step(l, 0), 0);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGUSR1);
	assert_int_equal(loop_step(l, -1), 2);
	assert_calls("aa");
	assert_int_equal(a.signal, SIGUSR2);		/* the lower number first */
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	a.loop = l;
	a.kill[0] = a.self;				/* the rest stays pending */
	assert_int_equal(loop_step(l, -1), 1);
	assert_calls("a");
	sigpending(&pending);
	assert_true(sigismember(&pending, SIGUSR2));
	assert_false(sigismember(&pending, SIGUSR1));
	signal(SIGUSR2, SIG_IGN);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGUSR2, SIG_DFL);
}

static volatile sig_atomic_t handled;

static void on_alarm(int sig)
{
	handled = sig;
}

/* A handler that runs ends the wait, and nothing is lost by it. */
static void a_handler_ends_the_wait(void **state)
{
	struct sigaction action = { .sa_handler = on_alarm }, old;
	const struct itimerval soon = { .it_value.tv_usec = 20000,
					.it_interval.tv_usec = 20000 }, none = { 0 };
	struct source a = { .name = 'a' };
	struct loop *l = *state;

	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &soon, NULL);
	add_timer(l, &a, nanotime() + LONG_NS);
	assert_int_equal(loop_step(l, -1), 0);
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &old, NULL);
	assert_int_equal(handled, SIGALRM);
	loop_set_timer(l, a.self, 0);
	assert_int_equal(loop_step(l, -1), 1);
	assert_calls("a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ends_are_reported_with_their_status),
		TEST(of_a_child_collected_elsewhere_the_status_is_not_known),
		TEST(signals_are_taken_one_call_each),
		TEST(a_handler_ends_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
