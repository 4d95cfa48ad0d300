/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Languages with pools of their own, by the names of programs. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "src/model/pools.h"

/* A program with a library or NULL. */
static unsigned with(const char *exe, const char *comm, const char *library)
{
	struct heap *h = heap_new();
	unsigned pools;

	assert_non_null(h);
	free(h->exe);
	free(h->comm);
	h->exe = strdup(exe);
	h->comm = strdup(comm);
	if (library) {
		h->modules = realloc(h->modules, 3 * sizeof(*h->modules));
		assert_non_null(h->modules);
		memset(h->modules + 1, 0, 2 * sizeof(*h->modules));
		h->modules[1].path = strdup(exe);
		h->modules[2].path = strdup(library);
		h->nr_modules = 3;
	}
	pools = pools_of(h);
	heap_free(h);
	return pools;
}

static unsigned of(const char *exe, const char *comm)
{
	return with(exe, comm, NULL);
}

static void by_name(void **state)
{
	(void)state;
	assert_int_equal(of("/usr/bin/python3.11", "x"), 1 << POOL_PYTHON);
	assert_int_equal(of("/usr/bin/python", "x"), 1 << POOL_PYTHON);
	assert_int_equal(of("python3", "x"), 1 << POOL_PYTHON);
	assert_int_equal(of("/usr/sbin/php-fpm8.2", "x"), 1 << POOL_PHP);
	assert_int_equal(of("/usr/bin/php8.2", "x"), 1 << POOL_PHP);
	assert_int_equal(of("", "php"), 1 << POOL_PHP);
}

static void others(void **state)
{
	(void)state;
	assert_int_equal(of("/usr/bin/pythonic", "python3"), 0);
	assert_int_equal(of("/opt/python3/bin/server", "python3"), 0);
	assert_int_equal(of("/usr/bin/ph", "x"), 0);
	assert_int_equal(of("/usr/bin/xphp", "x"), 0);
	assert_int_equal(of("", ""), 0);
}

static void by_library(void **state)
{
	(void)state;
	assert_int_equal(with("/usr/bin/gdb", "gdb", "/usr/lib/libpython3.11.so.1.0"),
			 1 << POOL_PYTHON);
	assert_int_equal(with("/usr/sbin/apache2", "apache2",
			      "/usr/lib/apache2/modules/libphp8.2.so"), 1 << POOL_PHP);
	assert_int_equal(with("/usr/bin/php", "php", "/usr/lib/libpython3.so"),
			 1 << POOL_PYTHON | 1 << POOL_PHP);
	assert_int_equal(with("/usr/bin/gdb", "gdb", "/usr/lib/libpythonic.so"), 0);
	assert_int_equal(with("/usr/bin/gdb", "gdb", "/opt/libpython3/libc.so.6"), 0);
	assert_int_equal(with("/usr/bin/gdb", "gdb", ""), 0);
}

static void settings(void **state)
{
	(void)state;
	assert_string_equal(pool_language(POOL_PYTHON), "Python");
	assert_string_equal(pool_setting(POOL_PYTHON), "PYTHONMALLOC=malloc");
	assert_string_equal(pool_language(POOL_PHP), "PHP");
	assert_string_equal(pool_setting(POOL_PHP), "USE_ZEND_ALLOC=0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_name),
		cmocka_unit_test(others),
		cmocka_unit_test(by_library),
		cmocka_unit_test(settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
