/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/check.c, check_report.c, check_uses.c: findings of made-up heaps, and what is refused.
 * Also of src/view/check.c, check_figures.c, check_head.c, check_words.c, src/capture/fake_check.c.
 * The session is tests/unit/sessions/cmd_check.t. Runs: pmm.
 */
#include "tests/unit/session.h"

int main(void)
{
	return session_run("cmd_check");
}
