/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/proc/descendants.c, on processes made here. Also of src/session/trace/trace_targets.c. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/proc/descendants.h"
#include "src/session/trace/trace_targets.h"

/* A child, its child and that one's; each writes its number, then waits to be killed. */
static void family(int to)
{
	pid_t self;

	for (int depth = 1; depth < 3 && !fork(); depth++)
		continue;
	self = getpid();
	if (write(to, &self, sizeof(self)) != sizeof(self))
		_exit(1);
	for (;;)
		pause();
}

static void make_family(pid_t pid[3])
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	pid[0] = fork();
	if (!pid[0])
		family(fds[1]);
	for (int i = 0, nr = 1; i < 3; i++) {
		pid_t one;

		assert_int_equal(read(fds[0], &one, sizeof(one)), sizeof(one));
		if (one != pid[0])
			pid[nr++] = one;	/* they come in any order */
	}
	close(fds[0]);
	close(fds[1]);
}

static bool has(const struct pid_list *list, pid_t pid)
{
	size_t times = 0;

	for (size_t i = 0; i < list->pids.nr; i++)
		times += list->pids.v[i] == pid;
	assert_true(times <= 1);
	return times;
}

static void test_tree(void **state)
{
	struct pid_list list = { 0 }, all = { 0 };
	struct trace_targets t = { 0 };
	pid_t pid[3] = { 0 };
	struct err e = { 0 };

	(void)state;
	make_family(pid);
	assert_int_equal(vec_push(&list.pids, pid[0]), 0);
	assert_int_equal(descendants_add(&list), 0);
	assert_int_equal(list.pids.nr, 3);
	assert_int_equal(list.pids.v[0], pid[0]);
	for (int i = 0; i < 3; i++)
		assert_true(has(&list, pid[i]));
	/* nothing new: each is there once */
	assert_int_equal(descendants_add(&list), 0);
	assert_int_equal(list.pids.nr, 3);

	assert_int_equal(pid_list_all(&all), 0);
	for (int i = 0; i < 3; i++)
		assert_true(has(&all, pid[i]));
	assert_true(has(&all, getpid()));

	/* a trace's: the given one alone, or with them */
	assert_int_equal(trace_targets_init(&t, pid, 1, false, &e), 0);
	assert_int_equal(t.all.pids.nr, 1);
	trace_targets_fini(&t);
	t = (struct trace_targets){ 0 };
	assert_int_equal(trace_targets_init(&t, pid, 1, true, &e), 0);
	assert_int_equal(t.all.pids.nr, 3);
	assert_int_equal(t.nr_given, 1);
	trace_targets_fini(&t);

	for (int i = 2; i >= 0; i--)
		kill(pid[i], SIGKILL);
	waitpid(pid[0], NULL, 0);
	vec_fini(&list.pids);
	vec_fini(&all.pids);
}

static void test_none(void **state)
{
	struct pid_list list = { 0 };

	(void)state;
	assert_int_equal(descendants_add(&list), 0);
	assert_int_equal(list.pids.nr, 0);
	assert_int_equal(vec_push(&list.pids, 0x3fffff), 0);	/* no such process */
	assert_int_equal(descendants_add(&list), 0);
	assert_int_equal(list.pids.nr, 1);
	vec_fini(&list.pids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
