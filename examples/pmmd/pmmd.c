/* SPDX-License-Identifier: GPL-2.0-or-later
 * pmmd: a daemon to watch. It holds, loses and damages memory when it is told to, and is otherwise
 * as a daemon should be.
 *
 *     pmmd DIRECTORY                          start it; it is ready when this returns
 *     pmmd --kmod DIRECTORY                   what it requests goes to the kernel module's log, too
 *     pmmd ctl DIRECTORY/pmmd.sock COMMAND    tell it what to do
 *
 * One thread (server.c) waits for clients (session.c), signals and time, and obeys (work_obey.c);
 * what memory is held for is in cache.c, queue.c, crew.c (threads) and bugs.c. Compiled with -DPMM
 * the monitor is inside: monitor.c has all that it takes.
 *
 * SIGTERM and SIGINT end it, SIGHUP opens the log anew, SIGUSR1 writes to the log what is known of
 * its memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background.h"
#include "ctl.h"
#include "log.h"
#include "monitor.h"
#include "place.h"
#include "server.h"
#include "work.h"

static int show_usage(FILE *out)
{
	fprintf(out,
		"usage: pmmd [-f] [--kmod] DIRECTORY            start; -f: stay in the foreground\n"
		"       pmmd ctl DIRECTORY/pmmd.sock COMMAND    give a running one a command\n");
	if (out == stdout) {
		puts("\ncommands:");
		work_usage();
		puts("\n--kmod: log requests to the kernel module from the start on, as the "
		     "command 'kmod 1' does later. Without the\nmodule pmmd says so, and runs "
		     "as ever.");
		puts("\nDIRECTORY gets pmmd.pid, pmmd.sock and pmmd.log. Signals: TERM and INT end "
		     "it, HUP opens the log anew,\n"
		     "USR1 writes to the log what is known of its memory.");
	}
	return out == stdout ? 0 : 2;
}

/* Said where it was started, which is still known, and in the log. */
static void start_log(void)
{
	char why[256];

	if (monitor_log(true, why, sizeof(why))) {
		log_line("requests are logged to the kernel module");
		return;
	}
	fprintf(stderr, "pmmd: nothing is logged to the kernel module: %s\n", why);
	log_line("nothing is logged to the kernel module: %s", why);
}

static int run_daemon(const char *directory, bool stay, bool kmod)
{
	static struct place place;
	static struct server server;
	char why[PATH_MAX + 256];
	int e;

	if (!place_init(&place, directory, why, sizeof(why))) {
		fprintf(stderr, "pmmd: %s\n", why);
		return 1;
	}
	background_enter(stay);
	if (!place_take(&place, why, sizeof(why)))
		background_fail("%s", why);
	e = log_open(place.log);
	if (e < 0) {
		place_leave(&place);
		background_fail("'%s' cannot be opened: %s", place.log, strerror(-e));
	}
	e = server_init(&server, place.listener);
	if (e < 0) {
		place_leave(&place);
		background_fail("signals and time cannot be waited for: %s", strerror(-e));
	}
	monitor_start();
	if (kmod)
		start_log();
	log_line("pmmd %ld is ready", (long)getpid());
	background_ready();
	server_run(&server);
	log_line("pmmd %ld ends", (long)getpid());
	server_fini(&server);
	place_leave(&place);
	return 0;
}

int main(int argc, char **argv)
{
	bool stay = false, kmod = false;
	int at = 1;

	monitor_silence();
	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return show_usage(stdout);
	if (argc > 1 && !strcmp(argv[1], "ctl"))
		return argc > 3 ? ctl_run(argv[2], argc - 3, argv + 3) : show_usage(stderr);
	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "-f"))
			stay = true;
		else if (!strcmp(argv[at], "--kmod"))
			kmod = true;
		else
			return show_usage(stderr);
	}
	if (argc != at + 1)
		return show_usage(stderr);
	return run_daemon(argv[at], stay, kmod);
}
