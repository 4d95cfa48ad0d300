/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/images.c and modules.c: mappings that the kernel's own records have, of processes that
 * have ended by then.
 */
#include "tests/unit/symbol_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/kernel/images.h"
#include "tests/unit/unit.h"

#define AT	0x10000000ull

static struct images im;
static pid_t gone;			/* a process that has ended */
static uint64_t now;			/* files are older than it */

static int end(void **state)
{
	(void)state;
	images_fini(&im);
	return 0;
}

static int begin(void **state)
{
	(void)state;
	im.told = true;
	assert_int_equal(images_begin(&im, gone, now), 0);
	assert_int_equal(images_exec(&im, gone, now + 1), 0);
	return 0;
}

/* `nr` pages of a file at an address; the file's page with code is the second one. */
static void mapped(const char *name, uint64_t start, unsigned nr, uint64_t time_ns)
{
	struct proc_map map = { .start = start, .end = start + nr * 4096, .offset = 0x1000,
				.perms = PROC_MAP_EXEC, .path = (char *)fixture_path(name) };
	struct stat st;

	if (!stat(map.path, &st)) {
		map.ino = st.st_ino;
		map.dev_major = major(st.st_dev);
		map.dev_minor = minor(st.st_dev);
	}
	assert_int_equal(images_mapped(&im, gone, &map, time_ns), 0);
}

static struct image_at find(uint64_t pc, uint64_t time_ns)
{
	return images_find(&im, images_process(&im, gone, time_ns), pc, time_ns);
}

static const char *path_at(uint64_t pc, uint64_t time_ns)
{
	struct image_at at = find(pc, time_ns);

	return at.module ? strrchr(modules_at(&im.modules, at.module)->path, '/') + 1 : "";
}

static void it_has_ended(void **state)
{
	uint64_t code = fixture_address("one.so", "f");
	struct image_at at;

	(void)state;
	mapped("one.so", AT, 1, now + 5);
	images_exit(&im, gone, now + 9);
	at = find(AT + code % 4096, now + 7);
	assert_int_equal(at.miss, IMAGE_FOUND);
	assert_int_equal(at.address, code);
	assert_string_equal(path_at(AT, now + 7), "one.so");
	assert_int_equal(find(AT + 4096, now + 7).miss, IMAGE_NOTHING);
	assert_int_equal(im.reads, 0);
	assert_int_equal(im.unread, 0);
}

/* Parts of what was there are left, and all of it is known of the time before. */
static void over_others(void **state)
{
	uint64_t code = fixture_address("one.so", "f") & ~4095ull;

	(void)state;
	mapped("one.so", AT, 1, now + 1);
	mapped("one.so", AT + 4096, 3, now + 1);
	mapped("one.so", AT + 4 * 4096, 1, now + 1);
	mapped("two.so", AT + 2 * 4096, 1, now + 5);
	for (unsigned i = 0; i < 5; i++) {
		assert_string_equal(path_at(AT + i * 4096, now + 4), "one.so");
		assert_string_equal(path_at(AT + i * 4096, now + 5), i == 2 ? "two.so" : "one.so");
	}
	assert_int_equal(find(AT + 3 * 4096, now + 5).address, code + 2 * 4096);
	/* over several, from the middle of one to the middle of another */
	mapped("two.so", AT, 4, now + 8);
	for (unsigned i = 0; i < 5; i++)
		assert_string_equal(path_at(AT + i * 4096, now + 8), i == 4 ? "one.so" : "two.so");
	assert_string_equal(path_at(AT + 3 * 4096, now + 6), "one.so");
	assert_int_equal(find(AT + 3 * 4096, now + 8).address, code + 3 * 4096);
	assert_int_equal(images_process(&im, gone, now + 8)->table->maps.nr, 2);
}

/* The same once more changes nothing: protections are reported as mappings. */
static void the_same_again(void **state)
{
	(void)state;
	mapped("one.so", AT, 1, now + 1);
	mapped("one.so", AT, 1, now + 5);
	assert_string_equal(path_at(AT, now + 1), "one.so");
	assert_int_equal(images_process(&im, gone, now + 5)->table->former.nr, 0);
}

