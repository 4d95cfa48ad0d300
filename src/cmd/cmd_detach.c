/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm detach: take the agent out of a process that a monitor has left behind. */
#include <errno.h>
#include <stdio.h>

#include "src/base/fmt.h"
#include "src/cmd/cmd.h"
#include "src/cmd/options/pid.h"
#include "src/inject/injection.h"
#include "src/ledger/ledger_map.h"
#include "src/proc/fds.h"
#include "src/proc/frozen.h"
#include "src/ptrace/watchdog.h"

static bool quiet;

static const struct opt detach_opts[] = {
	{ "quiet", 'q', OPT_FLAG, NULL, "no messages but errors", &quiet },
	{ 0 }
};

/* In the watchdog: we have died. */
static int go_on(pid_t pid, void *unused)
{
	uint64_t pause_ns;
	bool removed;
	int rc = inject_detach(pid, &removed, &pause_ns, NULL);

	(void)unused;
	return rc == -ENOENT || rc > 0 ? 0 : rc;
}

/* What is asked for is so already, unless an agent is in it that cannot be taken out. */
static int nothing_to_do(pid_t pid, struct err *e)
{
	struct ledger_map *m;

	if (ledger_map_open_pid(pid, &m, NULL)) {
		if (!quiet)
			cmd_note("%s", e->text);
		return CMD_OK;
	}
	ledger_map_close(m);
	err_hint(e,
		 "it records all the same: its agent came with the program, by 'pmm run', 'pmm "
		 "check' or pmm.h, and stays until the program ends");
	return cmd_fail(e);
}

/* `guarded`: blocks that the process still uses; 0: a thread of it is still inside the agent. */
static int fail_inside(pid_t pid, unsigned guarded, struct err *e)
{
	if (guarded) {
		err_set(e, -EBUSY, "process %d still uses %s of 'pmm attach --check'", (int)pid,
			fmt_many(guarded, "guarded block").s);
		err_hint(e,
			 "they can be used and released as always; 'pmm detach %d' again takes out "
			 "the rest when the last one is gone",
			 (int)pid);
	} else {
		err_set(e, -EBUSY,
			"the code of process %d is as it was, but a thread is still inside the "
			"agent",
			(int)pid);
		err_hint(e,
			 "it does no harm there; 'pmm detach %d' again takes it out once the "
			 "thread has left it",
			 (int)pid);
	}
	return cmd_fail(e);
}

static void note_detached(pid_t pid, pid_t monitor, uint64_t pause_ns)
{
	if (monitor)
		cmd_note(
			"process %d is as it was before process %d attached to it (stopped for %s)",
			(int)pid, (int)monitor, fmt_duration(pause_ns).s);
	else
		cmd_note("process %d is as it was before pmm (stopped for %s)", (int)pid,
			 fmt_duration(pause_ns).s);
}

static int detach_run(int argc, char **argv)
{
	struct watchdog w = { 0 };
	struct err e = { 0 };
	uint64_t pause_ns;
	pid_t pid, monitor;
	bool removed;
	int rc;

	(void)argc;
	fds_raise();
	rc = cmd_parse_pid(argv[0], &pid, &e);
	if (!rc)
		rc = frozen_not(pid, &e);
	if (!rc)
		rc = inject_present(pid, &monitor, &e);
	if (rc >= 0)
		rc = watchdog_start(&w, pid, go_on, NULL, &e);
	if (!rc)
		rc = inject_detach(pid, &removed, &pause_ns, &e);
	watchdog_end(&w, true);
	if (rc == -ENOENT)
		return nothing_to_do(pid, &e);
	if (rc == -ESRCH)
		err_hint(&e, "nothing of pmm is left in a process that has ended");
	if (rc < 0)
		return cmd_fail(err_default(&e, rc));
	if (rc > 0 || !removed)
		return fail_inside(pid, (unsigned)rc, &e);
	if (!quiet)
		note_detached(pid, monitor, pause_ns);
	return CMD_OK;
}

const struct cmd cmd_detach = {
	.name = "detach",
	.summary = "take pmm out of a process that was left attached",
	.usage = "[options] PID",
	.opts = detach_opts,
	.min_operands = 1,
	.max_operands = 1,
	.run = detach_run,
	.description =
		"'pmm attach' takes itself out of the process when it ends. When it is killed, "
		"its watchdog does so within some seconds. Where the watchdog was killed as well, "
		"or when a thread was still inside the agent, this command restores the program's "
		"code and unmaps what pmm has mapped. The next 'pmm attach' does the same "
		"first.\n\n"
		"Until then the program keeps running: the agent notices within some seconds that there "
		"is no monitor, and stops recording.",
	.exits = (const struct cmd_pair[]){
		{ "0", "nothing of 'pmm attach' is in the process any more, or nothing was" },
		{ "2", "wrong usage" },
		{ "3", "it is still there: a thread is inside the agent, guarded blocks are in "
		       "use, or it could not be taken out" },
		{ 0 } },
	.examples = (const struct cmd_pair[]){ { "pmm detach 4711",
						 "restore the code of process 4711" },
					       { 0 } },
};
