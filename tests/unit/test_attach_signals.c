/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/cmd/attach_signals.c: a signal that came is known, and is dropped only when it was obeyed. */
#include "tests/unit/unit.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/cmd/attach_signals.h"

#define SAW	7

static int child(int number, bool obeyed)
{
	struct attach_signals t = ATTACH_SIGNALS_NONE;

	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	signal(number, SIG_DFL);
	if (attach_signals_take(&t) || attach_signals_came(&t) || raise(number) ||
	    !attach_signals_came(&t))
		return 1;
	attach_signals_give_back(&t, obeyed);
	return t.fd == -1 ? SAW : 2;
}

/* How a process ends in which that signal comes. */
static int status_of(int number, bool obeyed)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(child(number, obeyed));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

static void test_obeyed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		int status = status_of(ends[i], true);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), SAW);
	}
}

static void test_not_obeyed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		int status = status_of(ends[i], false);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), ends[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_obeyed),
		cmocka_unit_test(test_not_obeyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
