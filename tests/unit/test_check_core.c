/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/session/check/check_core.c: which ends are worth a word on core files. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/session/check/check_core.h"
#include "src/session/session.h"

#define DUMPED	0x80		/* of a status of wait() */

static char said[256];

static void note(void *arg, enum session_kind kind, const char *text)
{
	(void)arg;
	assert_int_equal(kind, SESSION_NOTE);
	snprintf(said, sizeof(said), "%s", text);
}

static const char *of(int status)
{
	static const struct session_ops ops = { .note = note };
	const struct session_sink sink = { .ops = &ops };

	said[0] = '\0';
	check_core_note(&sink, getpid(), status);
	return said;
}

static void ends_without_one(void **state)
{
	(void)state;
	assert_string_equal(of(0), "");
	assert_string_equal(of(134 << 8), "");
	assert_string_equal(of(SIGTERM), "");
	assert_string_equal(of(SIGKILL), "");
}

/* Nothing lies about that is of this process. */
static void one_that_is_not_here(void **state)
{
	(void)state;
	assert_memory_equal(of(SIGABRT | DUMPED), "core file    ", 13);
	assert_null(strstr(said, "core file    /"));
}

static void refused(void **state)
{
	(void)state;
	assert_int_equal(setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }), 0);
	assert_string_equal(of(SIGABRT),
			    "no core file was written: the hard limit on core files is 0");
	assert_string_equal(of(SIGSEGV),
			    "no core file was written: the hard limit on core files is 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_without_one),
		cmocka_unit_test(one_that_is_not_here),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
