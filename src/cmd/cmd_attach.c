/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmm attach: watch a process that is running already, tell what outlives its time and what grows,
 * and leave it as it was.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cmd/attach_signals.h"
#include "src/cmd/attach_voice.h"
#include "src/cmd/cmd.h"
#include "src/cmd/options/percent.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/terminal.h"
#include "src/proc/fds.h"
#include "src/session/attach/attach_session.h"
#include "src/session/trace/heap_trace.h"

#define CHECK_SAMPLE		(128ull << 10)
#define OPEN_TRIES	40
#define OPEN_WAIT_US	50000
#define CHECK_GUARDED		4096	/* blocks at the same time */
#define CHECK_BUDGET_PERMILLE	10	/* of the program's CPU time */

static const char *output, *budget, *trace;
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
	  "time between readings of the heap (default: a second or more, so that they take 2% "
	  "of a processor at most)",
	  &interval_ns, .min = 10000000 },
	{ "sample", 0, OPT_SIZE, "BYTES",
	  "record a sample only, one block per BYTES on average (512K)", &sample_bytes,
	  .if_omitted = "512K", .given = &sampled, .min = 1, .max = 1ull << 40 },
	{ "check", 0, OPT_FLAG, NULL,
	  "guard some of the sampled blocks (--sample, here 128K) and report accesses beside them "
	  "and after their release",
	  &check },
	{ "budget", 0, OPT_STRING, "PERCENT|all",
	  "CPU time that --check may take for guarding, in percent of the program's own (default "
	  "1)",
	  &budget },
	{ "exact", 0, OPT_FLAG, NULL, "record every block (the default)", &exact },
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
	{ "trace", 0, OPT_STRING, "EVENTS",
	  "also record what the kernel does about its memory: in the capture (--output), for 'pmm "
	  "report', and as sums at the end; EVENTS is a list as 'pmm trace' has it (default: page faults, mappings, swap, reclaim, "
	  "compaction, huge pages, OOM, stack)",
	  &trace, .if_omitted = "default" },
	{ "output", 'o', OPT_FILE, "FILE", "write a capture at the end (%p: pid, %c: command)",
	  &output },
	{ "json", 0, OPT_FLAG, NULL, "write lines of JSON (schema " WATCH_SCHEMA ")", &as_json },
	{ "top", 0, OPT_UINT, "N", "sites at the end (default 10, as JSON all; 0 = all)", &top,
	  .given = &given_top },
	{ "quiet", 'q', OPT_FLAG, NULL, "no messages but errors", &quiet },
	TERMINAL_WIDTH(),
	{ 0 }
};

/* ---- options ---- */

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
			"'--check' guards a sample of the blocks and cannot be used with "
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
	return 0;
}

/* ---- watching ---- */

struct command {
	struct attach_session_options o;
	struct entries_custom *custom;
	struct loop *loop;
	struct ticker ticker;
	struct attach_signals signals;	/* taken while something of ours is in the process */
	struct loop_source *on_signal;
	struct attach_voice voice;
	struct attach_session *session;
};

static bool signal_came(void *arg)
{
	return attach_signals_came(&((const struct command *)arg)->signals);
}

static void on_signal(void *arg, uint32_t events)
{
	struct command *c = arg;

	(void)events;
	attach_session_end(c->session, SAY_SIGNAL);
}

/* Nothing is held any more. `obeyed`: we end, or the watching did, on a signal that came. */
static void give_back(struct command *c, bool obeyed)
{
	c->voice.session = NULL;
	c->voice.hasty |= attach_signals_came(&c->signals);
	loop_del(c->loop, c->on_signal);
	c->on_signal = NULL;
	attach_signals_give_back(&c->signals, obeyed);
}

static void released(void *arg, bool found)
{
	(void)found;
	give_back(arg, true);
}

static int take_signals(struct command *c)
{
	int rc = attach_signals_take(&c->signals);

	return rc ? rc : loop_add_fd(c->loop, c->signals.fd, EPOLLIN, on_signal, c, &c->on_signal);
}

/* Signals end us at once while nothing is held, which looking for functions takes a while of. */
static int open_once(struct command *c, struct err *e)
{
	int rc = attach_session_open(&c->session, &c->o, &c->voice.emit.sink, e);

	if (rc)
		return rc;
	rc = take_signals(c);
	if (!rc)
		rc = attach_session_start(c->session, e);
	if (rc) {
		attach_session_close(c->session);
		c->session = NULL;
		give_back(c, rc != -EAGAIN);	/* else we would try again all the same */
	}
	return rc;
}

/*
 * Just started, replaced by another program, or where a thread happens to be: what is so for a
 * moment is waited for.
 */
static int open_patiently(struct command *c, struct err *e)
{
	int rc = open_once(c, e);

	for (unsigned tries = 0; rc == -EAGAIN && tries < OPEN_TRIES; tries++) {
		*e = (struct err){ 0 };
		usleep(OPEN_WAIT_US);
		rc = open_once(c, e);
	}
	return rc;
}

/* The exit code, or -errno with `e`. */
static int watch(struct command *c, struct err *e)
{
	struct outcome o;
	int rc;

	c->voice.session = c->session;
	if (c->voice.mute)
		attach_session_end(c->session, SAY_MUTE);
	attach_session_run(c->session);
	rc = attach_session_finish(c->session, &o, e);
	if (!rc)
		rc = attach_voice_said(&c->voice, e);
	if (!rc)
		rc = attach_session_found(&o) ? CMD_FOUND : CMD_OK;
	return rc;
}

