/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmm attach: watch a process that is running already, tell what outlives its time and what grows,
 * and leave it as it was.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/track/track_attach.h"
#include "src/store/output.h"
#include "src/session/attach/attach_session.h"
#include "src/cmd/cmd.h"
#include "src/cmd/options/percent.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/terminal.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define CHECK_SAMPLE		(128ull << 10)
#define OPEN_TRIES	40
#define OPEN_WAIT_US	50000
#define CHECK_GUARDED		4096	/* blocks at the same time */
#define CHECK_BUDGET_PERMILLE	10	/* of the program's CPU time */

static const char *output, *budget;
static uint64_t duration_ns, expire_ns = 10000000000ull, interval_ns;
static uint64_t sample_bytes, min_size_bytes, limit_bytes, warn_size_bytes, max_frames = 128,
									    top = 10;
static bool sampled, exact, as_json, quiet, timed, check, given_top;
static struct opt_list alloc;

static const struct opt attach_opts[] = {
	{ "duration", 'd', OPT_DURATION, "TIME", "detach after TIME (seconds, or 10ms, 5m, 2h, 1d)",
	  &duration_ns, .min = 1000000, .given = &timed },
	{ "expire", 0, OPT_DURATION, "TIME", "report blocks that live for TIME (default 10s)",
	  &expire_ns, .min = 1000000 },
	{ "interval", 0, OPT_DURATION, "TIME",
	  "time between looks at the heap (default: a second or more, so that looking takes 2% of "
	  "a processor at most)",
	  &interval_ns, .min = 10000000 },
	{ "sample", 0, OPT_SIZE, "BYTES",
	  "look at a sample only, one block per BYTES on average (512K)", &sample_bytes,
	  .if_omitted = "512K", .given = &sampled, .min = 1, .max = 1ull << 40 },
	{ "check", 0, OPT_FLAG, NULL,
	  "guard some of the sampled blocks (--sample, here 128K) and report accesses beside them "
	  "and after their release",
	  &check },
	{ "budget", 0, OPT_STRING, "PERCENT|all",
	  "CPU time that --check may take for guarding, in percent of the program's own (default "
	  "1)",
	  &budget },
	{ "exact", 0, OPT_FLAG, NULL, "look at every block (the default)", &exact },
	{ "min-size", 0, OPT_SIZE, "BYTES", "track only blocks of at least BYTES",
	  &min_size_bytes },
	{ "warn-size", 0, OPT_SIZE, "BYTES", "count requests of at least BYTES as huge",
	  &warn_size_bytes, .min = 1 },
	{ "frames", 0, OPT_UINT, "N", "deepest stack kept (default 128)", &max_frames, .min = 1,
	  .max = PMM_MAX_FRAMES },
	{ "ledger-limit", 0, OPT_SIZE, "BYTES",
	  "memory the ledger may take (default a quarter of RAM, at most 16G)", &limit_bytes,
	  .min = 1 << 20 },
	{ "alloc", 0, OPT_LIST, "[MODULE:]NAME=KIND(ARGS)",
	  "an allocator of the program's own: malloc(arg0), calloc(arg0,arg1), realloc(arg0,arg1), "
	  "free(arg0), or malloc(16) for "
	  "a fixed size; may be given again",
	  &alloc },
	{ "output", 'o', OPT_FILE, "FILE", "write a capture at the end (%p: pid, %c: command)",
	  &output },
	{ "json", 0, OPT_FLAG, NULL, "write lines of JSON (schema " WATCH_SCHEMA ")", &as_json },
	{ "top", 0, OPT_UINT, "N", "sites at the end (default 10, as JSON all; 0 = all)", &top,
	  .given = &given_top },
	{ "quiet", 'q', OPT_FLAG, NULL, "no messages but errors", &quiet },
	TERMINAL_WIDTH(),
	{ 0 }
};

/* ---- before and after ---- */

static int parse_custom(struct entries_custom *custom, size_t *nr, struct err *e)
{
	for (*nr = 0; *nr < alloc.nr; (*nr)++) {
		int rc = entries_parse_custom(alloc.v[*nr], &custom[*nr], e);

		if (rc && !e->exit_code)
			e->exit_code = CMD_USAGE;
		if (rc)
			return rc;
	}
	return 0;
}

