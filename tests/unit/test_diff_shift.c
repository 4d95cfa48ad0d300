/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/analyze/diff/diff_shift.c: distances against a slow search, and how many steps they take. */
#include "src/analyze/diff/diff_shift.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

#define MANY	DIFF_SHIFT_LINES

struct side {
	uint32_t number[MANY];
	size_t nr;
};

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* How many fit at a distance; they are taken out where `take`. */
static unsigned fit(struct side *a, struct side *b, int64_t by, bool take)
{
	unsigned nr = 0;
	size_t i = 0, k = 0, left_a = 0, left_b = 0;

	while (i < a->nr || k < b->nr) {
		int64_t want = i < a->nr ? (int64_t)a->number[i] + by : INT64_MAX;
		int64_t have = k < b->nr ? (int64_t)b->number[k] : INT64_MAX;

		if (want == have) {
			nr++;
			i++;
			k++;
		} else if (want < have) {
			uint32_t kept = a->number[i++];

			if (take)
				a->number[left_a++] = kept;
		} else {
			uint32_t kept = b->number[k++];

			if (take)
				b->number[left_b++] = kept;
		}
	}
	if (take) {
		a->nr = left_a;
		b->nr = left_b;
	}
	return nr;
}

/* Each pair of lines tells a distance; all are tried, in order. */
static int64_t slow(struct side *a, struct side *b)
{
	int64_t best = 0;
	uint64_t best_sum = 0;
	unsigned best_nr = 0;

	for (size_t i = 0; i < a->nr; i++)
		for (size_t k = 0; k < b->nr; k++) {
			int64_t by = (int64_t)b->number[k] - (int64_t)a->number[i];
			uint64_t sum = (uint64_t)a->number[i] + b->number[k];
			unsigned nr = fit(a, b, by, false);

			if (best_nr && by == best)
				continue;
			if (nr > best_nr ||
			    (nr == best_nr && (llabs(by) < llabs(best) ||
					       (llabs(by) == llabs(best) && sum < best_sum)))) {
				best = by;
				best_nr = nr;
				best_sum = sum;
			}
		}
	return best;
}

static struct side random_side(uint32_t *seed, size_t nr, uint32_t range)
{
	struct side s = { .nr = nr };

	for (size_t i = 0; i < nr; i++) {
		*seed = *seed * 1664525 + 1013904223;
		s.number[i] = 1 + (*seed >> 8) % range;
	}
	qsort(s.number, nr, sizeof(*s.number), by_number);
	return s;
}

static void as_all_distances_tried(void **state)
{
	struct diff_shifts s = { 0 };
	uint32_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct side a = random_side(&seed, 1 + round % 9, 3 + round % 23),
			    b = random_side(&seed, 1 + round / 9 % 9, 3 + round % 23);

		assert_int_equal(diff_shifts_begin(&s, a.number, a.nr, b.number, b.nr), 0);
		while (a.nr && b.nr) {
			int64_t by = slow(&a, &b);

			assert_int_equal(diff_shifts_best(&s), by);
			diff_shifts_take(&s, by);
			fit(&a, &b, by, true);
		}
		assert_int_equal(diff_shifts_best(&s), 0);
	}
	diff_shifts_fini(&s);
}

/* Numbers at both ends of what there is. */
static void far_distances(void **state)
{
	static const uint32_t low[] = { 1, 2 }, high[] = { UINT32_MAX - 1, UINT32_MAX };
	struct diff_shifts s = { 0 };

	(void)state;
	assert_int_equal(diff_shifts_begin(&s, low, 2, high, 2), 0);
	assert_int_equal(diff_shifts_best(&s), (int64_t)UINT32_MAX - 2);
	assert_int_equal(diff_shifts_begin(&s, high, 2, low, 2), 0);
	assert_int_equal(diff_shifts_best(&s), 2 - (int64_t)UINT32_MAX);
	diff_shifts_fini(&s);
}

/*
 * 200 functions of 100 lines each, 20,000 in all, no two distances alike: each line is matched by
 * itself. What was tried for each line is done once: the search of all pairs at each step takes
 * 100 million steps for one such function.
 */
static void lines_that_fit_nowhere(void **state)
{
	struct diff_shifts s = { 0 };
	uint32_t seed = 7;

	(void)state;
	for (unsigned function = 0; function < 200; function++) {
		struct side a = random_side(&seed, MANY, 1u << 24),
			    b = random_side(&seed, MANY, 1u << 24);
		unsigned rounds = 0;

		assert_int_equal(diff_shifts_begin(&s, a.number, a.nr, b.number, b.nr), 0);
		assert_true(s.shifts.nr <= MANY * MANY);
		while (a.nr && b.nr) {
			int64_t by = diff_shifts_best(&s);

			assert_true(fit(&a, &b, by, true) > 0);
			diff_shifts_take(&s, by);
			rounds++;
		}
		assert_in_range(rounds, 90, MANY);
		vec_each(&s.shifts, shift)
			assert_int_equal(shift->nr, 0);
	}
	diff_shifts_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_all_distances_tried),
		cmocka_unit_test(far_distances),
		cmocka_unit_test(lines_that_fit_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
