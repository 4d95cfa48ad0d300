/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm check: heap errors of a program as it is, reported when they happen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/track/source.h"
#include "src/session/check/check_live.h"
#include "src/session/check/check_report.h"
#include "src/session/check/check_uninit.h"
#include "src/cmd/options/check_uses.h"
#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/cmd/live.h"
#include "src/cmd/options/percent.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/options/program.h"
#include "src/cmd/report/forms.h"
#include "src/cmd/report/report_file.h"
#include "src/cmd/run_signals.h"
#include "src/cmd/runs_signals.h"
#include "src/cmd/cmd_run.h"
#include "src/session/check/run_check.h"
#include "src/session/run_program.h"
#include "src/cmd/terminal.h"
#include "src/cmd/options/opt_list.h"

#define DEFAULT_QUARANTINE	(1ull << 20)
#define DEFAULT_GUARDED		(1ull << 16)
/*
 * The share of the program's CPU time that guard pages may take, by level: light (has none), guard,
 * sampled.
 */
static const uint64_t default_budget_permille[] = { UINT64_MAX, 700, 5 };
#define DEFAULT_SAMPLE		(256ull << 10)
#define LEAST_SCAN_NS		10000000ull

enum { FAIL_ERRORS = 1, FAIL_UNCHECKED = 2 };

/* --level, which begins with PMM_CHECK_LIGHT */
#define LEVEL(level) ((level) - PMM_CHECK_LIGHT)

static const char *const levels[] = {
	[LEVEL(PMM_CHECK_LIGHT)] = "light",
	[LEVEL(PMM_CHECK_GUARD)] = "guard",
	[LEVEL(PMM_CHECK_SAMPLED)] = "sampled",
	[LEVEL(PMM_NR_CHECK_LEVELS)] = NULL,
};
static const char *const reactions[] = {
	[PMM_ON_ERROR_CONTINUE] = "continue",
	[PMM_ON_ERROR_ABORT] = "abort",
	[PMM_ON_ERROR_CORE] = "core",
	[PMM_ON_ERROR_CORE + 1] = NULL,
};
_Static_assert(FOR_LIGHT == 1 << LEVEL(PMM_CHECK_LIGHT) &&
		       FOR_GUARD == 1 << LEVEL(PMM_CHECK_GUARD) &&
		       FOR_SAMPLED == 1 << LEVEL(PMM_CHECK_SAMPLED),
	       "options are for levels by the same numbers");

static struct check_report_options shown = CHECK_REPORT_DEFAULT;
static struct opt_list skipped;
static struct check_job job = {
	.check = { .max_guarded = DEFAULT_GUARDED,
		   .quarantine_bytes = DEFAULT_QUARANTINE,
		   .fail_after = UINT64_MAX },
	.sample_bytes = DEFAULT_SAMPLE,
	.report = &shown,
};
static int level = LEVEL(PMM_CHECK_GUARD), reaction, form;
static const char *output, *report;
static const char *fail_rate, *budget, *scan, *fail_on;
static uint64_t garbage = 0xaa, error_code, count;
static bool left, right, mprotect_only, fill, zero, no_strings, given_code, given_top, uninit,
	exhaustive, wait_for_all, as_json, given_form;

