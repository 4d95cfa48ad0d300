/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm trace: what the kernel does about memory, and to whom. */
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/report/report_file.h"
#include "src/cmd/terminal.h"
#include "src/document/event.h"
#include "src/proc/memcg.h"
#include "src/proc/task.h"
#include "src/session/trace/trace_figures.h"
#include "src/session/trace/trace_form.h"
#include "src/track/child.h"
#include "src/view/trace/trace_view.h"

static struct opt_list pids;
static uint64_t duration_ns, interval_ns, min_latency_ns, min_size_bytes, top = 10,
						stack_bytes = KERNEL_STACK_BYTES, sample,
						objects = KERNEL_KMEM_OBJECTS, older_ns;
static uint64_t ring_bytes, frames = 12;
static bool tree, no_follow, by_clock;
static bool list, everything, as_json, quiet, summary_only, timed;
static const char *comm, *cgroup, *user, *counters;

static int sort;
static bool folded, given_top, given_objects;
static const char *output;

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_FOLDED };
static const char *const formats[] = {
	[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_FOLDED] = "folded", NULL
};
static int format;
static const char *const sorts[] = { "count", "bytes", "time", NULL };

static const struct opt trace_opts[] = {
	{ "pid", 'p', OPT_LIST, "PID", "trace this process and its children; may be given again",
	  &pids },
	{ "tree", 0, OPT_FLAG, NULL,
	  "with --pid: also the children that it has already, and theirs", &tree },
	{ "no-follow", 0, OPT_FLAG, NULL, "do not trace children that are started from now on",
	  &no_follow },
	{ "all", 'a', OPT_FLAG, NULL, "trace all processes", &everything },
	{ "command", 0, OPT_STRING, "NAME", "only processes of that command name", &comm },
	{ "cgroup", 0, OPT_FILE, "PATH",
	  "only processes of that memory control group and of groups below it: its directory, or "
	  "its path in the hierarchy",
	  &cgroup },
	{ "user", 'u', OPT_STRING, "NAME|UID", "only processes of that user", &user },
	{ "duration", 'd', OPT_DURATION, "TIME", "end after TIME (seconds, or 10ms, 5m, 2h, 1d)",
	  &duration_ns, .min = 1000000, .given = &timed },
	{ "interval", 'i', OPT_DURATION, "TIME", "print the summary every TIME as well",
	  &interval_ns, .min = 10000000 },
	{ "summary", 's', OPT_FLAG, NULL, "print the summary only, no line for each event",
	  &summary_only },
	{ "clock", 0, OPT_FLAG, NULL,
	  "print the time of day, not seconds since the start of the trace", &by_clock },
	{ "min-latency", 0, OPT_DURATION, "TIME",
	  "reclaim, compaction, migrate: leave out what takes less than TIME: it is counted, without "
	  "line, time and stack",
	  &min_latency_ns },
	{ "min-size", 0, OPT_SIZE, "BYTES",
	  "mmap, brk, shm: leave out calls about less than BYTES: they are counted only; stack, rss, "
	  "cache: a line for each BYTES; kernel, libc: lines from BYTES on, heap: sites",
	  &min_size_bytes },
	{ "stack-size", 0, OPT_SIZE, "BYTES",
	  "copy at most so much of a stack (default 16K, at most 64K, 0: no stacks)",
	  &stack_bytes, .max = TRACE_STACK_MAX },
	{ "sample", 0, OPT_UINT, "N",
	  "kernel: follow 1 of N objects (default 16; rounded up to a power of two); faults: stacks "
	  "of 1 of N page faults (default: of all while they are few)",
	  &sample, .min = 1, .max = UINT32_MAX },
	{ "objects", 0, OPT_UINT, "N",
	  "kernel: follow at most N objects at a time (default 262144, 80 bytes each)",
	  &objects, .min = 1, .max = 1u << 26, .given = &given_objects },
	{ "older", 0, OPT_DURATION, "TIME",
	  "kernel, heap: also count the objects that have not been freed for longer than TIME",
	  &older_ns },
	{ "counters", 0, OPT_STRING, "LIST",
	  "counters that pmc samples: cycles, instructions, llc_references, llc_misses, dtlb_misses "
	  "(the default), cpu_clock, page_faults (of the kernel, on every machine)",
	  &counters },
	{ "buffer", 0, OPT_SIZE, "BYTES",
	  "room for events that wait for pmm (a power of two, default 16M)", &ring_bytes,
	  .min = 1 << 16, .max = 1 << 30 },
	{ "top", 0, OPT_UINT, "N", "rows of a table (default 10, as JSON all; 0 = all)", &top,
	  .given = &given_top },
	{ "frames", 0, OPT_UINT, "N", "frames of a stack in text (default 12, 0 = all)", &frames },
	{ "sort", 0, OPT_CHOICE, NULL, "order of processes and stacks (default count)", &sort,
	  .choices = sorts },
	{ "format", 0, OPT_CHOICE, NULL,
	  "form of the output (default text). folded: stacks at the end and nothing else, as flame "
	  "graph tools read them; the numbers are what --sort names",
	  &format, .choices = formats },
	{ "folded", 0, OPT_FLAG, NULL, "the same as --format folded", &folded },
	{ "list", 0, OPT_FLAG, NULL,
	  "list the events, and whether each can be traced on this machine", &list },
	{ "json", 0, OPT_FLAG, NULL,
	  "the same as --format json: lines of JSON (schema pmm-trace/1.0)", &as_json },
	{ "output", 'o', OPT_FILE, "FILE",
	  "write to FILE; standard output is the command's alone then", &output },
	{ "quiet", 'q', OPT_FLAG, NULL, "no messages but errors", &quiet },
	TERMINAL_WIDTH(),
	{ 0 }
};

