/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/base/stack.c: where the limit on stacks is small a function has room all the same, and
 * nothing else changes.
 */
#include "tests/unit/test_child.h"

#include <pthread.h>
#include <sys/resource.h>

#include "src/base/stack.h"
#include "src/base/thread.h"

#define MUCH	(6u << 20)

static void limit_is(rlim_t bytes)
{
	struct rlimit l;

	MUST(!getrlimit(RLIMIT_STACK, &l));
	l.rlim_cur = bytes;
	MUST(!setrlimit(RLIMIT_STACK, &l));
}

static uintptr_t seen;

/* Writes to its stack as far down as it is told. */
static __attribute__((noinline)) int use_much(void *arg)
{
	volatile char much[MUCH];

	for (size_t i = 0; i < sizeof(much); i += 1024)
		much[i] = (char)i;
	seen = (uintptr_t)&much[sizeof(much) - 1];
	return *(int *)arg + much[0];
}

static int use_little(void *arg)
{
	volatile char here = -7;

	seen = (uintptr_t)&here;
	return here + (arg != NULL);
}

static size_t distance(const char *here)
{
	uintptr_t at = (uintptr_t)here;

	return at < seen ? seen - at : at - seen;
}

static void small_limit(void)
{
	pthread_attr_t attr;
	struct rlimit l;
	size_t bytes;
	int n = 41;
	char here;

	limit_is(256 << 10);
	MUST(stack_run(use_much, &n) == 41);
	MUST(distance(&here) > MUCH);		/* another stack */
	MUST(!getrlimit(RLIMIT_STACK, &l) && l.rlim_cur == 256 << 10);
	MUST(!pthread_getattr_default_np(&attr));
	MUST(!pthread_attr_getstacksize(&attr, &bytes) && bytes == THREAD_STACK_BYTES);
	MUST(stack_run(use_little, NULL) == -7);	/* again, as often as one likes */
	MUST(distance(&here) > 1 << 20);
}

static void large_limit(void)
{
	pthread_attr_t attr;
	size_t before, bytes;
	char here;

	limit_is(8 << 20);
	MUST(!pthread_getattr_default_np(&attr) && !pthread_attr_getstacksize(&attr, &before));
	MUST(stack_run(use_little, NULL) == -7);
	MUST(distance(&here) < 64 << 10);		/* the one there is */
	MUST(!pthread_getattr_default_np(&attr) && !pthread_attr_getstacksize(&attr, &bytes));
	MUST(bytes == before);
}

static void just_too_small(void)
{
	char here;

	limit_is((8 << 20) - 1);
	MUST(stack_run(use_little, NULL) == -7);
	MUST(distance(&here) > 64 << 10);
}

static void no_memory(void)
{
	char here;

	limit_is(256 << 10);
	MUST(!setrlimit(RLIMIT_AS, &(struct rlimit){ 1 << 20, 1 << 20 }));
	MUST(stack_run(use_little, NULL) == -7);	/* where it is */
	MUST(distance(&here) < 64 << 10);
}

/* The end of the stack is a wall, so that who needs even more does not write into other memory. */
static __attribute__((noinline)) int fall_down(void *arg)
{
	volatile char page[4096];

	page[0] = 1;
	return *(volatile int *)arg ? fall_down(arg) + page[0] : 0;
}

static void too_much(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	limit_is(256 << 10);
	stack_run(fall_down, &(int){ 1 });
}

static void a_small_limit_leaves_room(void **state)
{
	(void)state;
	assert_int_equal(status_of_child(small_limit), 0);
	assert_int_equal(status_of_child(just_too_small), 0);
}

static void a_large_limit_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(status_of_child(large_limit), 0);
}

static void without_memory_it_runs_where_it_is(void **state)
{
	(void)state;
#ifdef SANITIZED
	skip();			/* which needs more itself */
#endif
	assert_int_equal(status_of_child(no_memory), 0);
}

static void its_end_is_a_wall(void **state)
{
	(void)state;
#ifdef SANITIZED
	skip();			/* which makes a report of it */
#endif
	assert_true(WIFSIGNALED(status_of_child(too_much)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_limit_leaves_room),
		cmocka_unit_test(a_large_limit_changes_nothing),
		cmocka_unit_test(without_memory_it_runs_where_it_is),
		cmocka_unit_test(its_end_is_a_wall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
