/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures on the disk: who may read them, what becomes of one when another cannot be written,
 * what an argument means. Of src/store/file_write.c, replace.c,
 * file_read.c, source.c.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/store/capture.h"
#include "src/store/output.h"
#include "src/track/source.h"
#include "tests/unit/capture_image.h"

struct place {
	char dir[64];
	char path[128];
};

static struct place place_new(void)
{
	struct place p = {.dir = "/tmp/pmm-test-capture-XXXXXX"};

	assert_non_null(mkdtemp(p.dir));
	snprintf(p.path, sizeof(p.path), "%s/a.pmm", p.dir);
	return p;
}

/* How many files a directory holds. */
static int count_files(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	for (struct dirent *entry; (entry = readdir(d));)
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(d);
	return n;
}

static void place_free(struct place *p)
{
	unlink(p->path);
	assert_int_equal(rmdir(p->dir), 0);
}

static void a_file_is_written_for_its_owner_only(void **state)
{
	struct place p = place_new();
	struct heap *h = recipe_heap(rich_recipe), *back = NULL;
	mode_t mask = umask(0);
	struct err e = {0};
	struct stat st;

	(void)state;
	for (int i = 0; i < 2; i++) /* the second replaces the first */
		assert_int_equal(capture_write(h, p.path, false, &e), 0);
	umask(mask);
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(count_files(p.dir), 1);
	assert_int_equal(capture_read(p.path, 0, &back, &e), 0);
	expect_same_heap(h, back);
	heap_free(h);
	heap_free(back);
	place_free(&p);
}

static unsigned nr_waits;

/* In the place of the C library's: how often is the disk waited for? */
int fsync(int fd)
{
	(void)fd;
	nr_waits++;
	return 0;
}

/* What is written while others are watched waits for no disk; what a command is for does. */
static void only_what_must_last_waits_for_the_disk(void **state)
{
	struct place p = place_new();
	struct heap *h = heap_new();
	struct err e = { 0 };
	char name[PATH_MAX];
	bool moved;

	(void)state;
	nr_waits = 0;
	assert_int_equal(output_write(h, p.path, true, 0, name, &moved, &e), 0);
	assert_string_equal(name, p.path);
	assert_int_equal(nr_waits, 0);
	assert_int_equal(capture_write(h, p.path, true, &e), 0);
	assert_int_equal(nr_waits, 1);
	heap_free(h);
	place_free(&p);
}

/* Numbers of processes come again, and with them names. */
static void captures_of_one_name_are_numbered(void **state)
{
	static const char *const expected[] = { "a.pmm", "a.pmm", "a-2.pmm", "a-12.pmm" };
	static const unsigned before[] = { 0, 0, 1, 11 };
	struct place p = place_new();
	struct heap *h = heap_new();
	struct err e = { 0 };
	char name[PATH_MAX];
	bool moved;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(output_write(h, p.path, true, before[i], name, &moved, &e), 0);
		assert_false(moved);
		assert_string_equal(name + strlen(p.dir) + 1, expected[i]);
		assert_int_equal(count_files(p.dir), i ? i : 1);
	}
	for (unsigned i = 2; i < 4; i++) {
		snprintf(name, sizeof(name), "%s/%s", p.dir, expected[i]);
		assert_int_equal(unlink(name), 0);
	}
	assert_int_equal(output_write(h, p.dir, true, 1, name, &moved, &e), 0);
	assert_string_equal(name + strlen(p.dir), "-2");	/* without ".pmm" at the end */
	assert_int_equal(unlink(name), 0);
	heap_free(h);
	place_free(&p);
}

static void expect_no_write(const struct heap *h, const char *path, int code)
{
	struct err e = {0};

	assert_int_equal(capture_write(h, path, false, &e), code);
	assert_non_null(strstr(e.text, "cannot write the capture"));
	assert_string_not_equal(e.hint, "");
}

static void places_that_cannot_be_written_are_named(void **state)
{
	struct place p = place_new();
	struct heap *h = heap_new();
	char path[200];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/none/a.pmm", p.dir);
	expect_no_write(h, path, -ENOENT);
	expect_no_write(h, p.dir, -EISDIR);
	expect_no_write(h, "/dev/full", -EINVAL);
	expect_no_write(h, "/proc/a.pmm", -ENOENT);
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	if (!geteuid()) {
		assert_int_equal(seteuid(65534), 0);
		expect_no_write(h, p.path, -EACCES);
		assert_int_equal(seteuid(0), 0);
	} else {
		chmod(p.dir, 0500);
		expect_no_write(h, p.path, -EACCES);
		chmod(p.dir, 0700);
	}
	assert_int_equal(count_files(p.dir), 0);
	heap_free(h);
	place_free(&p);
}

