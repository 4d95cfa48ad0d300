/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several runs of a program, each checked with its blocks in other places, and one report.
 *
 * Each run is a process of its own, which does what `pmm check -o` does and tells nothing; its
 * captures, in a directory of ours, are joined.
 */
#include "src/session/check/check_exhaustive.h"

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
#include "src/base/nanotime.h"
#include "src/ptrace/tracer.h"
#include "src/session/check/check_report.h"
#include "src/session/check/run_check.h"
#include "src/session/run_program.h"
#include "src/session/session.h"
#include "src/store/capture.h"
#include "src/track/child.h"

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

/* One run, in memory that is shared with it. */
struct one {
	struct run_shared run;
	struct session_end end;
};

struct exhaustive {
	const struct check_exhaustive *of;
	const struct session_sink *to;
	char **argv;
	char *dir;			/* of captures; owned, NULL = none */
	off_t input;			/* where standard input begins; -1 = it is at no place */
	struct one *one;
	uint64_t took_ns[NR_RUNS];
	bool cut; /* the last run took too long, and was ended */
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
	err_set(e, -EINVAL,
		"standard input can be read only once, and '--exhaustive' runs the program several "
		"times");
	err_hint(e, "give it a file: pmm check --exhaustive -- COMMAND < FILE (or < /dev/null)");
	e->exit_code = 2;
	return -EINVAL;
}

