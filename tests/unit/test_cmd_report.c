/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_report.c, report_command.c, report_file.c, naming.c, percent.c: what is printed of
 * made-up heaps and captures, and what is refused. Also of src/view/report_view.c,
 * report_cells.c, report_head.c, report_lines.c, report_lists.c, report_memory.c, report_time.c,
 * report_sites.c, report_tree.c, render_json.c, render_text.c, table.c, graph.c, series.c,
 * stack_view.c, facts.c, process_row.c, src/analyze/lines.c, rank.c, sizes.c, tree.c, filter.c,
 * names.c, role.c, source.c. The session is tests/unit/sessions/cmd_report.t. Runs: pmm.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_report");
}
