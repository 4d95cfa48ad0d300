/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/store/output.c: names of captures, whatever a process calls itself. */
#include "tests/unit/unit.h"

#include <errno.h>

#include "src/base/err.h"
#include "src/store/output.h"

static void expect(const char *pattern, const char *comm, const char *expected)
{
	char name[PATH_MAX];

	assert_int_equal(output_name(pattern, 42, comm, true, name), 0);
	assert_string_equal(name, expected);
}

static void ordinary_names(void **state)
{
	(void)state;
	expect(OUTPUT_DEFAULT, "app", "pmm.app.42.pmm");
	expect("%c.pmm", "gr\u00f6\u00dfe", "gr\u00f6\u00dfe.pmm");
	expect("100%%.%p", "app", "100%.42");
}

static void hostile_names(void **state)
{
	(void)state;
	expect(OUTPUT_DEFAULT, "../../etc/x", "pmm..._.._etc_x.42.pmm");
	expect(OUTPUT_DEFAULT, "a\nb c\033[1m", "pmm.a_b_c_[1m.42.pmm");
	expect(OUTPUT_DEFAULT, "\xc2\x9b" "x\xff\u202e", "pmm.__x____.42.pmm");
	expect("%c", "-rf", "_rf");
	expect("/tmp/%c", "-rf", "/tmp/_rf");
	expect("/tmp/%c", "..", "/tmp/_.");
	expect("/tmp/%c.pmm", "a-b.", "/tmp/a-b..pmm");
	expect("x%c", "-rf", "x-rf");
	expect("%c", "%p", "%p");
}

static void expect_unknown(const char *pattern, const char *text)
{
	struct err e = { 0 };

	assert_int_equal(output_check(pattern, &e), -EINVAL);
	assert_int_equal(e.exit_code, 2);
	assert_string_equal(e.text, text);
	assert_string_equal(e.hint,
			    "%p is the process number, %c the command, %% a percent sign");
}

static void what_cannot_be_written_is_refused_before(void **state)
{
	struct err e = { 0 };
	char longest[PATH_MAX] = "/tmp/";

	(void)state;
	assert_int_equal(output_check("/nowhere/%p/a.pmm", &e), -ENOENT);
	assert_string_equal(e.text, "cannot write captures as '/nowhere/%p/a.pmm': No such file or "
				    "directory");
	assert_int_equal(output_check("/nowhere/a.%p", &e), -ENOENT);
	assert_string_equal(e.text, "cannot write captures into '/nowhere': No such file or "
				    "directory");
	memset(longest + 5, 'a', NAME_MAX);
	assert_int_equal(output_check(longest, &e), 0);
	longest[5 + NAME_MAX] = 'a';
	assert_int_equal(output_check(longest, &e), -ENAMETOOLONG);
	assert_string_equal(e.text, "the capture's name is too long");
}

static void unknown_sequences_are_refused(void **state)
{
	struct err e = { 0 };

	(void)state;
	expect_unknown("%x.pmm", "'%x' in the name '%x.pmm' is not known");
	expect_unknown("%p.%%%d", "'%d' in the name '%p.%%%d' is not known");
	assert_int_equal(output_check("/tmp/%%x.%c.%p", &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_names),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(what_cannot_be_written_is_refused_before),
		cmocka_unit_test(unknown_sequences_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