/* A limit on the size of files stands for the full disk: write() fails in the middle. */
static void a_full_disk_leaves_nothing_behind(void **state)
{
	struct place p = place_new();
	struct heap *small = heap_new(), *large = recipe_heap("generate sites=2000 blocks=50000\n"),
		    *back = NULL;
	struct rlimit old, limit;
	struct err e = {0};

	(void)state;
	assert_int_equal(capture_write(small, p.path, false, &e), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	for (rlim_t max = 0; max < 100000; max += 9999) {
		limit.rlim_cur = max;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		expect_no_write(large, p.path, -EFBIG);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(count_files(p.dir), 1);
	assert_int_equal(capture_read(p.path, 0, &back, &e), 0);
	expect_same_heap(small, back);
	heap_free(small);
	heap_free(large);
	heap_free(back);
	place_free(&p);
}

static void expect_no_read(const char *path, int code, const char *text)
{
	struct heap *h = NULL;
	struct err e = {0};

	assert_int_equal(capture_read(path, 0, &h, &e), code);
	assert_null(h);
	if (text)
		assert_string_equal(e.text, text);
	assert_string_not_equal(e.hint, "");
}

static void files_that_cannot_be_read_are_named(void **state)
{
	struct place p = place_new();
	FILE *f = fopen(p.path, "w");

	(void)state;
	fclose(f);
	chmod(p.path, 0600);
	expect_no_read("/none.pmm", -ENOENT, "cannot open '/none.pmm': No such file or directory");
	expect_no_read("/tmp", -EISDIR, "'/tmp' is a directory");
	expect_no_read("/dev/null", -EINVAL, "'/dev/null' is not a regular file");
	expect_no_read(p.path, -ENODATA, NULL);
	if (!geteuid()) {
		chmod(p.dir, 0755);
		assert_int_equal(seteuid(65534), 0);
		expect_no_read(p.path, -EPERM, NULL);
		assert_int_equal(seteuid(0), 0);
	}
	place_free(&p);
}

static void arguments_find_their_source(void **state)
{
	struct heap *h = NULL;
	struct err e = {0};

	(void)state;
	assert_false(source_is_process("a.pmm"));
	assert_false(source_is_process("./123"));
	assert_true(source_is_process("123"));
	assert_false(source_is_process(""));
	assert_int_equal(source_read("fake:x", 0, &h, &e), -ENOENT);
	assert_string_equal(e.text, "cannot open 'fake:x': No such file or directory");
	assert_int_equal(source_read("999999999", 0, &h, &e), -ESRCH);
	assert_string_equal(e.text, "no process 999999999");
	assert_null(h);
}

/* Only its own directory must be writable: where pmm was started does not matter. */
static void it_is_made_where_it_will_be(void **state)
{
	struct place p = place_new();
	struct heap *h = recipe_heap(rich_recipe);
	struct err e = {0};
	char before[4096];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir("/proc/self/fdinfo"), 0);
	assert_int_equal(capture_write(h, p.path, false, &e), 0);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(count_files(p.dir), 1);
	assert_int_equal(chdir(p.dir), 0);
	/* and here, when it has no directory */
	assert_int_equal(capture_write(h, "b.pmm", false, &e), 0);
	assert_int_equal(count_files(p.dir), 2);
	assert_int_equal(unlink("b.pmm"), 0);
	assert_int_equal(chdir(before), 0);
	heap_free(h);
	place_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_made_where_it_will_be),
		cmocka_unit_test(a_file_is_written_for_its_owner_only),
		cmocka_unit_test(only_what_must_last_waits_for_the_disk),
		cmocka_unit_test(captures_of_one_name_are_numbered),
		cmocka_unit_test(places_that_cannot_be_written_are_named),
		cmocka_unit_test(a_full_disk_leaves_nothing_behind),
		cmocka_unit_test(files_that_cannot_be_read_are_named),
		cmocka_unit_test(arguments_find_their_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
