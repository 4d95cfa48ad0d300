/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/leaks.c, leaks_report.c, leaks_words.c, src/view/leaks.c, leaks_head.c, leaks_why.c, leaks_xml.c: verdicts of made-up heaps.
 * Also of src/analyze/leaks.c, leaks_collect.c, growth.c, suppress.c, suppress_match.c, suppress_names.c,
 * suppress_write.c, src/capture/fake_leaks.c, fake_words.c.
 * The session is tests/unit/sessions/cmd_leaks.t. Runs: pmm.
 */
#include "tests/unit/session.h"

int main(void)
{
	return session_run("cmd_leaks");
}
