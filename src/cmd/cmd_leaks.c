/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm leaks: which blocks nothing points to any more, and which call sites grow. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "src/track/source.h"
#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/session/leaks/leaks_hold.h"
#include "src/session/leaks/leaks_live.h"
#include "src/session/leaks/leaks_report.h"
#include "src/session/run_program.h"
#include "src/cmd/options/leaks_parse.h"
#include "src/cmd/live.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/options/program.h"
#include "src/cmd/report/forms.h"
#include "src/cmd/report/report_file.h"
#include "src/cmd/cmd_run.h"
#include "src/cmd/terminal.h"

static const char *const suppress_forms[] = { "valgrind", "lsan", NULL };

static struct leaks_job job = { .search = LEAKS_SEARCH_DEFAULT, .report = LEAKS_REPORT_DEFAULT };
static int format, suppress_form;
static uint64_t nr_threads, every_ns, count;
static const char *show, *fail_on, *heuristics, *tag_bits, *core, *report, *output, *holds;
static uint64_t error_code;
static bool wait_for_all, as_json, given_format, generate, no_default, given_code, given_budget,
	given_top;
static struct opt_list suppressions, skipped;

static const struct opt leaks_opts[] = {
	{ "every", 0, OPT_DURATION, "TIME",
	  "search again and again, and report what is new (seconds, or 10ms, 5m, 2h)", &every_ns,
	  .min = 10000000 },
	{ "count", 0, OPT_UINT, "N", "with --every: end after N searches", &count, .min = 1 },
	{ "holds", 0, OPT_STRING, "SITE|ADDRESS",
	  "instead: who holds the blocks of a call site (function, FILE:LINE or number) or the "
	  "block at an address 0x..., and what each pointer "
	  "on the way to them holds alone",
	  &holds },
	{ "show", 0, OPT_STRING, "LIST",
	  "what to list: definite, indirect, possible, reachable, likely, growing, suppressed, all "
	  "(default definite,likely,growing)",
	  &show },
	{ "top", 0, OPT_UINT, "N",
	  "entries of each verdict (default 10, as JSON all; 0 = all)",
	  &job.report.view.top, .given = &given_top },
	{ "depth", 0, OPT_UINT, "N", "callers shown of a stack (default 8, 0 = all)",
	  &job.report.view.depth },
	{ "old", 0, OPT_DURATION, "TIME",
	  "blocks of this age are old; what grows for 30 times as long can be likely (default 10s)",
	  &job.report.old_ns, .min = 1 },
	FORM_OPTION(&format, &given_format, FORM_LEAKS,
		    "form of the output (default text): json, valgrind-xml, sarif, junit"),
	{ "json", 0, OPT_FLAG, NULL, "the same as --format json (schema " LEAKS_SCHEMA ")",
	  &as_json },
	{ "fail-on", 0, OPT_STRING, "LIST",
	  "what sets the exit code: definite, indirect, possible, reachable, likely (certain ones "
	  "too), growth, unsearched (processes), none (default likely)",
	  &fail_on },
	{ "max-leaked", 0, OPT_SIZE, "BYTES",
	  "how much of what --fail-on names is tolerated (default nothing)",
	  &job.report.max_leaked_bytes, .given = &given_budget },
	{ "error-exitcode", 0, OPT_UINT, "N", "exit code when there is more (default 1)",
	  &error_code, .given = &given_code, .max = 255 },
	{ "report", 0, OPT_FILE, "FILE",
	  "write to FILE instead of standard output (of a COMMAND: instead of standard error)",
	  &report },
	{ "output", 'o', OPT_FILE, "FILE",
	  "of a capture or PID: the same as --report; of a COMMAND: write captures too, as 'pmm run "
	  "-o FILE'",
	  &output },
	CMD_RUN_WAIT(&wait_for_all, 0),
	{ "suppressions", 0, OPT_LIST, "FILE",
	  "do not report what FILE suppresses (Valgrind's or LeakSanitizer's form; may be given "
	  "again)",
	  &suppressions },
	{ "no-default-suppressions", 0, OPT_FLAG, NULL,
	  "also report what the C library and run-time systems keep on purpose", &no_default },
	{ "gen-suppressions", 0, OPT_CHOICE, NULL,
	  "write suppressions for what would be listed, instead of the list", &suppress_form,
	  .if_omitted = "valgrind", .given = &generate, .choices = suppress_forms },
	{ "show-bytes", 0, OPT_FLAG, NULL, "show the first bytes of a block of each entry",
	  &job.search.contents },
	{ "heuristics", 0, OPT_STRING, "LIST",
	  "pointers into blocks that count as pointers to them: stdstring, length64, newarray, "
	  "multipleinheritance, header, pool, all, none (default all)",
	  &heuristics },
	{ "tag-bits", 0, OPT_STRING, "BITS",
	  "these bits are not part of a pointer: top (byte), 1 to 12 low ones, or a mask 0x...",
	  &tag_bits },
	{ "stop", 0, OPT_FLAG, NULL,
	  "do not copy the process: it is stopped until the search is done", &job.no_copy },
	{ "threads", 0, OPT_UINT, "N", "threads that search (default one for each processor)",
	  &nr_threads, .min = 1, .max = 1024 },
	{ "core", 0, OPT_FILE, "CORE",
	  "search this core file of the process that FILE is a capture of", &core },
	{ "skip-fn", 0, OPT_LIST, "PATTERN",
	  "skip functions like this where lines are named: wrappers of malloc (may be given "
	  "again)",
	  &skipped },
	{ "debuginfod", 0, OPT_FLAG, NULL,
	  "ask the servers of $DEBUGINFOD_URLS for missing debug information",
	  &job.report.debuginfod },
	{ "no-symbols", 0, OPT_FLAG, NULL, "no names: module and offset only",
	  &job.report.no_symbols },
	CMD_MEMORY_LIMIT(&job.report.memory_bytes),
	TERMINAL_WIDTH_80(),
	{ 0 }
};

