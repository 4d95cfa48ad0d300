/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/base/nanotime.c. */
#include "src/base/nanotime.h"

#include "tests/unit/unit.h"

static uint64_t of_kernel(clockid_t clock)
{
	struct timespec t;

	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What it says lies between what the kernel says before and after. */
static void shows_the_clock_that_is_asked_for(void **state)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_MONOTONIC_COARSE,
					    CLOCK_THREAD_CPUTIME_ID };

	(void)state;
	for (size_t i = 0; i < NR(clocks); i++) {
		const uint64_t before = of_kernel(clocks[i]), got = nanotime_of(clocks[i]),
			       after = of_kernel(clocks[i]);

		assert_true(before <= got);
		assert_true(got <= after);
	}
}

static void is_monotonic_without_a_name(void **state)
{
	const uint64_t before = of_kernel(CLOCK_MONOTONIC), got = nanotime(),
		       after = of_kernel(CLOCK_MONOTONIC);

	(void)state;
	assert_true(before <= got);
	assert_true(got <= after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_the_clock_that_is_asked_for),
		cmocka_unit_test(is_monotonic_without_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
