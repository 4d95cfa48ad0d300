/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm kmod: the kernel module, what it monitors, and the logs that it keeps. */
#include "src/cmd/cmd_kmod.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/loop.h"
#include "src/base/nanotime.h"
#include "src/base/vec.h"
#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/report/report_command.h"
#include "src/cmd/terminal.h"
#include "src/cmd/whole.h"
#include "src/kmod/kmod_device.h"
#include "src/kmod/kmod_heap.h"
#include "src/session/kmod/kmod_status.h"
#include "src/session/kmod/kmod_watch.h"
#include "src/store/output.h"
#include "src/view/kmod/kmod_view.h"

/* What an option is for. */
enum { FOR_STATUS = 1, FOR_WATCH = 2, FOR_REPORT = 4 };

static struct report_command report = { .opt.top = 10 };
static const char *output;
static uint64_t duration_ns;

static const struct opt kmod_opts[] = {
	{ "json", 0, OPT_FLAG, NULL,
	  "status, watch, report: write JSON (schemas " KMOD_STATUS_SCHEMA ", " KMOD_WATCH_SCHEMA
	  ", " REPORT_SCHEMA ")",
	  &report.as_json, .uses = FOR_STATUS | FOR_WATCH | FOR_REPORT },
	{ "duration", 'd', OPT_DURATION, "TIME",
	  "watch: end after TIME (seconds, or 10ms, 5m, 2h, 1d)", &duration_ns, .min = 1000000,
	  .uses = FOR_WATCH },
	FORM_OPTION(&report.form, &report.form_given, FORM_KMOD_REPORT,
		    "report: its form, as of 'pmm report' (default text)", .uses = FOR_REPORT),
	{ "output", 'o', OPT_FILE, "FILE",
	  "report: with --format write there; else write a capture instead, which 'pmm report' "
	  "reads (%p: pid, %c: command)",
	  &output, .uses = FOR_REPORT },
	REPORT_OPTIONS(report, FOR_REPORT),
	CMD_MEMORY_LIMIT(&report.memory_bytes, .uses = FOR_REPORT),
	TERMINAL_WIDTH(),
	{ 0 }
};

/* ---- status, start, stop ---- */

static int show_status(struct kmod_device *d, char **argv, int nr, struct err *e)
{
	struct emit to;

	(void)argv;
	(void)nr;
	emit_init(&to, stdout, report.as_json);
	return kmod_status(d, &to.sink, e);
}

/* The first that fails ends it. */
static int each_pid(struct kmod_device *d, char **argv, int nr,
		    int (*act)(struct kmod_device *, pid_t, struct err *), struct err *e)
{
	int rc = 0;

	for (int i = 0; i < nr && !rc; i++) {
		pid_t pid;

		rc = cmd_parse_pid(argv[i], &pid, e);
		if (!rc)
			rc = act(d, pid, e);
	}
	return rc;
}

static int start_all(struct kmod_device *d, char **argv, int nr, struct err *e)
{
	return each_pid(d, argv, nr, kmod_device_start, e);
}

static int stop_all(struct kmod_device *d, char **argv, int nr, struct err *e)
{
	return each_pid(d, argv, nr, kmod_device_stop, e);
}

/* ---- watch ---- */

static int print_event(void *arg, const struct event *e)
{
	struct style style = terminal_style(stdout);
	int rc = report.as_json ? event_print_json(e, stdout)
				: event_print_text(e, &style, stdout);

	(void)arg;
	return !rc && fflush(stdout) ? -errno : rc;
}

static void on_signal(void *arg, const struct signalfd_siginfo *signal)
{
	(void)signal;
	loop_stop(arg);
}

static void on_time(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	loop_stop(arg);
}

/* What ends it, beside the end of what is watched. */
static int add_ends(struct loop *l)
{
	sigset_t set;
	int rc;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	rc = loop_add_signals(l, &set, on_signal, l, NULL);
	if (!rc && duration_ns)
		rc = loop_add_timer(l, nanotime() + duration_ns, on_time, l, NULL);
	return rc;
}

