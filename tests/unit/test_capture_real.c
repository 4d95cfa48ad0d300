/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/track/monitor.c, child.c, watched.c, process_series.c, serve.c, output.c, preload.c,
 * ledger_heap.c, ledger_blocks.c, ledger_find.c, ledger_findings.c, ledger_guards.c, ledger_look.c,
 * ledger_map.c, ledger_reader.c, ledger_sites.c, ledger_stacks.c, ledger_threads.c, ledger_tree.c,
 * file_format.c, file_pack.c, file_read.c, file_unpack.c, file_values.c, file_write.c, precopy.c,
 * precopy_marks.c, canary_scan.c, canary_judge.c, canary_scanner.c, src/analyze/history.c,
 * lifetimes.c, sizes.c, findings.c: captures of real programs, and ledgers of running ones. The
 * session is tests/unit/sessions/capture_real.t. Runs: pmm, libpmm.so, libpmm_check.so,
 * precopy_driver.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("capture_real");
}