/* All that the session is asked for. 0 or -errno with `e`. */
static int read_options(struct command *c, const char *operand, struct err *e)
{
	struct attach_options *a = &c->o.attach;
	int rc = cmd_parse_pid(operand, &c->o.pid, e);

	if (!rc)
		rc = check_options(e);
	c->o = (struct attach_session_options){
		.pid = c->o.pid,
		.expire_ns = expire_ns,
		.interval_ns = interval_ns,
		.duration_ns = timed ? duration_ns : 0,
		.top = as_json && !given_top ? 0 : top,
		.all_sites = as_json,
		.error_events = as_json,
		.quiet = quiet,
		.output = output,
		.stop = { signal_came, c },
	};
	*a = (struct attach_options){
		.min_size_bytes = min_size_bytes,
		.warn_size_bytes = warn_size_bytes,
		.limit_bytes = limit_bytes,
		.max_frames = (uint32_t)max_frames,
		.sample_bytes = sampled ? sample_bytes : 0,
		.custom = c->custom,
	};
	if (check)
		a->check = (struct pmm_check){ .level = PMM_CHECK_SAMPLED,
					       .max_guarded = CHECK_GUARDED,
					       .budget_permille = CHECK_BUDGET_PERMILLE,
					       .fail_after = UINT64_MAX };
	c->o.trace = trace ? &bpf_source : NULL;
	if (!rc && trace)
		rc = heap_trace_parse(trace, &c->o.trace_classes, e);
	if (!rc && trace && !output && !quiet)
		cmd_note("hint: the kernel's events are summed up in a line at the end; give "
			 "'-o FILE' to see in 'pmm report FILE' whose they are");
	if (!rc && check && budget)
		rc = cmd_parse_budget(budget, &a->check.budget_permille, e);
	return rc ? rc : parse_custom(c->custom, &a->nr_custom, e);
}

/* The exit code, or -errno with `e`. */
static int run(struct command *c, struct err *e)
{
	int rc = loop_new(&c->loop);

	if (!rc)
		rc = ticker_init(&c->ticker, c->loop);
	if (rc)
		return err_set(e, rc, "cannot wait for a process: %s", strerror(-rc));
	c->o.loop = c->loop;
	c->o.attach.ticker = &c->ticker;
	attach_voice_init(&c->voice, c->loop, as_json);
	c->voice.emit.released = released;
	c->voice.emit.released_arg = c;
	rc = open_patiently(c, e);
	if (!rc)
		rc = watch(c, e);
	attach_session_close(c->session);
	give_back(c, true);
	attach_voice_fini(&c->voice);
	return rc;
}

/* Before anything is opened: who cannot detach is not to attach. */
static int check_descriptors(struct err *e)
{
	struct fds all = { 0 };
	int rc;

	fds_raise();
	rc = fds_reserve(&all, ATTACH_NR_FDS);
	fds_release(&all);
	if (rc) {
		err_set(e, rc, "too few file descriptors to attach and to detach again: %s",
			strerror(-rc));
		err_hint(e, "pmm needs %d in all, and some more for names: raise its hard limit "
			    "(ulimit -Hn)",
			 3 + ATTACH_NR_FDS);
	}
	return rc;
}

static int attach_run(int argc, char **argv)
{
	struct command c = { .custom = calloc(OPT_LIST_MAX, sizeof(*c.custom)),
			     .signals = ATTACH_SIGNALS_NONE };
	struct err e = { 0 };
	int rc;

	(void)argc;
	terminal_open_std();
	rc = c.custom ? read_options(&c, argv[0], &e) : err_set(&e, -ENOMEM, "out of memory");
	signal(SIGPIPE, SIG_IGN);	/* who no longer reads ends the watching, not us */
	if (!rc)
		rc = check_descriptors(&e);
	if (!rc)
		rc = run(&c, &e);
	ticker_fini(&c.ticker);
	loop_free(c.loop);
	for (size_t i = 0; i < c.o.attach.nr_custom; i++)
		entries_custom_fini(&c.custom[i]);
	free(c.custom);
	return rc < 0 ? cmd_fail(err_default(&e, rc)) : rc;
}

static const struct cmd_pair attach_exits[] = {
	{ "0", "nothing was found" },
	{ "1", "blocks outlived their time and are alive at a site that has not freed such ones, "
	       "or something grows steadily, "
	       "or --check has found a heap error" },
	{ "2", "wrong usage" },
	{ "3", "could not attach, or could not store or report what was recorded" },
	{ 0 }
};

static const struct cmd_pair attach_examples[] = {
	{ "pmm attach 4711", "watch until Ctrl-C" },
	{ "pmm attach -d 10m --expire 1m 4711",
	  "for ten minutes; report blocks that live for a minute" },
	{ "pmm attach --sample -d 1h -o now.pmm 4711",
	  "next to no cost; keep a capture for 'pmm report'" },
	{ "pmm attach --trace -d 1m -o now.pmm 4711",
	  "also page faults, mappings, waits for memory: 'pmm report now.pmm' shows whose" },
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
	.summary = "watch a process that is already running, then leave it as it was",
	.usage = "[options] PID",
	.opts = attach_opts,
	.exits = attach_exits,
	.examples = attach_examples,
	.min_operands = 1,
	.max_operands = 1,
	.run = attach_run,
	.description =
			"Stops the process for some milliseconds and puts a small agent into it. "
			"Calls of the allocator's functions then go through the agent. At the end "
			"pmm undoes all this: on Ctrl-C, SIGTERM, SIGHUP, after --duration, or when the "
			"output cannot be written any more. It needs no debugger, no restart and "
			"no help from the program. doc/attach.md says what is done to the process and what is guaranteed. "
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