static int check_options(struct err *e)
{
	if (sampled && exact) {
		err_set(e, -EINVAL, "'--sample' and '--exact' cannot be used together");
		e->exit_code = CMD_USAGE;
		return -EINVAL;
	}
	if (check && exact) {
		err_set(e, -EINVAL,
			"'--check' looks at a sample of the blocks and cannot be used with "
			"'--exact'");
		e->exit_code = CMD_USAGE;
		return -EINVAL;
	}
	if (budget && !check) {
		err_set(e, -EINVAL, "'--budget' is for '--check'");
		e->exit_code = CMD_USAGE;
		return -EINVAL;
	}
	if (check && !sampled) {
		sampled = true;
		sample_bytes = CHECK_SAMPLE;
	}
	return output ? output_check(output, e) : 0;
}

static const char *allocator_name(const struct entries *found)
{
	static const char *const name[] = {
		[ENTRIES_GLIBC] = "glibc",
		[ENTRIES_MUSL] = "musl",
		[ENTRIES_JEMALLOC] = "jemalloc",
		[ENTRIES_TCMALLOC] = "tcmalloc",
		[ENTRIES_MIMALLOC] = "mimalloc",
		[ENTRIES_SANITIZER] = "a sanitizer's",
		[ENTRIES_CUSTOM] = "the program's own",
		[ENTRIES_OTHER] = "",
	};

	_Static_assert(sizeof(name) / sizeof(*name) == ENTRIES_NR_ALLOCATORS, "a name for each");
	return found->allocator < ENTRIES_NR_ALLOCATORS ? name[found->allocator] : "";
}

static void tell_attached(pid_t pid, const char *comm, const struct attach_info *info)
{
	const struct entries *found = &info->entries;
	const char *path = found->allocator_path ? found->allocator_path : "";
	char where[64];

	cmd_note("attached to '%s' (%d): allocator %s%s%s%s, %u functions patched, all threads "
		 "stopped for %s, one for %s before",
		 comm, (int)pid, allocator_name(found), *path ? " (" : "", path, *path ? ")" : "",
		 info->nr_patched, fmt_duration(info->pause_ns).s,
		 fmt_duration(info->prepare_ns).s);
	for (size_t i = 0; i < found->nr; i++)
		if (found->v[i].refused)
			cmd_note("not patched: %s: %s", found->v[i].name, found->v[i].refused);
	if (task_sleeps_in(pid, pid, where, sizeof(where)) == 'T')
		cmd_note("process %d is stopped: nothing is recorded until 'kill -CONT %d'",
			 (int)pid, (int)pid);
}

static void tell_detached(pid_t pid, const struct outcome *o)
{
	static const char *const why[] = {
		[SAY_ENDED] = "the process has ended",
		[SAY_EXECED] = "the process runs another program now, which is not watched",
	};

	if (o->end == SAY_ENDED || o->end == SAY_EXECED)
		cmd_note("%s", why[o->end]);
	else if (o->nr_guarded_left)
		cmd_note("detached: process %d goes on to use %s, as it would "
			 "others; releasing them passes through the agent, "
			 "which stays for that; 'pmm detach %d' takes it out when they are gone",
			 (int)pid, fmt_many(o->nr_guarded_left, "guarded block").s, (int)pid);
	else if (o->removed)
		cmd_note("detached: process %d is as it was, all threads stopped for %s", (int)pid,
			 fmt_duration(o->detach_pause_ns).s);
	else
		cmd_note("detached: the code of process %d is as it was; a thread is still inside "
			 "the agent, which does no harm; "
			 "'pmm detach %d' takes it out later",
			 (int)pid, (int)pid);
}

static void tell_unguarded(pid_t pid, const struct outcome *o)
{
	static const char *const why[PMM_NR_CHECK_STOPS] = {
		[PMM_CHECK_STOP_BLOCKED] = "a thread blocks SIGSEGV",
		[PMM_CHECK_STOP_HANDLER] =
			"it put a handler for SIGSEGV in place by a system call of its own",
		[PMM_CHECK_STOP_IGNORED] = "it ignores SIGSEGV",
		[PMM_CHECK_STOP_CONFINED] = "it entered seccomp",
	};

	if (o->check_stopped != PMM_CHECK_RUNS)
		cmd_note("process %d was not checked to the end: %s, so no blocks were guarded any "
			 "more",
			 (int)pid, why[o->check_stopped]);
}

