/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm diff: what grew, shrank, appeared and vanished between two captures. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/cmd/help/meant.h"
#include "src/cmd/options/opt_list.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/report/diff_page.h"
#include "src/cmd/report/forms.h"
#include "src/cmd/report/report_page.h"
#include "src/cmd/terminal.h"
#include "src/proc/proc.h"
#include "src/session/diff/diff_session.h"
#include "src/session/diff/diff_trends.h"
#include "src/session/leaks/leaks_report.h"
#include "src/store/output.h"
#include "src/track/source.h"
#include "src/view/diff/diff_trend_view.h"
#include "src/view/diff/diff_view.h"

static struct diff_session_options o = { .top = 10, .depth = 8 };
static struct opt_list fail_on, skipped, suppressions;
static int sort, format;
static const char *output;
static bool as_json, format_given, top_given, trend, no_default;

static const struct opt diff_opts[] = {
	FORM_OPTION(&format, &format_given, FORM_DIFF,
		    "form of the output (default text): json; html, a page for a browser with a "
		    "flame graph of what changed"),
	{ "output", 'o', OPT_FILE, "FILE",
	  "write the page there, - is standard output (default pmm.%c.%p.html: of AFTER)",
	  &output },
	{ "json", 0, OPT_FLAG, NULL, "the same as --format json (schema " DIFF_SCHEMA ")",
	  &as_json },
	{ "fail-on", 0, OPT_LIST, "CONDITION",
	  "exit with 1 if this grew by more than a limit: grow>5%,1M (by both), line.live>64K, "
	  "leaked>0 (may be given again)",
	  &fail_on },
	{ "trend", 0, OPT_FLAG, NULL,
	  "fit a line over three or more captures, in their order: growth per hour of one "
	  "process, else per capture (as JSON schema " DIFF_TREND_SCHEMA ")",
	  &trend },
	{ "sort", 0, OPT_CHOICE, NULL,
	  "what is compared (default live; peak when little of it is left)", &sort,
	  .given = &o.key_given, .choices = diff_key_name },
	{ "top", 0, OPT_UINT, "N", "rows shown of each list (default 10, as JSON all; 0 = all)",
	  &o.top, .given = &top_given },
	{ "depth", 0, OPT_UINT, "N", "frames shown of a stack (default 8, 0 = all)", &o.depth },
	{ "function", 0, OPT_STRING, "PATTERN", "only stacks with a function like this",
	  &o.filter.function },
	{ "file", 0, OPT_STRING, "PATTERN", "only stacks through a source file like this",
	  &o.filter.file },
	{ "module", 0, OPT_STRING, "PATTERN", "only stacks through a library or program like this",
	  &o.filter.module },
	{ "thread", 0, OPT_STRING, "NAME|TID", "only live blocks that this thread made",
	  &o.filter.thread },
	{ "size", 0, OPT_SIZE_RANGE, "MIN[:MAX]", "only live blocks of this size",
	  &o.filter.size_bytes, .given = &o.filter.by_size },
	{ "age", 0, OPT_DURATION_RANGE, "MIN[:MAX]",
	  "only live blocks of this age (seconds, or 10ms, 2m, 3h, 1d)", &o.filter.age_ns,
	  .given = &o.filter.by_age },
	{ "skip-fn", 0, OPT_LIST, "PATTERN",
	  "skip functions like this where lines are named: wrappers of malloc (may be given again)",
	  &skipped },
	CMD_LEAKED(&suppressions, &no_default),
	{ "debuginfod", 0, OPT_FLAG, NULL,
	  "ask the servers of $DEBUGINFOD_URLS for missing debug information", &o.debuginfod },
	{ "no-symbols", 0, OPT_FLAG, NULL, "no names: module and offset only", &o.no_symbols },
	CMD_MEMORY_LIMIT(&o.memory_bytes),
	TERMINAL_WIDTH(),
	{ 0 }
};

