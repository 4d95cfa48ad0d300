/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm doctor: pmm itself, tried out. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/loop.h"
#include "src/base/nanotime.h"
#include "src/store/capture.h"
#include "src/ledger/preload.h"
#include "src/session/doctor/doctor.h"
#include "src/symbol/symbol.h"

#define TRIAL_NS 5000000000u
#define TRIALS 3

/* The smallest dynamic program that is sure to be there and to allocate: the shell. */
static char *const trial_command[] = {
	"pmm", "run", "-q", "-o", NULL, "--", "/bin/sh", "-c", ":", NULL,
};
#define TRIAL_OUTPUT 4

struct trial {
	bool ended;
	int status;
};

static void on_end(void *arg, pid_t pid, int status)
{
	(void)pid;
	*(struct trial *)arg = (struct trial){ true, status };
}

/* Wait for the trial at most so long; kill it then. Its exit code, or -1. */
static int wait_for(pid_t pid)
{
	uint64_t now_ns = nanotime(), end_ns = now_ns + TRIAL_NS;
	struct trial t = { .ended = false };
	struct loop *loop = NULL;
	int rc = loop_new(&loop);

	rc = rc ? rc : loop_add_child(loop, pid, on_end, &t, NULL);
	for (; rc >= 0 && !t.ended && now_ns < end_ns; now_ns = nanotime())
		rc = loop_step(loop, (int64_t)(end_ns - now_ns));
	loop_free(loop);
	if (!t.ended) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return t.ended && WIFEXITED(t.status) ? WEXITSTATUS(t.status) : -1;
}

static int run_trial(char *output)
{
	pid_t pid = fork();

	if (pid == 0) {
		char *argv[sizeof(trial_command) / sizeof(*trial_command)];
		int null = open("/dev/null", O_RDWR);

		memcpy(argv, trial_command, sizeof(argv));
		argv[TRIAL_OUTPUT] = output;
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	return pid < 0 ? -1 : wait_for(pid);
}

/* The heap that a trial has left in `output`, and its exit code; NULL: none, `e` says why. */
static struct heap *try(char *output, int *code, struct err *e)
{
	struct heap *h = NULL;

	*code = run_trial(output);
	if (!*code)
		capture_read(output, 0, &h, e);
	return h;
}

static bool was_tracked(const struct heap *h)
{
	return h && !h->off_reason && h->allocs;
}

/*
 * Run a program under the agent and look at what it has left. More than once where that is nothing:
 * on a machine that is slow at the moment the program goes on without the monitor's answer.
 */
static void check_trial(struct doctor *d)
{
	char output[] = "/tmp/pmm-doctor-XXXXXX";
	struct err e = { .text = "" };
	struct heap *h = NULL;
	int fd = mkstemp(output), code = 0;

	if (fd < 0) {
		doctor_add(d, "trial", DOCTOR_NO, true, "make /tmp writable",
			   "no place for a capture: %s", strerror(errno));
		return;
	}
	close(fd);
	for (int i = 0; i < TRIALS && !was_tracked(h); i++) {
		heap_free(h);
		h = try(output, &code, &e);
	}
	if (code)
		doctor_add(d, "trial", DOCTOR_NO, true, "see what 'pmm run /bin/sh -c :' says",
			   "a trial run of /bin/sh failed (exit code %d)", code);
	else if (!h)
		doctor_add(d, "trial", DOCTOR_NO, true, "see what 'pmm run /bin/sh -c :' says",
			   "a trial run of /bin/sh left no capture: %s", e.text);
	else if (!was_tracked(h))
		doctor_add(d, "trial", DOCTOR_NO, true, "see what 'pmm run /bin/sh -c :' says",
			   "a trial run of /bin/sh was not tracked (reason %d)", h->off_reason);
	else
		doctor_add(d, "trial", DOCTOR_OK, true, NULL,
			   "a trial run of /bin/sh was tracked: %llu allocations",
			   (unsigned long long)h->allocs);
	heap_free(h);
	unlink(output);
}

static void check_agent(struct doctor *d)
{
	char path[PATH_MAX];
	struct err e = { .text = "" };

	if (preload_find(path, &e)) {
		doctor_add(d, "agent", DOCTOR_NO, true,
			   "put libpmm.so beside pmm, or name it in PMM_AGENT", "%s", e.text);
		return;
	}
	doctor_add(d, "agent", DOCTOR_OK, true, NULL, "%s", path);
	check_trial(d);
}

/* dl_iterate_phdr: path and load address of the C library of pmm itself. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *to)
{
	(void)size;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "/libc.so"))
		return 0;
	*(struct symbol_module *)to =
		(struct symbol_module){ .path = info->dlpi_name, .bias = info->dlpi_addr };
	return 1;
}

static void check_symbols(struct doctor *d)
{
	struct symbolizer_options o = { .full = true };
	struct symbolizer *sym = symbolizer_new(&o);
	struct symbol_module libc = { 0 };
	struct symbol_module_info info = { 0 };

	if (sym && dl_iterate_phdr(find_libc, &libc) && symbolizer_add(sym, &libc) == 0)
		info = symbolizer_module(sym, 0);
	if (info.quality == SYMBOL_DWARF)
		doctor_add(d, "debuginfo", DOCTOR_OK, false, NULL,
			   "the C library's lines are known (%s)", info.source);
	else
		doctor_add(d, "debuginfo", DOCTOR_NOTE, false,
			   "apt install libc6-dbg; or report with --debuginfod",
			   "the C library's frames have function names but no lines");
	symbolizer_free(sym);
}

static void check_debuginfod(struct doctor *d)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (urls && *urls)
		doctor_add(d, "debuginfod", DOCTOR_OK, false, NULL, "asked with --debuginfod: %s",
			   urls);
	else
		doctor_add(d, "debuginfod", DOCTOR_NOTE, false,
			   "export DEBUGINFOD_URLS=https://debuginfod.debian.net, then use "
			   "--debuginfod",
			   "no server for missing debug information is set");
}

void doctor_program(struct doctor *d)
{
	check_agent(d);
	check_symbols(d);
	check_debuginfod(d);
}
