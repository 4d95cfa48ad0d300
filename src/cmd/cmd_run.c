/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm run: launch a program, track it and its children, leave a capture of each and a summary. */
#include "src/cmd/cmd_run.h"

#include <stdlib.h>

#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/cmd/help/meant.h"
#include "src/cmd/run_end.h"
#include "src/cmd/run_signals.h"
#include "src/cmd/terminal.h"
#include "src/kernel/event_class.h"
#include "src/ledger/preload.h"
#include "src/session/leaks/leaks_live.h"
#include "src/session/run_program.h"
#include "src/session/trace/heap_trace.h"
#include "src/store/output.h"

static const char *output = OUTPUT_DEFAULT;
static uint64_t sample_bytes, min_size_bytes, limit_bytes, interval_ns, warn_size_bytes;
static uint64_t max_frames = 128;
static uint64_t error_code;
static bool sampled, no_follow, wait_for_all, quiet, leaks, given_code, no_default;
static struct opt_list suppressions;
static const char *trace;

static const struct opt run_opts[] = {
	{ "output", 'o', OPT_FILE, "FILE",
	  "name of the capture; %p is the pid, %c the command (default " OUTPUT_DEFAULT ")",
	  &output },
	{ "sample", 0, OPT_SIZE, "BYTES",
	  "record a sample only, one block per BYTES on average (512K)", &sample_bytes,
	  .if_omitted = "512K", .given = &sampled, .min = 1, .max = 1ull << 40 },
	{ "min-size", 0, OPT_SIZE, "BYTES", "track only blocks of at least BYTES",
	  &min_size_bytes },
	{ "no-follow", 0, OPT_FLAG, NULL, "do not track children", &no_follow },
	CMD_RUN_WAIT(&wait_for_all, 0),
	{ "ledger-limit", 0, OPT_SIZE, "BYTES",
	  "memory one ledger may take (default a quarter of RAM, at most 16G)", &limit_bytes,
	  .min = 1 << 20 },
	{ "interval", 0, OPT_DURATION, "SECONDS",
	  "time between points of the time series (default adaptive; doubled when they get too "
	  "many)",
	  &interval_ns, .min = 1000000 },
	{ "frames", 0, OPT_UINT, "N", "deepest stack kept (default 128)", &max_frames, .min = 1,
	  .max = PMM_MAX_FRAMES },
	{ "warn-size", 0, OPT_SIZE, "BYTES", "count and report requests of at least BYTES as huge",
	  &warn_size_bytes, .min = 1 },
	{ "trace", 0, OPT_STRING, "EVENTS",
	  "also record what the kernel does about its memory, for 'pmm report'; EVENTS is a list as "
	  "'pmm trace' has it (default: page faults, mappings, swap, reclaim, compaction, huge "
	  "pages, OOM, stack)",
	  &trace, .if_omitted = "default" },
	{ "leaks", 0, OPT_FLAG, NULL,
	  "search each process for leaks at its end; 'pmm leaks FILE' reports them again", &leaks },
	{ "error-exitcode", 0, OPT_UINT, "N",
	  "with --leaks: exit code when leaks were found that are certain or likely", &error_code,
	  .given = &given_code, .max = 255 },
	{ "suppressions", 0, OPT_LIST, "FILE",
	  "with --leaks: do not report what FILE suppresses (Valgrind's or LeakSanitizer's form; "
	  "may be given again)",
	  &suppressions },
	{ "no-default-suppressions", 0, OPT_FLAG, NULL,
	  "with --leaks: also report what the C library and run-time systems keep on purpose",
	  &no_default },
	{ "quiet", 'q', OPT_FLAG, NULL, "no summary on stderr; with --leaks only what is lost",
	  &quiet },
	{ 0 }
};

/* Options that only the search for leaks reads: without it a test suite would pass unsearched. */
static int refuse_without_leaks(struct err *e)
{
	const char *name = NULL;

	if (given_code)
		name = "'--error-exitcode' is for '--leaks'";
	else if (suppressions.nr)
		name = "'--suppressions' is for '--leaks'";
	else if (no_default)
		name = "'--no-default-suppressions' is for '--leaks'";
	if (!name)
		return 0;
	return cmd_refuse(e, name, "add --leaks, which searches each process at its end");
}

/* "--trace mmap ./app": the list has been taken for the program. */
static int refuse_list_apart(const char *program, struct err *e)
{
	uint32_t classes;

	if (!trace || event_classes_parse(program, &classes, NULL) || meant_program(program))
		return 0;
	err_set(e, -EINVAL, "there is no program '%s'", program);
	err_hint(e, "events are given with '=': --trace=%s", program);
	e->exit_code = CMD_USAGE;
	return -EINVAL;
}