/* ---- options ---- */

static enum leaks_format format_of(void)
{
	if (generate)
		return suppress_form ? LEAKS_GEN_LSAN : LEAKS_GEN_VALGRIND;
	return format == FORM_JSON	     ? LEAKS_JSON
	       : format == FORM_VALGRIND_XML ? LEAKS_VALGRIND_XML
	       : format == FORM_SARIF	     ? LEAKS_SARIF
	       : format == FORM_JUNIT	     ? LEAKS_JUNIT
					     : LEAKS_TEXT;
}

static int check_options(struct err *e)
{
	int rc = form_join_json(&format, given_format, as_json, e);

	if (!rc)
		rc = form_check((enum form)format, FORM_LEAKS, e);
	if (rc)
		return rc;
	if (every_ns && (format > FORM_JSON || generate))
		return cmd_refuse(e, "'--every' prints text and JSON only",
				  "leave out --format or --gen-suppressions");
	if (holds && (every_ns || generate || format > FORM_JSON))
		return cmd_refuse(e, "'--holds' searches once, and prints text or JSON",
				  "leave out --every, --gen-suppressions or --format");
	if (holds && !*holds)
		return cmd_refuse(e, "'--holds' needs a call site or an address",
				  "such as --holds make_entry, --holds server.c:41 or --holds "
				  "0x7f00dead0010");
	if (given_top && (format == FORM_SARIF || format == FORM_JUNIT))
		return cmd_refuse(e, "'--top' cannot be used with sarif and junit",
				  "what is not in them counts as not found; leave it out");
	if (count && !every_ns)
		return cmd_refuse(e, "'--count' needs '--every'", "such as --every 10s");
	if (core && every_ns)
		return cmd_refuse(e, "'--core' and '--every' cannot be used together",
				  "a core file does not change");
	return 0;
}

static int read_options(struct err *e)
{
	int rc = check_options(e);

	job.search.reach.nr_threads = (unsigned)nr_threads;
	job.search.roots = true;
	job.repeated = every_ns;
	job.report.skip = (struct texts){ skipped.v, skipped.nr };
	job.report.format = format_of();
	if (format >= FORM_JSON && format != FORM_VALGRIND_XML && !given_top)
		job.report.view.top = 0;
	job.report.view.others = job.report.format == LEAKS_JSON && !show;
	if (job.report.format == LEAKS_VALGRIND_XML)
		job.report.view.show |= LEAKS_SHOW_POSSIBLE;	/* as memcheck does */
	if (!rc && show)
		rc = leaks_parse_show(show, &job.report.view.show, e);
	if (!rc && fail_on)
		rc = leaks_parse_fail_on(fail_on, &job.report.fail_on, e);
	if (!rc && heuristics)
		rc = leaks_parse_heuristics(heuristics, &job.search.reach.heuristics, e);
	if (!rc && tag_bits)
		rc = leaks_parse_tag_bits(tag_bits, &job.search.reach.tag_mask, e);
	if (!rc)
		rc = leaks_read_suppressions((struct texts){ suppressions.v, suppressions.nr },
					     no_default, &job.report.suppress, e);
	return rc;
}