static const struct opt check_opts[] = {
	{ "level", 0, OPT_CHOICE, NULL,
	  "light: canaries around every block; guard: inaccessible pages around blocks (default); "
	  "sampled: around a random few, for production",
	  &level, .choices = levels, .uses = FOR_COMMAND },
	{ "uninit", 0, OPT_FLAG, NULL,
	  "run COMMAND under the installed Valgrind, which finds uses of uninitialised memory too",
	  &uninit, .uses = FOR_VALGRIND },
	{ "on-error", 0, OPT_CHOICE, NULL,
	  "after an error: continue (default), end the program, end it with a core file (where "
	  "/proc/sys/kernel/core_pattern says)", &reaction,
	  .choices = reactions, .uses = FOR_COMMAND },
	{ "right", 0, OPT_FLAG, NULL,
	  "guard: all blocks end at a page's end: accesses behind them are stopped at once; "
	  "without it, and without --left, seven of eight do",
	  &right, .uses = FOR_GUARDED },
	{ "left", 0, OPT_FLAG, NULL,
	  "guard: all blocks begin at a page's start: accesses before them are stopped at once",
	  &left, .uses = FOR_GUARDED },
	{ "exhaustive", 0, OPT_FLAG, NULL,
	  "guard: run COMMAND three times (--right, --left, byte-exact ends) and report what they "
	  "found together",
	  &exhaustive, .uses = FOR_GUARD },
	{ "max-guarded", 0, OPT_UINT, "N",
	  "blocks guarded at the same time (default 65536); others have canaries",
	  &job.check.max_guarded, .uses = FOR_GUARDED },
	{ "budget", 0, OPT_STRING, "PERCENT|all",
	  "CPU time that guard pages may take, in percent of the program's own (default: guard 70, "
	  "sampled 0.5); at guard all blocks have canaries "
	  "whatever that costs",
	  &budget, .uses = FOR_COMMAND },
	{ "quarantine", 0, OPT_SIZE, "BYTES", "released blocks kept from reuse (default 1M)",
	  &job.check.quarantine_bytes, .uses = FOR_CANARIES },
	{ "sample", 0, OPT_SIZE, "BYTES",
	  "sampled: guard one block per BYTES on average (default 256K)", &job.sample_bytes,
	  .min = 1, .max = 1ull << 40, .uses = FOR_SAMPLED },
	{ "no-strings", 0, OPT_FLAG, NULL, "do not check string and memory functions", &no_strings,
	  .uses = FOR_COMMAND },
	{ "zero-size", 0, OPT_FLAG, NULL, "requests for 0 bytes are errors", &zero,
	  .uses = FOR_COMMAND },
	{ "garbage", 0, OPT_UINT, "BYTE", "fill new blocks with BYTE (default 170)", &garbage,
	  .if_omitted = "170", .given = &fill, .max = 255, .uses = FOR_COMMAND },
	{ "fail-after", 0, OPT_UINT, "N", "allocations fail after the first N",
	  &job.check.fail_after, .uses = FOR_COMMAND },
	{ "fail-rate", 0, OPT_STRING, "PERCENT", "so many allocations fail, at random", &fail_rate,
	  .uses = FOR_COMMAND },
	{ "limit", 0, OPT_SIZE, "BYTES", "allocations that would take the heap above BYTES fail",
	  &job.check.heap_limit_bytes, .min = 1, .uses = FOR_COMMAND },
	{ "sweep", 0, OPT_STRING, "TIME",
	  "scan the canaries of all live blocks: of a PID now, or every TIME; of a COMMAND "
	  "every TIME, not only at the end",
	  &scan, .if_omitted = "once", .uses = FOR_COMMAND | FOR_PROCESS },
	{ "count", 0, OPT_UINT, "N", "with --sweep=TIME of a PID: end after N scans", &count,
	  .min = 1, .uses = FOR_PROCESS },
	{ "no-follow", 0, OPT_FLAG, NULL, "do not check children", &job.no_follow,
	  .uses = FOR_COMMAND | FOR_VALGRIND },
	CMD_RUN_WAIT(&wait_for_all, FOR_COMMAND),
	{ "output", 'o', OPT_FILE, "FILE",
	  "of a COMMAND: write captures too, as 'pmm run -o FILE'; else the same as --report",
	  &output, .uses = FOR_COMMAND | FOR_PROCESS | FOR_CAPTURE },
	{ "report", 0, OPT_FILE, "FILE",
	  "write to FILE instead of standard error (of a capture: standard output)", &report },
	FORM_OPTION(&form, &given_form, FORM_CHECK,
		    "form of the output (default text); json, sarif, junit are written at the end"),
	{ "json", 0, OPT_FLAG, NULL, "the same as --format json (schema " CHECK_SCHEMA ")",
	  &as_json },
	{ "top", 0, OPT_UINT, "N",
	  "errors shown of a capture, or listed of a tree of processes (default 100, as JSON all; "
	  "0 = all)",
	  &shown.view.top, .given = &given_top },
	{ "depth", 0, OPT_UINT, "N", "callers shown of a stack (default 8, 0 = all)",
	  &shown.view.depth },
	{ "show-bytes", 0, OPT_FLAG, NULL, "show what was written over canaries",
	  &shown.view.bytes },
	{ "error-exitcode", 0, OPT_UINT, "N",
	  "exit code when there were errors (default: of a COMMAND its own, else 1)", &error_code,
	  .given = &given_code, .max = 255 },
	{ "fail-on", 0, OPT_STRING, "LIST",
	  "what sets the exit code: errors (default), unchecked (processes, also those not "
	  "tracked); without --error-exitcode it is 1 then",
	  &fail_on, .uses = FOR_COMMAND },
	{ "ledger-limit", 0, OPT_SIZE, "BYTES",
	  "memory one ledger may take (default a quarter of RAM, at most 16G)", &job.limit_bytes,
	  .min = 1 << 20, .uses = FOR_COMMAND },
	{ "no-madvise-guard", 0, OPT_FLAG, NULL,
	  "guard: protect pages by mprotect(), as on kernels before 6.13", &mprotect_only,
	  .uses = FOR_GUARDED },
	{ "max-mappings", 0, OPT_UINT, "N",
	  "guard, with mprotect(): mappings the process may have (default vm.max_map_count)",
	  &job.check.max_mappings, .uses = FOR_GUARDED },
	{ "skip-fn", 0, OPT_LIST, "PATTERN",
	  "skip functions like this where lines are named: wrappers of malloc (may be given "
	  "again)",
	  &skipped },
	{ "debuginfod", 0, OPT_FLAG, NULL,
	  "ask the servers of $DEBUGINFOD_URLS for missing debug information", &shown.debuginfod },
	{ "no-symbols", 0, OPT_FLAG, NULL, "no names: module and offset only", &shown.no_symbols },
	CMD_MEMORY_LIMIT(&shown.memory_bytes),
	TERMINAL_WIDTH_80(),
	{ 0 }
};

