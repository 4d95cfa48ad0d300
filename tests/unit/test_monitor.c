/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of src/track/monitor.c and what it is made of (child, watched, whois, serve): the
 * test program launches itself as `test_monitor --agent MODE` and plays a traced program there.
 * Also of src/track/child.c, serve.c, watched.c, preload.c, slot_pid.c.
 */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/cmd/run_signals.h"
#include "src/track/monitor.h"
#include "src/ledger/preload.h"
#include "tests/unit/fake_agent.h"
#include "tests/unit/monitor_program.h"

#define MIB	  (1ull << 20)
#define MAX_HEAPS 16
#define LONG_NS	  60000000000ull	/* for what comes sooner or later */

struct fixture {
	struct ledger_tree tree;
	struct child child;
	struct monitor monitor;
	struct heap *heap[MAX_HEAPS];
	bool root[MAX_HEAPS];
	unsigned nr, nr_unreadable;
	struct { uint64_t nr, count, blocks; enum heap_end end; } found[MAX_HEAPS];
	uint64_t nr_found, nr_alive;
};

static char self[4096];

static void on_ended(void *arg, struct heap *h, bool is_root)
{
	struct fixture *f = arg;

	assert_true(f->nr < MAX_HEAPS);
	f->root[f->nr] = is_root;
	f->heap[f->nr++] = h;
}

static void on_unreadable(void *arg, pid_t pid, bool is_root, const struct err *e)
{
	struct fixture *f = arg;

	(void)pid;
	(void)is_root;
	(void)e;
	f->nr_unreadable++;
}

/* Says a number in the ledger, where the program waits for it. */
static void tell(const struct watched *w, uint64_t nr)
{
	const off_t at = (off_t)(w->head->slots_off + offsetof(struct pmm_ledger, check.passed));

	assert_int_equal(pwrite(w->fd, &nr, sizeof(nr), at), sizeof(nr));
}

static void tell_program(const struct fixture *f, uint64_t nr)
{
	tell(roll_find(&f->monitor.roll, f->monitor.who.root), nr);
}

/* The same to a child that is alone. */
static void tell_child(const struct fixture *f)
{
	assert_int_equal(f->monitor.roll.all.nr, 1);
	tell(f->monitor.roll.all.v[0], 1);
}

/* Until the only process that is watched has recorded all that it is to. */
static void step_until_recorded(struct fixture *f)
{
	const off_t in_ledger = offsetof(struct pmm_ledger, check.passed_early);
	uint64_t done = 0;

	while (!done) {
		monitor_step(&f->monitor);
		if (f->monitor.roll.all.nr == 1) {
			const struct watched *w = f->monitor.roll.all.v[0];

			pread(w->fd, &done, sizeof(done), (off_t)w->head->slots_off + in_ledger);
		}
	}
}

static void on_found(void *arg, struct heap *h, bool is_root)
{
	struct fixture *f = arg;

	assert_true(is_root && f->nr_found < MAX_HEAPS);
	f->found[f->nr_found].nr = h->nr_findings;
	f->found[f->nr_found].count = h->findings[0].count;
	f->found[f->nr_found].blocks = h->live_blocks;
	f->found[f->nr_found++].end = h->end;
	heap_free(h);
	tell_program(f, f->nr_found);
}

static void on_alive(void *arg, pid_t pid, uint64_t now_ns)
{
	struct fixture *f = arg;

	(void)pid;
	(void)now_ns;
	tell_program(f, ++f->nr_alive);
}

/* Says to each how many processes have ended, and one more: it is watched. */
static void on_alive_all(void *arg, pid_t pid, uint64_t now_ns)
{
	struct fixture *f = arg;
	const struct watched *w = roll_find(&f->monitor.roll, pid);

	(void)now_ns;
	if (w)
		tell(w, f->nr + f->monitor.nr_without_events + 1);
}

static const struct monitor_ops ops = { .ended = on_ended,
					.unreadable = on_unreadable,
					.found = on_found };
static const struct monitor_ops paced = { .ended = on_ended,
					  .unreadable = on_unreadable,
					  .alive = on_alive };
