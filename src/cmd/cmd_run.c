/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm run: launch a program, track it and its children, leave a capture of each and a summary. */
#include "src/cmd/cmd_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/track/monitor.h"
#include "src/store/output.h"
#include "src/ledger/preload.h"
#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/session/check/run_check.h"
#include "src/cmd/run_end.h"
#include "src/session/leaks/run_leaks.h"
#include "src/session/summary.h"
#include "src/cmd/terminal.h"
#include "src/session/untracked.h"
#include "src/proc/elf_check.h"

#define GRACE_NS 200000000ull /* for children that end just after the program */

static const char *output = OUTPUT_DEFAULT;
static uint64_t sample_bytes, min_size_bytes, limit_bytes, interval_ns, warn_size_bytes;
static uint64_t max_frames = 128;
static uint64_t error_code;
static bool sampled, no_follow, quiet, leaks, given_code, no_default;
static struct opt_list suppressions;
static const struct run_job *job;	/* for another command than `pmm run`, else NULL */

static const struct opt run_opts[] = {
	{ "output", 'o', OPT_FILE, "FILE",
	  "name of the capture; %p is the pid, %c the command (default " OUTPUT_DEFAULT ")",
	  &output },
	{ "sample", 0, OPT_SIZE, "BYTES",
	  "look at a sample only, one block per BYTES on average (512K)", &sample_bytes,
	  .if_omitted = "512K", .given = &sampled, .min = 1, .max = 1ull << 40 },
	{ "min-size", 0, OPT_SIZE, "BYTES", "track only blocks of at least BYTES",
	  &min_size_bytes },
	{ "no-follow", 0, OPT_FLAG, NULL, "do not track children", &no_follow },
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

struct run {
	struct child child;
	struct ledger_tree tree;
	struct monitor monitor;
	struct elf_check program;
	struct summary summary;
	struct emit to;
	struct run_leaks leaks;
	struct run_check check;
	struct coverage rest;	/* processes that no heap was delivered of */
	struct heap *heap;  /* of the program itself, kept for the summary */
	struct heap *largest; /* of another process, with a higher peak than all so far */
	bool in_background; /* nobody reads messages any more */
};

/* For the summary. */
static void keep_name(struct run *r, const struct heap *h, const char *name, bool is_root)
{
	struct summary_capture c = { .name = strdup(name),
				     .pid = (pid_t)h->pid,
				     .peak_bytes = h->peak_bytes,
				     .is_root = is_root };

	if (!c.name || vec_push(&r->summary.captures, c)) {
		free(c.name);
		if (!r->in_background)
			cmd_note("capture      %s", name);
	}
}

/* Is it the largest so far? Then it is kept for the summary, and the one before is not. */
static bool keep_largest(struct run *r, struct heap *h)
{
	if (quiet || job || (r->largest && r->largest->peak_bytes >= h->peak_bytes))
		return false;
	heap_free(r->largest);
	r->largest = h;
	return true;
}

/* A process has ended: its capture. */
static void on_ended(void *arg, struct heap *h, bool is_root)
{
	struct run *r = arg;
	struct err e = { .text = "" };
	char name[PATH_MAX];
	bool moved, replaced;

	replaced = census_expects(&r->monitor.census, (pid_t)h->pid);
	run_leaks_ended(&r->leaks, h, is_root, replaced);
	run_check_ended(&r->check, h, replaced);
	if (!output) {
		/* `pmm leaks` needs none */
	} else if (output_write(h, output, is_root, name, &moved, &e)) {
		if (!r->in_background) {
			cmd_note("the capture of process %u is LOST", h->pid);
			cmd_fail(&e);
		}
	} else {
		if (moved && !r->in_background) {
			cmd_fail(&e);
			cmd_note("the capture of process %u is in '%s' instead", h->pid, name);
		}
		keep_name(r, h, name, is_root);
	}
	if (is_root && !r->heap)
		r->heap = h;
	else if (r->in_background || !keep_largest(r, h))
		heap_free(h);
}

/* Nothing to keep; but its heap may have been there unseen. */
static void on_idle(void *arg, const struct heap *h)
{
	struct run *r = arg;
	const char *why = untracked_why(h);

	if (why)
		coverage_miss(&r->rest, untracked_name(h), why, true, h->pid);
}

static void on_leaving(void *arg, pid_t pid, const struct leaving *l)
{
	struct run *r = arg;

	if (r->check.job)
		run_check_leaving(&r->check, pid, l->fd, r->tree.fd);
	if (!r->check.job || job->leaks)
		run_leaks_search(&r->leaks, pid, l);
}

static void on_found(void *arg, const struct heap *h, bool is_root)
{
	struct run *r = arg;

	(void)is_root;
	run_check_found(&r->check, h);
}

static void on_alive(void *arg, pid_t pid, uint64_t now_ns)
{
	struct run *r = arg;

	run_check_alive(&r->check, pid, now_ns);
}

static void on_unreadable(void *arg, pid_t pid, bool is_root, const struct err *e)
{
	struct run *r = arg;

	(void)is_root;
	if (r->in_background)
		return;
	coverage_miss(&r->rest, "[unknown]", "its ledger cannot be read", false, (uint32_t)pid);
	cmd_note("the ledger of process %d cannot be read; no capture", (int)pid);
	cmd_fail(e);
}

static const struct monitor_ops monitor_ops = {
	.ended = on_ended, .unreadable = on_unreadable, .leaving = on_leaving,
	.idle = on_idle, .found = on_found, .alive = on_alive,
};

/* Everything that can be refused before the program runs. 0 or -errno with `e`. */
static int prepare(struct run *r, const char *command, char agent[PATH_MAX], struct err *e)
{
	struct ledger_tree_options o = {
		.mode = sampled ? PMM_MODE_SAMPLED : PMM_MODE_EXACT,
		.follow = !no_follow,
		.leaks = leaks,
		.sample_bytes = sample_bytes,
		.min_size_bytes = min_size_bytes,
		.warn_size_bytes = warn_size_bytes,
		.limit_bytes = limit_bytes,
		.max_frames = (uint32_t)max_frames,
	};
	int rc;

	if (elf_check(command, &r->program, e) != ELF_CHECK_OK)
		return -ENOEXEC;
	if (r->check.job)
		o.check = r->check.job->check;
	rc = r->check.job ? preload_find_check(agent, e) : preload_find(agent, e);
	if (!rc && job && job->leaks)
		rc = run_leaks_init_for(&r->leaks, job->leaks, &r->to.sink, e);
	else if (!rc && leaks && !job)
		rc = run_leaks_init(&r->leaks, (struct texts){ suppressions.v, suppressions.nr },
				    no_default, &r->to.sink, e);
	if (!rc && output)
		rc = output_check(output, e);
	if (!rc)
		rc = child_prepare(&r->child, e);
	if (rc)
		return rc;
	o.data_raised = child_raise_data(PMM_OWN_DATA_BYTES);
	if (!o.data_raised)
		cmd_note("the limit on data (ulimit -d) cannot be raised; up to %s of it go to the "
			 "agent",
			 fmt_bytes(PMM_OWN_DATA_BYTES).s);
	o.space_bytes = child_limit(&r->child, RLIMIT_AS).rlim_cur;
	o.file_bytes = child_limit(&r->child, RLIMIT_FSIZE).rlim_max;
	rc = ledger_tree_init(&r->tree, &o, e);
	if (rc)
		return rc;
	rc = monitor_init(&r->monitor, &r->tree, &r->child, interval_ns, &monitor_ops, r, e);
	if (!rc && r->check.job && r->check.job->scan_every_ns)
		r->monitor.longest_ns = PMM_TICK_NS;
	return rc;
}

static int launch(struct run *r, const char *agent, char **argv, struct err *e)
{
	int keep[MONITOR_NR_FDS + 2] = { r->child.signal_fd,
					 job && job->report ? fileno(job->report) : -1 };
	char value[PRELOAD_VALUE_BYTES], **env;
	uint64_t began_ns;
	int rc;

	monitor_value(&r->monitor, value);
	env = preload_env(environ, agent, value);

	if (!env)
		return err_set(e, -ENOMEM, "out of memory");
	began_ns = ledger_tree_now_ns(&r->tree);
	rc = child_start(&r->child, r->program.path, argv, env, e);
	preload_env_free(env);
	if (rc)
		return rc;
	if (job && job->one)
		job->one->pid = r->child.pid;
	monitor_begin(&r->monitor, began_ns);
	monitor_fds(&r->monitor, keep + 2);
	child_drop_fds(keep, sizeof(keep) / sizeof(*keep));
	return 0;
}

/* Children outlive the program: a process without terminal goes on for them. */
static void go_on(struct run *r)
{
	pid_t pid;
	int null;

	run_check_rest(&r->check);
	pid = monitor_fork(&r->monitor);
	if (pid)
		return;
	r->in_background = true;
	setsid();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
	monitor_until_all(&r->monitor);
	monitor_fini(&r->monitor);
	_exit(0);
}

static void tell(struct run *r, char **argv)
{
	struct summary *s = &r->summary;
	struct coverage missed = { 0 };

	untracked_rest(&r->rest, &r->monitor);
	s->untracked = &r->rest;
	s->heap = r->heap;
	s->largest = r->largest;
	s->argv = argv;
	s->status = r->child.status;
	s->run_ns = r->monitor.root_end_ns - r->monitor.root_begin_ns;
	s->run_ns -= r->monitor.root_held_ns < s->run_ns ? r->monitor.root_held_ns : 0;
	s->nr_replaced = r->monitor.nr_replaced;
	s->nr_lost = r->monitor.nr_lost;
	s->shrunk = r->tree.shrunk;
	untracked_others(&missed, &r->monitor, s->nr_living, s->living);
	if (!r->heap)		/* the summary says so in its own words */
		coverage_miss(&missed, argv[0], census_why(PMM_EXEC_TRACKED), true,
			      (uint32_t)r->child.pid);
	if (r->check.job) {
		coverage_add(&r->check.coverage, &r->rest);
		coverage_add(&r->check.coverage, &missed);
	}
	s->told = run_check_tells_losses(&r->check, r->heap);
	summary_note(s, quiet, &r->to.sink);
	coverage_add(&r->rest, &missed);
	coverage_fini(&missed);
}

/* What was looked for and not looked at must not be taken for good. */
static bool unseen(const struct run *r)
{
	if (!job || !r->heap)
		return job;
	return (job->leaks && r->heap->search.how == HEAP_SEARCH_NONE) ||
	       (job->check && (!r->heap->check.level || !r->heap->check.scans));
}

/* Was there a process, tracked or not, that was not checked? */
static bool any_unchecked(const struct run *r)
{
	const struct coverage *c = &r->check.coverage;

	return r->check.job && (coverage_missed(c, true) || coverage_missed(c, false));
}

/* Is it what the exit code is for? `found`: more than 0 = something was. */
static bool is_find(const struct run *r, int found)
{
	bool any = found > 0 || r->check.nr_found;

	if (!r->check.job)
		return any;
	return (job->fail_errors && any) || (job->fail_unchecked && any_unchecked(r));
}

/* The exit code, after the verdict. */
static int tell_found(struct run *r)
{
	int code = child_exit_code(r->child.status);
	const char *root_capture = summary_root_capture(&r->summary);
	struct err e = { .text = "" };
	int found = 0;

	if (r->check.job)
		found = run_check_tell(&r->check, r->heap, &e);
	if (found >= 0 && (job ? job->leaks != NULL : leaks)) {
		int lost;

		coverage_add(&r->leaks.coverage, &r->rest);
		lost = run_leaks_tell(&r->leaks, r->heap, r->child.comm, quiet && !job, &e);

		found = lost ? lost : found;
	}
	if (found < 0)
		cmd_fail(&e);
	if (found > 0 && r->check.job && root_capture && !job->one && r->heap &&
	    r->heap->nr_findings)
		cmd_note("'pmm check %s' shows it again", root_capture);
	if (job && job->one)
		job->one->unchecked = any_unchecked(r);
	if (given_code && is_find(r, found))
		return (int)error_code;
	if (code || (found < 0 && r->check.job))
		return code ? code : CMD_FAILED;
	return given_code && (unseen(r) || (job && found < 0)) ? CMD_FAILED : CMD_OK;
}

static void release(struct run *r)
{
	summary_fini(&r->summary);
	heap_free(r->heap);
	heap_free(r->largest);
	run_leaks_fini(&r->leaks);
	run_check_fini(&r->check);
	coverage_fini(&r->rest);
	monitor_fini(&r->monitor);
	ledger_tree_fini(&r->tree);
}

static int run_program(char **argv)
{
	struct run *r = calloc(1, sizeof(*r));
	struct err e = { .text = "" };
	char agent[PATH_MAX];
	int code, rc;

	if (!r) {
		err_set(&e, -ENOMEM, "out of memory");
		return cmd_fail(&e);
	}
	r->tree.fd = -1;
	r->monitor = MONITOR_CLOSED;
	terminal_guard();
	emit_init(&r->to, job && job->report ? job->report : stderr, job && job->json);
	r->check.to = &r->to.sink;
	r->check.apart = job && job->report;
	if (job && job->check)
		r->check.job = job->check;
	rc = prepare(r, argv[0], agent, &e);
	r->leaks.apart = r->check.apart;
	if (!rc)
		rc = launch(r, agent, argv, &e);
	if (rc) {
		release(r);
		free(r);
		return cmd_fail(err_default(&e, rc));
	}
	monitor_until_root(&r->monitor);
	if (job && job->one)
		job->one->ended = r->child.status;
	r->summary.nr_living = monitor_settle(&r->monitor, GRACE_NS, &r->summary.living);
	if (r->summary.nr_living && output && !(job && job->one))
		go_on(r);
	run_may_end(&r->child);
	tell(r, argv);
	code = tell_found(r);
	release(r);
	free(r);
	return code;
}

static int run_run(int argc, char **argv)
{
	(void)argc;
	return run_program(argv);
}

int run_for(const struct run_job *j, char **argv)
{
	job = j;
	output = j->output;
	leaks = quiet = true;
	given_code = j->found_code >= 0;
	error_code = given_code ? (uint64_t)j->found_code : 0;
	if (j->check) {
		no_follow = j->check->no_follow;
		limit_bytes = j->check->limit_bytes;
		sampled = j->check->check.level == PMM_CHECK_SAMPLED;
		sample_bytes = j->check->sample_bytes;
	}
	return run_program(argv);
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
	{ "pmm run --sample ./server", "look at one block per 512 KiB only: next to no cost" },
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
		"'pmm report' reads. Processes that go on after the program are watched in the "
		"background until they end.\n\n"
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