struct command {
	struct trace_options o;
	struct loop *loop;
	struct loop_source *on_signal;
	struct emit emit;
	struct trace_session *session;
	struct trace_figures *figures;	/* in its place, where no events can be seen */
	struct style style;
	FILE *out;			/* stdout, or a stream into `file` */
	struct report_file file;	/* of --output */
	sigset_t given;			/* the signal mask that we were given */
	pid_t pid[OPT_LIST_MAX];
	char scope[256];
};

static int on_event(void *arg, const struct event *e)
{
	struct command *c = arg;
	/* waits for what follows: alone it does not take the place of an older file */
	bool heading = output && !as_json && !e->fields.nr;
	int rc;

	if (heading)
		return fputs(str_text(&e->text), c->out) < 0 ? -errno : 0;
	rc = as_json ? event_print_json(e, c->out) : event_print_text(e, &c->style, c->out);
	if (!rc && fflush(c->out))
		rc = -errno;
	return rc;
}

static void on_signal(void *arg, const struct signalfd_siginfo *signal)
{
	struct command *c = arg;

	(void)signal;
	if (c->session)
		trace_session_end(c->session);
	trace_figures_end(c->figures);
}

/* A launched command gets its signals as pmm was given them, and none is passed on. */
static int keep_signals(struct child *c, struct err *e)
{
	(void)c, (void)e;
	return 0;
}

static void restore_signals(const struct child *c)
{
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
}

static void no_stop(pid_t program)
{
	(void)program;
}

static const struct child_signals signals = { .redirect = keep_signals,
					      .restore = restore_signals, .stop = no_stop };

/* Signals wait from here on, until the programs in the kernel are gone. */
static int hold_signals(struct command *c)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &c->given);
	signal(SIGPIPE, SIG_IGN);
	return loop_add_signals(c->loop, &set, on_signal, c, &c->on_signal);
}

/* pidfd_open() refuses a thread's number, with an errno that says nothing. */
static int refuse_thread(pid_t pid, struct err *e)
{
	uint64_t process;

	if (task_status(pid, pid, "Tgid", 10, &process) || process == (uint64_t)pid)
		return 0;
	err_set(e, -EINVAL, "%d is a thread of process %d", (int)pid, (int)process);
	err_hint(e, "give the process: '--pid %d'", (int)process);
	return -EINVAL;
}

/* Each process once. */
static int read_pids(struct command *c, struct err *e)
{
	size_t nr = 0;

	for (unsigned i = 0; i < pids.nr; i++) {
		int rc = cmd_parse_pid(pids.v[i], &c->pid[nr], e);
		size_t same = 0;

		if (!rc)
			rc = refuse_thread(c->pid[nr], e);
		if (rc)
			return rc;
		while (c->pid[same] != c->pid[nr])
			same++;
		nr += same == nr;
	}
	c->o.kernel.pids = c->pid;
	c->o.kernel.nr_pids = nr;
	return 0;
}

static int read_user(struct command *c, struct err *e)
{
	struct passwd *p = getpwnam(user);
	uint64_t uid = 0;

	if (!p && (fmt_parse_uint(user, &uid, NULL) || uid >= UINT32_MAX)) {
		err_set(e, -EINVAL, "there is no user '%s'", user);
		err_hint(e, "give a name that 'getent passwd' lists, or a number");
		e->exit_code = CMD_USAGE;
		return -EINVAL;
	}
	c->o.kernel.by_uid = true;
	c->o.kernel.uid = p ? p->pw_uid : uid;
	return 0;
}