/* ---- where the processes are ---- */

/* The option given that is about the search itself; NULL = none. */
static const char *search_option(void)
{
	return every_ns		     ? "every"
	       : heuristics	     ? "heuristics"
	       : tag_bits	     ? "tag-bits"
	       : job.search.contents ? "show-bytes"
	       : job.no_copy	     ? "stop"
	       : nr_threads	     ? "threads"
				     : NULL;
}

static int report_capture(const char *path, const struct session_sink *to, struct err *e)
{
	struct heap *h = NULL;
	const char *option = search_option();
	int rc;

	if (holds) {
		err_set(e, -EINVAL,
			"'%s' is a capture: it has the blocks of a process but not its memory, so "
			"it cannot show who holds them",
			path);
		err_hint(e,
			 "search anew: pmm leaks --holds %s PID, -- COMMAND, or --core CORE FILE",
			 holds);
		return -EINVAL;
	}
	if (option) {
		err_set(e, -EINVAL,
			"'--%s' is for a search, and a capture has only the result of one",
			option);
		err_hint(e, "search anew with it: pmm leaks PID, pmm leaks -- COMMAND, or pmm "
			    "leaks --core CORE FILE");
		e->exit_code = CMD_USAGE;
		return -EINVAL;
	}
	rc = source_read(path, job.report.memory_bytes, &h, e);
	if (!rc)
		rc = leaks_report(h, NULL, &job.report, to, e);
	else if (rc == -ENOENT)
		err_hint(e,
			 "name a capture or the number of a process; a program is run with '--' "
			 "before it: pmm leaks -- %s",
			 path);
	else if (rc == -EINVAL && program_meant(path))
		err_hint(e, "a program is run with '--' before it: pmm leaks -- %s", path);
	heap_free(h);
	return rc;
}

/*
 * Answers are kept until all is over: a process may wait at its end while its own is handed over.
 */
struct answers {
	struct leaks_hold hold;
	struct emit to;
	FILE *out;
	char *text;
	size_t bytes;
};

