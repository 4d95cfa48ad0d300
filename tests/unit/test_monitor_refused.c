/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/track/monitor.c and child.c: what cannot run, and what is left open then. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <unistd.h>

#include "src/cmd/run_signals.h"
#include "src/track/monitor.h"

#define MIB (1ull << 20)

static const struct monitor_ops ops;	/* never called */

static void what_cannot_run_is_said(void **state)
{
	char *argv[] = { "/nonexistent/program", NULL };
	struct err e = { .text = "" };
	struct child c;

	(void)state;
	assert_int_equal(child_prepare(&c, &run_signals, true, NULL), 0);
	assert_int_equal(child_start(&c, argv[0], argv, environ, &e), -ENOENT);
	assert_non_null(strstr(e.text, "cannot execute '/nonexistent/program'"));
	assert_int_equal(c.pid, 0);
	close(c.signal_fd);
	sigprocmask(SIG_SETMASK, &c.mask, NULL);
}

/*
 * A monitor that cannot listen to all that it must is none, and says so; nothing of it stays open.
 */
static void half_a_monitor_is_none(void **state)
{
	const struct ledger_tree_options o = { .limit_bytes = 8 * MIB,
					       .space_bytes = UINT64_MAX,
					       .file_bytes = UINT64_MAX };
	struct child none = { .signal_fd = 999 };
	struct ledger_tree tree;
	struct monitor m;
	struct err e = { 0 };
	int first = dup(0), again;

	(void)state;
	close(first);
	assert_int_equal(ledger_tree_init(&tree, &o, NULL), 0);
	assert_int_equal(monitor_init(&m, &tree, &none, NULL, 0, &ops, NULL, &e), -EBADF);
	assert_string_equal(e.text, "cannot set up the monitor: Bad file descriptor");
	ledger_tree_fini(&tree);
	again = dup(0);
	assert_int_equal(again, first);
	close(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_a_monitor_is_none),
		cmocka_unit_test(what_cannot_run_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
