/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_budget.c: what budgets say of made-up captures, and which files are refused. Also of
 * src/session/budget/budget_session.c, src/view/budget/budget_view.c,
 * src/analyze/budget/budget_parse.c, budget_judge.c, src/analyze/measured.c. The session is
 * tests/unit/sessions/cmd_budget.t. Runs: pmm.
 */
#include "tests/unit/unit.h"

#include "tests/unit/cmd_session.h"

#ifdef HAVE_INIH

int main(void)
{
	return session_run("cmd_budget");
}

#else

static void libinih_was_missing_when_pmm_was_built(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libinih_was_missing_when_pmm_was_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