static const struct monitor_ops told = { .ended = on_ended,
					 .unreadable = on_unreadable,
					 .alive = on_alive_all };

static void launch(struct fixture *f, const char *mode)
{
	struct ledger_tree_options o = {
		.limit_bytes = 8 * MIB,
		.space_bytes = UINT64_MAX,
		.file_bytes = UINT64_MAX,
		.follow = true,
		.check.level = strcmp(mode, "findings") ? PMM_CHECK_NONE : PMM_CHECK_LIGHT,
	};
	char *argv[] = { self, "--agent", (char *)mode, NULL };
	char value[PRELOAD_VALUE_BYTES], **env;

	memset(f, 0, sizeof(*f));
	assert_int_equal(child_prepare(&f->child, &run_signals, true, NULL), 0);
	assert_int_equal(ledger_tree_init(&f->tree, &o, NULL), 0);
	assert_int_equal(monitor_init(&f->monitor, &f->tree, &f->child, NULL, 0, &ops, f, NULL), 0);
	monitor_value(&f->monitor, value);
	env = preload_env(environ, "", value);
	assert_non_null(env);
	assert_int_equal(child_start(&f->child, self, argv, env, NULL), 0);
	preload_env_free(env);
	monitor_begin(&f->monitor, 0);
}

static void end(struct fixture *f)
{
	for (unsigned i = 0; i < f->nr; i++)
		heap_free(f->heap[i]);
	monitor_fini(&f->monitor);
	ledger_tree_fini(&f->tree);
	close(f->child.signal_fd);
	sigprocmask(SIG_SETMASK, &f->child.mask, NULL);
}

/* Nobody is left, and nobody was lost. */
static void all_are_done(const struct fixture *f)
{
	assert_int_equal(f->monitor.roll.all.nr, 0);
	assert_int_equal(f->monitor.nr_lost, 0);
}

/* Launch, run to the end, expect the root's heap alone with these figures. */
static void one(const char *mode, int code, enum heap_end how, int status, uint64_t allocs,
		uint64_t frees)
{
	struct fixture f;

	launch(&f, mode);
	monitor_until_root(&f.monitor);
	assert_int_equal(child_exit_code(f.child.status), code);
	assert_int_equal(f.nr_unreadable, 0);
	assert_int_equal(f.nr, 1);
	assert_true(f.root[0]);
	assert_int_equal(f.heap[0]->end, how);
	assert_int_equal(f.heap[0]->end_status, status);
	assert_int_equal(f.heap[0]->allocs, allocs);
	assert_int_equal(f.heap[0]->frees, frees);
	assert_int_equal(f.heap[0]->live_bytes, (allocs - frees) * FAKE_BYTES);
	assert_int_equal(f.heap[0]->pid, f.monitor.who.root);
	assert_string_equal(f.heap[0]->comm, "fake");
	all_are_done(&f);
	end(&f);
}

static void ends_are_told_apart(void **state)
{
	(void)state;
	one("exit", 7, HEAP_EXITED, 7, 5, 3);
	one("kill", 128 + SIGKILL, HEAP_KILLED, SIGKILL, 4, 0);
	one("gone", 5, HEAP_GONE, 5, 2, 2);
}

static void exec_leaves_the_last_image(void **state)
{
	(void)state;
	one("exec", 0, HEAP_GONE, 0, 40, 0);
}

static void socket_serves_another_user(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* changing user needs root */
	one("socket", 0, HEAP_GONE, 0, 3, 0);
}