static int prepare_leaks(struct leaks_job *job, struct err *e)
{
	*job = (struct leaks_job){ .search = leaks_search_default, .report = leaks_report_default };
	return leaks_read_suppressions((struct texts){ suppressions.v, suppressions.nr },
				       no_default, &job->report.suppress, e);
}

int cmd_run_for(const struct run_options *o, char **argv, FILE *report, bool json, int found_code)
{
	struct run_options options = *o;
	struct session_end end = { 0 };
	struct err e = { .text = "" };
	struct run *r = NULL;
	struct emit to;
	int rc;

	if (o->wait && o->no_follow) {
		rc = cmd_refuse(&e, "'--wait' is for children, and '--no-follow' leaves them alone",
				"leave out one of them");
		return cmd_fail(err_default(&e, rc));
	}
	emit_init(&to, report ? report : stderr, json);
	options.apart = report;
	options.signals = &run_signals;
	options.keep_fd = report ? fileno(report) : -1;
	rc = run_open(&r, &options, argv, &to.sink, &e);
	if (rc)
		return cmd_fail(err_default(&e, rc));
	run_wait(r);
	run_may_end(run_child(r));
	run_finish(r, &end);
	run_close(r);
	return emit_exit_code(&end, found_code);
}

static int run_run(int argc, char **argv)
{
	struct leaks_job job;
	struct run_options o = {
		.sampled = sampled,
		.no_follow = no_follow,
		.wait = wait_for_all,
		.sample_bytes = sample_bytes,
		.min_size_bytes = min_size_bytes,
		.warn_size_bytes = warn_size_bytes,
		.limit_bytes = limit_bytes,
		.interval_ns = interval_ns,
		.max_frames = (uint32_t)max_frames,
		.output = output,
		.leaks = leaks ? &job : NULL,
		.quiet = quiet,
		.only_losses = quiet,
	};
	struct err e = { .text = "" };
	int code, rc;

	(void)argc;
	terminal_open_std();
	rc = trace ? heap_trace_parse(trace, &o.trace_classes, &e) : 0;
	if (!rc)
		rc = refuse_list_apart(argv[0], &e);
	o.trace = trace ? &bpf_source : NULL;
	if (!rc)
		rc = leaks ? prepare_leaks(&job, &e) : refuse_without_leaks(&e);
	if (rc)
		return cmd_fail(err_default(&e, rc));
	code = cmd_run_for(&o, argv, NULL, false, given_code ? (int)error_code : -1);
	if (leaks)
		suppress_free(job.report.suppress);
	return code;
}

static const struct cmd_pair run_exits[] = {
	{ "N", "the program's own exit code; with --leaks and --error-exitcode that one when leaks "
	       "were found" },
	{ "128+N", "signal N ended the program, or, once that had ended with 0, pmm before it had "
		   "reported all" },
	{ "2", "wrong usage (or the program's own)" },
	{ "3", "refused before the launch (or the program's own)" },
	{ 0 }
};

static const struct cmd_pair run_examples[] = {
	{ "pmm run python3 script.py", "track a program and its children" },
	{ "pmm run -o heap.pmm -- ./server --port 80", "name the capture" },
	{ "pmm run --leaks --error-exitcode 9 ./test",
	  "search for leaks at the end; exit code 9 when there are some" },
	{ "pmm run --trace -o heap.pmm -- ./server",
	  "also page faults, mappings, waits for memory: 'pmm report heap.pmm' shows whose" },
	{ "pmm run --sample ./server", "record one block per 512 KiB only: next to no cost" },
	{ 0 }
};

const struct cmd cmd_run = {
	.name = "run",
	.summary = "launch a program and track its memory",
	.usage = "[options] [--] COMMAND [ARGUMENT...]",
	.description =
		"Runs COMMAND with a small agent preloaded that keeps a ledger of every heap "
		"block: "
		"who allocated it, when, and whether it is still there. Nothing else changes for "
		"the "
		"program: same terminal, descriptors, signals, limits and exit status. Children "
		"are "
		"tracked as well.\n\n"
		"When a process ends, however it ends, its ledger becomes a capture, which "
		"'pmm report' reads. Processes that outlive the program are watched in the "
		"background until they end, or in the foreground with --wait.\n\n"
		"Programs without a dynamic loader (static ones), of another architecture or with "
		"set-user-ID cannot be tracked in this way and are refused before they run.",
	.opts = run_opts,
	.exits = run_exits,
	.examples = run_examples,
	.min_operands = 1,
	.max_operands = CMD_ANY,
	.stop_at_operand = true,
	.run = run_run,
};
