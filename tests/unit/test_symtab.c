/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit test of the ELF symbols of a module, scanned and sorted: sizes, labels, gaps and aliases. */
#include "src/symbol/symtab.h"

#include "tests/unit/unit.h"
#include "tests/unit/symbol_fixture.h"

/*
 * big is 48 bytes; the label at 16 has no size, small is 8 bytes at 32; then a gap of 16 that
 * belongs to nobody.
 */
static const char source[] =
	"__asm__(\".text\\n.balign 16\\n.globl big\\n.type big,@function\\nbig: .skip 16, "
	"0x90\\n\"\n"
	"	\".globl label\\nlabel: .skip 16, 0x90\\n\"\n"
	"	\".type small,@function\\nsmall: .skip 8, 0x90\\n.size small, 8\\n.skip 8, "
	"0x90\\n.size big, . - big\\n\"\n"
	"	\".globl gap_end\\n.skip 16, 0x90\\ngap_end: .skip 8, 0x90\\n\");\n"
	"int __step(int n) { return n + 1; }\n"
	"extern int step(int) __attribute__((alias(\"__step\")));\n"
	"extern int pas(int) __attribute__((weak, alias(\"__step\")));\n"
	"extern int _s(int) __attribute__((alias(\"__step\")));\n"
	"static int st(int) __attribute__((alias(\"__step\"), used));\n"
	"int __turn(int n) { return n - 1; }\n"
	"extern int turn_about(int) __attribute__((weak, alias(\"__turn\")));\n"
	"static int tn(int) __attribute__((alias(\"__turn\"), used));\n"
	"int main(void) { return 0; }\n";

static struct elf_file file;
static struct symtab scanned, sorted;

static void expect(const char *symbol, uint64_t offset, const char *name, uint64_t entry_offset)
{
	uint64_t address = fixture_address("syms", symbol) + offset, entry = 0;
	struct symtab *tables[2] = { &scanned, &sorted };

	for (int i = 0; i < 2; i++) {
		const char *found;

		scanned.nr_scans = 0;
		found = symtab_find(tables[i], address, &entry);
		assert_int_equal(tables[i]->sorted, i == 1);
		if (!name) {
			assert_null(found);
			continue;
		}
		assert_non_null(found);
		assert_string_equal(found, name);
		assert_int_equal(address - entry, entry_offset);
	}
}

static void test_sizes(void **state)
{
	(void)state;
	expect("big", 0, "big", 0);
	expect("big", 15, "big", 15);
	expect("big", 20, "big", 20);		/* around it, whatever label is nearer */
	expect("big", 31, "big", 31);
	expect("big", 32, "small", 0);
	expect("big", 39, "small", 7);
	expect("big", 40, "big", 40);
	expect("big", 47, "big", 47);
}

static void test_gap(void **state)
{
	(void)state;
	expect("big", 48, NULL, 0);
	expect("big", 63, NULL, 0);
	expect("big", 64, "gap_end", 0);
	expect("big", 71, "gap_end", 7);
}

static void test_aliases(void **state)
{
	(void)state;
	expect("__step", 0, "step", 0);
	expect("__step", 1, "step", 1);
	expect("__turn", 0, "turn_about", 0);	/* as the C library has newlocale */
}

static void test_outside(void **state)
{
	uint64_t entry;

	(void)state;
	assert_null(symtab_find(&sorted, 0, &entry));
	assert_null(symtab_find(&scanned, 0, &entry));
	assert_null(symtab_find(&sorted, UINT64_MAX, &entry));
	assert_null(symtab_find(&scanned, UINT64_MAX, &entry));
}

/* Scanning and sorting agree on every byte of the code. */
static void test_agreement(void **state)
{
	(void)state;
	for (uint64_t a = file.code[0].lo; a < file.code[0].hi; a++) {
		uint64_t x = 0, y = 0;
		const char *by_scan, *by_sort = symtab_find(&sorted, a, &y);

		scanned.nr_scans = 0;
		by_scan = symtab_find(&scanned, a, &x);
		assert_int_equal(!by_scan, !by_sort);
		assert_int_equal(x, y);
		if (by_scan)
			assert_string_equal(by_scan, by_sort);
	}
}

/* After its first lookups a table is sorted. */
static void test_sorts_itself(void **state)
{
	uint64_t entry;

	(void)state;
	scanned.nr_scans = 0;
	for (int i = 0; i < 16; i++)
		symtab_find(&scanned, file.code[0].lo, &entry);
	assert_false(scanned.sorted);
	symtab_find(&scanned, file.code[0].lo, &entry);
	assert_true(scanned.sorted);
}

static int setup(void **state)
{
	(void)state;
	fixture_write("syms.c", source, strlen(source));
	fixture_run("cc -O1 syms.c -o syms");
	if (elf_file_open(&file, fixture_path("syms")) ||
	    symtab_add(&scanned, &file, SHT_SYMTAB, &file, 0) < 1 ||
	    symtab_add(&sorted, &file, SHT_SYMTAB, &file, 0) < 1)
		return -1;
	sorted.nr_scans = 1000;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	symtab_fini(&scanned);
	symtab_fini(&sorted);
	elf_file_close(&file);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_sorts_itself),
	};

	return cmocka_run_group_tests_name("symtab", tests, setup, teardown);
}
