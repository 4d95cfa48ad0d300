/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_diff.c, diff_page.c: what is printed of made-up captures that are compared, and what
 * is refused. Also of src/session/diff/diff_session.c, diff_naming.c, diff_trends.c,
 * src/view/diff/diff_view.c, diff_cells.c, diff_list.c, diff_rows_view.c, diff_trend_view.c,
 * diff_warnings.c, src/analyze/diff/diff_condition.c, src/page/page_diff.c. The session is
 * tests/unit/sessions/cmd_diff.t. Runs: pmm.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_diff");
}
