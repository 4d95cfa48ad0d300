/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_trace.c: wrong options. The session is tests/unit/sessions/cmd_trace.t; what it does
 * is in tests/cli/trace*.bats. Runs: pmm.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_trace");
}