static int watch_loop(struct kmod_device *d, struct loop *l, const struct kmod_watch_options *o,
		      struct err *e)
{
	struct kmod_watch *w = NULL;
	struct emit to;
	int rc;

	emit_init(&to, stdout, report.as_json);
	to.event = print_event;
	rc = kmod_watch_new(&w, d, l, o, &to.sink, e);
	if (rc)
		return rc;
	rc = loop_run(l);
	if (!rc)
		rc = kmod_watch_result(w, e);
	kmod_watch_free(w);
	return rc;
}

static int watch(struct kmod_device *d, char **argv, int nr, struct err *e)
{
	VEC(pid_t) pids = { 0 };
	struct loop *l = NULL;
	int rc = 0;

	for (int i = 0; i < nr && !rc; i++) {
		pid_t pid;

		rc = cmd_parse_pid(argv[i], &pid, e);
		if (!rc)
			rc = vec_push(&pids, pid);
	}
	if (!rc)
		rc = loop_new(&l);
	if (!rc)
		rc = add_ends(l);
	if (!rc)
		rc = watch_loop(d, l,
				&(struct kmod_watch_options){ pids.v, pids.nr }, e);
	loop_free(l);
	vec_fini(&pids);
	return rc;
}

/* ---- report ---- */

static int write_capture(const struct heap *h, pid_t pid, struct err *e)
{
	char name[PATH_MAX];
	int rc = whole_write(h, output, pid, name, e);

	if (!rc)
		cmd_note("%s outstanding in %s of process %d, written to '%s'",
			 fmt_bytes(h->live_bytes).s, fmt_many(h->live_blocks, "block").s,
			 (int)pid, name);
	return rc;
}

static int show_report(struct kmod_device *d, char **argv, int nr, struct err *e)
{
	struct heap *h = NULL;
	pid_t pid;
	int rc = cmd_parse_pid(argv[0], &pid, e);

	(void)nr;
	if (!rc && output)
		rc = output_check(output, e);
	if (!rc)
		rc = kmod_heap_read(d, pid, report.memory_bytes, &h, e);
	if (rc)
		return rc;
	if (!h->allocs && !h->frees)
		cmd_note("process %d has logged nothing: only programs compiled with pmm.h and "
			 "PMM_KMOD do (doc/kmod.md)", (int)pid);
	rc = output ? write_capture(h, pid, e) : report_command_print(&report, h, NULL, e);
	heap_free(h);
	return rc;
}

/* ---- verbs ---- */

static int load(struct kmod_device *d, char **argv, int nr, struct err *e)
{
	(void)d;
	return cmd_kmod_load(argv, nr, e);
}

static int unload(struct kmod_device *d, char **argv, int nr, struct err *e)
{
	(void)d;
	(void)argv;
	(void)nr;
	return cmd_kmod_unload(e);
}

static const struct verb {
	const char *name;
	int (*run)(struct kmod_device *d, char **argv, int nr, struct err *e);
	int min, max;			/* words behind it */
	unsigned uses;			/* of options */
	bool needs_device;
} verbs[] = {
	{ "status", show_status, 0, 0, FOR_STATUS, true },
	{ "load", load, 0, INT_MAX, 0, false },
	{ "unload", unload, 0, 0, 0, false },
	{ "start", start_all, 1, INT_MAX, 0, true },
	{ "stop", stop_all, 1, INT_MAX, 0, true },
	{ "watch", watch, 0, INT_MAX, FOR_WATCH, true },
	{ "report", show_report, 1, 1, FOR_REPORT, true },
};

#define NR_VERBS (sizeof(verbs) / sizeof(*verbs))

static const struct verb *find_verb(const char *name, struct err *e)
{
	const char *names[NR_VERBS + 1] = { NULL }, *nearest;

	for (size_t i = 0; i < NR_VERBS; i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		names[i] = verbs[i].name;
	}
	nearest = opt_nearest(name, names);
	err_set(e, -EINVAL, "'pmm kmod' has no '%s'", name);
	if (nearest)
		err_hint(e, "did you mean '%s'?", nearest);
	else
		err_hint(e, "it has status, load, unload, start, stop, watch and report");
	e->exit_code = CMD_USAGE;
	return NULL;
}

