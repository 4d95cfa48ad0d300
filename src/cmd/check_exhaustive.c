/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several runs of a program, each checked with its blocks in other places, and one report.
 *
 * Each run is a process of its own, which does what `pmm check -o` does and tells nothing; its
 * captures, in a directory of ours, are joined.
 */
#include "src/cmd/check_exhaustive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/analyze/findings_join.h"
#include "src/store/capture.h"
#include "src/session/check/check_report.h"
#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/cmd/cmd_run.h"
#include "src/session/check/run_check.h"
#include "src/ptrace/tracer.h"

#define TIMES_LONGER	10u		/* than the others a run may take that may lack alignment */
#define LEAST_BOUND_NS	10000000000ull
#define GRACE_NS	2000000000ull
#define POLL_MS		100

enum { RUN_RIGHT, RUN_LEFT, RUN_EXACT, NR_RUNS };

static const struct {
	const char *name, *what;
	uint32_t flags;
} ways[NR_RUNS] = {
	[RUN_RIGHT] = { "right", "blocks end at the end of a page", PMM_CHECK_RIGHT },
	[RUN_LEFT] = { "left", "blocks begin at the start of a page", PMM_CHECK_LEFT },
	[RUN_EXACT] = { "exact", "blocks end exactly at the end of a page", PMM_CHECK_EXACT },
};

struct exhaustive {
	const struct run_job *of;
	char **argv;
	char *dir;			/* of captures; owned, NULL = none */
	off_t input;			/* where standard input begins; -1 = it is at no place */
	struct run_shared *one;		/* of each run, shared with it */
	uint64_t took_ns[NR_RUNS];
	bool cut;			/* the last run took too long, and was ended */
	int code[NR_RUNS];		/* of the process that made it */
	struct heap *heap[NR_RUNS];	/* of the program */
	struct findings_join join;
	struct check_run run[NR_RUNS];
};

/* ---- the runs ---- */

/*
 * What cannot be read again must not be read at all: the second run would be another one. Terminals
 * are asked each time.
 */
static int input_find(struct exhaustive *x, struct err *e)
{
	x->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (x->input >= 0 || errno == EBADF || isatty(STDIN_FILENO))
		return 0;
	return cmd_refuse(
		e,
		"standard input can be read only once, and '--exhaustive' runs the program several "
		"times",
		"give it a file: pmm check --exhaustive -- COMMAND < FILE (or < /dev/null)");
}

static volatile sig_atomic_t runner;	/* the run under way */
static volatile sig_atomic_t enough;	/* pmm was asked to end */

static void pass_on(int sig)
{
	enough = sig;
	if (runner > 0)
		kill(runner, sig);
}

static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
static struct sigaction before[sizeof(passed) / sizeof(*passed)];

