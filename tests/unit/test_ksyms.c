/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/kernel/ksyms.c: names of the kernel's functions, from made-up text and from the real file. */
#include "tests/unit/unit.h"

#include <unistd.h>

#include "src/kernel/ksyms.h"

static const char text[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81001000 t do_fault\n"
	"ffffffff81000800 W early_one\n"
	"ffffffff81001100 d some_data\n"
	"ffffffffc0001000 t ext4_read\t[ext4]\n"
	"ffffffffc0002000 T jbd2_write\t[jbd2]\n"
	"ffffffffc0003000 t ext4_write\t[ext4]\n"
	"nonsense\n"
	"ffffffff81002000\n"
	"ffffffff81002000 t\n"
	"ffffffff81002000 t \n"
	"fffffffff81002000 t seventeen_digits\n"
	"ffffffff82000000 T last";		/* without its newline: cut */

static void expect(struct ksyms *k, uint64_t address, const char *name, const char *module,
		   uint64_t offset)
{
	struct ksym_name got;

	assert_int_equal(ksyms_find(k, address, &got, NULL), 0);
	if (!name) {
		assert_null(got.name);
		return;
	}
	assert_string_equal(got.name, name);
	assert_int_equal(got.offset, offset);
	if (module)
		assert_string_equal(got.module, module);
	else
		assert_null(got.module);
}

static void names_of_made_up_text(void **state)
{
	struct ksyms k = { 0 };

	(void)state;
	assert_int_equal(ksyms_parse(&k, text, strlen(text), NULL), 0);
	assert_int_equal(k.v.nr, 7);
	expect(&k, 0xffffffff80ffffffull, NULL, NULL, 0);
	expect(&k, 0xffffffff81000000ull, "_text", NULL, 0);	/* the first of several */
	expect(&k, 0xffffffff810007ffull, "_text", NULL, 0x7ff);
	expect(&k, 0xffffffff81000800ull, "early_one", NULL, 0);
	expect(&k, 0xffffffff81001234ull, "do_fault", NULL, 0x234);
	expect(&k, 0xffffffff81100fffull, "do_fault", NULL, 0xfffff);
	expect(&k, 0xffffffff81101000ull, NULL, NULL, 0);	/* too far to belong to it */
	expect(&k, 0xffffffffc0001004ull, "ext4_read", "ext4", 4);
	expect(&k, 0xffffffffc0002000ull, "jbd2_write", "jbd2", 0);
	expect(&k, 0xffffffffc0003001ull, "ext4_write", "ext4", 1);
	expect(&k, UINT64_MAX, NULL, NULL, 0);
	ksyms_fini(&k);
}

static void hidden_addresses_are_said_to_be(void **state)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t do_fault\n";
	struct ksyms k = { 0 };
	struct ksym_name name;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(ksyms_parse(&k, hidden, strlen(hidden), &e), -EPERM);
	assert_string_equal(e.text, "the kernel hides the addresses of its functions");
	assert_string_equal(e.hint,
			    "run as root, or with CAP_SYSLOG and kernel.kptr_restrict below 2");
	memset(&e, 0, sizeof(e));
	assert_int_equal(ksyms_find(&k, 0xffffffff81000000ull, &name, &e), -EPERM);
	assert_null(name.name);
	assert_string_equal(e.text, "the kernel hides the addresses of its functions");
	ksyms_fini(&k);
}

/*
 * Each function of the real file is found by its own address, or another name of that. The
 * file is read once: BPF programs that other processes load come and go in it.
 */
static void the_real_file(void **state)
{
	struct ksyms k = { 0 };
	struct ksym_name name;
	unsigned long long address;
	size_t nr = 0, same = 0;
	char type, text_of[512], *line, *end;
	FILE *f = fopen("/proc/kallsyms", "r");
	char *text = NULL;
	size_t len = 0;
	ssize_t n;

	(void)state;
	assert_non_null(f);
	n = getdelim(&text, &len, '\0', f);
	fclose(f);
	assert_true(n > 0);
	if (ksyms_parse(&k, text, n, NULL) == -EPERM) {
		free(text);
		ksyms_fini(&k);
		skip();
	}
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		assert_int_equal(sscanf(line, "%llx %c %511s", &address, &type, text_of), 3);
		if (!strchr("tTwW", type))
			continue;
		nr++;
		assert_int_equal(ksyms_find(&k, address, &name, NULL), 0);
		assert_non_null(name.name);
		assert_int_equal(name.offset, 0);
		same += !strcmp(name.name, text_of);
	}
	free(text);
	assert_int_equal(nr, k.v.nr);
	assert_true(nr > 10000);
	assert_true(same > nr / 2);
	ksyms_fini(&k);
}

/* What is not there yet is read from the kernel at the first look. */
static void the_first_look_reads_it(void **state)
{
	struct ksyms k = { 0 };
	struct ksym_name name;
	int rc = ksyms_find(&k, 1, &name, NULL);

	(void)state;
	if (rc == -EPERM) {
		ksyms_fini(&k);
		skip();
	}
	assert_int_equal(rc, 0);
	assert_null(name.name);
	assert_true(k.v.nr > 10000);
	ksyms_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_made_up_text),
		cmocka_unit_test(hidden_addresses_are_said_to_be),
		cmocka_unit_test(the_real_file),
		cmocka_unit_test(the_first_look_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
