/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads with small stacks, in a program whose thread-local variables are larger than those.
 */
#include "tests/unit/unit.h"

#include <signal.h>

#include "src/base/thread.h"

#define STACK_BYTES (64u << 10)

static _Thread_local char large[STACK_BYTES + 4096];

/* Uses half of its stack; *arg = whether a signal was let in. */
static void *use(void *arg)
{
	volatile char room[STACK_BYTES / 2];
	sigset_t mask;

	memset((void *)room, 1, sizeof(room));
	large[sizeof(large) - 1] = room[0];
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	*(int *)arg = !sigismember(&mask, SIGTERM) || !sigismember(&mask, SIGINT);
	return NULL;
}

static void a_stack_has_room_beside_thread_local_variables(void **state)
{
	int let_in = -1;
	pthread_t thread;

	(void)state;
	assert_int_equal(thread_start(&thread, STACK_BYTES, use, &let_in), 0);
	pthread_join(thread, NULL);
	assert_int_equal(let_in, 0);
	assert_int_equal(large[sizeof(large) - 1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_has_room_beside_thread_local_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