/* A pmm that is asked to end asks the program by these. */
static const int asking[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

/* What a run notes is the caller's affair; its report is made of all of them. */
static void pass_note(void *arg, enum session_kind kind, const char *text)
{
	const struct session_sink *to = arg;

	if (to->ops->note)
		to->ops->note(to->arg, kind, text);
}

static void pass_error(void *arg, const struct err *e)
{
	session_error(arg, e);
}

/* In the run's own process. */
static void run_one(struct exhaustive *x, unsigned i)
{
	struct session_end *end = &x->one[i].end;
	static const struct session_ops ops = { .note = pass_note, .error = pass_error };
	const struct session_sink to = { &ops, (void *)(uintptr_t)x->to };
	struct check_report_options report = { .no_symbols = true, .view = { .top = 1 } };
	struct check_job job = *x->of->run->check;
	struct run_options o = *x->of->run;
	struct err e = { .text = "" };
	struct run *r = NULL;
	char *output;

	if (x->of->ops->inside)
		x->of->ops->inside(x->of->arg);
	*end = (struct session_end){ .refused = true };
	if (asprintf(&output, "%s/%s.pmm", x->dir, ways[i].name) < 0)
		return;
	job.check.flags |= ways[i].flags;
	job.report = &report;
	o.check = &job;
	o.output = output;
	o.apart = true;
	o.keep_fd = -1;
	o.shared = &x->one[i].run;
	if (run_open(&r, &o, x->argv, &to, &e)) {
		session_error(x->to, &e);
		end->code = e.exit_code;
	} else {
		run_wait(r);
		if (x->of->ops->program_ended)
			x->of->ops->program_ended(x->of->arg, run_child(r));
		run_finish(r, end);
	}
	run_close(r);
	free(output);
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
static int await_run(struct exhaustive *x, unsigned i, pid_t pid)
{
	uint64_t start = nanotime(), bound = bound_ns(x, i);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;

	for (unsigned asked = 0; bound && fd >= 0 && waitpid(pid, &status, WNOHANG) == 0;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		poll(&p, 1, POLL_MS);
		if (nanotime() - start < bound + asked * GRACE_NS ||
		    x->one[i].run.ended >= 0 || !x->one[i].run.pid)
			continue;
		x->cut = true;
		kill(x->one[i].run.pid, asked++ ? SIGKILL : SIGTERM);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (fd >= 0)
		close(fd);
	x->took_ns[i] = nanotime() - start;
	return status;
}

static int run_make(struct exhaustive *x, unsigned i, struct err *e)
{
	int status;
	pid_t pid;

	if (x->input >= 0)
		lseek(STDIN_FILENO, x->input, SEEK_SET);
	session_progress(x->to, "run %u of %u: %s", i + 1, NR_RUNS, ways[i].what);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		run_one(x, i);
		fflush(NULL);
		_exit(0);
	}
	if (pid < 0)
		return err_set(e, -errno, "cannot make a process: %s", strerror(errno));
	if (x->of->ops->under_way)
		x->of->ops->under_way(x->of->arg, pid);
	status = await_run(x, i, pid);
	if (x->of->ops->under_way)
		x->of->ops->under_way(x->of->arg, 0);
	if (status) /* it did not get to its end */
		x->one[i].end = (struct session_end){ .code = child_exit_code(status) };
	return 0;
}

/* Was the program ended from outside, by a signal that asks for an end? */
static bool is_interrupted(const struct exhaustive *x, unsigned i)
{
	int status = x->one[i].run.ended;

	for (unsigned s = 0; s < sizeof(asking) / sizeof(*asking); s++)
		if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == asking[s])
			return true;
	return false;
}

/* 0 or -errno with `e`; when the first run could not be made, others are not. */
static int run_all(struct exhaustive *x, struct err *e)
{
	const struct check_exhaustive_ops *ops = x->of->ops;
	int rc = 0;

	if (ops->begin)
		ops->begin(x->of->arg);
	for (unsigned i = 0; !rc && i < NR_RUNS; i++) {
		rc = run_make(x, i, e);
		if (rc || x->one[RUN_RIGHT].run.ended < 0 || is_interrupted(x, i) ||
		    (ops->enough && ops->enough(x->of->arg)))
			break;
	}
	if (ops->end)
		ops->end(x->of->arg);
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
	rc = capture_read(path, x->of->run->check->report->memory_bytes, h, e);
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
		rc = x->one[i].run.ended < 0 ? 0 : read_program(x, i, e);
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

static int give_report(struct exhaustive *x, struct err *e)
{
	struct check_report_options o = *x->of->run->check->report;
	struct check_runs runs = { .run = x->run, .nr = NR_RUNS, .of = x->join.of.v };

	for (unsigned i = 0; i < NR_RUNS; i++) {
		x->run[i].name = ways[i].name;
		x->run[i].ended = x->one[i].run.ended;
		x->run[i].exact = i == RUN_EXACT;
		x->run[i].cut = x->cut && i == RUN_EXACT;
	}
	o.view.runs = &runs;
	o.view.turn = findings_join_turn;
	o.view.turn_ctx = &x->join;
	o.view.top = o.whole ? o.view.top : 0;
	return check_report(x->heap[0], &o, x->to, e);
}

static bool is_good(const struct session_end *e)
{
	return !e->code && !e->failed && !e->refused;
}

/* The program's own end: of the first run that failed, but not for want of alignment. */
static struct session_end own_end(const struct exhaustive *x)
{
	const struct session_end *first = &x->one[RUN_RIGHT].end;

	return !is_good(first) || x->one[RUN_LEFT].run.ended < 0 ? *first : x->one[RUN_LEFT].end;
}

static bool is_find(const struct exhaustive *x, bool errors)
{
	const struct run_options *o = x->of->run;
	bool unchecked = false;

	for (unsigned i = 0; i < NR_RUNS; i++)
		unchecked |= x->one[i].run.unchecked;
	return (errors && o->fail_errors) || (unchecked && o->fail_unchecked);
}

/* ---- all ---- */

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
		x->one[i].run.ended = -1;
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

int check_exhaustive(const struct check_exhaustive *of, char **argv, const struct session_sink *to,
		     struct session_end *end, struct err *e)
{
	struct exhaustive x = { .of = of, .to = to, .argv = argv, .one = MAP_FAILED };
	int rc = input_find(&x, e);

	rc = rc ? rc : place_make(&x, e);
	rc = rc ? rc : run_all(&x, e);
	if (!rc)
		*end = own_end(&x);
	if (!rc && x.one[RUN_RIGHT].run.ended < 0) {
		end->refused = true; /* which has been handed over */
	} else if (!rc) {
		rc = read_all(&x, e);
		rc = rc ? rc : give_report(&x, e);
		end->found = rc >= 0 && is_find(&x, rc > 0);
		end->unseen = false;
		rc = rc < 0 ? rc : 0;
	}
	findings_join_fini(&x.join);
	for (unsigned i = 0; i < NR_RUNS; i++)
		heap_free(x.heap[i]);
	if (x.one != MAP_FAILED)
		munmap(x.one, NR_RUNS * sizeof(*x.one));
	place_remove(x.dir);
	return rc;
}
