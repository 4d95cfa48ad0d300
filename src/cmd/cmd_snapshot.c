/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm snapshot: the capture of a running, tracked process, which does not notice. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "src/base/fmt.h"
#include "src/roots/glibc/figures.h"
#include "src/ledger/ledger_heap.h"
#include "src/store/output.h"
#include "src/cmd/cmd.h"
#include "src/cmd/options/pid.h"
#include "src/cmd/whole.h"

#define VIEW_WAIT_MS 100

static const char *output;
static uint64_t memory_bytes;
static bool quiet;

static const struct opt snapshot_opts[] = {
	{ "output", 'o', OPT_FILE, "FILE",
	  "write there (%p: pid, %c: command); default " OUTPUT_DEFAULT, &output },
	{ "quiet", 'q', OPT_FLAG, NULL, "no messages but errors", &quiet },
	{ "memory-limit", 0, OPT_SIZE, "SIZE",
	  "memory that reading the ledger may take (default a quarter of RAM, or of the control "
	  "group's)",
	  &memory_bytes, .min = 1 << 20 },
	{ 0 }
};

/*
 * The allocator answers at the program's next call only: a program that allocates nothing now does
 * not.
 */
static void note_view(int answer, const struct heap *h)
{
	const char *rest = h->allocator.valid ? "those it gave last are in the capture"
					      : "the capture has none";

	if (answer == 1 || quiet)
		return;
	if (answer < 0)
		cmd_note("the allocator cannot be asked for its figures; %s", rest);
	else
		cmd_note("the allocator gave no figures within %d ms; %s", VIEW_WAIT_MS, rest);
}

/*
 * Can the process itself be asked for figures that could not be read from outside? It is held up by
 * that as little as its allocator is quick.
 */
static bool may_answer(int figures)
{
	return figures == HEAP_FIGURES_DENIED || figures == HEAP_FIGURES_SHAPE ||
	       figures == HEAP_FIGURES_SEVERAL;
}

/*
 * The allocator's own figures into a heap, from outside or, where that cannot be, by asking the
 * process and reading its ledger anew.
 */
static int add_figures(struct ledger_map *m, const struct ledger_options *o, struct heap **h,
		       struct err *e)
{
	int rc = figures_read(o->pid, ledger_map_tick(m) * PMM_TICK_NS, FIGURES_MAX_CHUNKS, *h),
	    answer;

	if (rc < 0)
		return rc;
	if (!may_answer(rc))
		return 0;
	answer = ledger_map_ask_view(m, VIEW_WAIT_MS);
	if (answer == 1) {
		heap_free(*h);
		*h = NULL;
		rc = ledger_read(m, o, h, e);
		if (rc)
			return rc;
	}
	note_view(answer, *h);
	return 0;
}

static int read_process(pid_t pid, struct heap **h, struct err *e)
{
	uint64_t damaged = 0;
	struct ledger_options o = {
		.running = true, .usage = true, .pid = pid, .damaged = &damaged
	};
	struct ledger_map *m;
	int rc = ledger_map_open_pid(pid, &m, e);

	if (rc == -ESRCH)
		err_hint(e, "a process is captured while it runs; 'pmm run' and 'pmm attach' write "
			    "a capture when it ends");
	if (rc)
		return rc;
	m->max_bytes = memory_bytes;
	rc = ledger_read(m, &o, h, e);
	if (!rc)
		rc = add_figures(m, &o, h, e);
	if (!rc && damaged)
		cmd_note("%s entries of the ledger were inconsistent and were left out",
			 fmt_count(damaged).s);
	ledger_map_close(m);
	return rc;
}

static int snapshot_run(int argc, char **argv)
{
	char name[PATH_MAX];
	struct heap *h = NULL;
	struct err e = { 0 };
	pid_t pid;
	int rc;

	(void)argc;
	rc = output ? output_check(output, &e) : 0;
	if (!rc)
		rc = cmd_parse_pid(argv[0], &pid, &e);
	if (!rc)
		rc = read_process(pid, &h, &e);
	if (!rc)
		rc = whole_write(h, output ? output : OUTPUT_DEFAULT, pid, name, &e);
	if (!rc && !quiet)
		cmd_note("%s live in %s of process %d, written to '%s'",
			 fmt_bytes(h->live_bytes).s, fmt_many(h->live_blocks, "block").s,
			 (int)pid, name);
	heap_free(h);
	return rc ? cmd_fail(err_default(&e, rc)) : CMD_OK;
}

const struct cmd cmd_snapshot = {
	.name = "snapshot",
	.summary = "write the capture of a running, tracked process",
	.usage = "[options] PID",
	.opts = snapshot_opts,
	.min_operands = 1,
	.max_operands = 1,
	.run = snapshot_run,
	.description =
		"Reads the ledger of a process and writes it as a capture: one that runs under "
		"'pmm run', that pmm is attached to, or that has the monitor preloaded or "
		"compiled in. The process is not stopped and does not notice; blocks that come and "
		"go meanwhile are counted as drift in the report.\n\n"
		"The allocator's own figures, of glibc's, are read out of the process's memory. "
		"Where that cannot be done the process itself is asked, which answers with its "
		"next allocation; when none happens within 100 ms, older figures are used and a "
		"message says so.\n\n"
		"'pmm report PID' shows the same without writing a file.",
	.examples = (const struct cmd_pair[]){
		{ "pmm snapshot 4711", "write pmm.COMM.4711.pmm in the current directory" },
		{ "pmm snapshot -o before.pmm 4711", "choose the name" },
		{ 0 }
	},
};
