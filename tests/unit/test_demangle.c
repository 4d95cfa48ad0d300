/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit test of demangling: C++, both forms of Rust, names that are neither, and names made to be
 * expensive.
 */
#include "src/symbol/symbol.h"

#include <time.h>

#include "tests/unit/unit.h"

static void expect(const char *mangled, const char *readable)
{
	char buf[256];

	assert_int_equal(symbol_demangle(mangled, buf, sizeof(buf)), strlen(readable));
	assert_string_equal(buf, readable);
}

static void test_cplusplus(void **state)
{
	(void)state;
	expect("_ZN3foo3barEi", "foo::bar(int)");
	expect("_Znwm", "operator new(unsigned long)");
	expect("_ZNSt6vectorIiSaIiEE9push_backERKi",
	       "std::vector<int, std::allocator<int> >::push_back(int const&)");
	expect("_Z3f10i.cold", "f10(int) [clone .cold]");
}

static void test_rust(void **state)
{
	(void)state;
	expect("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	expect("_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$7reserve17hfedcba9876543210E",
	       "alloc::raw_vec::RawVec<T,A>::reserve");
	expect("_RNvCs1234_7mycrate3foo", "mycrate::foo");
}

static void test_not_mangled(void **state)
{
	(void)state;
	expect("malloc", "");
	expect("_start", "");
	expect("", "");
	expect("_Z", "");
	expect("_R", "");
	expect("_Znonsense", "");
	expect("Z3fooi", "");
}

static void test_cut(void **state)
{
	char buf[8];

	(void)state;
	assert_int_equal(symbol_demangle("_ZN3foo3barEi", buf, sizeof(buf)), 7);
	assert_string_equal(buf, "foo::ba");
	assert_int_equal(symbol_demangle("_ZN3foo3barEi", buf, 1), 0);
	assert_int_equal(symbol_demangle("_ZN3foo3barEi", buf, 0), 0);
}

/*
 * Each argument is a template with the one before it, twice: more than 2^35 characters when written
 * out.
 */
static void test_exponential(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[4096] = "_Z1f1A1BIS_S_E", buf[1024];
	clock_t start = clock();

	(void)state;
	for (int i = 1; i < 35; i++) {
		size_t n = strlen(name);

		snprintf(name + n, sizeof(name) - n, "S0_IS%c_S%c_E", digits[i], digits[i]);
	}
	assert_int_equal(symbol_demangle(name, buf, sizeof(buf)), sizeof(buf) - 1);
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

static void test_deep(void **state)
{
	static char name[40000], buf[1024];

	(void)state;
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	symbol_demangle(name, buf, sizeof(buf));		/* too long */
	name[16000] = '\0';
	symbol_demangle(name, buf, sizeof(buf));		/* too deep */
	assert_true(strlen(buf) < sizeof(buf));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cplusplus),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_not_mangled),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_exponential),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