/* ---- options ---- */

static uint64_t max_map_count(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned long long n = 65530;

	if (f && fscanf(f, "%llu", &n) != 1)
		n = 65530;
	if (f)
		fclose(f);
	return n;
}

static int parse_scan(struct err *e)
{
	int rc = fmt_parse_duration(scan, &job.scan_every_ns, e);

	if (!rc && job.scan_every_ns < LEAST_SCAN_NS)
		rc = cmd_refuse(e, "canary scans are not possible that often",
				"--sweep=10ms and more");
	if (rc)
		e->exit_code = CMD_USAGE;
	return rc;
}

static int parse_fail_on(unsigned *failures, struct err *e)
{
	static const struct cmd_choice choices[] = {
		{ "errors", FAIL_ERRORS },
		{ "unchecked", FAIL_UNCHECKED },
		{ 0 },
	};
	int rc = cmd_parse_list("fail-on", fail_on, choices, failures, e);

	if (!given_code)
		error_code = CMD_FOUND;
	given_code = true;
	return rc;
}

/* *failures: what sets the exit code. */
static int read_options(unsigned *failures, struct err *e)
{
	struct pmm_check *c = &job.check;
	int rc = 0;

	*failures = FAIL_ERRORS;
	rc = form_join_json(&form, given_form, as_json, e);
	if (!rc)
		rc = form_check((enum form)form, FORM_CHECK, e);
	if (rc)
		return rc;
	shown.whole = form != FORM_TEXT;
	shown.form = form == FORM_SARIF	  ? CHECK_SARIF
		     : form == FORM_JUNIT ? CHECK_JUNIT
					  : CHECK_DOCUMENT;
	shown.skip = (struct texts){ skipped.v, skipped.nr };
	if (shown.whole && !given_top)
		shown.view.top = 0;
	if (given_top && (form == FORM_SARIF || form == FORM_JUNIT))
		return cmd_refuse(e, "'--top' cannot be used with sarif and junit",
				  "what is not in them counts as not found; leave it out");
	if (left && right)
		return cmd_refuse(e, "'--left' and '--right' contradict each other",
				  "leave out one of them");
	if (exhaustive && (left || right || output))
		return cmd_refuse(e, "'--exhaustive' is for both ends, and keeps no captures",
				  "leave out --left, --right and -o");
	if (exhaustive && wait_for_all)
		return cmd_refuse(e, "'--exhaustive' runs the COMMAND again when it has ended, and "
				     "'--wait' is for what it leaves behind",
				  "leave out one of them");
	c->level = PMM_CHECK_LIGHT + (uint32_t)level;
	c->on_error = (uint32_t)reaction;
	c->garbage = (uint32_t)garbage;
	c->flags = (left ? PMM_CHECK_LEFT : 0) | (right ? PMM_CHECK_RIGHT : 0) |
		   (mprotect_only ? PMM_CHECK_MPROTECT : 0) | (fill ? PMM_CHECK_GARBAGE : 0) |
		   (zero ? PMM_CHECK_ZERO : 0) | (no_strings ? PMM_CHECK_NO_STRINGS : 0);
	c->budget_permille = default_budget_permille[level];
	if (!c->max_mappings)
		c->max_mappings = max_map_count();
	if (budget)
		rc = cmd_parse_budget(budget, &c->budget_permille, e);
	if (!rc && c->level == PMM_CHECK_LIGHT && c->budget_permille != UINT64_MAX)
		return cmd_refuse(e, "'--budget' is for guard pages, and '--level=light' has none",
				  "'--level=sampled' keeps to a budget");
	if (!rc && fail_rate)
		rc = cmd_parse_percent("fail-rate", fail_rate, 100, 1000000000, &c->fail_ppb, e);
	if (!rc && scan && strcmp(scan, "once"))
		rc = parse_scan(e);
	return !rc && fail_on ? parse_fail_on(failures, e) : rc;
}