/* Options and words that do not go with the verb. */
static int check_verb(const struct verb *v, int nr, struct err *e)
{
	const struct opt *o;

	e->exit_code = CMD_USAGE;
	for (unsigned i = 0; (o = opt_met(i)); i++)
		if (o->uses && !(o->uses & v->uses)) {
			err_set(e, -EINVAL, "'--%s' is not for 'pmm kmod %s'", o->name, v->name);
			err_hint(e, "leave it out; 'pmm kmod --help' says what it is for");
			return -EINVAL;
		}
	if (nr < v->min || nr > v->max) {
		err_set(e, -EINVAL, nr < v->min ? "'pmm kmod %s' needs a PID"
						: "'pmm kmod %s' has too many arguments", v->name);
		err_hint(e, "usage: pmm kmod %s%s", v->name,
			 v->max == 0 ? "" : v->max == 1 ? " PID" : " PID...");
		return -EINVAL;
	}
	e->exit_code = 0;
	if (!(v->uses & FOR_REPORT))
		return 0;
	if (report.form_given) {
		report.output = output;
		output = NULL;
	}
	return report_command_check(&report, FORM_KMOD_REPORT, e);
}

static int kmod_run(int argc, char **argv)
{
	struct kmod_device d = { .fd = -1 };
	struct err e = { 0 };
	const struct verb *v = find_verb(argv[0], &e);
	int rc = v ? check_verb(v, argc - 1, &e) : -EINVAL;

	if (!rc && v->needs_device)
		rc = kmod_device_open(&d, KMOD_DEVICE_PATH, &e);
	if (!rc)
		rc = v->run(&d, argv + 1, argc - 1, &e);
	kmod_device_close(&d);
	return rc ? cmd_fail(err_default(&e, rc)) : CMD_OK;
}

const struct cmd cmd_kmod = {
	.name = "kmod",
	.summary = "load the kernel module, show what it monitors and the logs that it keeps",
	.usage = "[options] status|load [NAME=VALUE...]|unload|start PID...|stop PID...|"
		 "watch [PID...]|report PID",
	.opts = kmod_opts,
	.min_operands = 1,
	.max_operands = CMD_ANY,
	.run = kmod_run,
	.description =
		"The kernel module pmm.ko keeps the log of what programs request that are compiled "
		"with PMM_KMOD (pmm.h), and looks at the processes that it monitors: their size, "
		"growth, faults and end. It needs neither eBPF nor a preloaded library, and its log "
		"survives the process.\n\n"
		"'status' shows its configuration, what the logs lack, and the monitored processes. "
		"'start' and 'stop' begin and end the monitoring of a process. 'watch' shows events "
		"as they happen: alerts, ends, programs replaced; of the processes named, which it "
		"starts to monitor and leaves monitored, or of all. It ends on SIGINT, after "
		"--duration, and when all that were named have ended.\n\n"
		"'report' shows the log of a process as 'pmm report' shows a capture, also after "
		"its end, for as long as the module keeps it. The log has what is outstanding; of "
		"what was freed only number and bytes are known.\n\n"
		"'load' looks for pmm.ko below /lib/modules/$(uname -r), in updates/dkms, extra and "
		"updates, then beside this pmm, and loads it with the parameters given ('modinfo "
		"pmm' lists them). 'unload' removes it, unless a process has the device open.\n\n"
		"See doc/kmod.md.",
	.examples = (const struct cmd_pair[]){
		{ "pmm kmod load interval_ms=500", "load the module" },
		{ "pmm kmod watch -d 1h --json 4711", "an hour of events of a process" },
		{ "pmm kmod report --top 3 4711", "what a process has outstanding by its log" },
		{ "pmm kmod report -o before.pmm 4711", "the same as a capture, for later" },
		{ 0 }
	},
};