static int read_counters(struct command *c, struct err *e)
{
	int rc = event_counters_parse(counters, &c->o.kernel.counters, e);

	if (rc)
		err_hint(e, "'pmm trace --help' names them");
	if (rc)
		e->exit_code = CMD_USAGE;
	return rc;
}

static int read_filters(struct command *c, struct err *e)
{
	int rc = read_pids(c, e);

	if (!rc && cgroup)
		rc = memcg_id("", cgroup, &c->o.kernel.memcg, e);
	if (!rc && user)
		rc = read_user(c, e);
	if (!rc && counters)
		rc = read_counters(c, e);
	return rc;
}

static const char *say_children(const struct command *c)
{
	bool one = c->o.command || c->o.kernel.nr_pids == 1;

	if (c->o.classes == 1u << EVENT_HEAP && !c->o.command)
		return "";
	if (no_follow)
		return tree ? " and the children so far" : " without children";
	return one ? " and its children" : " and their children";
}

/* In words, what is traced: shown with the result. */
static void say_scope(struct command *c)
{
	struct str s = STR_INIT;

	if (c->o.command)
		str_addf(&s, "'%s'", c->o.command[0]);
	else if (c->o.kernel.nr_pids == 1)
		str_addf(&s, "process %d", (int)c->pid[0]);
	else if (pids.nr)
		str_addf(&s, "%zu processes", c->o.kernel.nr_pids);
	else
		str_add(&s, everything || !cgroup ? "all processes" : "processes");
	if (c->o.command || pids.nr)
		str_add(&s, say_children(c));
	if (cgroup)
		str_addf(&s, " of control group '%s'", cgroup);
	if (user)
		str_addf(&s, " of user '%s'", user);
	if (comm)
		str_addf(&s, " named '%s'", comm);
	snprintf(c->scope, sizeof(c->scope), "%s", str_text(&s));
	str_fini(&s);
	c->o.scope = c->scope;
}

/* --json and --folded are short for a form. */
static int read_format(struct err *e)
{
	if ((as_json && folded) || (format && as_json && format != FORMAT_JSON) ||
	    (format && folded && format != FORMAT_FOLDED))
		return cmd_refuse(e, "two forms of output are given",
				  "leave out '--json', '--folded' or '--format'");
	as_json |= format == FORMAT_JSON;
	folded |= format == FORMAT_FOLDED;
	if (folded && (!stack_bytes || list))
		return cmd_refuse(e, "'--folded' is a form of stacks, and there are none",
				  list ? "leave it out" : "leave out '--stack-size 0'");
	if (as_json && !given_top)
		top = 0;
	return 0;
}

#define BIT(name)	(1u << EVENT_##name)

/* Options that are about some events only, and none of those is traced. */
static int check_options(const struct command *c, struct err *e)
{
	const struct { const char *option; bool given; uint32_t about; } some[] = {
		{ "--min-latency", min_latency_ns, BIT(RECLAIM) | BIT(COMPACTION) | BIT(MIGRATE) },
		{ "--min-size", min_size_bytes, BIT(MMAP) | BIT(BRK) | BIT(SHM) | BIT(STACK) |
			BIT(KERNEL) | BIT(RSS) | BIT(CACHE) | BIT(HEAP) | BIT(LIBC) },
		{ "--sample", sample, BIT(FAULTS) | BIT(KERNEL) },
		{ "--objects", given_objects, BIT(KERNEL) },
		{ "--older", older_ns, BIT(KERNEL) | BIT(HEAP) },
		{ "--counters", counters, BIT(PMC) },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		struct str s = STR_INIT;

		if (!some[i].given || c->o.classes & some[i].about)
			continue;
		str_addf(&s, "'%s' needs one of these events: ", some[i].option);
		event_classes_names(&s, some[i].about);
		cmd_refuse(e, str_text(&s), "name it among the events, or leave the option out");
		str_fini(&s);
		return -EINVAL;
	}
	return 0;
}

