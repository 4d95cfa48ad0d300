/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is the allocator's in real processes: children that say where they have put a pointer.
 */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/unit/roots_host.h"

static pthread_barrier_t there;

static void freed_child(void)
{
	static const size_t size[] = { 24, 100, 2000, 20000, 120000 };

	for (unsigned n = 0; n < 3; n++)
		for (unsigned i = 0; i < NR(size); i++) {
			char *p[12];

			for (unsigned k = 0; k < NR(p); k++)
				p[k] = malloc(size[i]);
			for (unsigned k = 0; k < NR(p); k++) {
				host_place(k % 3 == n ? "a live block" : "a freed block", p[k] + 16,
					   IS_NONE);
				if (k % 3 == n)
					host_block(p[k], size[i]);
				else
					free(p[k]);
			}
		}
	host_place("slack", (char *)host_malloc(25) + 32, IS_NONE);
	host_place("a mapped block's slack", (char *)host_malloc(200000) + 200000, IS_NONE);
	host_place("above the top", (char *)sbrk(0) - 64, IS_NONE);
	host_ready();
}

static void freed_blocks_are_none(void **state)
{
	(void)state;
	needs_glibc();
	assert_int_equal(host_run(freed_child, true, false, NULL), 0);
	assert_int_equal(host_run(freed_child, true, true, NULL), 0);
}

static void *arena_user(void *arg)
{
	char *p[64] = { 0 };

	for (unsigned i = 0; i < NR(p); i++)
		p[i] = malloc(5000);
	for (unsigned i = 0; i < NR(p); i++) {
		host_place(i % 2 ? "a live block of an arena" : "a freed block of an arena",
			   p[i] + 100, IS_NONE);
		if (i % 2)
			host_block(p[i], 5000);
		else
			free(p[i]);
	}
	host_stay(&there);
	return arg;
}

static void *arena_leaver(void *arg)
{
	char *p = memset(malloc(5000), 0, 5000);

	host_place("the only block of an arena, freed", p + 100, IS_NONE);
	free(p);
	return arg;
}

static void arenas_child(void)
{
	pthread_t thread[6];

	host_malloc(100);
	pthread_barrier_init(&there, NULL, NR(thread) + 1);
	for (unsigned i = 0; i < NR(thread); i++)
		if (pthread_create(&thread[i], NULL, arena_user, NULL))
			_exit(2);
		else if (i < 3)
			usleep(1000);
	pthread_barrier_wait(&there);
	pthread_create(&thread[0], NULL, arena_leaver, NULL);
	pthread_join(thread[0], NULL);
	host_ready();
}

static void arenas_of_threads(void **state)
{
	(void)state;
	needs_glibc();
	assert_int_equal(host_run(arenas_child, true, false, NULL), 0);
}

static void sbrk_child(void)
{
	char *mine, *freed;

	host_malloc(100);
	mine = sbrk(8192);
	memset(mine, 1, 8192);
	for (unsigned i = 0; i < 8; i++) {
		host_malloc(100000);
		freed = malloc(100000);
		host_malloc(100000);
		host_place("freed behind the program's own", freed + 100, IS_NONE);
		free(freed);
	}
	host_place("sbrk by the program", mine, IS_ROOT);
	host_place("its end", mine + 8184, IS_ROOT);
	mine = sbrk(100);
	*mine = 1;
	host_place("sbrk behind the top", mine, IS_ROOT);
	host_place("its end", mine + 92, IS_ROOT);
	host_ready();
}

static void the_programs_own_part_of_the_break(void **state)
{
	(void)state;
	needs_glibc();
	assert_int_equal(host_run(sbrk_child, true, false, NULL), 0);
	assert_int_equal(host_run(sbrk_child, false, false, NULL), 0);
}

/* A C library of its own, whose blocks nobody knows. */
static void namespace_child(void)
{
	void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	void *(*other)(size_t) = libc ? (void *(*)(size_t))(uintptr_t)dlsym(libc, "malloc") : NULL;

	if (!other || !dlsym(libc, "environ"))
		_exit(2);
	host_malloc(100);
	host_place("data in another namespace", dlsym(libc, "environ"), IS_ROOT);
	host_place("its block", other(100), IS_ROOT);
	host_place("its large block", other(1000000), IS_ROOT);
	host_ready();
}

static void another_namespace(void **state)
{
	(void)state;
	assert_int_equal(host_run(namespace_child, true, false, NULL), 0);
}

static void unknown_child(void)
{
	static const size_t size[] = { 2000, 20000, 120000 };
	char *old;

	for (unsigned i = 0; i < NR(size); i++) {
		char *known = host_malloc(size[i]);
		char *freed = malloc(size[i]);

		old = malloc(size[i]);
		host_malloc(size[i]);
		host_place("an old block", old, IS_ROOT);
		host_place("its end", old + malloc_usable_size(old) - 8, IS_ROOT);
		host_place("a known block", known, IS_NONE);
		host_place("a freed block", freed + 40, IS_NONE);
		free(freed);
	}
	old = malloc(100);
	host_place("a freed block that a thread keeps in its cache", old + 40, IS_NONE);
	free(old);
	host_place("above the top", (char *)sbrk(0) - 64, IS_NONE);
	host_ready();
}

static void blocks_from_before_are_roots(void **state)
{
	(void)state;
	needs_glibc();
	assert_int_equal(host_run(unknown_child, false, false, NULL), 0);
}

static void *old_arena(void *arg)
{
	char *old = malloc(5000), *freed = malloc(5000), *known = host_malloc(5000);

	host_place("an old block of an arena", old, IS_ROOT);
	host_place("a freed block of an arena", freed + 40, IS_NONE);
	host_place("a known block of an arena", known, IS_NONE);
	host_place("an arena's top", known + 8000, IS_NONE);
	free(freed);
	host_stay(&there);
	return arg;
}

static void old_arena_child(void)
{
	pthread_t thread;

	host_malloc(100);
	pthread_barrier_init(&there, NULL, 2);
	pthread_create(&thread, NULL, old_arena, NULL);
	pthread_barrier_wait(&there);
	host_ready();
}

static void blocks_from_before_in_arenas(void **state)
{
	(void)state;
	needs_glibc();
	assert_int_equal(host_run(old_arena_child, false, false, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(freed_blocks_are_none),
		cmocka_unit_test(arenas_of_threads),
		cmocka_unit_test(the_programs_own_part_of_the_break),
		cmocka_unit_test(another_namespace),
		cmocka_unit_test(blocks_from_before_are_roots),
		cmocka_unit_test(blocks_from_before_in_arenas),
	};

	return cmocka_run_group_tests_name("scene allocator", tests, NULL, NULL);
}
