/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several runs of a program, each checked with its blocks in other places, and one report.
 *
 * Each run is a process of its own, which does what `pmm check -o` does and reports nothing; its
 * captures, in a directory of ours, are joined.
 */
#include "src/session/check/check_exhaustive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/analyze/findings_join.h"
#include "src/base/loop.h"
#include "src/base/nanotime.h"
#include "src/base/tmpdir.h"
#include "src/session/check/check_report.h"
#include "src/session/check/run_check.h"
#include "src/session/run_program.h"
#include "src/session/session.h"
#include "src/store/capture.h"
#include "src/track/child.h"

#define TIMES_LONGER	10u		/* than the others a run may take that may lack alignment */
#define LEAST_BOUND_NS	10000000000ull
#define GRACE_NS	2000000000ull
#define LOOK_NS		100000000u

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

struct check_exhaustive {
	const struct check_exhaustive_options *of;
	const struct session_sink *to;
	char **argv;
	char *dir;			/* of captures; owned, NULL = none */
	off_t input;			/* where standard input begins; -1 = it is at no place */
	struct one *one;
	struct loop *loop;
	/* the run under way */
	unsigned current;
	pid_t runner;			/* its process, 0 = it has ended */
	int status;			/* ... how */
	uint64_t start_ns;
	struct loop_source *patience;	/* until it takes too long */
	unsigned asked;			/* so often to end */
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
static int input_find(struct check_exhaustive *x, struct err *e)
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
static void run_one(struct check_exhaustive *x, unsigned i)
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
static uint64_t bound_ns(const struct check_exhaustive *x, unsigned i)
{
	uint64_t most = 0;

	if (i != RUN_EXACT)
		return 0;
	for (unsigned k = 0; k < i; k++)
		most = x->took_ns[k] > most ? x->took_ns[k] : most;
	return TIMES_LONGER * most + LEAST_BOUND_NS;
}

/* One that takes too long is asked to end, then made to; the program may not be there yet. */
static void on_patience(void *arg, uint64_t now_ns)
{
	struct check_exhaustive *x = arg;
	const struct run_shared *run = &x->one[x->current].run;

	if (run->ended >= 0)
		return;
	if (run->pid) {
		x->cut = true;
		kill(run->pid, x->asked++ ? SIGKILL : SIGTERM);
	}
	loop_set_timer(x->loop, x->patience, now_ns + (run->pid ? GRACE_NS : LOOK_NS));
}

static void on_end(void *arg, pid_t pid, int status)
{
	struct check_exhaustive *x = arg;

	(void)pid;
	x->runner = 0;
	x->status = status;
}

static int cannot_wait(int rc, struct err *e)
{
	return err_set(e, rc, "cannot wait for a run: %s", strerror(-rc));
}

static int run_begin(struct check_exhaustive *x, struct err *e)
{
	const unsigned i = x->current;
	uint64_t bound = bound_ns(x, i);
	pid_t pid;
	int rc;

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
	rc = loop_add_child(x->loop, pid, on_end, x, NULL);
	if (rc) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return cannot_wait(rc, e);
	}
	x->runner = pid;
	x->start_ns = nanotime();
	x->asked = 0;
	loop_set_timer(x->loop, x->patience, bound ? x->start_ns + bound : LOOP_NEVER);
	if (x->of->ops->under_way)
		x->of->ops->under_way(x->of->arg, pid);
	return 0;
}

static void run_end(struct check_exhaustive *x)
{
	x->took_ns[x->current] = nanotime() - x->start_ns;
	if (x->of->ops->under_way)
		x->of->ops->under_way(x->of->arg, 0);
	if (WIFSIGNALED(x->status))
		session_warn(x->to, "run %u of %u is lost: signal %d ended the pmm that made it",
			     x->current + 1, NR_RUNS, WTERMSIG(x->status));
	if (x->status) /* it did not get to its end */
		x->one[x->current].end =
			(struct session_end){ .code = child_exit_code(x->status) };
}

/* Was the program ended from outside, by a signal that asks for an end? */
static bool is_interrupted(const struct check_exhaustive *x, unsigned i)
{
	int status = x->one[i].run.ended;

	for (unsigned s = 0; s < sizeof(asking) / sizeof(*asking); s++)
		if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == asking[s])
			return true;
	return false;
}

/* When the first run could not be made, others are not. */
static bool is_last(const struct check_exhaustive *x)
{
	const struct check_exhaustive_ops *ops = x->of->ops;

	return x->current + 1 == NR_RUNS || x->one[RUN_RIGHT].run.ended < 0 ||
	       is_interrupted(x, x->current) || (ops->enough && ops->enough(x->of->arg));
}

int check_exhaustive_step(struct check_exhaustive *x, int64_t wait_ns, struct err *e)
{
	int rc = loop_step(x->loop, wait_ns);

	if (rc < 0)
		return cannot_wait(rc, e);
	if (x->runner)
		return 1;
	run_end(x);
	rc = 0;
	if (!is_last(x)) {
		x->current++;
		rc = run_begin(x, e);
		rc = rc ? rc : 1;
	}
	if (rc <= 0 && x->of->ops->end)
		x->of->ops->end(x->of->arg);
	return rc;
}