static void family_leaves_a_heap_each(void **state)
{
	struct fixture f;
	unsigned killed = 0, gone = 0, roots = 0;

	(void)state;
	launch(&f, "family");
	f.monitor.ops = &told;
	monitor_until_root(&f.monitor);
	assert_int_equal(monitor_settle(&f.monitor, LONG_NS, NULL), 0);
	assert_int_equal(f.nr, 3);
	for (unsigned i = 0; i < f.nr; i++) {
		const struct heap *h = f.heap[i];

		roots += f.root[i];
		if (f.root[i]) {
			assert_int_equal(h->allocs, 1);
			assert_int_equal(h->nr_marks, 3);
			for (unsigned k = 0; k < 3; k++) {
				assert_int_equal(h->marks[k].kind, HEAP_MARK_FORK);
				assert_int_equal(h->marks[k].count, 1);
				assert_true(h->marks[k].pid > 0);
				assert_int_not_equal(h->marks[k].pid, h->pid);
				assert_string_not_equal(h->marks[k].name, "");
			}
		} else if (h->end == HEAP_KILLED) {
			killed++;
			assert_int_equal(h->end_status, SIGTERM);
			assert_int_equal(h->allocs, 11);
		} else {
			gone++;
			assert_int_equal(h->end, HEAP_GONE);
			assert_int_equal(h->end_status, 9);
			assert_int_equal(h->allocs, 10);
		}
	}
	assert_int_equal(roots, 1);
	assert_int_equal(killed, 1);
	assert_int_equal(gone, 1);
	assert_int_equal(f.monitor.nr_without_events, 1);
	all_are_done(&f);
	end(&f);
}

static void daemon_is_waited_for(void **state)
{
	struct fixture f;
	pid_t pid = 0;

	(void)state;
	launch(&f, "daemon");
	monitor_until_root(&f.monitor);
	assert_int_equal(f.nr, 1);
	assert_int_equal(monitor_settle(&f.monitor, 50000000, NULL), 1);
	while (!monitor_living(&f.monitor, &pid))
		monitor_step(&f.monitor);
	assert_int_equal(kill(pid, 0), 0);
	assert_int_not_equal(pid, f.monitor.who.root);
	tell_child(&f);
	monitor_until_all(&f.monitor);
	assert_int_equal(f.nr, 2);
	assert_false(f.root[1]);
	assert_int_equal(f.heap[1]->allocs, 20);
	assert_int_equal(f.heap[1]->pid, pid);
	assert_int_equal(f.heap[1]->end, HEAP_GONE);
	all_are_done(&f);
	end(&f);
}

static void status_is_known_without_a_zombie(void **state)
{
	struct fixture f;
	struct utsname u;
	int major = 0, minor = 0;

	(void)state;
	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	if (major < 6 || (major == 6 && minor < 15))
		skip(); /* pidfds keep the status since Linux 6.15 */
	launch(&f, "reaped");
	f.monitor.ops = &told;
	monitor_until_root(&f.monitor);
	assert_int_equal(f.nr, 2);
	assert_false(f.root[0]);
	assert_int_equal(f.heap[0]->allocs, 8);
	assert_int_equal(f.heap[0]->end_status, 9);
	end(&f);
}

static void brief_child_is_a_mark_of_its_parent(void **state)
{
	const struct heap *child, *parent;
	struct fixture f;
	siginfo_t info;

	(void)state;
	launch(&f, "brief");
	assert_int_equal(waitid(P_PID, (id_t)f.monitor.who.root, &info, WEXITED | WNOWAIT), 0);
	monitor_until_root(&f.monitor);
	assert_int_equal(monitor_settle(&f.monitor, LONG_NS, NULL), 0);
	assert_int_equal(f.nr, 2);
	parent = f.heap[f.root[1]];
	child = f.heap[f.root[0]];
	assert_int_equal(child->allocs, 8);
	assert_int_equal(parent->nr_marks, 1);
	assert_int_equal(parent->marks[0].kind, HEAP_MARK_FORK);
	assert_int_equal(parent->marks[0].pid, child->pid);
	assert_string_equal(parent->marks[0].name, "fake");
	end(&f);
}

static void namespace_costs_nobody_its_ledger(void **state)
{
	const struct heap *inner;
	struct fixture f;

	(void)state;
	if (geteuid())
		skip(); /* a pid namespace needs root */
	launch(&f, "inner");
	f.monitor.ops = &told;
	monitor_until_root(&f.monitor);
	if (child_exit_code(f.child.status) == 98) {
		end(&f);
		skip(); /* ... and a kernel that makes them */
	}
	assert_int_equal(child_exit_code(f.child.status), 0);
	assert_int_equal(monitor_settle(&f.monitor, LONG_NS, NULL), 0);
	assert_int_equal(f.nr, 2);
	inner = f.heap[f.root[0]]; /* both may end within a tick */
	assert_int_equal(inner->allocs, 50);
	assert_int_equal(inner->end_status, 3);
	assert_true(inner->pid > 1);
	assert_int_equal(f.heap[!f.root[0]]->allocs, 1);
	end(&f);
}