static void another_program(void **state)
{
	(void)state;
	mapped("one.so", AT, 1, now + 1);
	assert_int_equal(images_begin(&im, gone, now + 5), 0);
	assert_int_equal(find(AT, now + 6).miss, IMAGE_NOTHING);
	mapped("two.so", AT, 1, now + 6);
	assert_int_equal(images_exec(&im, gone, now + 7), 0);
	assert_string_equal(path_at(AT, now + 8), "two.so");
	/* an exec that was not reported: nothing is known, but that it has ended */
	assert_int_equal(images_exec(&im, gone, now + 9), 0);
	assert_int_equal(find(AT, now + 10).miss, IMAGE_ENDED);
}

/* What a child maps is not its parent's, nor the other way round. */
static void a_child(void **state)
{
	struct image_process *p;

	(void)state;
	mapped("one.so", AT, 1, now + 1);
	assert_int_equal(images_fork(&im, gone, gone + 1000000, now + 2), 0);
	mapped("two.so", AT, 1, now + 3);
	assert_string_equal(path_at(AT, now + 4), "two.so");
	p = images_process(&im, gone + 1000000, now + 4);
	assert_true(p->told);
	assert_int_equal(images_find(&im, p, AT, now + 4).module, 1);
}

/* Files that changed after they were mapped, or are not there: no wrong frame. */
static void files_that_changed(void **state)
{
	(void)state;
	fixture_run("cp one.so three.so");
	mapped("three.so", AT, 1, now);
	assert_int_equal(find(AT, now + 1).miss, IMAGE_FILE);
	assert_int_equal(modules_at(&im.modules, 1)->state, MODULE_REPLACED);
	fixture_run("rm three.so");
	/* another file is at its path */
	assert_int_equal(images_mapped(&im, gone, &(struct proc_map){
		.start = AT, .end = AT + 4096, .ino = 4711, .dev_major = 8,
		.path = (char *)fixture_path("one.so"), .perms = PROC_MAP_EXEC }, now + 1), 0);
	assert_int_equal(modules_at(&im.modules, find(AT, now + 1).module)->state,
			 MODULE_REPLACED);
	mapped("one.so", AT, 1, now + 1);
	assert_string_equal(path_at(AT, now + 2), "one.so");
	assert_int_equal(images_mapped(&im, gone, &(struct proc_map){
		.start = AT, .end = AT + 4096, .ino = 4711, .dev_major = 8,
		.path = (char *)fixture_path("three.so"), .perms = PROC_MAP_EXEC }, now + 3), 0);
	assert_int_equal(find(AT, now + 3).miss, IMAGE_FILE);
	assert_int_equal(modules_at(&im.modules, find(AT, now + 3).module)->state, MODULE_GONE);
}

/* Records of a process of which nothing is known are no news; lost ones have it read again. */
static void doubt(void **state)
{
	(void)state;
	assert_true(images_knows(&im, gone));
	assert_false(images_knows(&im, getpid()));
	assert_int_equal(images_find(&im, images_process(&im, getpid(), now), (uint64_t)doubt,
				     now).miss, IMAGE_FOUND);
	assert_int_equal(im.reads, 1);
	images_changed(&im, getpid(), now + 1);
	images_process(&im, getpid(), now + 1);
	assert_int_equal(im.reads, 1);
	images_doubt(&im);
	images_process(&im, getpid(), now + 1);
	assert_int_equal(im.reads, 2);
}

static int prepare(void **state)
{
	(void)state;
	fixture_run("echo 'int f(int n) { return n + 1; } int g[9000];' >f.c && "
		    "echo '__asm__(\".text; .fill 20000\");' >>f.c && "
		    "gcc -O1 -fno-toplevel-reorder -shared -o one.so f.c && cp one.so two.so");
	usleep(30000);			/* stamps of files lag behind */
	now = nanotime();
	gone = fork();
	if (!gone)
		_exit(0);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_has_ended),
		TEST(over_others),
		TEST(the_same_again),
		TEST(another_program),
		TEST(a_child),
		TEST(files_that_changed),
		TEST(doubt),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