static const struct cmd_pair diff_examples[] = {
	{ "pmm diff old.pmm new.pmm",
	  "what a new version of a program holds more than the old one" },
	{ "pmm diff --sort peak --function parse old.pmm new.pmm",
	  "how its highest point changed, of what the parser allocated" },
	{ "pmm diff morning.pmm 4242", "what a running process has gained since a snapshot" },
	{ "pmm diff --fail-on 'grow>5%,1M' base.pmm new.pmm",
	  "for CI: fail if more is held by 5 % and by 1 MiB" },
	{ "pmm diff --trend snap-*.pmm", "what grows steadily over many snapshots of a process" },
	{ "pmm diff --json old.pmm new.pmm | jq '.lines[0]'", "the line that changed most" },
	{ 0 }
};

static const struct cmd_pair diff_exits[] = {
	{ "0", "compared; no condition of --fail-on is met" },
	{ "1", "a condition of --fail-on is met" },
	{ "2", "wrong usage" },
	{ "3", "could not compare, or a condition is about what was not measured, or no stack "
	       "passes the filter" },
	{ 0 }
};

static bool same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The same file twice says nothing, and in CI it would look like success. */
static int check_operands(char *const *what, unsigned nr, struct err *e)
{
	for (unsigned i = 0; i < nr; i++)
		for (unsigned k = 0; k < i; k++) {
			if (!same_file(what[i], what[k]))
				continue;
			err_set(e, -EINVAL, "'%s' and '%s' are the same file", what[k], what[i]);
			err_hint(e, trend ? "name each capture once, the oldest first"
					  : "name the capture from before first, then the one "
					    "from after");
			e->exit_code = CMD_USAGE;
			return -EINVAL;
		}
	return 0;
}

static int read_heap(const char *what, struct heap **h, struct err *e)
{
	pid_t pid;
	int rc = 0;

	if (source_is_process(what) && !proc_parse_pid(what))
		rc = cmd_parse_pid(what, &pid, e);
	return rc ? rc : source_read(what, o.memory_bytes, h, e);
}

static int parse_conditions(struct diff_condition c[OPT_LIST_MAX], struct err *e)
{
	for (unsigned i = 0; i < fail_on.nr; i++)
		if (diff_condition_parse(fail_on.v[i], &c[i], e)) {
			e->exit_code = CMD_USAGE;
			return -EINVAL;
		}
	o.condition = c;
	o.nr_conditions = fail_on.nr;
	return 0;
}

static int compare(char *const *what, bool *exceeded, struct err *e)
{
	struct heap *h[2] = { NULL, NULL };
	struct emit emit;
	int rc = check_operands(what, 2, e);

	for (unsigned i = 0; i < 2 && !rc; i++)
		rc = read_heap(what[i], &h[i], e);
	emit_init(&emit, stdout, as_json);
	if (!rc) {
		const struct diff_session_side side[2] = { { h[0], what[0] }, { h[1], what[1] } };

		struct diff_page page = { { h[0], h[1] }, { what[0], what[1] }, output };

		if (format == FORM_HTML) {
			o.take = diff_page_take;
			o.take_arg = &page;
		}
		rc = diff_session(&o, side, &emit.sink, exceeded, e);
		o.take_arg = NULL;
	}
	heap_free(h[0]);
	heap_free(h[1]);
	return rc;
}

static int check_number(unsigned nr, struct err *e)
{
	if (!trend && nr > 2)
		return cmd_refuse(e, "there are more than two captures",
				  "--trend compares many of them");
	if (trend && (nr < DIFF_TREND_MIN || nr > DIFF_MAX_SIDES))
		return cmd_refuse(e, "'--trend' needs 3 to 128 captures",
				  "two are compared without it");
	if (trend && fail_on.nr)
		return cmd_refuse(e, "'--trend' and '--fail-on' cannot be used together",
				  "compare the first and the last capture");
	return 0;
}