int check_exhaustive_fd(const struct check_exhaustive *x)
{
	return loop_fd(x->loop);
}

/* ---- what they left ---- */

/*
 * Does an error count that was met in the run with byte-exact ends alone? Code may go astray there
 * for want of alignment; what is behind the end of a block is certain all the same.
 */
static bool is_certain(const struct heap_finding *f)
{
	return f->type == PMM_FINDING_OVERRUN && f->guarded &&
	       (f->by == PMM_BY_ACCESS || f->by == PMM_BY_FUNCTION);
}

static int join_one(struct check_exhaustive *x, unsigned i, const struct heap *h, bool program)
{
	x->run[i].findings += h->nr_findings;
	return findings_join_add(&x->join, h, i, program, i == RUN_EXACT ? is_certain : NULL,
				 &x->run[i].left_out);
}

/* "NAME.pmm" of the program, "NAME.PID.pmm" of others. */
static int read_one(struct check_exhaustive *x, const char *name, struct heap **h, struct err *e)
{
	char *path;
	int rc;

	if (asprintf(&path, "%s/%s", x->dir, name) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	rc = capture_read(path, x->of->run->check->report->memory_bytes, h, e);
	free(path);
	return rc;
}

static int join_others(struct check_exhaustive *x, unsigned i, struct dirent **names, int nr,
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

static int read_program(struct check_exhaustive *x, unsigned i, struct err *e)
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

static int join_all(struct check_exhaustive *x, struct dirent **names, int nr, struct err *e)
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

static int read_all(struct check_exhaustive *x, struct err *e)
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

static int give_report(struct check_exhaustive *x, struct err *e)
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
static struct session_end own_end(const struct check_exhaustive *x)
{
	const struct session_end *first = &x->one[RUN_RIGHT].end;

	return !is_good(first) || x->one[RUN_LEFT].run.ended < 0 ? *first : x->one[RUN_LEFT].end;
}

static bool is_find(const struct check_exhaustive *x, bool errors)
{
	const struct run_options *o = x->of->run;
	bool unchecked = false;

	for (unsigned i = 0; i < NR_RUNS; i++)
		unchecked |= x->one[i].run.unchecked;
	return (errors && o->fail_errors) || (unchecked && o->fail_unchecked);
}

/* ---- all ---- */

static int place_make(struct check_exhaustive *x, struct err *e)
{
	int rc = tmpdir_make("check", &x->dir, e);

	if (rc)
		return rc;
	x->one = mmap(NULL, NR_RUNS * sizeof(*x->one), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (x->one == MAP_FAILED)
		return err_set(e, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < NR_RUNS; i++)
		x->one[i].run.ended = -1;
	return 0;
}

int check_exhaustive_finish(struct check_exhaustive *x, struct session_end *end, struct err *e)
{
	int rc;

	*end = own_end(x);
	if (x->one[RUN_RIGHT].run.ended < 0) {
		end->refused = true; /* which has been handed over */
		return 0;
	}
	rc = read_all(x, e);
	rc = rc ? rc : give_report(x, e);
	end->found = rc >= 0 && is_find(x, rc > 0);
	end->unseen = false;
	return rc < 0 ? rc : 0;
}

void check_exhaustive_close(struct check_exhaustive *x)
{
	if (!x)
		return;
	findings_join_fini(&x->join);
	for (unsigned i = 0; i < NR_RUNS; i++)
		heap_free(x->heap[i]);
	if (x->one != MAP_FAILED)
		munmap(x->one, NR_RUNS * sizeof(*x->one));
	tmpdir_remove(x->dir);
	loop_free(x->loop);
	free(x);
}

static int begin(struct check_exhaustive *x, struct err *e)
{
	const struct check_exhaustive_ops *ops = x->of->ops;
	int rc = loop_new(&x->loop);

	if (!rc)
		rc = loop_add_timer(x->loop, LOOP_NEVER, on_patience, x, &x->patience);
	if (rc)
		return cannot_wait(rc, e);
	if (ops->begin)
		ops->begin(x->of->arg);
	rc = run_begin(x, e);
	if (rc && ops->end)
		ops->end(x->of->arg);
	return rc;
}

int check_exhaustive_open(struct check_exhaustive **out, const struct check_exhaustive_options *o,
			  char **argv, const struct session_sink *to, struct err *e)
{
	struct check_exhaustive *x = calloc(1, sizeof(*x));
	int rc;

	*out = NULL;
	if (!x)
		return err_set(e, -ENOMEM, "out of memory");
	x->of = o;
	x->to = to;
	x->argv = argv;
	x->one = MAP_FAILED;
	rc = input_find(x, e);
	rc = rc ? rc : place_make(x, e);
	rc = rc ? rc : begin(x, e);
	if (rc)
		check_exhaustive_close(x);
	else
		*out = x;
	return rc;
}