/* Is all that was given for what is to be done? */
static int check_options(bool command, const char *operand, struct err *e)
{
	bool process = !command && source_is_process(operand);

	return check_uses(!command ? process ? FOR_PROCESS : FOR_CAPTURE
			  : uninit ? FOR_VALGRIND
				   : FOR_LIGHT << level,
			  operand, e);
}

/* ---- what is looked at ---- */

static int run_uninit(char **argv, FILE *out, struct err *e)
{
	const struct check_uninit_options valgrind = { .report = &shown, .no_follow = job.no_follow,
						.signals = &run_signals };
	struct check_uninit *u;
	struct session_end end;
	struct emit to;
	int rc;

	emit_init(&to, out ? out : stderr, shown.whole);
	rc = check_uninit_open(&u, &valgrind, argv, &to.sink, e);
	if (rc)
		return rc;
	while (check_uninit_step(u, -1))
		;
	check_uninit_finish(u, &end);
	check_uninit_close(u);
	return emit_exit_code(&end, given_code ? (int)error_code : -1);
}

static int run_all_ways(const struct run_options *o, char **argv, FILE *out, struct err *e)
{
	struct runs_signals_before before;
	const struct check_exhaustive_options all = {
		.run = o, .ops = &runs_signals, .arg = &before
	};
	struct check_exhaustive *x;
	struct session_end end;
	struct emit to;
	int rc;

	emit_init(&to, out ? out : stderr, shown.whole);
	rc = check_exhaustive_open(&x, &all, argv, &to.sink, e);
	if (rc)
		return rc;
	do
		rc = check_exhaustive_step(x, -1, e);
	while (rc > 0);
	rc = rc ? rc : check_exhaustive_finish(x, &end, e);
	check_exhaustive_close(x);
	return rc ? rc : emit_exit_code(&end, given_code ? (int)error_code : -1);
}