static int check_form(struct err *e)
{
	int rc = form_join_json(&format, format_given, as_json, e);

	as_json = format == FORM_JSON;
	if (!rc)
		rc = form_check((enum form)format, FORM_DIFF, e);
	if (rc)
		return rc;
	if (format == FORM_HTML && trend)
		return cmd_refuse(e, "'--trend' has no '--format html'", "it has text and json");
	if (output && format != FORM_HTML)
		return cmd_refuse(e, "'-o' is for '--format html' only",
				  "others go to standard output");
	rc = output ? output_check_pattern(output, e) : 0;
	return rc || format != FORM_HTML ? rc : report_page_check(e);
}

static int compare_all(unsigned nr, char *const *what, struct err *e)
{
	struct emit emit;
	int rc = check_operands(what, nr, e);

	emit_init(&emit, stdout, as_json);
	return rc ? rc : diff_trends_session(&o, what, nr, &emit.sink, e);
}

static int unsaid(int rc, struct err *e)
{
	if (rc != -ENOMEM && !e->text[0])
		err_set(e, rc, "cannot write the comparison: %s", strerror(-rc));
	return rc;
}

static int diff_run(int argc, char **argv)
{
	struct diff_condition condition[OPT_LIST_MAX];
	char room[2][MEANT_BYTES];
	bool exceeded = false;
	struct err e = { 0 };
	int rc;

	for (int i = 0; i < argc && i < 2; i++)
		argv[i] = meant_operand(argv[i], room[i]);
	o.key = (enum diff_key)sort;
	o.skip = skipped.v;
	o.nr_skip = skipped.nr;
	rc = check_form(&e);
	if (format != FORM_TEXT && !top_given)
		o.top = 0;
	if (!rc)
		rc = check_number((unsigned)argc, &e);
	if (!rc)
		rc = parse_conditions(condition, &e);
	if (!rc && o.no_symbols && (o.filter.function || o.filter.file))
		rc = cmd_refuse(&e, "'--function' and '--file' need symbols",
				"leave out --no-symbols");
	if (!rc && o.no_symbols && suppressions.nr)
		rc = cmd_refuse(&e, "'--suppressions' needs symbols", "leave out --no-symbols");
	if (!rc)
		rc = leaks_read_suppressions((struct texts){ suppressions.v, suppressions.nr },
					     no_default, &o.suppress, &e);
	if (!rc)
		rc = trend ? compare_all((unsigned)argc, argv, &e) : compare(argv, &exceeded, &e);
	suppress_free(o.suppress);
	o.suppress = NULL;
	rc = rc ? unsaid(rc, &e) : 0;
	return rc ? cmd_fail(err_default(&e, rc)) : exceeded ? CMD_FOUND : CMD_OK;
}

const struct cmd cmd_diff = {
	.name = "diff",
	.summary = "show what grew, shrank, appeared and vanished between two captures",
	.usage = "[options] BEFORE AFTER | --trend FILE...",
	.opts = diff_opts,
	.exits = diff_exits,
	.examples = diff_examples,
	.min_operands = 2,
	.max_operands = CMD_ANY,
	.run = diff_run,
	.description =
		"Compares two captures, or a capture and a process that is being tracked, by line, "
		"function, module and stack. The rows of each list add up to the difference of the "
		"totals.\n\n"
		"What is the same in both is found by names, so that builds, lines that have "
		"moved and "
		"addresses may differ: functions by name and source file, and exactly by offset "
		"where a module has the same build ID in both. What could not be matched is "
		"reported first.\n\n"
		"CONDITION is [SCOPE.]FIGURE>LIMIT[,LIMIT]. SCOPE is total (the default), line, "
		"function, module or stack; FIGURE is grow (what --sort names), live, peak, "
		"allocated, calls, temporary or leaked. A LIMIT is a percentage of the figure "
		"before, or a size; with both, both must be exceeded. See doc/diff.md.",
};
