/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread, one loop, one ticker: three attached processes and one launched tree at once, each
 * process of the tree searched for leaks at its end, and an attached one beside it. Nothing is
 * lost.
 * Of src/track/track_attach.c, monitor.c, monitor_leave.c, ticker.c, src/base/loop.c. Runs:
 * attach_victim, leak_tree, libpmm_inject.so, libpmm.so.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/loop.h"
#include "src/base/nanotime.h"
#include "src/ledger/preload.h"
#include "src/session/leaks/leaks_search.h"
#include "src/track/monitor.h"
#include "src/track/track_attach.h"

#define MIB	    (1ull << 20)
#define NR_VICTIMS  3
#define NR_CHILDREN 5		/* of leak_tree; the i-th loses a block of i * 16 bytes */
#define LONG_NS	    60000000000ull	/* for what comes sooner or later */
#define MOST_TICKS  20000	/* milliseconds to wait for some */

/* See tests/prog/attach_victim.c: a round, from the attach on. */
#define ALLOCS	    1434
#define FREES	    1258
#define BLOCKS	    176
#define BYTES	    57784

struct victim {
	struct loop *loop;	/* the one loop */
	pid_t pid;
	int to, from;		/* pipes: orders, answers */
	char said[64];		/* the last line it said */
	size_t nr_said;
	struct attach *a;
	unsigned nr_ended, nr_others;	/* events */
	struct loop_source *attached, *answers;
};

struct fixture {
	struct loop *loop;
	struct ticker ticker;
	struct victim victim[NR_VICTIMS];
	struct child child;
	struct ledger_tree tree;
	struct monitor monitor;
	/* of the tree */
	unsigned nr_heaps, nr_roots, nr_unreadable, nr_leaving, nr_searched;
	uint64_t lost_blocks, lost_bytes;	/* of all searches at an end */
	unsigned had[NR_CHILDREN + 1];		/* heaps of a block of i * 16 bytes */
	bool searched_beside;
};

static char build[PATH_MAX];

static const char *built(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", build, name);
	return path;
}

/* ---- victims ---- */

static void on_answer(void *arg, uint32_t events)
{
	struct victim *v = arg;
	char c;

	(void)events;
	if (read(v->from, &c, 1) != 1) {
		loop_del(v->loop, v->answers);	/* its end */
		v->answers = NULL;
		return;
	}
	if (v->nr_said && v->said[v->nr_said - 1] == '\n')
		v->nr_said = 0;
	assert_true(v->nr_said + 1 < sizeof(v->said));
	v->said[v->nr_said++] = c;
	v->said[v->nr_said] = '\0';
}

static void start(struct fixture *f, struct victim *v)
{
	int to[2], from[2];

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	v->pid = fork();
	if (!v->pid) {
		alarm(200);
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl(built("tests/prog/attach_victim"), "attach_victim", NULL);
		_exit(96);
	}
	close(to[0]);
	close(from[1]);
	v->loop = f->loop;
	v->to = to[1];
	v->from = from[0];
	assert_int_equal(loop_add_fd(f->loop, v->from, EPOLLIN, on_answer, v, &v->answers), 0);
}

static void order(struct victim *v, char what)
{
	assert_int_equal(write(v->to, &what, 1), 1);
}

/* Step the one loop until it holds. */
#define step_until(f, ...) do {							\
	const uint64_t end_ns_ = nanotime() + LONG_NS;			\
	while (!(__VA_ARGS__)) {						\
		assert_true(loop_step((f)->loop, 1000000000) >= 0);		\
		assert_true(nanotime() < end_ns_);				\
	}									\
} while (0)

static bool has_said(const struct victim *v, const char *line)
{
	return !strcmp(v->said, line);
}

/* ---- attached ---- */

static void on_attach(void *arg, uint32_t events)
{
	struct victim *v = arg;
	enum attach_event event;
	struct heap *h;

	(void)events;
	assert_true(attach_step(v->a, 0) >= 0);
	while ((event = attach_next(v->a, &h)) != ATTACH_NONE) {
		v->nr_ended += event == ATTACH_ENDED;
		v->nr_others += event != ATTACH_ENDED;
		heap_free(h);
	}
	if (attach_end(v->a) != ATTACH_NONE)
		assert_int_equal(attach_step(v->a, 0), 0);	/* nothing more, and no harm */
}

