/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions with frames of all kinds, and their stack as src/kernel/user_stack.c has it: each frame
 * against the C library's unwinder and against what the functions themselves have noted.
 */
#ifndef TESTS_UNIT_USER_STACK_FRAMES_H
#define TESTS_UNIT_USER_STACK_FRAMES_H

#include "tests/unit/trap_copy.h"

#include <alloca.h>
#include <sys/stat.h>

#define SITE	__attribute__((noinline, noclone, unused))
#define HIDE(x)	__asm__ volatile("" : : "g"(x) : "memory")

static struct images images;
static struct user_stacks *stacks;
static struct trap_copy at;
static struct user_stack got;

/* Return addresses that the functions of a chain note themselves, the outermost first. */
static uint64_t noted[16];
static unsigned nr_noted;

static inline __attribute__((always_inline)) void note(void)
{
	noted[nr_noted++] = (uint64_t)__builtin_return_address(0) - 1;
}

static inline int begin(void **state)
{
	(void)state;
	nr_noted = 0;
	trap_begin(&at);
	stacks = user_stacks_new(&images);
	return stacks ? 0 : -1;
}

static inline int end(void **state)
{
	(void)state;
	user_stacks_free(stacks);
	images_fini(&images);
	return 0;
}

static inline void walk(void)
{
	user_stack_walk(stacks, getpid(), at.time_ns, &at.copy, &got);
}

/* A frame is at this address of this process. */
static inline void expect_frame(uint64_t frame, uint64_t pc)
{
	struct stat mine, its;
	const char *path;
	uint64_t address;

	path = trap_place(pc, &address);
	assert_non_null(path);
	assert_int_equal(stack_frame_address(frame), address);
	assert_return_code(stat(path, &mine), errno);
	assert_return_code(stat(modules_at(&images.modules, stack_frame_module(frame))->path, &its),
			   errno);
	assert_int_equal(mine.st_ino, its.st_ino);
	assert_int_equal(mine.st_dev, its.st_dev);
}

/* The first `nr` frames are those of the C library's unwinder. */
static inline void expect_first(unsigned nr)
{
	assert_in_range(nr, 1, at.nr_truth);
	assert_int_equal(got.nr, nr);
	for (unsigned i = 0; i < nr; i++)
		expect_frame(got.frame[i], at.truth[i]);
}

/* All of them, and what the chain has noted is among them in this order. */
static inline void expect_all(void)
{
	unsigned i = 0, left = nr_noted;

	walk();
	assert_int_equal(got.end, USER_STACK_COMPLETE);
	expect_first(at.nr_truth);
	for (; i < at.nr_truth && left; i++)
		left -= at.truth[i] == noted[left - 1];
	assert_int_equal(left, 0);
}

SITE static void leaf(void) { note(); trap_arm(); trap(); HIDE(0); }
SITE static void plain(void) { note(); leaf(); HIDE(0); }

SITE static void with_alloca(unsigned n)
{
	note();
	HIDE(alloca(n));
	plain();
	HIDE(0);
}

SITE static void with_realigned(void)
{
	char v[64] __attribute__((aligned(128)));

	note();
	HIDE(v);
	with_alloca(333);
	HIDE(v);
}

SITE static void with_realigned_alloca(unsigned n)
{
	char v[64] __attribute__((aligned(64)));

	note();
	HIDE(v);
	HIDE(alloca(n));
	with_realigned();
	HIDE(v);
}

SITE static void with_large(void)
{
	char v[20000];

	note();
	HIDE(v);
	with_realigned_alloca(77);
	HIDE(v);
}

SITE static void handler(int number)
{
	(void)number;
	with_alloca(99);
	HIDE(0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
