/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_run.c, run_check.c, run_leaks.c, summary.c, report_file.c, src/track/child.c,
 * preload.c, output.c, leaving.c, serve.c, canary_scanner.c, slot_pid.c, watched.c, roots.c,
 * roots_ask.c, leaks_search.c, run_end.c, agent/preload/leave.c: programs that are run, and
 * what is printed of them. The session is tests/unit/sessions/cmd_run.t. Runs: pmm, libpmm.so,
 * libpmm_check.so.
 * Also of run_signals.c.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_run");
}