static void attach_to(struct fixture *f, struct victim *v)
{
	const struct attach_options o = { .ticker = &f->ticker, .limit_bytes = 64 * MIB };
	struct err e = { .text = "" };
	int rc = attach_open(v->pid, &o, &v->a, &e);

	if (!rc)
		rc = attach_start(v->a, &e);
	if (rc)
		print_message("%s\n", e.text);
	assert_int_equal(rc, 0);
	assert_int_equal(loop_add_fd(f->loop, attach_fd(v->a), EPOLLIN, on_attach, v, &v->attached),
			 0);
}

static void has_exactly(const struct heap *h)
{
	assert_int_equal(h->allocs, ALLOCS);
	assert_int_equal(h->frees, FREES);
	assert_int_equal(h->live_blocks, BLOCKS);
	assert_int_equal(h->live_bytes, BYTES);
	assert_int_equal(h->untracked_frees, 0);
	for (unsigned i = 0; i < HEAP_NR_DROPS; i++)
		assert_int_equal(h->dropped[i], 0);
}

/* What was recorded of it, after it has ended or while it lives. */
static void detach(struct fixture *f, struct victim *v, enum heap_end end)
{
	struct err e = { .text = "" };
	bool removed = false;
	struct heap *h;

	loop_del(f->loop, v->attached);
	assert_int_equal(attach_detach(v->a, &h, &removed, &e), 0);
	assert_true(removed);
	assert_non_null(h);
	assert_int_equal(h->end == HEAP_RUNNING, end == HEAP_RUNNING);
	has_exactly(h);
	heap_free(h);
	attach_close(v->a);
}

/* ---- the tree ---- */

static void on_ended(void *arg, struct heap *h, bool is_root)
{
	struct fixture *f = arg;

	f->nr_heaps++;
	f->nr_roots += is_root;
	assert_int_equal(h->end, HEAP_EXITED);
	assert_int_equal(h->end_status, 0);
	if (!is_root) {
		assert_int_equal(h->allocs, 1);
		assert_int_equal(h->frees, 0);
		assert_int_equal(h->live_bytes % 16, 0);
		assert_in_range(h->live_bytes / 16, 1, NR_CHILDREN);
		f->had[h->live_bytes / 16]++;
	}
	heap_free(h);
}

static void on_unreadable(void *arg, pid_t pid, bool is_root, const struct err *e)
{
	(void)pid, (void)is_root;
	print_message("%s\n", e->text);
	((struct fixture *)arg)->nr_unreadable++;
}

/* Nobody steps the loop here: the clocks of all four boards go on nevertheless. */
static void all_clocks_go_on(struct fixture *f)
{
	uint32_t from[NR_VICTIMS + 1];

	assert_int_equal(f->ticker.boards.nr, NR_VICTIMS + 1);
	for (unsigned i = 0; i <= NR_VICTIMS; i++)
		from[i] = f->ticker.boards.v[i]->head->tick;
	for (unsigned i = 0; i <= NR_VICTIMS; i++) {
		uint32_t *tick = &f->ticker.boards.v[i]->head->tick;
		unsigned ms = 0;

		while (__atomic_load_n(tick, __ATOMIC_RELAXED) - from[i] < 3 && ms++ < MOST_TICKS)
			usleep(1000);
		assert_true(ms < MOST_TICKS);
	}
}

static int search(pid_t pid, const struct leaving *l, struct leaks_found *found)
{
	const struct roots_options where = { .no_copy = l != NULL,
					     .leave_sp = l ? l->sp : 0,
					     .leave_tid = l ? l->tid : 0 };
	struct leaks_search_options o = leaks_search_default;
	struct err e = { .text = "" };
	struct roots s = { 0 };
	int rc = roots_live(pid, &where, &s, &e);

	o.how = l ? HEAP_SEARCH_EXIT : HEAP_SEARCH_NONE;
	if (!rc)
		rc = leaks_search(&s, &o, found, &e);
	if (rc)
		print_message("%s\n", e.text);
	return rc;
}

