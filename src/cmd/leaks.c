/* pmm leaks: which blocks nothing points to any more, and which call sites grow. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "src/capture/capture.h"
#include "src/cmd/cmd.h"
#include "src/cmd/leaks_live.h"
#include "src/cmd/leaks_report.h"
#include "src/cmd/leaks_words.h"
#include "src/cmd/pid.h"
#include "src/cmd/terminal.h"

static const char *const formats[] = { "text", "json", "valgrind-xml", NULL };
static const char *const forms[] = { "valgrind", "lsan", NULL };

static struct leaks_job job = { .search = LEAKS_SEARCH_DEFAULT, .report = LEAKS_REPORT_DEFAULT };
static int format, form;
static uint64_t nr_threads;
static const char *show, *fail_on, *heuristics, *tag_bits, *core;
static uint64_t error_code;
static bool as_json, generate, no_default, given_code;
static struct opt_list suppressions;

static const struct opt leaks_opts[] = {
	{ "every", 0, OPT_DURATION, "TIME", "search again and again and tell what is new (seconds, or 10ms, 5m, 2h)", &job.every_ns,
	  .min = 10000000 },
	{ "count", 0, OPT_UINT, "N", "with --every: end after N searches", &job.count, .min = 1 },
	{ "show", 0, OPT_STRING, "LIST",
	  "what to list: definite, indirect, possible, reachable, likely, suppressed, all (default definite,possible,likely)", &show },
	{ "top", 0, OPT_UINT, "N", "entries of each verdict (default 10, 0 = all)", &job.report.view.top },
	{ "depth", 0, OPT_UINT, "N", "callers shown of a stack (default 8, 0 = all)", &job.report.view.depth },
	{ "old", 0, OPT_DURATION, "TIME", "blocks of this age are old (default 10s)", &job.report.old_ns, .min = 1 },
	{ "format", 0, OPT_CHOICE, NULL, "form of the output (default text)", &format, .choices = formats },
	{ "json", 0, OPT_FLAG, NULL, "the same as --format json (schema " LEAKS_SCHEMA ")", &as_json },
	{ "fail-on", 0, OPT_STRING, "LIST",
	  "what the exit code tells of: definite, indirect, possible, reachable, likely (certain ones too), growth, none (default likely)",
	  &fail_on },
	{ "max-leaked", 0, OPT_SIZE, "BYTES", "so much of what --fail-on names is tolerated (default nothing)",
	  &job.report.max_leaked_bytes },
	{ "error-exitcode", 0, OPT_UINT, "N", "exit code when there is more (default 1)", &error_code, .given = &given_code, .max = 255 },
	{ "suppressions", 0, OPT_LIST, "FILE", "do not tell of what FILE suppresses (Valgrind's or LeakSanitizer's form; may be given again)",
	  &suppressions },
	{ "no-default-suppressions", 0, OPT_FLAG, NULL, "tell also of what the C library and run-time systems keep on purpose",
	  &no_default },
	{ "gen-suppressions", 0, OPT_CHOICE, NULL, "write suppressions for what would be listed, instead of the list", &form,
	  .if_omitted = "valgrind", .given = &generate, .choices = forms },
	{ "show-bytes", 0, OPT_FLAG, NULL, "show the first bytes of a block of each entry", &job.contents },
	{ "heuristics", 0, OPT_STRING, "LIST",
	  "pointers into blocks that count as pointers to them: stdstring, length64, newarray, multipleinheritance, all, none (default all)",
	  &heuristics },
	{ "tag-bits", 0, OPT_STRING, "BITS", "these bits are no part of a pointer: top (byte), 1 to 12 low ones, or a mask 0x...", &tag_bits },
	{ "stop", 0, OPT_FLAG, NULL, "make no copy of the process: it stands still until all is searched", &job.no_copy },
	{ "threads", 0, OPT_UINT, "N", "threads that search (default one for each processor)", &nr_threads, .min = 1, .max = 1024 },
	{ "core", 0, OPT_FILE, "CORE", "search this core file of the process that FILE is a capture of", &core },
	{ "debuginfod", 0, OPT_FLAG, NULL, "ask the servers of $DEBUGINFOD_URLS for missing debug information", &job.report.debuginfod },
	{ "no-symbols", 0, OPT_FLAG, NULL, "no names: module and offset only", &job.report.no_symbols },
	{ 0 }
};

/* ---- options ---- */

static int refuse(struct err *e, const char *text, const char *hint)
{
	err_set(e, -EINVAL, "%s", text);
	err_hint(e, "%s", hint);
	e->exit_code = CMD_USAGE;
	return -EINVAL;
}

static int check_options(struct err *e)
{
	if (job.every_ns && (format == LEAKS_VALGRIND_XML || generate))
		return refuse(e, "'--every' can be had as text and JSON only", "leave out --format or --gen-suppressions");
	if (job.count && !job.every_ns)
		return refuse(e, "'--count' needs '--every'", "such as --every 10s");
	if (as_json && format != LEAKS_TEXT && format != LEAKS_JSON)
		return refuse(e, "'--json' and '--format' contradict each other", "leave out one of them");
	if (core && job.every_ns)
		return refuse(e, "'--core' and '--every' cannot be had together", "a core file does not change");
	return 0;
}