/* The capture. 0 or -errno with `e`. */
static int keep(const struct heap *h, struct err *e)
{
	struct err why = { 0 };
	char *name;
	bool moved = false;
	int rc;

	if (!output)
		return 0;
	if (!h)
		return err_set(e, -ENODATA, "no capture: what was recorded could not be read");
	name = malloc(PATH_MAX);
	if (!name)
		return err_set(e, -ENOMEM, "out of memory");
	rc = output_write(h, output, true, name, &moved, &why);
	if (rc)
		*e = why;
	else if (moved)
		cmd_fail(&why);
	if (!rc && (!quiet || moved))
		cmd_note("capture      %s", name);
	free(name);
	return rc;
}

/* The capture, also when something failed before. 0, or the first -errno with `e`. */
static int kept_too(const struct outcome *o, int rc, struct err *e)
{
	struct err second = { 0 };
	int kept;

	if (!rc)
		return keep(o->heap, e);
	kept = o->heap ? keep(o->heap, &second) : 0;
	if (kept)
		cmd_fail(err_default(&second, kept));
	return rc;
}

/* Closes `a`. The exit code, or -errno with `e`. */
static int watch(struct session *s, pid_t pid, struct attach *a, const char *comm, struct err *e)
{
	struct outcome o;
	int rc;

	s->pid = pid;
	s->comm = comm;
	s->a = a;
	s->say = (struct say){ .json = as_json,
			       .style = terminal_style(stdout),
			       .scope = { .pid = pid,
					  .start_ns = attach_now_ns(a),
					  .expire_ns = expire_ns } };
	s->expiry.expire_ns = expire_ns;
	s->interval_ns = interval_ns;
	s->end_ns = timed ? attach_now_ns(a) + duration_ns : UINT64_MAX;
	s->top = as_json && !given_top ? 0 : top;
	s->sampled = sampled;
	s->checks = check;
	if (!quiet)
		tell_attached(pid, comm, attach_info(a));
	session_run(s);
	rc = session_finish(s, &o, e);
	if (!rc)
		tell_unguarded(pid, &o);
	if (!rc && (!quiet || o.nr_guarded_left))
		tell_detached(pid, &o);
	if (!rc && o.late.failed)
		session_note_late(&o.late);
	if (s->unnamed)
		cmd_note("WARNING: functions, files or lines may be missing here: out of memory or "
			 "of descriptors");
	rc = kept_too(&o, rc, e);
	if (!rc)
		rc = session_said(s, e);
	if (!rc)
		rc = session_found(&o) ? CMD_FOUND : CMD_OK;
	return rc;
}

/* Signals end us at once while nothing is held, which looking for functions takes a while of. */
static int open_once(struct session *s, pid_t pid, const struct attach_options *o,
		     struct attach **a, struct err *e)
{
	int rc = attach_open(pid, o, a, e);

	if (rc)
		return rc;
	rc = attach_signals_take(&s->signals);
	if (!rc)
		rc = attach_start(*a, e);
	if (rc) {
		attach_close(*a);
		attach_signals_give_back(&s->signals);
		*a = NULL;
	}
	return rc;
}

/*
 * Just started, replaced by another program, or where a thread happens to be: what is so for a
 * moment is waited for.
 */
static int open_patiently(struct session *s, pid_t pid, const struct attach_options *o,
			  struct attach **a, struct err *e)
{
	int rc = open_once(s, pid, o, a, e);

	for (unsigned tries = 0; rc == -EAGAIN && tries < OPEN_TRIES; tries++) {
		*e = (struct err){ 0 };
		usleep(OPEN_WAIT_US);
		rc = open_once(s, pid, o, a, e);
	}
	return rc;
}

