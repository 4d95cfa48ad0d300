/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories for files of a while: where they are, who may enter, and that nothing stays. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/tmpdir.h"

static void made_and_removed(void **state)
{
	struct err e = { .text = "" };
	char *dir, path[128];
	struct stat st;

	(void)state;
	setenv("TMPDIR", "", 1);
	assert_int_equal(tmpdir_make("unit", &dir, &e), 0);
	assert_int_equal(strncmp(dir, "/tmp/pmm-unit-", 14), 0);
	assert_int_equal(strlen(dir), 20);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/link", dir);
	assert_int_equal(symlink("/dev/zero", path), 0);
	snprintf(path, sizeof(path), "%s", dir);
	tmpdir_remove(dir);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access("/dev/zero", F_OK), 0);
	tmpdir_remove(NULL);
}

static void refused(void **state)
{
	struct err e = { .text = "" };
	char *dir;

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(tmpdir_make("unit", &dir, &e), -ENOENT);
	assert_null(dir);
	assert_int_equal(strncmp(e.text, "cannot make the directory '/nonexistent/pmm-unit-", 49),
			 0);
	assert_string_equal(e.hint, "name a directory that you may write to in TMPDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_and_removed),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests_name("tmpdir", tests, NULL, NULL);
}