static int set_scope(struct command *c, struct err *e)
{
	unsigned ways = !!c->o.command + !!pids.nr + everything;

	if (ways > 1)
		return cmd_refuse(e, "a command, '--pid' and '--all' exclude each other",
				  "'--command', '--cgroup' and '--user' go with each of them");
	if (!ways && !cgroup && !user && !comm)
		return cmd_refuse(e, "nothing to trace",
				  "give '--pid PID', '-- COMMAND', or '--all' for all processes");
	if (tree && !pids.nr)
		return cmd_refuse(e, "'--tree' is about the children of '--pid PID'",
				  "the children of a command are traced without it");
	if (no_follow && !pids.nr && !c->o.command)
		return cmd_refuse(e, "'--no-follow' is about the children of a process or command",
				  "give '--pid PID' or '-- COMMAND'");
	if (ring_bytes & (ring_bytes - 1))
		return cmd_refuse(e, "the size of '--buffer' must be a power of two",
				  "such as 4M, 64M or 256M");
	if (comm && (!*comm || strlen(comm) >= TRACE_COMM_BYTES))
		return cmd_refuse(e, "command names have 1 to 15 characters",
				  "the kernel cuts longer ones: 'ps -o comm= -p PID' shows the name");
	/* without one of the three it is all processes that the filters let through */
	c->o.kernel.follow = (c->o.command || pids.nr) && !no_follow;
	c->o.tree = tree;
	c->o.kernel.memcg_below = true;
	say_scope(c);
	return 0;
}

/* What is wrong with a list of events, and the nearest name there is. */
static int refuse_events(const char *events, struct err *e)
{
	const char *names[EVENT_NR_CLASSES + 3] = { "all", "default" }, *near;
	uint32_t classes;
	char word[32];

	for (int i = 0; i < EVENT_NR_CLASSES; i++)
		names[i + 2] = event_classes[i].name;
	event_classes_parse(events, &classes, e);
	e->exit_code = CMD_USAGE;
	for (; *events; events += strcspn(events, ","), events += *events == ',') {
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(events, ","), events);
		if (!event_classes_parse(word, &classes, NULL))
			continue;
		near = opt_nearest(word, names);
		if (near)
			err_hint(e, "did you mean '%s'? 'pmm trace --list' has all names", near);
		break;
	}
	return -EINVAL;
}

/*
 * Operands: events, a command. In front of "--" there are events only, and without it where
 * something else than a command is traced.
 */
static int read_operands(struct command *c, int argc, char **argv, struct err *e)
{
	unsigned before = opt_before_dashes();
	bool no_command = before == OPT_NO_DASHES && (pids.nr || everything);
	bool first = argc && before && !event_classes_parse(argv[0], &c->o.classes, NULL);

	if (argc && !first && (no_command || (before && before != OPT_NO_DASHES)))
		return refuse_events(argv[0], e);
	if (argc > 1 && (no_command || (before > 1 && before != OPT_NO_DASHES))) {
		err_set(e, -EINVAL, "unexpected argument '%s'", argv[1]);
		err_hint(e, "several events are a list with commas: mmap,brk");
		e->exit_code = CMD_USAGE;
		return -EINVAL;
	}
	if (!first)
		event_classes_parse("default", &c->o.classes, NULL);
	c->o.command = argc > first ? argv + first : NULL;
	return 0;
}

static int read_options(struct command *c, int argc, char **argv, struct err *e)
{
	int rc = read_operands(c, argc, argv, e);

	c->o.loop = c->loop;
	c->o.mask = &c->given;
	c->o.signals = &signals;
	c->o.duration_ns = timed ? duration_ns : 0;
	c->o.interval_ns = interval_ns;
	c->o.lines = !summary_only && !folded;
	c->o.clock = by_clock;
	c->o.quiet = quiet;
	c->o.folded = folded;
	c->o.sort = sort;
	c->o.map_events = true;
	c->o.top = top;
	c->o.frames = frames;
	c->o.older_ns = older_ns;
	c->o.kernel = (struct kernel_options){
		.comm = comm,
		.stack_bytes = stack_bytes,
		.ring_bytes = ring_bytes,
		.min_ns = min_latency_ns,
		.min_bytes = min_size_bytes,
		.sample = sample,
		.kmem_objects = objects,
	};
	if (!rc)
		rc = read_filters(c, e);
	if (!rc)
		rc = check_options(c, e);
	return rc ? rc : set_scope(c, e);
}

static int print_list(FILE *out)
{
	struct emit emit;

	emit_init(&emit, out, as_json);
	return trace_form_list(&emit.sink);
}

