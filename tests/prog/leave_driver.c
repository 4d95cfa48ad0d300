/* SPDX-License-Identifier: GPL-2.0-or-later
 * Runs a program under the monitor, every process of it to be seen off at its end (src/track/leaving.h), for tests/cli/leaving.bats:
 *
 *	leave_driver [-s MS] [-k | -t | -K] FILE AGENT PROGRAM [ARG...]
 *
 * A line of FILE for each: "NAME CAUSE NUMBER THREAD held=DIGITS": THREAD is main or other; held: which of the words that leave_exit.c
 * marks lie in what counts of the stack. -s: look for that long. -k, -t: kill the process while it waits, by SIGKILL or SIGTERM, -K: kill the
 * driver itself, at the first one.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cmd/run_signals.h"
#include "src/track/monitor.h"
#include "src/ledger/preload.h"
#include "src/proc/proc.h"
#include "src/ptrace/stop.h"
#include "tests/prog/leave_mark.h"

static struct monitor monitor;
static struct ledger_tree tree;
static struct child child;
static FILE *out;
static unsigned look_ms;
static bool kill_it, end_it, kill_us;

/* Marks from sp to the end of its mapping, as a set of bits. */
static unsigned marks(pid_t pid, uint64_t sp)
{
	struct proc_maps maps;
	unsigned found = 0;
	uint64_t word;

	if (!sp || proc_maps_read(pid, &maps, NULL))
		return 0;
	for (size_t i = 0; i < maps.nr; i++)
		for (uint64_t at = sp; at >= maps.v[i].start && at + 8 <= maps.v[i].end; at += 8)
			if (!stop_read(pid, at, &word, 8) && (word ^ LEAVE_MARK) < LEAVE_MARKS)
				found |= 1u << (word ^ LEAVE_MARK);
	proc_maps_fini(&maps);
	return found;
}

static void on_leaving(void *arg, pid_t pid, const struct leaving *l)
{
	char comm[PROC_COMM_BYTES] = "?";

	(void)arg;
	proc_comm(pid, comm);
	fprintf(out, "%s %s %u %s held=", comm, leaving_cause_name(l->cause), l->number, l->tid == pid ? "main" : "other");
	for (unsigned i = 1, found = marks(pid, l->sp); i < LEAVE_MARKS; i++)
		if (found & 1u << i)
			fprintf(out, "%u", i);
	fprintf(out, "\n");
	fflush(out);
	if (kill_us)
		kill(getpid(), SIGKILL);
	if (kill_it)
		kill(pid, SIGKILL);
	if (end_it)
		kill(pid, SIGTERM);
	usleep(look_ms * 1000);
}

static void on_ended(void *arg, struct heap *h, bool is_root)
{
	(void)arg, (void)is_root;
	heap_free(h);
}

static void on_unreadable(void *arg, pid_t pid, bool is_root, const struct err *e)
{
	(void)arg, (void)is_root;
	fprintf(out, "%d is unreadable: %s\n", (int)pid, e->text);
}

static const struct monitor_ops ops = { .ended = on_ended, .unreadable = on_unreadable, .leaving = on_leaving };

int main(int argc, char **argv)
{
	struct ledger_tree_options o = { .follow = true, .leaks = true };
	struct err e = { .text = "" };
	char value[PRELOAD_VALUE_BYTES], **env;

	for (int c; (c = getopt(argc, argv, "+s:ktK")) >= 0;) {
		look_ms = c == 's' ? (unsigned)atoi(optarg) : look_ms;
		kill_it |= c == 'k';
		end_it |= c == 't';
		kill_us |= c == 'K';
	}
	argv += optind;
	out = argc - optind < 3 ? NULL : fopen(argv[0], "we");
	if (!out || child_prepare(&child, &run_signals, true, &e))
		return 2;
	o.space_bytes = child_limit(&child, RLIMIT_AS).rlim_cur;
	o.file_bytes = child_limit(&child, RLIMIT_FSIZE).rlim_max;
	if (ledger_tree_init(&tree, &o, &e) || monitor_init(&monitor, &tree, &child, NULL, 0, &ops, NULL, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 3;
	}
	monitor_value(&monitor, value);
	env = preload_env(environ, argv[1], value);
	if (!env || child_start(&child, argv[2], argv + 2, env, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 3;
	}
	monitor_begin(&monitor, 0);
	preload_env_free(env);
	monitor_until_root(&monitor);
	monitor_settle(&monitor, 200000000, NULL);
	monitor_fini(&monitor);
	ledger_tree_fini(&tree);
	return child_exit_code(child.status);
}