static int run_command(char **argv, unsigned failures, FILE *out, struct err *e)
{
	struct run_options o = RUN_OPTIONS_DEFAULT;

	if (uninit)
		return run_uninit(argv, out, e);
	o.check = &job;
	o.signals = &run_signals;
	o.no_follow = job.no_follow;
	o.wait = wait_for_all;
	o.limit_bytes = job.limit_bytes;
	o.sampled = job.check.level == PMM_CHECK_SAMPLED;
	o.sample_bytes = job.sample_bytes;
	o.output = output;
	o.fail_errors = failures & FAIL_ERRORS;
	o.fail_unchecked = failures & FAIL_UNCHECKED;
	o.for_verdict = o.quiet = true;
	if (exhaustive)
		return run_all_ways(&o, argv, out, e);
	return cmd_run_for(&o, argv, out, shown.whole, given_code ? (int)error_code : -1);
}

static int report_capture(const char *path, const struct session_sink *to, struct err *e)
{
	struct heap *h = NULL;
	int rc = source_read(path, shown.memory_bytes, &h, e);

	if (!rc)
		rc = check_report(h, &shown, to, e);
	else if (rc == -ENOENT)
		err_hint(e,
			 "name a capture or the number of a process; a program is run with '--' "
			 "before it: pmm check -- %s",
			 path);
	else if (rc == -EINVAL && !access(path, X_OK))
		err_hint(e, "a program is run with '--' before it: pmm check -- %s", path);
	heap_free(h);
	return rc;
}

static int examine_again(void *check, struct stop stop, struct err *e)
{
	(void)stop; /* the process is never held */
	return check_live_look(check, e);
}

static int look_at_process(const char *text, struct report_file *file, struct emit *to,
			   struct err *e)
{
	const struct check_live_options options = { .report = &shown, .scan = scan };
	struct live live = { .every_ns = job.scan_every_ns,
			     .count = count,
			     .found_code = given_code ? (int)error_code : CMD_FOUND,
			     .examine = examine_again,
			     .looked = job.scan_every_ns ? report_file_place : NULL,
			     .looked_arg = file,
			     .to = to };
	int rc = cmd_parse_pid(text, &live.pid, e);

	if (rc)
		return rc;
	live.arg = check_live_new(live.pid, &options, &to->sink);
	rc = live.arg ? live_run(&live, e) : err_set(e, -ENOMEM, "out of memory");
	check_live_free(live.arg);
	return rc;
}

/* 1 = errors were reported, 0 = there are none, or -errno with `e`. */
static int look_at(int argc, char **argv, struct report_file *file, FILE *out, struct err *e)
{
	bool process = source_is_process(argv[0]);
	struct emit to;
	int rc;

	emit_init(&to, out, shown.whole);
	if (output && program_meant(argv[0]))
		return cmd_refuse(e, "'--output' is for a COMMAND",
				  "a program is run with '--' before it: pmm check -o ... -- "
				  "COMMAND");
	if (job.scan_every_ns && shown.form != CHECK_DOCUMENT)
		return cmd_refuse(e, "repeated canary scans print text and JSON only",
				  "leave out --format, or scan once: --sweep");
	if (count && !job.scan_every_ns)
		return cmd_refuse(e, "'--count' is for repeated canary scans",
				  "how often: --sweep=TIME");
	if (argc > 1)
		return cmd_refuse(e, "one capture or process at a time",
				  "a program is run with '--' before it: pmm check -- COMMAND");
	rc = process ? look_at_process(argv[0], file, &to, e) :
		       report_capture(argv[0], &to.sink, e);
	return rc > 0 ? CMD_FOUND : rc;
}

/* ---- the command ---- */

/* The exit code, or -errno with `e`. */
static int dispatch(int argc, char **argv, unsigned failures, struct err *e)
{
	/* opt_parse() leaves it before the operands */
	bool command = !strcmp(argv[-1], "--");
	bool looks = !command && (!output || !program_meant(argv[0]));
	int rc = check_options(command, argv[0], e);
	struct report_file file = { 0 };
	FILE *out;

	if (!rc)
		rc = report_file_where(&report, output, looks ? argv[0] : NULL, e);
	if (!rc && command && !report && shown.form != CHECK_DOCUMENT)
		rc = form_needs_file((enum form)form, e);
	if (rc)
		return rc;
	if (report && (rc = report_file_begin(&file, report, e)))
		return rc;
	file.verdict = true;
	out = report ? file.f : command ? NULL : stdout;
	if (report && command && shown.form == CHECK_DOCUMENT)
		out = report_file_stream(&file);
	if (report && !out)
		rc = err_set(e, -ENOMEM, "out of memory");
	else
		rc = command ? run_command(argv, failures, out, e) :
			       look_at(argc, argv, &file, out, e);
	if (!command && rc == CMD_FOUND && given_code)
		rc = (int)error_code;
	return report_file_end(&file, rc, false, e);
}