/* An attached process, whose copy is searched while it is in the midst of things. */
static void search_beside(struct fixture *f)
{
	struct leaks_found found = { 0 };

	assert_int_equal(search(f->victim[0].pid, NULL, &found), 0);
	has_exactly(found.heap);
	leaks_found_fini(&found);
	f->searched_beside = true;
}

static void on_leaving(void *arg, pid_t pid, const struct leaving *l)
{
	struct leaks_found found = { 0 };
	struct fixture *f = arg;

	f->nr_leaving++;
	all_clocks_go_on(f);
	if (!f->searched_beside)
		search_beside(f);
	if (!search(pid, l, &found)) {
		f->nr_searched++;
		for (uint64_t i = 0; i < found.heap->nr_leaks; i++) {
			f->lost_blocks += found.heap->leaks[i].class == REACH_DEFINITE
						  ? found.heap->leaks[i].blocks
						  : 0;
			f->lost_bytes += found.heap->leaks[i].class == REACH_DEFINITE
						 ? found.heap->leaks[i].bytes
						 : 0;
		}
	}
	leaks_found_fini(&found);
}

static const struct monitor_ops ops = { .ended = on_ended,
					.unreadable = on_unreadable,
					.leaving = on_leaving };

static void on_monitor(void *arg, uint32_t events)
{
	(void)events;
	monitor_turn(arg);
}

static void launch(struct fixture *f)
{
	const struct ledger_tree_options o = { .limit_bytes = 8 * MIB,
					       .space_bytes = UINT64_MAX,
					       .file_bytes = UINT64_MAX,
					       .follow = true,
					       .leaks = true };
	char program[PATH_MAX + 64], agent[PATH_MAX], value[PRELOAD_VALUE_BYTES], **env;
	char *argv[] = { program, (char *)"each", (char *)"5", NULL };

	snprintf(program, sizeof(program), "%s", built("tests/prog/leak_tree"));
	assert_int_equal(preload_find(agent, NULL), 0);
	assert_int_equal(child_prepare(&f->child, NULL, true, NULL), 0);
	assert_int_equal(ledger_tree_init(&f->tree, &o, NULL), 0);
	assert_int_equal(monitor_init(&f->monitor, &f->tree, &f->child, &f->ticker, 0, &ops, f,
				      NULL), 0);
	monitor_value(&f->monitor, value);
	env = preload_env(environ, agent, value);
	assert_non_null(env);
	assert_int_equal(child_start(&f->child, program, argv, env, NULL), 0);
	preload_env_free(env);
	monitor_begin(&f->monitor, 0);
	assert_int_equal(loop_add_fd(f->loop, monitor_fd(&f->monitor), EPOLLIN, on_monitor,
				     &f->monitor, NULL), 0);
}

static void tree_is_complete(const struct fixture *f)
{
	assert_int_equal(f->child.status, 0);
	assert_int_equal(f->nr_unreadable, 0);
	assert_int_equal(f->monitor.nr_lost, 0);
	assert_int_equal(f->monitor.nr_without_events, 0);
	assert_int_equal(f->nr_roots, 1);
	assert_int_equal(f->nr_leaving, NR_CHILDREN + 1);
	assert_int_equal(f->nr_searched, NR_CHILDREN + 1);
	for (unsigned i = 1; i <= NR_CHILDREN; i++)
		assert_int_equal(f->had[i], 1);
	assert_int_equal(f->lost_blocks, NR_CHILDREN);
	assert_int_equal(f->lost_bytes, 16 + 32 + 48 + 64 + 80);
	assert_true(f->searched_beside);
}

/* ---- all at once ---- */

