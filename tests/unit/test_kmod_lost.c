/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel module's log lacks, in words. */
#include "tests/unit/unit.h"

#include "src/view/kmod/kmod_lost.h"

static void each_loss_has_its_own_sentence(void **state)
{
	const struct heap_kmod k = { true, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 0 };
	static const struct {
		uint64_t count;
		const char *code;
	} row[KMOD_LOST_NR] = {
		{ 3, "ring_overflows" }, { 4, "records_torn" },	     { 5, "records_bad" },
		{ 1, "entries_over_limit" }, { 10, "entries_evicted" },
		{ 2, "entries_no_memory" }, { 6, "places_lost" },
		{ 7, "entries_replaced" }, { 8, "foreign_frees" },     { 9, "double_frees" },
	};

	(void)state;
	for (enum kmod_lost i = 0; i < KMOD_LOST_NR; i++) {
		struct str one = STR_INIT, many = STR_INIT;

		assert_int_equal(kmod_lost(&k, i), row[i].count);
		assert_string_equal(kmod_lost_code(i), row[i].code);
		kmod_lost_text(&one, i, 1);
		kmod_lost_text(&many, i, 2);
		assert_int_equal(strncmp(str_text(&one), "1 ", 2), 0);
		assert_int_equal(strncmp(str_text(&many), "2 ", 2), 0);
		assert_string_not_equal(str_text(&one) + 2, str_text(&many) + 2);
		str_fini(&one);
		str_fini(&many);
	}
}

static void figures_are_too_small_with_some_of_them(void **state)
{
	(void)state;
	assert_false(kmod_lost_any(&(struct heap_kmod){ .logged = true }));
	assert_true(kmod_lost_any(&(struct heap_kmod){ .overflows = 1 }));
	assert_true(kmod_lost_any(&(struct heap_kmod){ .no_memory = 1 }));
	assert_true(kmod_lost_any(&(struct heap_kmod){ .evicted = 1 }));
	assert_true(kmod_lost_any(&(struct heap_kmod){ .bad = 1 }));
	assert_false(kmod_lost_any(&(struct heap_kmod){ .foreign_frees = 1, .replaced = 1,
							.sites_lost = 1, .double_frees = 1 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_loss_has_its_own_sentence),
		cmocka_unit_test(figures_are_too_small_with_some_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