static void late_child_is_waited_for(void **state)
{
	struct fixture f;
	pid_t pid = 0;

	(void)state;
	launch(&f, "late");
	monitor_until_root(&f.monitor);
	assert_int_equal(monitor_settle(&f.monitor, 30000000, &pid), 1);
	assert_int_equal(kill(pid, 0), 0);
	assert_int_equal(monitor_living(&f.monitor, NULL), 0);
	assert_int_equal(kill(pid, SIGUSR1), 0);
	monitor_until_all(&f.monitor);
	assert_int_equal(f.nr, 2);
	assert_int_equal(f.heap[1]->allocs, 6);
	assert_int_equal(f.heap[1]->pid, pid);
	end(&f);
}

/*
 * New ones and those that come again, each once, complete, and also those of an image that is
 * replaced at once.
 */
static void heap_errors_are_told_at_once(void **state)
{
	struct fixture f;

	(void)state;
	launch(&f, "findings");
	monitor_until_root(&f.monitor);
	assert_int_equal(f.nr_found, 4);
	assert_int_equal(f.found[0].nr, 1);
	assert_int_equal(f.found[0].count, 1);
	assert_int_equal(f.found[0].blocks, 1);
	assert_int_equal(f.found[0].end, HEAP_RUNNING);
	assert_int_equal(f.found[1].nr, 2);
	assert_int_equal(f.found[1].count, 1);
	assert_int_equal(f.found[2].nr, 2);
	assert_int_equal(f.found[2].count, 6);
	assert_int_equal(f.found[3].nr, 3);
	assert_int_equal(f.nr, 1);
	assert_int_equal(f.heap[0]->allocs, 40);
	assert_int_equal(f.heap[0]->nr_findings, 0);
	end(&f);
}

static void living_are_delivered_when_asked_to_end(void **state)
{
	struct fixture f;

	(void)state;
	launch(&f, "daemon");
	monitor_until_root(&f.monitor);
	assert_int_equal(monitor_settle(&f.monitor, 20000000, NULL), 1);
	step_until_recorded(&f);
	kill(getpid(), SIGTERM);
	monitor_until_all(&f.monitor);
	assert_int_equal(f.nr, 2);
	assert_int_equal(f.heap[1]->end, HEAP_RUNNING);
	assert_int_equal(f.heap[1]->allocs, 20);
	kill(f.heap[1]->pid, SIGKILL);
	end(&f);
}

/*
 * However slow the machine is: the program goes on as the monitor comes round, and may be caught
 * while it notes ten blocks.
 */
static void series_follows_the_run(void **state)
{
	struct fixture f;
	const struct heap *h;

	(void)state;
	launch(&f, "paced");
	f.monitor.ops = &paced;
	monitor_until_root(&f.monitor);
	assert_int_equal(f.nr, 1);
	h = f.heap[0];
	assert_true(f.nr_alive >= 60);
	assert_in_range(h->nr_points, 10, f.nr_alive + 1);
	for (uint32_t i = 1; i < h->nr_points; i++) {
		const struct heap_point *p = &h->points[i];

		assert_true(p->time_ns > h->points[i - 1].time_ns);
		assert_true(p->allocs >= h->points[i - 1].allocs);
		assert_int_equal(p->allocs % 10, 0);
		assert_in_range(p->live_bytes, (p->allocs < 10 ? 0 : p->allocs - 10) * FAKE_BYTES,
				p->allocs * FAKE_BYTES);
		assert_int_equal(p->live_blocks, p->allocs);
		assert_true(p->rss_bytes || p->allocs == 290); /* it may have ended by then */
	}
	assert_in_range(h->points[h->nr_points - 1].allocs, 200, 290);
	assert_true(h->nr_site_points > 0);
	assert_true(h->site_points[0].live_bytes % (10 * FAKE_BYTES) == 0);
	end(&f);
}

