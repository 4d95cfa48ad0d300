/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches and attaches as things in steps: several in one process one after the other, each with
 * exactly its events, and closed early: at every step, and where descriptors run out. Nothing is
 * left then: no child, no descriptor (so no socket), no thread, no limit, no list of robust
 * futexes.
 * Of src/track/launch.c, child.c, monitor.c, monitor_leave.c, track_attach.c. Runs: leak_tree,
 * attach_victim, libpmm.so, libpmm_inject.so.
 */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/ledger/preload.h"
#include "src/track/launch.h"
#include "src/track/track_attach.h"

#define MIB	    (1ull << 20)
#define NR_CHILDREN 3
#define NR_PROCESSES (NR_CHILDREN + 1)
#define STEP_NS	    1000000000ll
#define MOST_STEPS  20000
#define MOST_FDS    64		/* that one source takes */

static char build[PATH_MAX];

static const char *built(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", build, name);
	return path;
}

/* ---- what may be left ---- */

struct left {
	unsigned nr_fds, nr_threads;
	struct rlimit limit[4];
	void *robust;
};

static unsigned count(const char *path)
{
	DIR *dir = opendir(path);
	unsigned nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static struct left look(void)
{
	const int resource[] = { RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_DATA };
	struct left l = { .nr_fds = count("/proc/self/fd"),
			  .nr_threads = count("/proc/self/task") };
	size_t bytes;

	for (unsigned i = 0; i < NR(resource); i++)
		assert_int_equal(getrlimit(resource[i], &l.limit[i]), 0);
	assert_int_equal(syscall(SYS_get_robust_list, 0, &l.robust, &bytes), 0);
	return l;
}

/* Children of a program that was killed become ours, and end by themselves: nobody holds them. */
static void nothing_is_left(const struct left *before, bool orphans)
{
	struct left now;

	alarm(100);
	while (orphans && waitpid(-1, NULL, 0) > 0)
		;
	alarm(0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	now = look();
	/* a thread that was joined, and what it held, may be seen for a moment yet */
	for (unsigned i = 0; i < 1000 && (now.nr_fds != before->nr_fds ||
					  now.nr_threads != before->nr_threads); i++) {
		usleep(1000);
		now = look();
	}
	assert_int_equal(now.nr_fds, before->nr_fds);
	assert_int_equal(now.nr_threads, before->nr_threads);
	assert_memory_equal(now.limit, before->limit, sizeof(now.limit));
	assert_ptr_equal(now.robust, before->robust);
}

/* ---- launches ---- */

static char program[PATH_MAX + 64], agent[PATH_MAX];

static int open_tree(struct launch **l, bool raises, struct err *e)
{
	static char *argv[] = { program, (char *)"each", (char *)"3", NULL };
	const struct launch_options o = { .path = program,
					  .argv = argv,
					  .agent = agent,
					  .tree = { .limit_bytes = 8 * MIB,
						    .follow = true,
						    .leaks = true },
					  .raises_limits = raises };

	return launch_open(&o, l, e);
}

struct seen {
	unsigned nr;
	struct { enum launch_what what; bool is_root; pid_t pid; } event[4 * NR_PROCESSES];
};

/* False: there are no more. `most`: events are left where they are after so many. */
static void take(struct launch *l, struct seen *s, unsigned most)
{
	struct launch_event e;
	enum launch_what what;

	while (most-- && (what = launch_next(l, &e)) != LAUNCH_NONE) {
		assert_true(s->nr < NR(s->event));
		s->event[s->nr].what = what;
		s->event[s->nr].pid = e.pid;
		s->event[s->nr++].is_root = e.is_root;
		assert_int_equal(e.heap != NULL, what == LAUNCH_ENDED);
		assert_int_equal(e.leaving != NULL, what == LAUNCH_LEAVING);
		if (e.heap)
			assert_int_equal(e.heap->end, HEAP_EXITED);
		heap_free(e.heap);
	}
}

static unsigned at(const struct seen *s, enum launch_what what, pid_t pid)
{
	for (unsigned i = 0; i < s->nr; i++)
		if (s->event[i].what == what && s->event[i].pid == pid)
			return i;
	fail_msg("no event %d of process %d", (int)what, (int)pid);
	return 0;
}

/* Each process waits at its end once and then ends; the program comes last. Nothing else. */
static void is_complete(const struct seen *s)
{
	unsigned nr_ended = 0;

	assert_int_equal(s->nr, 2 * NR_PROCESSES);
	for (unsigned i = 0; i < s->nr; i++) {
		const bool ended = s->event[i].what == LAUNCH_ENDED;

		nr_ended += ended;
		if (ended)
			assert_true(at(s, LAUNCH_LEAVING, s->event[i].pid) < i);
		assert_int_equal(s->event[i].is_root, ended ? i == s->nr - 1 : s->event[i].pid ==
							      s->event[s->nr - 1].pid);
	}
	assert_int_equal(nr_ended, NR_PROCESSES);
}

/* Steps wait for what there is to do; or we wait for the launch's descriptor, as loops do. */
static void a_launch_is_complete(bool by_descriptor)
{
	struct err e = { .text = "" };
	struct seen s = { 0 };
	struct launch_totals t;
	struct launch *l;

	assert_int_equal(open_tree(&l, true, &e), 0);
	assert_int_equal(launch_start(l, &e), 0);
	for (unsigned i = 0; i < MOST_STEPS && !launch_root_done(l); i++) {
		struct pollfd due = { .fd = launch_fd(l), .events = POLLIN };

		if (by_descriptor)
			assert_int_equal(poll(&due, 1, 60000), 1);
		launch_step(l, by_descriptor ? 0 : STEP_NS);
		take(l, &s, UINT_MAX);
	}
	assert_true(launch_root_done(l));
	assert_int_equal(launch_left(l, NULL), 0);
	assert_false(launch_goes_on(l));
	is_complete(&s);
	t = launch_totals(l);
	assert_int_equal(t.nr_lost + t.nr_replaced + t.nr_without_events, 0);
	assert_int_equal(launch_child(l)->status, 0);
	launch_close(l);
}

static void one_after_the_other(void **state)
{
	const struct left before = look();

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		a_launch_is_complete(i % 2);
		nothing_is_left(&before, false);
	}
}

/* `most`: events taken of each step; 0: none ever. True: it came to its end. */
static bool closed_after(unsigned nr_steps, unsigned most)
{
	struct err e = { .text = "" };
	struct seen s = { 0 };
	struct launch *l;
	pid_t pid;
	bool done;

	assert_int_equal(open_tree(&l, true, &e), 0);
	assert_int_equal(launch_start(l, &e), 0);
	for (unsigned i = 0; i < nr_steps && !launch_root_done(l); i++) {
		launch_step(l, most ? STEP_NS : 0);
		take(l, &s, i + 1 < nr_steps ? most : most / 2);
	}
	done = launch_root_done(l);
	pid = launch_child(l)->pid;
	launch_close(l);
	assert_true(!pid || (kill(pid, 0) && errno == ESRCH));	/* killed, and collected */
	return done;
}

static void closed_at_each_step(void **state)
{
	const struct left before = look();
	unsigned nr_steps = 0;
	struct launch *l;

	(void)state;
	launch_close(NULL);
	assert_int_equal(open_tree(&l, true, NULL), 0);
	launch_close(l);
	nothing_is_left(&before, false);
	for (bool done = false; !done; nr_steps++) {
		assert_true(nr_steps < MOST_STEPS);
		done = closed_after(nr_steps, UINT_MAX);
		nothing_is_left(&before, true);
	}
	assert_true(nr_steps > NR_PROCESSES);	/* one waits at its end a step */
	for (unsigned i = 0; i < 200; i += 20) {	/* nobody takes the events */
		closed_after(i, 0);
		nothing_is_left(&before, true);
	}
	/* one that waits at its end was taken, and not let go */
	closed_after(nr_steps, 2);
	nothing_is_left(&before, true);
}

static void nothing_is_in(pid_t pid)
{
	char path[64], line[4096];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		assert_null(strstr(line, "memfd:pmm"));
	fclose(maps);
}

/* Opens and closes one source; 0, or how it failed. */
typedef int source(void *arg, struct err *e);

/* With room for no descriptor, for one, for two, ... up to enough. */
static void without_descriptors(source *once, void *arg, pid_t in, unsigned least)
{
	const struct left before = look();
	struct rlimit was, now;
	unsigned nr_failed = 0;
	int rc = -1;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	for (unsigned most = 3; rc && most < before.nr_fds + MOST_FDS; most++) {
		struct err e = { .text = "" };

		now = (struct rlimit){ most, was.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
		rc = once(arg, &e);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
		nr_failed += rc != 0;
		if (rc && !e.text[0])
			fail_msg("%d with %u descriptors, and not why", rc, most);
		nothing_is_left(&before, true);
		if (in)
			nothing_is_in(in);
	}
	assert_int_equal(rc, 0);
	assert_true(nr_failed >= least);
}

static int launched(void *arg, struct err *e)
{
	struct launch *l;
	int rc = open_tree(&l, false, e);

	(void)arg;
	if (rc) {
		assert_null(l);
		return rc;
	}
	rc = launch_start(l, e);
	launch_close(l);
	return rc;
}

static void launch_without_descriptors(void **state)
{
	(void)state;
	without_descriptors(launched, NULL, 0, 5);
}

/* ---- attaches ---- */

struct victim {
	pid_t pid;
	int to, from;
};

static void hear(const struct victim *v, const char *line)
{
	char said[64] = "";
	size_t n = 0;

	while (n < sizeof(said) - 1 && read(v->from, said + n, 1) == 1 && said[n] != '\n')
		n++;
	said[n] = '\0';
	assert_string_equal(said, line);
}

static void tell(const struct victim *v, char what, const char *line)
{
	assert_int_equal(write(v->to, &what, 1), 1);
	hear(v, line);
}

/* Not a child of ours: what is left is told from it. */
static void start(struct victim *v)
{
	int to[2], from[2], self[2];
	pid_t between;

	assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC) | pipe2(self, O_CLOEXEC), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	between = fork();
	if (!between) {
		pid_t pid = fork();

		if (pid)
			_exit(write(self[1], &pid, sizeof(pid)) != sizeof(pid));
		alarm(200);
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl(built("tests/prog/attach_victim"), "attach_victim", NULL);
		_exit(96);
	}
	assert_int_equal(read(self[0], &v->pid, sizeof(v->pid)), sizeof(v->pid));
	assert_int_equal(waitpid(between, NULL, 0), between);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	close(to[0]);
	close(from[1]);
	close(self[0]);
	close(self[1]);
	v->to = to[1];
	v->from = from[0];
	hear(v, "ready");
}

static int attached(void *arg, struct err *e)
{
	const struct attach_options o = { .limit_bytes = 64 * MIB };
	const struct victim *v = arg;
	struct attach *a;
	int rc = attach_open(v->pid, &o, &a, e);

	if (rc) {
		assert_null(a);
		return rc;
	}
	rc = attach_start(a, e);
	attach_close(a);
	return rc;
}

/* The round of each watching: what the victim does between two steps is recorded or not. */
static void attach_closed_after(const struct victim *v, unsigned nr_steps)
{
	const struct attach_options o = { .limit_bytes = 64 * MIB };
	struct err e = { .text = "" };
	struct attach *a;
	struct heap *h;

	assert_int_equal(attach_open(v->pid, &o, &a, &e), 0);
	assert_int_equal(attach_start(a, &e), 0);
	for (unsigned i = 0; i < nr_steps; i++) {
		assert_true(attach_step(a, STEP_NS) >= 0);
		assert_int_equal(attach_next(a, &h), ATTACH_NONE);
		assert_null(h);
	}
	attach_close(a);
	nothing_is_in(v->pid);
}

static void attach_closed_at_each_step(void **state)
{
	struct victim v;
	struct attach *a;
	struct left before;

	(void)state;
	start(&v);
	before = look();
	attach_close(NULL);
	assert_int_equal(attach_open(v.pid, &(struct attach_options){ 0 }, &a, NULL), 0);
	attach_close(a);
	nothing_is_left(&before, false);
	for (unsigned nr_steps = 0; nr_steps < 12; nr_steps++) {
		attach_closed_after(&v, nr_steps);
		nothing_is_left(&before, false);
	}
	without_descriptors(attached, &v, v.pid, 5);
	tell(&v, 'g', "done");
	close(v.to);
	close(v.from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(closed_at_each_step),
		cmocka_unit_test(launch_without_descriptors),
		cmocka_unit_test(attach_closed_at_each_step),
	};
	struct rlimit files;
	ssize_t n = readlink("/proc/self/exe", build, sizeof(build) - 1);

	/* build/tests/unit/test_launch */
	for (unsigned i = 0; i < 3 && n > 0; i++)
		*strrchr(build, '/') = '\0';
	setenv("PMM_INJECT", built("libpmm_inject.so"), 1);
	setenv("PMM_AGENT", built("libpmm.so"), 1);
	snprintf(program, sizeof(program), "%s", built("tests/prog/leak_tree"));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* one of the limits that are raised differs from what it may be */
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = 256;
	setrlimit(RLIMIT_NOFILE, &files);
	if (preload_find(agent, NULL))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
