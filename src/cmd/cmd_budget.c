/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm budget: are captures within the budgets that a project keeps in a file? */
#include <stdio.h>

#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/cmd/options/opt_list.h"
#include "src/cmd/report/forms.h"
#include "src/cmd/terminal.h"
#include "src/session/budget/budget_session.h"
#include "src/session/leaks/leaks_report.h"
#include "src/view/budget/budget_view.h"

static struct budget_session_options o = { .file = ".pmm-budget" };
static int format;
static bool format_given, as_json, no_default;
static struct opt_list suppressions;

static const struct opt budget_opts[] = {
	{ "file", 'f', OPT_FILE, "FILE", "the file of budgets (default .pmm-budget)", &o.file },
	FORM_OPTION(&format, &format_given, FORM_BUDGET,
		    "form of the output (default text): json, sarif, junit"),
	{ "json", 0, OPT_FLAG, NULL, "the same as --format json (schema " BUDGET_SCHEMA ")",
	  &as_json },
	CMD_LEAKED(&suppressions, &no_default),
	{ "debuginfod", 0, OPT_FLAG, NULL,
	  "ask the servers of $DEBUGINFOD_URLS for missing debug information", &o.debuginfod },
	CMD_MEMORY_LIMIT(&o.memory_bytes),
	TERMINAL_WIDTH(),
	{ 0 }
};

static const struct cmd_pair budget_examples[] = {
	{ "pmm run -q -o app.pmm -- ./app && pmm budget app.pmm",
	  "judge a run of a program by the file .pmm-budget" },
	{ "pmm run -q --leaks -o %c.pmm -- make check; pmm budget *.pmm",
	  "all programs of a test, with what they lost" },
	{ "pmm budget --format junit app.pmm >memory.xml", "for a CI service that shows tests" },
	{ 0 }
};

static const struct cmd_pair budget_exits[] = {
	{ "0", "all budgets are kept" },
	{ "1", "a budget is exceeded" },
	{ "2", "wrong usage" },
	{ "3", "a budget was not measured, or the file or a capture cannot be read" },
	{ 0 }
};

static int budget_run(int argc, char **argv)
{
	struct budget_session_end end = { 0 };
	struct err e = { 0 };
	struct emit emit;
	int rc = form_join_json(&format, format_given, as_json, &e);

	if (!rc)
		rc = form_check((enum form)format, FORM_BUDGET, &e);
	emit_init(&emit, stdout, format == FORM_JSON);
	o.form = format == FORM_SARIF	? BUDGET_SARIF
		 : format == FORM_JUNIT ? BUDGET_JUNIT
					: BUDGET_DOCUMENT;
	if (!rc)
		rc = leaks_read_suppressions((struct texts){ suppressions.v, suppressions.nr },
					     no_default, &o.suppress, &e);
	if (!rc)
		rc = budget_session(&o, argv, (unsigned)argc, &emit.sink, &end, &e);
	suppress_free(o.suppress);
	o.suppress = NULL;
	if (rc)
		return cmd_fail(err_default(&e, rc));
	return end.exceeded ? CMD_FOUND : end.unmeasured ? CMD_FAILED : CMD_OK;
}

const struct cmd cmd_budget = {
	.name = "budget",
	.summary = "see whether captures are within the budgets that a project keeps in a file",
	.usage = "[options] FILE|PID...",
	.opts = budget_opts,
	.exits = budget_exits,
	.examples = budget_examples,
	.min_operands = 1,
	.max_operands = CMD_ANY,
	.run = budget_run,
	.description =
		"A file of budgets has sections, each named after a program (a shell pattern), and "
		"in them limits: peak, live_at_end, allocated, allocations, temporary, leaked, of "
		"the program, or of a function or module of it (function.NAME.peak).\n\n"
		"A FILE is a capture or another tool's profile. What was not measured is an error, "
		"never a pass: leaks that were not searched for, sampled captures, blocks that "
		"were not recorded, a section that no capture is of. See doc/budget.md.",
};
