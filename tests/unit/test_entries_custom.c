/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocators of a program's own: how they are named, found in running programs, and refused.
 */
#include "tests/unit/entries_victim.h"

static void parse(struct entries_custom *c, const char *text)
{
	struct err e = { 0 };

	if (entries_parse_custom(text, c, &e))
		fail_msg("%s", e.text);
}

static void test_parse(void **state)
{
	struct entries_custom c;

	(void)state;
	parse(&c, "pool_get=malloc(arg0)");
	assert_null(c.module);
	assert_string_equal(c.name, "pool_get");
	assert_int_equal(c.role, PMM_ROLE_CUSTOM_ALLOC);
	assert_true(c.arg_size == 0 && c.arg_count == -1 && c.arg_pointer == -1 &&
		    c.fixed_bytes == 0);
	entries_custom_fini(&c);
	parse(&c, "libx.so:get=calloc(arg2, arg5)");
	assert_string_equal(c.module, "libx.so");
	assert_string_equal(c.name, "get");
	assert_true(c.role == PMM_ROLE_CUSTOM_ALLOC && c.arg_count == 2 && c.arg_size == 5 &&
		    c.arg_pointer == -1);
	entries_custom_fini(&c);
	parse(&c, "again=realloc(arg1,arg2)");
	assert_true(c.role == PMM_ROLE_CUSTOM_REALLOC && c.arg_pointer == 1 && c.arg_size == 2);
	entries_custom_fini(&c);
	parse(&c, "prog:0x1a0=free(arg3)");
	assert_string_equal(c.name, "0x1a0");
	assert_true(c.role == PMM_ROLE_CUSTOM_FREE && c.arg_pointer == 3 && c.arg_size == -1);
	entries_custom_fini(&c);
	parse(&c, "node_new=malloc(48)");
	assert_true(c.role == PMM_ROLE_CUSTOM_ALLOC && c.arg_size == -1 && c.fixed_bytes == 48);
	entries_custom_fini(&c);
	parse(&c, " my lib.so:get  =  realloc ( arg1 , arg2 )  ");
	assert_string_equal(c.module, "my lib.so");
	assert_string_equal(c.name, "get");
	assert_true(c.role == PMM_ROLE_CUSTOM_REALLOC && c.arg_pointer == 1 && c.arg_size == 2);
	entries_custom_fini(&c);
}

