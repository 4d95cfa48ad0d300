/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_leaks.c, leaks_report.c, leaks_parse.c, src/view/leaks_view.c, leaks_head.c,
 * leaks_why.c, leaks_xml.c: verdicts of made-up heaps. Also of src/analyze/leaks.c,
 * leaks_collect.c, growth.c, suppress.c, suppress_match.c, suppress_names.c, suppress_write.c.
 * The session is tests/unit/sessions/cmd_leaks.t. Runs: pmm.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_leaks");
}