static int attach_run(int argc, char **argv)
{
	struct entries_custom *custom = calloc(OPT_LIST_MAX, sizeof(*custom));
	struct attach_options o = {
		.min_size_bytes = min_size_bytes,
		.warn_size_bytes = warn_size_bytes,
		.limit_bytes = limit_bytes,
		.max_frames = (uint32_t)max_frames,
		.sample_bytes = sampled ? sample_bytes : 0,
		.custom = custom,
	};
	char comm[PROC_COMM_BYTES] = "";
	struct session *session = calloc(1, sizeof(*session));
	struct err e = { 0 };
	struct attach *a = NULL;
	bool begun = false;
	pid_t pid;
	int rc;

	(void)argc;
	terminal_guard();
	rc = custom && session ? cmd_parse_pid(argv[0], &pid, &e)
			       : err_set(&e, -ENOMEM, "out of memory");
	if (!rc)
		rc = check_options(&e);
	if (check) {
		o.check = (struct pmm_check){ .level = PMM_CHECK_SAMPLED,
					      .max_guarded = CHECK_GUARDED,
					      .budget_permille = CHECK_BUDGET_PERMILLE,
					      .fail_after = UINT64_MAX };
		if (!rc && budget)
			rc = cmd_parse_budget(budget, &o.check.budget_permille, &e);
	}
	o.sample_bytes = sampled ? sample_bytes : 0;
	if (!rc)
		rc = parse_custom(custom, &o.nr_custom, &e);
	signal(SIGPIPE, SIG_IGN);	/* who no longer reads ends the watching, not us */
	if (!rc) {
		begun = true;
		rc = session_init(session, &e);
	}
	if (!rc) {
		o.ticker = &session->ticker;
		rc = open_patiently(session, pid, &o, &a, &e);
	}
	if (!rc) {
		proc_comm(pid, comm);
		rc = watch(session, pid, a, comm, &e);
	}
	if (begun)
		session_fini(session);
	for (size_t i = 0; i < o.nr_custom; i++)
		entries_custom_fini(&custom[i]);
	free(custom);
	free(session);
	return rc < 0 ? cmd_fail(err_default(&e, rc)) : rc;
}

static const struct cmd_pair attach_exits[] = {
	{ "0", "nothing was found" },
	{ "1", "blocks outlived their time and are alive at a site that has not freed such ones, "
	       "or something grows steadily, "
	       "or --check has found a heap error" },
	{ "2", "wrong usage" },
	{ "3", "could not attach, or not keep or say what was recorded" },
	{ 0 }
};

static const struct cmd_pair attach_examples[] = {
	{ "pmm attach 4711", "watch until Ctrl-C" },
	{ "pmm attach -d 10m --expire 1m 4711",
	  "for ten minutes; report blocks that live for a minute" },
	{ "pmm attach --sample -d 1h -o now.pmm 4711",
	  "next to no cost; keep a capture for 'pmm report'" },
	{ "pmm attach --check -d 1h 4711",
	  "guard a sample of its blocks for an hour: accesses beside and after them" },
	{ "pmm attach --alloc 'pool_get=malloc(16)' --alloc 'pool_put=free(arg0)' 4711",
	  "a pool of 16-byte objects" },
	{ "pmm attach --json -d 60 4711 | jq 'select(.event == \"site\")'",
	  "the sites found, for another program" },
	{ 0 }
};

const struct cmd cmd_attach = {
	.name = "attach",
	.summary = "watch a process that is running already, then leave it as it was",
	.usage = "[options] PID",
	.opts = attach_opts,
	.exits = attach_exits,
	.examples = attach_examples,
	.min_operands = 1,
	.max_operands = 1,
	.run = attach_run,
	.description =
			"Stops the process for some milliseconds and puts a small agent into it, "
			"which the allocator's functions then pass through. At the end pmm undoes "
			"all this: on Ctrl-C, SIGTERM, SIGHUP, after --duration, or when the "
			"output cannot be written any more. It needs no debugger, no restart and "
			"no help from the program. doc/attach.md says what is done and promised. "
			"When pmm is killed, its watchdog restores the process; 'pmm detach PID' "
			"does so where the watchdog was killed, too.\n\n"
			"A call site whose blocks live for --expire is reported once with its "
			"stack and a number. Later lines say 'again' when more of its blocks do, "
			"at growing intervals. When such blocks are freed after all, a line says "
			"so, and the site is silent until it holds more than twice as many. The "
			"table at the end counts it all the same.\n\n"
			"Live bytes over time are tested for steady growth. A cache that filled "
			"up, the start of a program, a step or peaks are no growth; a slow leak "
			"is. Where the process has a limit (control group, address space, data, "
			"the machine) the time until it is reached is reported.\n\n"
			"Blocks from before the attach are unknown; their frees are counted. 'pmm "
			"report PID' and 'pmm snapshot PID' work meanwhile. The line that says "
			"what was attached, and all other messages, go to stderr.",
};
