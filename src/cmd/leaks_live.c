/*
 * Searching a running process: what a search needs of it is taken and let go of before anything is named or printed. Signals wait
 * meanwhile, so that Ctrl-C never comes between stopping a thread and letting it go on.
 */
#include "src/cmd/leaks_live.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/cmd/cmd.h"
#include "src/cmd/naming.h"

/* One search, and what is kept between searches. */
struct looking {
	const struct leaks_job *job;
	pid_t pid;
	FILE *out;
	struct leaks_found found;
	struct leaks_seen seen;
	struct growing growing;
	struct hash_map told;		/* sites of which was told that they grow, by number */
	uint64_t number;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- one search ---- */

/* Search a scene, which is released. 0 or -errno with `e`. */
static int search(struct looking *x, struct scene *s, enum heap_search_how how, struct err *e)
{
	struct leaks_search_options o = x->job->search;
	int rc;

	o.how = how;
	o.seen = &x->seen;
	rc = leaks_search(s, &o, &x->found, e);
	if (!rc && x->job->every_ns && leaks_see(&x->seen, x->found.heap, &x->found.reach))
		rc = err_set(e, -ENOMEM, "not enough memory to tell the next search what is old");
	return rc;
}

static int look(struct looking *x, struct err *e)
{
	struct scene_options o = { .no_copy = x->job->no_copy };
	struct scene scene = { 0 };
	const struct heap *h;
	int rc = scene_live(x->pid, &o, &scene, e);

	if (rc == -ENOENT) {
		err_set(e, rc, "the blocks of process %d are not known: pmm does not track it", (int)x->pid);
		err_hint(e, "'pmm attach %d' first, then all is known that is allocated from then on; or start it with 'pmm run'",
			 (int)x->pid);
	}
	if (rc)
		return rc;
	rc = search(x, &scene, HEAP_SEARCH_NONE, e);
	h = x->found.heap;
	if (!rc && x->job->every_ns &&
	    (growing_totals(&x->growing, h->taken_ns, h->live_bytes, h->live_blocks, h->untracked_frees) || growing_look(&x->growing, h)))
		rc = err_set(e, -ENOMEM, "not enough memory to keep book of what was seen");
	return rc;
}

/* ---- again and again ---- */

/* Lost blocks that are new, sites that began to grow. */
static bool is_new(struct looking *x, const struct leak_entry *e)
{
	uint64_t number = x->found.heap->sites[e->site].number;
	bool added = true;

	if (e->reason == LEAK_GROWS) {
		hash_add(&x->told, number ? number : 1ull << 32 | e->site, 0, &added);
		return added;
	}
	return e->class != REACH_REACHED && e->fresh_blocks;
}

static void keep_new(void *arg, struct leaks *l)
{
	struct looking *x = arg;
	size_t kept = 0;

	for (size_t i = 0; i < l->entries.nr; i++) {
		bool new = is_new(x, &l->entries.v[i]);

		if (x->number > 1 && !new)
			continue;
		l->entries.v[kept++] = l->entries.v[i];
	}
	l->entries.nr = kept;
}

static int report(struct looking *x, struct err *e)
{
	struct leaks_report_options o = x->job->report;

	o.growing = x->job->every_ns ? &x->growing : NULL;
	o.pid = x->pid;
	if (x->found.why_stopped.text[0] && !x->job->no_copy)
		o.view.why_stopped = x->found.why_stopped.text;
	if (x->job->every_ns) {
		o.choose = keep_new;
		o.choose_arg = x;
		o.quiet_if_none = x->number > 1;
	}
	return leaks_report(x->found.heap, &x->found.leaks, &o, x->out, e);
}

/* Wait for the next look. False: a signal came or the process has ended. */
static bool wait_until(uint64_t then_ns, int signals, int process)
{
	struct pollfd fds[] = { { .fd = signals, .events = POLLIN }, { .fd = process, .events = POLLIN } };

	for (;;) {
		uint64_t now = now_ns(), left = then_ns > now ? then_ns - now : 0;
		struct timespec t = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
		int n = ppoll(fds, 2, &t, NULL);

		if (n == 0)
			return true;
		if (n > 0 && fds[1].revents)
			cmd_note("the process has ended");
		if (n > 0 || errno != EINTR)
			return false;
	}
}

static int repeat(struct looking *x, int signals, int process, struct err *e)
{
	const struct leaks_job *job = x->job;
	uint64_t next_ns = now_ns();
	int found = 0, rc;

	do {
		next_ns += job->every_ns;
		if (next_ns < now_ns())
			next_ns = now_ns();	/* a search took longer than that */
		x->number++;
		rc = look(x, e);
		if (!rc)
			rc = report(x, e);
		leaks_found_fini(&x->found);
		if (rc < 0 && x->number > 1 && kill(x->pid, 0) && errno == ESRCH) {
			cmd_note("the process has ended");
			break;
		}
		if (rc < 0)
			return rc;
		found |= rc;
	} while (job->every_ns && x->number != job->count && wait_until(next_ns, signals, process));
	return found;
}

int leaks_live(pid_t pid, const struct leaks_job *job, FILE *out, struct err *e)
{
	struct looking x = { .job = job, .pid = pid, .out = out };
	int signals, process, rc;
	sigset_t mask, old;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &old);
	signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	process = (int)syscall(SYS_pidfd_open, pid, 0);
	rc = repeat(&x, signals, process, e);
	if (process >= 0)
		close(process);
	if (signals >= 0)
		close(signals);
	if (!job->every_ns)
		sigprocmask(SIG_SETMASK, &old, NULL);	/* what came meanwhile ends us now, the process runs */
	leaks_seen_fini(&x.seen);
	growing_fini(&x.growing);
	hash_fini(&x.told);
	return rc;
}

int leaks_core(const char *core, const char *capture, const struct leaks_job *job, FILE *out, struct err *e)
{
	struct looking x = { .job = job, .out = out };
	struct leaks_job with = *job;
	struct scene scene = { 0 };
	int rc = scene_core(core, capture, &scene, e);

	if (rc)
		return rc;
	with.every_ns = 0;
	x.job = &with;
	rc = search(&x, &scene, HEAP_SEARCH_CORE, e);
	if (!rc)
		rc = report(&x, e);
	leaks_found_fini(&x.found);
	return rc;
}
