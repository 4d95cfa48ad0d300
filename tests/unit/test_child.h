/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests in a forked child, for what a process cannot undo: the parent looks at how the child ended.
 */
#ifndef TESTS_UNIT_TEST_CHILD_H
#define TESTS_UNIT_TEST_CHILD_H

#include "tests/unit/unit.h"

#include <sys/wait.h>
#include <unistd.h>

/* In the child: ends it when the condition does not hold. */
#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			dprintf(2, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x);                 \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* How a child that does this ended, as waitpid() has it: 0 when all held. */
static inline int status_of_child(void (*f)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		f();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static inline void in_child(void (*f)(void))
{
	assert_int_equal(status_of_child(f), 0);
}

#endif