static void nothing_is_lost(void **state)
{
	static struct fixture f;
	int status;

	(void)state;
	assert_int_equal(loop_new(&f.loop), 0);
	assert_int_equal(ticker_init(&f.ticker, f.loop), 0);
	for (unsigned i = 0; i < NR_VICTIMS; i++)
		start(&f, &f.victim[i]);
	for (unsigned i = 0; i < NR_VICTIMS; i++)
		step_until(&f, has_said(&f.victim[i], "ready\n"));
	for (unsigned i = 0; i < NR_VICTIMS; i++)
		attach_to(&f, &f.victim[i]);
	/* the first has its round behind it, the others are in theirs while the tree ends */
	order(&f.victim[0], 'g');
	step_until(&f, has_said(&f.victim[0], "done\n"));
	launch(&f);
	order(&f.victim[1], 'g');
	order(&f.victim[2], 'g');
	step_until(&f, f.nr_heaps == NR_CHILDREN + 1 && f.child.ended);
	tree_is_complete(&f);
	for (unsigned i = 1; i < NR_VICTIMS; i++)
		step_until(&f, has_said(&f.victim[i], "done\n"));
	/* two end by themselves, one is left alone again */
	order(&f.victim[0], 'e');
	order(&f.victim[2], 'e');
	step_until(&f, f.victim[0].nr_ended && f.victim[2].nr_ended);
	assert_int_equal(f.victim[1].nr_ended, 0);
	detach(&f, &f.victim[1], HEAP_RUNNING);
	order(&f.victim[1], 'c');
	step_until(&f, has_said(&f.victim[1], "good\n"));
	order(&f.victim[1], 'e');
	detach(&f, &f.victim[0], HEAP_EXITED);
	detach(&f, &f.victim[2], HEAP_EXITED);
	assert_int_equal(f.nr_heaps, NR_CHILDREN + 1);
	for (unsigned i = 0; i < NR_VICTIMS; i++) {
		assert_int_equal(f.victim[i].nr_ended, i != 1);
		assert_int_equal(f.victim[i].nr_others, 0);
		assert_int_equal(waitpid(f.victim[i].pid, &status, 0), f.victim[i].pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 42);
		loop_del(f.loop, f.victim[i].answers);
	}
	monitor_fini(&f.monitor);
	ledger_tree_fini(&f.tree);
	ticker_fini(&f.ticker);
	loop_free(f.loop);
}

/* ---- descriptors ---- */

#define MOST_FDS    64

/* Whatever has taken the rest of them, names or other processes: what detaching needs is kept. */
static void it_detaches_when_all_descriptors_are_taken(void **state)
{
	static struct fixture f;
	struct rlimit was, most;
	int fd[MOST_FDS], status;
	unsigned nr = 0;

	(void)state;
	assert_int_equal(loop_new(&f.loop), 0);
	assert_int_equal(ticker_init(&f.ticker, f.loop), 0);
	start(&f, &f.victim[0]);
	step_until(&f, has_said(&f.victim[0], "ready\n"));
	attach_to(&f, &f.victim[0]);
	order(&f.victim[0], 'g');
	step_until(&f, has_said(&f.victim[0], "done\n"));
	getrlimit(RLIMIT_NOFILE, &was);
	most = (struct rlimit){ MOST_FDS, was.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
	while ((fd[nr] = open("/", O_PATH | O_CLOEXEC)) >= 0)
		nr++;
	assert_int_equal(errno, EMFILE);
	detach(&f, &f.victim[0], HEAP_RUNNING);
	while (nr)
		close(fd[--nr]);
	setrlimit(RLIMIT_NOFILE, &was);
	order(&f.victim[0], 'e');
	assert_int_equal(waitpid(f.victim[0].pid, &status, 0), f.victim[0].pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	loop_del(f.loop, f.victim[0].answers);
	ticker_fini(&f.ticker);
	loop_free(f.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(it_detaches_when_all_descriptors_are_taken),
	};
	ssize_t n = readlink("/proc/self/exe", build, sizeof(build) - 1);

	/* build/tests/unit/test_track_many */
	for (unsigned i = 0; i < 3 && n > 0; i++)
		*strrchr(build, '/') = '\0';
	setenv("PMM_INJECT", built("libpmm_inject.so"), 1);
	setenv("PMM_AGENT", built("libpmm.so"), 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