static int answers_begin(struct answers *a, FILE *out, struct err *e)
{
	*a = (struct answers){ .hold = { .job = &job, .what = holds, .to = &a->to.sink },
			       .out = out };
	emit_init(&a->to, open_memstream(&a->text, &a->bytes), job.report.format == LEAKS_JSON);
	a->to.like = out;
	return a->to.out ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/* `rc` of the search: print them unless it failed. */
static int answers_end(struct answers *a, int rc, struct err *e)
{
	if (fclose(a->to.out) && rc >= 0)
		rc = err_set(e, -ENOMEM, "out of memory");
	if (rc >= 0)
		fwrite(a->text, 1, a->bytes, a->out);
	if (rc >= 0 && fflush(a->out) && errno != EPIPE)
		rc = err_set(e, -errno, "cannot write who holds what: %s", strerror(errno));
	free(a->text);
	return rc;
}

/* Each process is searched at its end; the report comes when all have ended. */
static int hold_command(const struct run_options *o, char **argv, FILE *out, int found_code,
			struct err *e)
{
	struct answers a;
	int code, rc = answers_begin(&a, out ? out : stderr, e);

	if (rc)
		return rc;
	job.search.inspect = leaks_hold_at_end;
	job.search.inspect_arg = &a.hold;
	job.report.silent = true;
	code = cmd_run_for(o, argv, out, false, found_code);
	rc = answers_end(&a, leaks_hold_end(&a.hold, e), e);
	return rc < 0 ? rc : code;
}

/* The program's own exit code, unless the user asked for another when there is a find. */
static int run_command(char **argv, FILE *out, struct err *e)
{
	const bool json = job.report.format == LEAKS_JSON;
	struct run_options o = RUN_OPTIONS_DEFAULT;
	int found_code = -1;

	if (core)
		return cmd_refuse(
			e, "'--core' is for a process that was dumped, not for a COMMAND",
			"leave out one of them");
	if (every_ns)
		return cmd_refuse(e,
				  "'--every' searches a process that runs already, not a COMMAND",
				  "such as 'pmm leaks --every 10s PID'");
	if (job.search.contents)
		return cmd_refuse(e, "'--show-bytes' is for running processes and core files",
				  "leave it out, or search the program while it runs");
	if (given_code)
		found_code = (int)error_code;
	else if (fail_on || given_budget)
		found_code = CMD_FOUND;
	o.leaks = &job;
	o.output = output;
	o.wait = wait_for_all;
	o.for_verdict = o.quiet = true;
	return holds ? hold_command(&o, argv, out, found_code, e)
		     : cmd_run_for(&o, argv, out, json, found_code);
}

static int find_holders(void *hold, struct stop stop, struct err *e)
{
	struct leaks_hold *k = hold;

	return leaks_hold_live(k, k->pid, stop, e);
}

static int hold_process(const char *operand, FILE *out, struct err *e)
{
	struct answers a;
	struct live live = { .examine = find_holders, .arg = &a.hold, .to = &a.to };
	int rc = answers_begin(&a, out, e);

	if (rc)
		return rc;
	if (core)
		rc = leaks_hold_core(&a.hold, core, operand, e);
	else
		rc = cmd_parse_pid(operand, &live.pid, e);
	if (!rc && !core) {
		a.hold.pid = live.pid;
		rc = live_run(&live, e);
	}
	return answers_end(&a, rc, e);
}

static int search_again(void *search, struct stop stop, struct err *e)
{
	return leaks_live_look(search, stop, e);
}

static int search_process(const char *operand, struct report_file *file, struct emit *to,
			  struct err *e)
{
	struct live live = { .every_ns = every_ns,
			     .count = count,
			     .found_code = given_code ? (int)error_code : CMD_FOUND,
			     .examine = search_again,
			     .looked = every_ns ? report_file_place : NULL,
			     .looked_arg = file,
			     .to = to };
	int rc = cmd_parse_pid(operand, &live.pid, e);

	if (rc)
		return rc;
	live.arg = leaks_live_new(live.pid, &job, &to->sink);
	rc = live.arg ? live_run(&live, e) : err_set(e, -ENOMEM, "out of memory");
	leaks_live_free(live.arg);
	return rc;
}

/* A capture or a process. 1 = found, 0 = not, or -errno with `e`. */
static int look_at(int argc, char **argv, struct report_file *file, FILE *out, struct err *e)
{
	struct emit to;

	emit_init(&to, out, job.report.format == LEAKS_JSON);
	if (argc > 1)
		return cmd_refuse(e, "one capture or process at a time",
				  "a program is run with '--' before it: pmm leaks -- COMMAND");
	if (output && program_meant(argv[0]))
		return cmd_refuse(e, "'--output' is for a COMMAND",
				  "a program is run with '--' before it: pmm leaks -o ... -- "
				  "COMMAND");
	if (wait_for_all)
		return cmd_refuse(e, "'--wait' is for a COMMAND",
				  "a program is run with '--' before it: pmm leaks --wait -- COMMAND");
	if (holds && (core || source_is_process(argv[0])))
		return hold_process(argv[0], out, e);
	if (core)
		return leaks_core(core, argv[0], &job, &to.sink, e);
	if (!source_is_process(argv[0]))
		return report_capture(argv[0], &to.sink, e);
	return search_process(argv[0], file, &to, e);
}

/* ---- the command ---- */

/* The exit code, or -errno with `e`. */
static int dispatch(int argc, char **argv, struct err *e)
{
	/* opt_parse() leaves it before the operands */
	bool command = !strcmp(argv[-1], "--");
	struct report_file file = { 0 };
	FILE *out;
	bool looks = !command && (!output || !program_meant(argv[0]));
	int rc = report_file_where(&report, output, looks ? argv[0] : NULL, e);

	if (!rc && command && !report && (format == FORM_SARIF || format == FORM_JUNIT))
		rc = form_needs_file((enum form)format, e);
	if (rc)
		return rc;
	if (report && (rc = report_file_begin(&file, report, e)))
		return rc;
	file.verdict = true;
	out = report ? file.f : command ? NULL : stdout;
	if (report && command && format != FORM_SARIF && format != FORM_JUNIT)
		out = report_file_stream(&file);
	if (report && !out) {
		rc = err_set(e, -ENOMEM, "out of memory");
	} else if (command) {
		rc = run_command(argv, out, e);
	} else {
		rc = look_at(argc, argv, &file, out, e);
		if (rc > 0)
			rc = given_code ? (int)error_code : CMD_FOUND;
	}
	/* no suppressions are needed: that is an answer, unless nothing could be searched */
	return report_file_end(&file, rc,
			       job.report.format >= LEAKS_GEN_VALGRIND && rc <= CMD_FOUND, e);
}

static int leaks_run(int argc, char **argv)
{
	struct err e = { 0 };
	int rc;

	terminal_open_std();
	rc = read_options(&e);
	if (!rc)
		rc = dispatch(argc, argv, &e);
	suppress_free(job.report.suppress);
	return rc < 0 ? cmd_fail(err_default(&e, rc)) : rc;
}

static const struct cmd_pair leaks_exits[] = {
	{ "0", "nothing was found" },
	{ "1", "leaks were found: certain or likely ones, or what --fail-on names "
	       "(--error-exitcode: another code)" },
	{ "N", "of a COMMAND its own (128+N: signal N ended it), unless something was found and "
	       "--fail-on, --max-leaked or "
	       "--error-exitcode is given" },
	{ "2", "wrong usage" },
	{ "3", "could not search or write the report; of a COMMAND that ended with 0, for what was "
	       "not searched if one of these is given" },
	{ 0 }
};

static const struct cmd_pair leaks_examples[] = {
	{ "pmm leaks 4711", "what has a process lost that was started with 'pmm run' or is "
			    "watched by 'pmm attach'?" },
	{ "pmm leaks --holds make_entry 4711", "who holds the blocks made in make_entry(), over "
					       "which pointers, and how much hangs on each?" },
	{ "pmm leaks --every 10s 4711", "search every ten seconds; report what is new" },
	{ "pmm leaks -- ./test --all", "search a program and its children at their ends" },
	{ "pmm leaks --wait -- ./daemon", "also the process that it leaves running, at its end" },
	{ "pmm leaks pmm.app.4242.pmm", "what 'pmm run --leaks' found at the program's end" },
	{ "pmm leaks --fail-on=definite --max-leaked 64K FILE",
	  "exit code 1 when more than 64 KiB are definitely lost" },
	{ "pmm leaks --format valgrind-xml FILE >leaks.xml",
	  "for tools that read Valgrind's output" },
	{ "pmm leaks --gen-suppressions FILE >>my.supp", "suppress these from now on" },
	{ 0 }
};

const struct cmd cmd_leaks = {
	.name = "leaks",
	.summary = "find blocks that nothing points to any more, and call sites that grow",
	.usage = "[options] FILE|PID|-- COMMAND [ARGUMENT...]",
	.opts = leaks_opts,
	.exits = leaks_exits,
	.examples = leaks_examples,
	.min_operands = 1,
	.max_operands = CMD_ANY,
	.run = leaks_run,
	.description =
		"Follows pointers from the program's variables, stacks and registers through all "
		"blocks and reports those that no pointer leads to. The classes are those of "
		"Valgrind's memcheck: definitely lost, indirectly lost (with definitely lost "
		"blocks), possibly lost (only pointers into their middles are left), still "
		"reachable.\n\n"
		"Leaks are certain when blocks are definitely lost. They are likely where a call "
		"site grows steadily: by many blocks, all of the time, without slowing down or "
		"freeing what has grown old, and for long enough. A list that is filled and never "
		"emptied is such a site. Where some of that is not seen, the site is growing: a "
		"leak, or a cache that fills. What is reachable and does not grow is a cache or "
		"pool and no leak. What is possibly lost and does not grow is summed up. Each "
		"entry gives its reason.\n\n"
		"A running process (PID) is searched in a copy that takes as long as a fork; it "
		"is stopped for no longer than that. The time is reported. The process must be "
		"tracked: started by 'pmm run', or watched by 'pmm attach'. A capture (FILE) has "
		"what was found when it was made with 'pmm run --leaks'. A COMMAND is run, and it "
		"and its children are searched at their ends. Their output is left alone: "
		"results go to standard error or into --report.\n\n"
		"With --holds the question is a different one: who holds the blocks of a call site, "
		"or the block at an address? The answer lists the roots (variables, stacks, "
		"registers) with how many of these blocks hang on each, the shortest chain of "
		"pointers and fields from a root to a block, and what each pointer holds alone: "
		"what would be lost if it were cleared. It works for a process, a COMMAND and a "
		"core file.\n\n"
		"What the C library and run-time systems keep on purpose is suppressed. Contents "
		"of memory are shown with --show-bytes only, and never stored. doc/leaks.md says "
		"how each class is decided, doc/json.md what each key of the JSON is.",
};