static void test_parse_bad(void **state)
{
	static const struct { const char *text, *why;
	} cases[] = {
		{ "", "bad allocator '': '=' is missing" },
		{ "x", "bad allocator 'x': '=' is missing" },
		{ "=malloc(arg0)", "bad allocator '=malloc(arg0)': a name is missing before '='" },
		{ "  =malloc(arg0)",
		  "bad allocator '  =malloc(arg0)': a name is missing before '='" },
		{ "x=malloc", "bad allocator 'x=malloc': it does not say which argument is which" },
		{ "x=alloc(arg0)", "bad allocator 'x=alloc(arg0)': it must act like malloc, "
				   "calloc, realloc or free" },
		{ "x=malloc(arg6)", "bad allocator 'x=malloc(arg6)': expected malloc(arg0), where "
				    "argument 0 is the size, or malloc(16)" },
		{ "x=malloc(arg0,arg1)",
		  "bad allocator 'x=malloc(arg0,arg1)': expected malloc(arg0), where argument 0 is "
		  "the size, or malloc(16)" },
		{ "x=malloc(0)", "bad allocator 'x=malloc(0)': expected malloc(arg0), where "
				 "argument 0 is the size, or malloc(16)" },
		{ "x=malloc()", "bad allocator 'x=malloc()': expected malloc(arg0), where argument "
				"0 is the size, or malloc(16)" },
		{ "x=malloc(arg0)y", "bad allocator 'x=malloc(arg0)y': expected malloc(arg0), "
				     "where argument 0 is the size, or malloc(16)" },
		{ "x=calloc(arg0)", "bad allocator 'x=calloc(arg0)': expected calloc(arg0,arg1): "
				    "the number of elements and the size of one" },
		{ "x=realloc(arg1,arg1)", "bad allocator 'x=realloc(arg1,arg1)': expected "
					  "realloc(arg0,arg1): the block and its new size" },
		{ "x=free(16)", "bad allocator 'x=free(16)': expected free(arg0): the block" },
		{ ":x=free(arg0)",
		  "bad allocator ':x=free(arg0)': a module is missing before ':'" },
		{ "x:=free(arg0)", "bad allocator 'x:=free(arg0)': a name is missing" },
		{ "0xy=free(arg0)",
		  "bad allocator '0xy=free(arg0)': the address is no hexadecimal number" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct entries_custom c;
		struct err e = { 0 };

		assert_int_equal(entries_parse_custom(cases[i].text, &c, &e), -EINVAL);
		assert_string_equal(e.text, cases[i].why);
		assert_int_equal(e.exit_code, 2);
		assert_true(e.hint[0] && !c.name && !c.module);
	}
}

static void assert_custom(const struct victim *v, const char *text, const char *name)
{
	const struct entry_found *f;
	struct entries_custom c;
	struct entries found;
	struct err e = { 0 };

	parse(&c, text);
	if (entries_find(v->pid, &c, 1, &found, &e))
		fail_msg("%s", e.text);
	f = found_at(&found, said(v, name));
	assert_non_null(f);
	assert_int_equal(f->role, c.role);
	assert_int_equal(f->fixed_bytes, c.fixed_bytes);
	assert_true(f->arg_size == c.arg_size && f->arg_count == c.arg_count &&
		    f->arg_pointer == c.arg_pointer);
	assert_non_null(found_at(&found, said(v, "malloc")));
	assert_true(found.dense == (c.role == PMM_ROLE_CUSTOM_ALLOC));
	entries_fini(&found);
	entries_custom_fini(&c);
}

static void test_custom(void **state)
{
	char text[128];
	struct entries found;
	struct victim v;

	(void)state;
	start(&v, path_of("entries_list"), NULL, NULL, NULL);
	find(&v, &found);
	assert_custom(&v, "pool_get=malloc(arg0)", "pool_get");
	assert_custom(&v, "entries_list:pool_put=free(arg0)", "pool_put");
	/* only in the symbol table */
	assert_custom(&v, "pool_fixed=malloc(16)", "pool_fixed");
	snprintf(text, sizeof(text), "libc:0x%lx=free(arg0)",
		 said(&v, "free") - found_at(&found, said(&v, "free"))->module_start);
	assert_custom(&v, text, "free");
	entries_fini(&found);
	stop(&v);
}

static void test_custom_missing(void **state)
{
	struct entries_custom c;
	struct entries found;
	struct err e = { 0 };
	struct victim v;

	(void)state;
	start(&v, path_of("entries_list"), NULL, NULL, NULL);
	parse(&c, "libc:pool_get=malloc(arg0)");
	assert_int_equal(entries_find(v.pid, &c, 1, &found, &e), -ENOENT);
	assert_non_null(strstr(e.text, "has no function 'libc:pool_get': looked in "));
	assert_non_null(strstr(e.text, "libc.so.6' (no symbol table, "));
	assert_true(found.nr == 0 && e.hint[0]);
	entries_fini(&found);
	entries_custom_fini(&c);
	parse(&c, "libnone:pool_get=malloc(arg0)");
	assert_int_equal(entries_find(v.pid, &c, 1, &found, &e), -ENOENT);
	assert_non_null(strstr(e.text, "has no program or library 'libnone' loaded"));
	entries_fini(&found);
	entries_custom_fini(&c);
	stop(&v);
}

static void test_refused(void **state)
{
	struct entries_custom c[5];
	struct entries found;
	struct err e = { 0 };
	struct victim v;
	unsigned nr = 0;

	(void)state;
	start(&v, path_of("entries_list"), NULL, NULL, NULL);
	parse(&c[0], "close_first=free(arg0)");
	parse(&c[1], "close_second=free(arg0)");
	parse(&c[2], "chosen=free(arg0)");
	parse(&c[3], "entered=free(arg0)");
	parse(&c[4], "not_entered=free(arg0)");
	assert_int_equal(entries_find(v.pid, c, NR(c), &found, &e), 0);
	assert_true(!strncmp(found_at(&found, said(&v, "entered"))->refused,
			     "a branch from elsewhere (0x", 27));
	assert_null(found_at(&found, said(&v, "not_entered"))->refused);
	assert_string_equal(found_at(&found, said(&v, "close_first"))->refused,
			    "another function begins within the bytes that would be overwritten");
	assert_null(found_at(&found, said(&v, "close_second"))->refused);
	for (size_t i = 0; i < found.nr; i++)
		if (!strcmp(found.v[i].name, "chosen")) {
			assert_string_equal(
				found.v[i].refused,
				"which code runs is decided when the program starts (ifunc)");
			nr++;
		}
	assert_int_equal(nr, 1);
	for (size_t i = 0; i < NR(c); i++)
		entries_custom_fini(&c[i]);
	entries_fini(&found);
	stop(&v);
}

/* Where there are no symbols functions can be named by their addresses in the file. */
static void test_bare_by_address(void **state)
{
	struct entries_custom c[2];
	struct entries found;
	struct err e = { 0 };
	struct victim v;
	char text[64];

	(void)state;
	start(&v, path_of("entries_list_bare"), NULL, NULL, NULL);
	snprintf(text, sizeof(text), "0x%lx=malloc(arg0)", said(&v, "malloc"));
	parse(&c[0], text);
	snprintf(text, sizeof(text), "entries_list_bare:0x%lX=free(arg0)", said(&v, "free"));
	parse(&c[1], text);
	assert_int_equal(entries_find(v.pid, c, 2, &found, &e), 0);
	assert_int_equal(found.nr, 2);
	assert_int_equal(found_at(&found, said(&v, "malloc"))->role, PMM_ROLE_CUSTOM_ALLOC);
	assert_int_equal(found_at(&found, said(&v, "free"))->role, PMM_ROLE_CUSTOM_FREE);
	assert_int_equal(found.allocator, ENTRIES_CUSTOM);
	assert_non_null(strstr(found.allocator_path, "/entries_list_bare"));
	assert_true(found.dense);
	for (size_t i = 0; i < NR(c); i++)
		entries_custom_fini(&c[i]);
	entries_fini(&found);
	stop(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),	cmocka_unit_test(test_parse_bad),
		cmocka_unit_test(test_custom),	cmocka_unit_test(test_custom_missing),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_bare_by_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