/* A terminal's signals reach the run by themselves. */
static void signals_take(void)
{
	for (unsigned i = 0; i < sizeof(passed) / sizeof(*passed); i++) {
		struct sigaction a = { .sa_handler = pass_on, .sa_flags = SA_RESTART };

		if (passed[i] == SIGINT || passed[i] == SIGQUIT)
			a.sa_handler = SIG_IGN;
		sigaction(passed[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(passed[i], &a, NULL);
	}
}

static void signals_give(void)
{
	for (unsigned i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		sigaction(passed[i], &before[i], NULL);
}

/* In the run's own process. */
static int run_one(struct exhaustive *x, unsigned i)
{
	struct check_report_options told = { .no_symbols = true, .view = { .top = 1 } };
	struct check_job job = *x->of->check;
	struct run_job run = { .check = &job, .found_code = -1, .one = &x->one[i] };
	char *output;

	signals_give();
	if (asprintf(&output, "%s/%s.pmm", x->dir, ways[i].name) < 0)
		return CMD_FAILED;
	job.check.flags |= ways[i].flags;
	job.report = &told;
	run.output = output;
	run.report = fopen("/dev/null", "we");
	return run.report ? run_for(&run, x->argv) : CMD_FAILED;
}

/*
 * Code that lacks alignment may wait for ever for what never comes (a futex at an odd address is
 * none). 0: no bound.
 */
static uint64_t bound_ns(const struct exhaustive *x, unsigned i)
{
	uint64_t most = 0;

	if (i != RUN_EXACT)
		return 0;
	for (unsigned k = 0; k < i; k++)
		most = x->took_ns[k] > most ? x->took_ns[k] : most;
	return TIMES_LONGER * most + LEAST_BOUND_NS;
}

/* Wait for a run; one that takes too long is asked to end, then made to. */
static int run_wait(struct exhaustive *x, unsigned i, pid_t pid)
{
	uint64_t start = tracer_now_ns(), bound = bound_ns(x, i);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;

	for (unsigned asked = 0; bound && fd >= 0 && waitpid(pid, &status, WNOHANG) == 0;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		poll(&p, 1, POLL_MS);
		if (tracer_now_ns() - start < bound + asked * GRACE_NS || x->one[i].ended >= 0 ||
		    !x->one[i].pid)
			continue;
		x->cut = true;
		kill(x->one[i].pid, asked++ ? SIGKILL : SIGTERM);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (fd >= 0)
		close(fd);
	x->took_ns[i] = tracer_now_ns() - start;
	return status;
}

static int run_make(struct exhaustive *x, unsigned i, struct err *e)
{
	int status;
	pid_t pid;

	if (x->input >= 0)
		lseek(STDIN_FILENO, x->input, SEEK_SET);
	if (isatty(STDERR_FILENO))
		cmd_note("run %u of %u: %s", i + 1, NR_RUNS, ways[i].what);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		int code = run_one(x, i);

		fflush(NULL);
		_exit(code);
	}
	if (pid < 0)
		return err_set(e, -errno, "cannot make a process: %s", strerror(errno));
	runner = pid;
	status = run_wait(x, i, pid);
	runner = 0;
	x->code[i] = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}

/* Was the program ended from outside, by a signal that asks for an end? */
static bool is_interrupted(const struct exhaustive *x, unsigned i)
{
	int status = x->one[i].ended;

	for (unsigned s = 0; s < sizeof(passed) / sizeof(*passed); s++)
		if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == passed[s])
			return true;
	return false;
}

/*
 * 0, or the exit code when the program could not be run at all, which has been said; -errno with
 * `e`.
 */
static int run_all(struct exhaustive *x, struct err *e)
{
	int rc = 0;

	signals_take();
	for (unsigned i = 0; !rc && i < NR_RUNS; i++) {
		rc = run_make(x, i, e);
		if (!rc && !i && x->one[i].ended < 0)
			rc = x->code[i] ? x->code[i] : CMD_FAILED;
		if (!rc && (enough || is_interrupted(x, i)))
			break;
	}
	signals_give();
	return rc;
}

/* ---- what they left ---- */

/*
 * Does an error count that was met in the run with byte-exact ends alone? Code may go astray there
 * for want of alignment; what lies behind the end of a block is certain all the same.
 */
static bool is_certain(const struct heap_finding *f)
{
	return f->type == PMM_FINDING_OVERRUN && f->guarded &&
	       (f->by == PMM_BY_ACCESS || f->by == PMM_BY_FUNCTION);
}

static int join_one(struct exhaustive *x, unsigned i, const struct heap *h, bool program)
{
	x->run[i].findings += h->nr_findings;
	return findings_join_add(&x->join, h, i, program, i == RUN_EXACT ? is_certain : NULL,
				 &x->run[i].left_out);
}

/* "NAME.pmm" of the program, "NAME.PID.pmm" of others. */
static int read_one(struct exhaustive *x, const char *name, struct heap **h, struct err *e)
{
	char *path;
	int rc;

	if (asprintf(&path, "%s/%s", x->dir, name) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	rc = capture_file.read(path, x->of->check->report->memory_bytes, h, e);
	free(path);
	return rc;
}

static int join_others(struct exhaustive *x, unsigned i, struct dirent **names, int nr,
		       struct err *e)
{
	size_t length = strlen(ways[i].name);
	int rc = 0;

	for (int k = 0; !rc && k < nr; k++) {
		struct heap *h = NULL;

		if (strncmp(names[k]->d_name, ways[i].name, length) ||
		    names[k]->d_name[length] != '.' || !strcmp(names[k]->d_name + length, ".pmm"))
			continue;
		rc = read_one(x, names[k]->d_name, &h, e);
		if (!rc && h->check.level)
			x->run[i].others++;
		if (!rc && join_one(x, i, h, false))
			rc = err_set(e, -ENOMEM, "out of memory");
		heap_free(h);
	}
	return rc;
}

static int read_program(struct exhaustive *x, unsigned i, struct err *e)
{
	char name[16];
	int rc;

	snprintf(name, sizeof(name), "%s.pmm", ways[i].name);
	rc = read_one(x, name, &x->heap[i], e);
	if (rc == -ENOENT && i)
		return 0;		/* said by the run */
	x->run[i].heap = x->heap[i];
	return rc;
}

static int join_all(struct exhaustive *x, struct dirent **names, int nr, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < NR_RUNS; i++) {
		rc = x->one[i].ended < 0 ? 0 : read_program(x, i, e);
		if (!rc && !i)
			rc = findings_join_init(&x->join, x->heap[0])
				     ? err_set(e, -ENOMEM, "out of memory")
				     : 0;
		if (!rc && !i)
			x->run[0].findings = x->heap[0]->nr_findings;
		else if (!rc && x->heap[i] && join_one(x, i, x->heap[i], true))
			rc = err_set(e, -ENOMEM, "out of memory");
		rc = rc ? rc : join_others(x, i, names, nr, e);
	}
	if (!rc)
		findings_join_fold(&x->join);
	return rc;
}

static int read_all(struct exhaustive *x, struct err *e)
{
	struct dirent **names = NULL;
	int nr = scandir(x->dir, &names, NULL, alphasort);
	int rc = nr < 0 ? err_set(e, -errno, "cannot read '%s': %s", x->dir, strerror(errno))
			: join_all(x, names, nr, e);

	for (int i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	return rc;
}

/* ---- the report ---- */

static int tell(struct exhaustive *x, FILE *out, struct err *e)
{
	struct check_report_options o = *x->of->check->report;
	struct emit to;
	struct check_runs runs = { .run = x->run, .nr = NR_RUNS, .of = x->join.of.v };

	for (unsigned i = 0; i < NR_RUNS; i++) {
		x->run[i].name = ways[i].name;
		x->run[i].ended = x->one[i].ended;
		x->run[i].exact = i == RUN_EXACT;
		x->run[i].cut = x->cut && i == RUN_EXACT;
	}
	o.view.runs = &runs;
	o.view.turn = findings_join_turn;
	o.view.turn_ctx = &x->join;
	o.view.top = o.whole ? o.view.top : 0;
	emit_init(&to, out ? out : stderr, o.whole);
	return check_report(x->heap[0], &o, &to.sink, e);
}

/* The program's own: of the first run that failed, but not for want of alignment. */
static int own_code(const struct exhaustive *x)
{
	return x->code[RUN_RIGHT] || x->one[RUN_LEFT].ended < 0 ? x->code[RUN_RIGHT]
								: x->code[RUN_LEFT];
}

static bool is_find(const struct exhaustive *x, bool errors)
{
	bool unchecked = false;

	for (unsigned i = 0; i < NR_RUNS; i++)
		unchecked |= x->one[i].unchecked;
	return (errors && x->of->fail_errors) || (unchecked && x->of->fail_unchecked);
}

/* ---- the command ---- */

static int place_make(struct exhaustive *x, struct err *e)
{
	const char *tmp = getenv("TMPDIR");

	if (asprintf(&x->dir, "%s/pmm-check-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0) {
		x->dir = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	if (!mkdtemp(x->dir)) {
		err_set(e, -errno, "cannot make the directory '%s' for captures: %s", x->dir,
			strerror(errno));
		err_hint(e, "TMPDIR names another place");
		free(x->dir);
		x->dir = NULL;
		return -EIO;
	}
	x->one = mmap(NULL, NR_RUNS * sizeof(*x->one), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (x->one == MAP_FAILED)
		return err_set(e, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < NR_RUNS; i++)
		x->one[i].ended = -1;
	return 0;
}

static void place_remove(char *dir)
{
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	if (dir)
		rmdir(dir);
	free(dir);
}

int check_exhaustive(const struct run_job *of, char **argv, FILE *out, struct err *e)
{
	struct exhaustive x = { .of = of, .argv = argv, .one = MAP_FAILED };
	int rc = input_find(&x, e);

	rc = rc ? rc : place_make(&x, e);
	rc = rc ? rc : run_all(&x, e);
	if (!rc) {
		rc = read_all(&x, e);
		rc = rc ? rc : tell(&x, out, e);
		if (rc >= 0)
			rc = is_find(&x, rc > 0) && of->found_code >= 0 ? of->found_code
									: own_code(&x);
	}
	findings_join_fini(&x.join);
	for (unsigned i = 0; i < NR_RUNS; i++)
		heap_free(x.heap[i]);
	if (x.one != MAP_FAILED)
		munmap(x.one, NR_RUNS * sizeof(*x.one));
	place_remove(x.dir);
	return rc;
}
