/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm report: what a capture or a running process holds, who holds it, how it came to that. */
#include <stdio.h>

#include "src/cmd/cmd.h"
#include "src/cmd/help/meant.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/report/report_command.h"
#include "src/cmd/terminal.h"
#include "src/proc/proc.h"
#include "src/track/source.h"

static struct report_command c = { .opt.top = 10 };

static const struct opt report_opts[] = {
	FORM_OPTION(&c.form, &c.form_given, FORM_REPORT,
		    "form of the report (default text): json; html, a page for a browser; and for other "
		    "tools, with all stacks, collapsed, speedscope, pprof; 'pmm help formats' says who reads what"),
	{ "output", 'o', OPT_FILE, "FILE",
	  "write there, - is standard output (%p: pid, %c: command); default - for text, json and "
	  "collapsed, else pmm.%c.%p. with the form's ending",
	  &c.output },
	{ "json", 0, OPT_FLAG, NULL, "the same as --format json (schema " REPORT_SCHEMA ")",
	  &c.as_json },
	{ "source", 0, OPT_FLAG, NULL,
	  "of html: put lines of source files into the page, where they can be read now",
	  &c.with_source },
	REPORT_OPTIONS(c, 0),
	CMD_MEMORY_LIMIT(&c.memory_bytes),
	TERMINAL_WIDTH(),
	{ 0 }
};

static const struct cmd_pair report_examples[] = {
	{ "pmm report pmm.app.4242.pmm",
	  "what a program held when it ended, by source line and stack" },
	{ "pmm report --sort peak --top 3 4242",
	  "the three stacks behind the peak of a running process" },
	{ "pmm report --bottom-up --depth 5 FILE", "who calls what allocates" },
	{ "pmm report --size 1M --blocks FILE", "every live block of 1 MiB and more" },
	{ "pmm report --format pprof FILE",
	  "for 'go tool pprof'; 'pmm help formats' lists others" },
	{ "pmm report --json FILE | jq '.lines[0]'", "the line that holds the most" },
	{ 0 }
};

static int report_run(int argc, char **argv)
{
	char room[MEANT_BYTES], *what = meant_operand(argv[0], room);
	struct err e = { 0 };
	struct heap *h = NULL;
	pid_t pid;
	int rc;

	(void)argc;
	rc = report_command_check(&c, FORM_REPORT, &e);
	if (!rc && source_is_process(what) && !proc_parse_pid(what))
		rc = cmd_parse_pid(what, &pid, &e);
	if (!rc)
		rc = source_read(what, c.memory_bytes, &h, &e);
	if (!rc)
		rc = report_command_print(&c, h, what, &e);
	heap_free(h);
	return rc ? cmd_fail(err_default(&e, rc)) : CMD_OK;
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "show what a capture or a running process holds and who holds it",
	.usage = "[options] FILE|PID",
	.opts = report_opts,
	.examples = report_examples,
	.min_operands = 1,
	.max_operands = 1,
	.run = report_run,
	.description = "Reports on a capture that 'pmm run' or 'pmm snapshot' wrote, or on a "
		       "process that is being tracked.\n\n"
		       "The first list names the source lines that hold memory: for each stack the "
		       "innermost frame that is "
		       "neither allocator nor run-time library answers for it. Below it are the "
		       "stacks themselves. With "
		       "--top-down or --bottom-up a call tree takes their place.\n\n"
		       "PATTERN is a shell pattern, or a part of the name when it has none of *?[ "
		       "in it. With --thread, --size "
		       "or --age figures come from the live blocks that match; frees are not "
		       "known by these.\n\n"
		       "Times count from the start of tracking. See doc/report.md for each "
		       "figure, doc/json.md for each key of the JSON.",
};
