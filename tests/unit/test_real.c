/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/real.c and real.h, by the C library's functions. */
#include "src/base/real.h"

#include <math.h>

#include "tests/unit/unit.h"

static void lesser_and_greater_are_those_of_the_c_library(void **state)
{
	static const double all[] = { -INFINITY, -3, 0, 1e-300, 1, 7.5, INFINITY, NAN };

	(void)state;
	for (size_t i = 0; i < NR(all); i++)
		for (size_t k = 0; k < NR(all); k++) {
			double least = real_least(all[i], all[k]), most = real_most(all[i], all[k]);

			assert_true(least == fmin(all[i], all[k]) || isnan(all[i] + all[k]));
			assert_true(most == fmax(all[i], all[k]) || isnan(all[i] + all[k]));
		}
}

static void of_a_number_and_none_the_number_is_taken(void **state)
{
	(void)state;
	assert_true(real_least(NAN, 2) == 2 && real_least(2, NAN) == 2);
	assert_true(real_most(NAN, 2) == 2 && real_most(2, NAN) == 2);
	assert_true(isnan(real_least(NAN, NAN)) && isnan(real_most(NAN, NAN)));
}

static void probability_of_any_is_that_of_the_c_library(void **state)
{
	(void)state;
	for (double x = 1e-300; x < 1e6; x *= 1.07) {
		double is = -expm1(-x);

		assert_true(fabs(real_any(x) - is) <= 2e-15 * is);
	}
}

static void nothing_and_certainty(void **state)
{
	(void)state;
	assert_true(real_any(0) == 0);
	assert_true(real_any(40) == 1 && real_any(1e300) == 1 && real_any(INFINITY) == 1);
	assert_true(isnan(real_any(NAN)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lesser_and_greater_are_those_of_the_c_library),
		cmocka_unit_test(of_a_number_and_none_the_number_is_taken),
		cmocka_unit_test(probability_of_any_is_that_of_the_c_library),
		cmocka_unit_test(nothing_and_certainty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