static int check_run(int argc, char **argv)
{
	struct err e = { 0 };
	unsigned failures;
	int rc;

	terminal_open_std();
	rc = read_options(&failures, &e);
	if (!rc)
		rc = dispatch(argc, argv, failures, &e);
	return rc < 0 ? cmd_fail(err_default(&e, rc)) : rc;
}

static const struct cmd_pair check_exits[] = {
	{ "0", "no heap errors" },
	{ "1", "there were some (--error-exitcode: another code)" },
	{ "N", "of a COMMAND its own (128+N: signal N ended it), unless there were errors and "
	       "--error-exitcode is given" },
	{ "2", "wrong usage" },
	{ "3", "could not check or report; of a COMMAND only when it ended with 0, for what was "
	       "not checked if --error-exitcode is given" },
	{ 0 }
};

static const struct cmd_pair check_examples[] = {
	{ "pmm check -- ./server --port 80",
	  "guard its blocks; errors are reported as they happen" },
	{ "pmm check --level=light --error-exitcode 9 -- make test",
	  "canaries around every block of a whole tree of processes" },
	{ "pmm check --level=sampled -- ./server",
	  "a random few blocks guarded, at next to no cost" },
	{ "pmm check --exhaustive -- ./test",
	  "three runs, which together see accesses on all sides of each block" },
	{ "pmm check --on-error=abort -- ./program", "end at the first error" },
	{ "pmm check --uninit -- ./program", "uses of uninitialised memory, with Valgrind's help" },
	{ "pmm check --fail-rate 0.1 -- ./program", "does it handle failing allocations?" },
	{ "pmm check --wait -- ./daemon", "also errors of the process that it leaves running" },
	{ "pmm check --sweep=10s 4242",
	  "scan the canaries of a running process that is checked, every ten seconds" },
	{ "pmm check pmm.app.4242.pmm", "show again what was found" },
	{ 0 }
};

const struct cmd cmd_check = {
	.name = "check",
	.summary = "find heap errors: overruns, uses after free, double and bad frees",
	.usage = "[options] FILE|PID|-- COMMAND [ARGUMENT...]",
	.opts = check_opts,
	.exits = check_exits,
	.examples = check_examples,
	.min_operands = 1,
	.max_operands = CMD_ANY,
	.run = check_run,
	.description =
		"Runs COMMAND, unchanged, with an agent that puts its heap blocks between "
		"inaccessible pages and canaries, keeps released "
		"ones from being used again, and checks what is released and what "
		"string functions do. An error is reported when it is detected, on "
		"standard error or in --report: what happened and where, where the block "
		"was allocated, and where it was released.\n\n"
		"With --level=guard an access beside a block or to a released one is "
		"stopped at once, reported, and let through. Guarding a block "
		"takes some microseconds: when that would slow the program down too much "
		"(--budget) or take too much memory (--max-guarded), blocks "
		"have canaries alone, as all have with --level=light; writes are found "
		"then, at the latest at the program's end, reads are not. "
		"The first blocks of each call site are guarded before others. The result "
		"begins with how many blocks had canaries and guard pages, "
		"and what was not checked for which reason. --level=sampled bounds the cost "
		"of checking instead.\n\n"
		"The fault or abort() that ends COMMAND is an error as well: what was "
		"accessed, what is there, by which stack.\n\n"
		"doc/check.md says what each level finds and what it cannot see, doc/json.md "
		"what each key of the JSON is.",
};