static void program_gets_what_pmm_was_given(void **state)
{
	struct rlimit files, old_files, old_size, size;
	struct sigaction quit, hup;
	struct fixture f;
	sigset_t set, old;

	(void)state;
	for (int sig = 1; sig < 32; sig++) /* the tests before have left pmm's settings */
		signal(sig, SIG_DFL);
	getrlimit(RLIMIT_NOFILE, &old_files);
	getrlimit(RLIMIT_FSIZE, &old_size);
	files = (struct rlimit){ 100, old_files.rlim_max };
	size = (struct rlimit){ 64 * MIB, old_size.rlim_max };
	for (int fd = 3; fd < 100; fd++)
		close(fd);
	assert_int_equal(dup2(0, 77), 77);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &size), 0);
	sigaction(SIGQUIT, &(struct sigaction){ .sa_handler = SIG_IGN }, &quit);
	sigaction(SIGHUP, &(struct sigaction){ .sa_handler = SIG_IGN }, &hup);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	launch(&f, "given");
	monitor_until_root(&f.monitor);
	assert_int_equal(child_exit_code(f.child.status), 0);
	assert_int_equal(f.nr, 0);
	end(&f);
	sigprocmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	sigaction(SIGHUP, &hup, NULL);
	setrlimit(RLIMIT_NOFILE, &old_files);
	setrlimit(RLIMIT_FSIZE, &old_size);
	close(77);
}

static void signals_are_passed_on(void **state)
{
	struct fixture f;

	(void)state;
	launch(&f, "wait");
	step_until_recorded(&f);
	/* from somebody else: this process is the monitor, so a child sends it */
	if (fork() == 0) {
		kill(getppid(), SIGTERM);
		_exit(0);
	}
	monitor_until_root(&f.monitor);
	assert_int_equal(child_exit_code(f.child.status), 42);
	end(&f);
	wait(NULL);
}

static void new_code_raises_the_epoch(void **state)
{
	struct fixture f;

	(void)state;
	launch(&f, "code");
	monitor_until_root(&f.monitor);
	/* the program may map some more before it sees that */
	assert_true(f.tree.head->code_epoch >= 1);
	end(&f);
	launch(&f, "slow");
	monitor_until_root(&f.monitor);
	assert_int_equal(f.tree.head->code_epoch, 0);
	end(&f);
}

/* Whoever is no process of the tree, and has not the board mapped, is none of ours. */
static void strangers_are_told_apart(void **state)
{
	struct fixture f;

	(void)state;
	launch(&f, "wait");
	step_until_recorded(&f);
	assert_true(slot_pid_may_be(&f.monitor.who, f.monitor.who.root));
	assert_true(slot_pid_descends(&f.monitor.who, f.monitor.who.root));
	assert_false(slot_pid_may_be(&f.monitor.who, 1));
	kill(f.monitor.who.root, SIGKILL);
	monitor_until_root(&f.monitor);
	assert_int_equal(f.nr, 1);
	all_are_done(&f);
	end(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_told_apart),
		cmocka_unit_test(exec_leaves_the_last_image),
		cmocka_unit_test(socket_serves_another_user),
		cmocka_unit_test(family_leaves_a_heap_each),
		cmocka_unit_test(daemon_is_waited_for),
		cmocka_unit_test(status_is_known_without_a_zombie),
		cmocka_unit_test(brief_child_is_a_mark_of_its_parent),
		cmocka_unit_test(namespace_costs_nobody_its_ledger),
		cmocka_unit_test(late_child_is_waited_for),
		cmocka_unit_test(heap_errors_are_told_at_once),
		cmocka_unit_test(living_are_delivered_when_asked_to_end),
		cmocka_unit_test(series_follows_the_run),
		cmocka_unit_test(program_gets_what_pmm_was_given),
		cmocka_unit_test(signals_are_passed_on),
		cmocka_unit_test(new_code_raises_the_epoch),
		cmocka_unit_test(strangers_are_told_apart),
	};

	if (argc == 3 && !strcmp(argv[1], "--agent"))
		return monitor_program(argv[2], argv[0]);
	if (!realpath("/proc/self/exe", self))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