static int exit_code(int status)
{
	return status < 0 ? CMD_OK
	     : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* `e` says why no events can be seen. */
static int show_figures(struct command *c, struct err *e)
{
	struct err why = *e;
	int rc;

	*e = (struct err){ 0 };
	rc = trace_figures_open(&c->figures, &c->o, &why, &c->emit.sink, e);
	if (!rc)
		rc = trace_figures_run(c->figures, e);
	if (!rc)
		rc = exit_code(trace_figures_status(c->figures));
	trace_figures_close(c->figures);
	return rc;
}

static int trace(struct command *c, struct err *e)
{
	int rc = hold_signals(c);

	if (rc)
		return err_set(e, rc, "cannot wait for signals: %s", strerror(-rc));
	emit_init(&c->emit, c->out, as_json);
	c->emit.event = on_event;
	c->emit.event_arg = c;
	c->style = terminal_style(c->file.f ? c->file.f : c->out);
	rc = trace_form_open(&c->session, &c->o, &c->emit.sink, e);
	if (trace_form_is_refused(rc) && trace_figures_can(&c->o))
		return show_figures(c, e);
	if (!rc)
		rc = trace_session_run(c->session, e);
	if (rc == -ENOENT && c->o.command && !strchr(c->o.command[0], '/') && !*e->hint)
		err_hint(e, "'pmm trace --list' has the names of events");
	if (!rc)
		rc = trace_session_finish(c->session, e);
	if (!rc)
		rc = exit_code(trace_session_status(c->session));
	trace_session_close(c->session);
	return rc;
}

/* What was given by --output, instead of standard output. */
static int open_output(struct command *c, struct err *e)
{
	int rc = output ? report_file_begin(&c->file, output, e) : 0;

	if (!rc && output) {
		c->out = report_file_stream(&c->file);
		rc = c->out ? 0 : -ENOMEM;
	}
	return rc;
}

static int trace_all(struct command *c, int argc, char **argv, struct err *e)
{
	int rc = loop_new(&c->loop);

	if (!rc)
		rc = read_options(c, argc, argv, e);
	if (!rc)
		rc = open_output(c, e);
	if (!rc)
		rc = trace(c, e);
	loop_free(c->loop);
	return rc;
}

static int list_all(struct command *c, struct err *e)
{
	int rc = open_output(c, e);

	return rc ? rc : print_list(c->out);
}

static int trace_run(int argc, char **argv)
{
	struct command c = { .out = stdout };
	struct err e = { 0 };
	int rc = read_format(&e);

	if (!rc)
		rc = list ? list_all(&c, &e) : trace_all(&c, argc, argv, &e);
	if (rc == -EPIPE)
		err_set(&e, rc, "the output has no reader any more");
	else if (rc < 0 && !*e.text && c.out && ferror(c.out))
		err_set(&e, rc, "cannot write to %s: %s", output ? output : "standard output",
			strerror(-rc));
	rc = report_file_end(&c.file, rc, true, &e);
	return rc < 0 ? cmd_fail(err_default(&e, rc)) : rc;
}

static const struct cmd_pair trace_exits[] = {
	{ "0", "traced to the end; with a command its own exit code, 128+N when signal N "
	       "ended it" },
	{ "2", "wrong usage" },
	{ "3", "nothing could be traced, and figures of the kernel cannot stand in for it" },
	{ "126, 127", "the command cannot be executed, was not found; or its own exit code" },
	{ 0 }
};

const struct cmd cmd_trace = {
	.name = "trace",
	.summary = "show what the kernel does about memory, and to whom",
	.usage = "[EVENTS] [options] -p PID | --all | -- COMMAND [ARG...]",
	.opts = trace_opts,
	.exits = trace_exits,
	.max_operands = CMD_ANY,
	.run = trace_run,
	.description =
		"Prints a line for each event and a summary at the end. EVENTS is a list with "
		"commas of the names that 'pmm trace --list' shows; without it all events are "
		"traced that cost little.\n\n"
		"Root sees everything, and so does who has CAP_BPF and CAP_PERFMON. Other users see "
		"page faults, mappings, programs and threads of their own commands and processes.",
	.examples = (const struct cmd_pair[]){
		{ "pmm trace -p 4711 -s -d 10s",
		  "ten seconds of a process: does it wait for memory, and does it grow" },
		{ "pmm trace reclaim,compaction,major,swap,oom --all -s -d 30s",
		  "who on this machine waits for memory, or is killed for want of it" },
		{ "pmm trace rss,mmap,brk -p 4711 --sort bytes",
		  "whose code makes a process grow" },
		{ "pmm trace heap -p 4711 -i 10s -d 1m --older 10s",
		  "what it allocates and keeps, by stack, how much it grows: by attaching to it" },
		{ "pmm trace mmap,brk -- python3 -c pass", "each mapping of a command" },
		{ "pmm trace --list", "which events there are, and which work here" },
		{ 0 }
	},
};
