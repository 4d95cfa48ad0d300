/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/track/peak_look.c: how far apart looks are. */
#include "src/track/peak_look.h"
#include "tests/unit/unit.h"

#define TICK_NS	10000000u

/* The ticks of looks from one on, as text: what is resident grows at each of `growing`. */
static void check(struct peak_look *p, unsigned from, unsigned to, bool growing,
		  const char *expected)
{
	char text[400] = "";
	size_t at = 0;

	for (unsigned tick = from; tick < to; tick++)
		if (peak_look_due(p, growing ? 4096 * (tick + 1) : 1 << 20, tick * TICK_NS))
			at += (size_t)sprintf(text + at, "%u ", tick);
	assert_string_equal(text, expected);
}

static void further_apart_while_it_stays(void **state)
{
	struct peak_look p = { 0 };

	(void)state;
	check(&p, 0, 120, false, "0 3 9 21 45 69 93 117 ");
}

static void often_while_it_moves(void **state)
{
	struct peak_look p = { 0 };

	(void)state;
	check(&p, 0, 20, true, "0 3 6 9 12 15 18 ");
}

static void soon_when_it_moves_again(void **state)
{
	struct peak_look p = { 0 };

	(void)state;
	check(&p, 0, 43, false, "0 3 9 21 ");
	check(&p, 43, 50, true, "43 46 49 ");
	check(&p, 50, 70, false, "52 55 61 ");
	p = (struct peak_look){ 0 };
	check(&p, 0, 23, false, "0 3 9 21 ");
	check(&p, 23, 26, true, "24 ");
}

/* Of what is not known 0 is all that is ever seen. */
static void without_figures(void **state)
{
	struct peak_look p = { 0 };

	(void)state;
	assert_true(peak_look_due(&p, 0, 0));
	assert_false(peak_look_due(&p, 0, PEAK_LOOK_NS - 1));
	assert_true(peak_look_due(&p, 0, PEAK_LOOK_NS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(further_apart_while_it_stays),
		cmocka_unit_test(often_while_it_moves),
		cmocka_unit_test(soon_when_it_moves_again),
		cmocka_unit_test(without_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
