/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_check.c, check_report.c, check_uses.c, program.c: findings of made-up heaps, and
 * what is refused. Also of src/view/check/check_view.c, check_figures.c, check_head.c,
 * check_text.c.
 * The session is tests/unit/sessions/cmd_check.t. Runs: pmm.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_check");
}
