/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm report: what a capture or a running process holds, who holds it, how it came to that. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/names/names.h"
#include "src/track/source.h"
#include "src/cmd/cmd.h"
#include "src/cmd/help/meant.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/emit.h"
#include "src/names/naming.h"
#include "src/proc/proc.h"
#include "src/session/name_notes.h"
#include "src/cmd/terminal.h"
#include "src/symbol/symbol.h"
#include "src/view/report_view.h"

static struct report_options opt = { .top = 10 };
static int sort;
static struct opt_list skipped;
static uint64_t memory_bytes;
static bool as_json, given_top, bottom_up, top_down, no_symbols, debuginfod;

static const struct opt report_opts[] = {
	{ "json", 0, OPT_FLAG, NULL, "write JSON (schema " REPORT_SCHEMA ")", &as_json },
	{ "sort", 0, OPT_CHOICE, NULL,
	  "what makes a site large (default live; peak when little of it is left)", &sort,
	  .given = &opt.sort_given, .choices = rank_key_name },
	{ "top", 0, OPT_UINT, "N",
	  "rows shown of each list (default 10, as JSON all; 0 = all)", &opt.top,
	  .given = &given_top },
	{ "top-down", 0, OPT_FLAG, NULL,
	  "call tree from the outermost function inward, instead of stacks", &top_down },
	{ "bottom-up", 0, OPT_FLAG, NULL,
	  "call tree from the allocating function outward, instead of stacks", &bottom_up },
	{ "depth", 0, OPT_UINT, "N", "frames shown of a stack, levels of a tree (0 = all)",
	  &opt.depth, .given = &opt.depth_given },
	{ "function", 0, OPT_STRING, "PATTERN", "only stacks with a function like this",
	  &opt.filter.function },
	{ "file", 0, OPT_STRING, "PATTERN", "only stacks through a source file like this",
	  &opt.filter.file },
	{ "module", 0, OPT_STRING, "PATTERN", "only stacks through a library or program like this",
	  &opt.filter.module },
	{ "thread", 0, OPT_STRING, "NAME|TID", "only live blocks that this thread made",
	  &opt.filter.thread },
	{ "size", 0, OPT_SIZE_RANGE, "MIN[:MAX]", "only live blocks of this size",
	  &opt.filter.size_bytes, .given = &opt.filter.by_size },
	{ "age", 0, OPT_DURATION_RANGE, "MIN[:MAX]",
	  "only live blocks of this age (seconds, or 10ms, 2m, 3h, 1d)", &opt.filter.age_ns,
	  .given = &opt.filter.by_age },
	{ "blocks", 0, OPT_FLAG, NULL, "list live blocks too, largest first", &opt.blocks },
	{ "functions", 0, OPT_FLAG, NULL,
	  "list functions too, by what is held through them: by themselves or what they call",
	  &opt.functions },
	{ "skip-fn", 0, OPT_LIST, "PATTERN",
	  "skip functions like this where lines are named: wrappers of malloc (may be given "
	  "again)",
	  &skipped },
	{ "debuginfod", 0, OPT_FLAG, NULL,
	  "ask the servers of $DEBUGINFOD_URLS for missing debug information", &debuginfod },
	{ "no-symbols", 0, OPT_FLAG, NULL, "no names: module and offset only", &no_symbols },
	CMD_MEMORY_LIMIT(&memory_bytes),
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
	{ "pmm report --json FILE | jq '.lines[0]'", "the line that holds the most" },
	{ 0 }
};

/* ---- output ---- */

static int print_doc(const struct doc *doc, struct err *e)
{
	struct style style = terminal_style(stdout);
	int rc = as_json ? doc_print_json(doc, stdout) : doc_print_text(doc, &style, stdout);

	/* a reader that has seen enough (head, less) is no trouble */
	if (rc == -EPIPE)
		return 0;
	if (rc)
		err_set(e, rc, "cannot write the report: %s", strerror(-rc));
	return rc;
}

static int report_heap(const struct heap *h, struct err *e)
{
	const struct naming_options options = { .none = no_symbols,
						.full = true,
						.debuginfod = debuginfod,
						.max_bytes = memory_bytes };
	struct naming naming;
	struct report report;
	int rc;

	naming_open(&naming, h, &options);
	names_skip(&naming.names, skipped.v, skipped.nr);
	rc = report_init(&report, h, &naming.names, &opt, e);
	if (!rc)
		rc = print_doc(&report.doc, e);
	if (!rc)
		name_notes(&emit_notes, &naming, "--memory-limit");
	report_fini(&report);
	naming_close(&naming);
	return rc;
}

static int check_options(struct err *e)
{
	if (bottom_up && top_down)
		return cmd_refuse(e, "'--top-down' and '--bottom-up' cannot be used together",
				  "ask for one after the other");
	if (no_symbols && (opt.filter.function || opt.filter.file))
		return cmd_refuse(e,
				  opt.filter.function ? "'--function' needs symbols"
						      : "'--file' needs symbols",
				  "leave out --no-symbols");
	return report_check(&opt, e);
}

/* JSON has all, unless less was asked for. */
static void complete(void)
{
	if (as_json && !given_top)
		opt.top = 0;
	if (as_json && !opt.depth_given)
		opt.depth_given = true;		/* with a depth of 0 */
}

static int report_run(int argc, char **argv)
{
	char room[MEANT_BYTES], *what = meant_operand(argv[0], room);
	struct err e = { 0 };
	struct heap *h = NULL;
	pid_t pid;
	int rc;

	(void)argc;
	opt.sort = (enum rank_key)sort;
	opt.source = what;
	complete();
	opt.shape = top_down ? REPORT_TOP_DOWN : bottom_up ? REPORT_BOTTOM_UP : REPORT_LIST;
	rc = check_options(&e);
	if (!rc && source_is_process(what) && !proc_parse_pid(what))
		rc = cmd_parse_pid(what, &pid, &e);
	if (!rc)
		rc = source_read(what, memory_bytes, &h, &e);
	if (!rc)
		rc = report_heap(h, &e);
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