static int read_options(struct err *e)
{
	int rc = check_options(e);

	job.search.reach.nr_threads = (unsigned)nr_threads;
	job.report.format = generate ? (form ? LEAKS_GEN_LSAN : LEAKS_GEN_VALGRIND) : as_json ? LEAKS_JSON : (enum leaks_format)format;
	if (!rc && show)
		rc = leaks_parse_show(show, &job.report.view.show, e);
	if (!rc && fail_on)
		rc = leaks_parse_fail_on(fail_on, &job.report.fail_on, e);
	if (!rc && heuristics)
		rc = leaks_parse_heuristics(heuristics, &job.search.reach.heuristics, e);
	if (!rc && tag_bits)
		rc = leaks_parse_tag_bits(tag_bits, &job.search.reach.tag_mask, e);
	if (!rc)
		rc = leaks_read_suppressions(&suppressions, no_default, &job.report.suppress, e);
	return rc;
}

/* ---- a capture ---- */

static int report_capture(const char *path, struct err *e)
{
	struct heap *h = NULL;
	int rc = capture_for(path)->read(path, &h, e);

	if (!rc)
		rc = leaks_report(h, NULL, &job.report, stdout, e);
	heap_free(h);
	return rc;
}

/* ---- the command ---- */


static int dispatch(int argc, char **argv, struct err *e)
{
	pid_t pid;
	int rc;

	(void)argc;
	if (core)
		return leaks_core(core, argv[0], &job, e);
	if (capture_for(argv[0]) != &capture_ledger)
		return report_capture(argv[0], e);
	rc = cmd_parse_pid(argv[0], &pid, e);
	return rc ? rc : leaks_live(pid, &job, e);
}

static int leaks_run(int argc, char **argv)
{
	struct err e = { 0 };
	int rc;

	signal(SIGPIPE, SIG_IGN);
	terminal_guard();
	rc = read_options(&e);
	if (!rc)
		rc = dispatch(argc, argv, &e);
	suppress_free(job.report.suppress);
	if (rc < 0)
		return cmd_fail(&e);
	return rc ? given_code ? (int)error_code : CMD_FOUND : CMD_OK;
}

static const struct cmd_pair leaks_exits[] = {
	{ "0", "nothing was found" },
	{ "1", "leaks were found: certain or likely ones, or what --fail-on names (--error-exitcode: another code)" },
	{ "2", "wrong usage" },
	{ "3", "could not search" },
	{ 0 }
};

static const struct cmd_pair leaks_examples[] = {
	{ "pmm leaks 4711", "what has a process lost, that was started with 'pmm run' or is watched by 'pmm attach'?" },
	{ "pmm leaks --every 10s 4711", "search every ten seconds; tell what is new" },
	{ "pmm leaks pmm.app.4242.pmm", "what 'pmm run --leaks' found at the program's end" },
	{ "pmm leaks --fail-on=definite --max-leaked 64K FILE", "exit code 1 when more than 64 KiB are definitely lost" },
	{ "pmm leaks --format valgrind-xml FILE >leaks.xml", "for tools that read Valgrind's output" },
	{ "pmm leaks --gen-suppressions FILE >>my.supp", "do not tell of these any more" },
	{ 0 }
};

const struct cmd cmd_leaks = {
	.name = "leaks",
	.summary = "tell which blocks nothing points to any more and which call sites grow",
	.usage = "[options] FILE|PID",
	.opts = leaks_opts,
	.exits = leaks_exits,
	.examples = leaks_examples,
	.min_operands = 1,
	.max_operands = 1,
	.run = leaks_run,
	.description =
		"Follows pointers from the program's variables, stacks and registers through all blocks and says which nothing leads to "
		"any more, in the terms of Valgrind's memcheck: definitely lost, indirectly lost (with definitely lost ones), possibly "
		"lost (only pointers into their middles are left), still reachable.\n\n"
		"Leaks are certain when blocks are definitely lost. They are likely when blocks are possibly lost and old, or still "
		"reachable at a call site that grows steadily: then something holds them that is never asked again. What is reachable and "
		"does not grow is a cache or pool and no leak. Each entry says why it is what it is.\n\n"
		"A running process (PID) is searched in a copy that is made in the time of a fork; it stands still for no longer. How long "
		"that was is told. It must be tracked: started by 'pmm run', or watched by 'pmm attach'. A capture (FILE) tells what was "
		"found when it was made with 'pmm run --leaks'.\n\n"
		"What the C library and run-time systems keep on purpose is suppressed. Contents of memory are shown with --show-bytes only, "
		"and never kept. doc/leaks.md has the whole truth, and the JSON schema.",
};
