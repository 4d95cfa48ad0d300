/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of the monitor with guests that are no good, or very many: ledgers made up by children
 * that are forked here (src/track/ monitor.c, monitor_ends.c, monitor_hear.c, monitor_leave.c,
 * roll.c, watched.c). The program itself is a shell that waits for its input to end.
 */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/cmd/run_signals.h"
#include "src/track/monitor.h"
#include "src/ledger/preload.h"
#include "tests/unit/fake_agent.h"

#define MIB (1ull << 20)

static int gate[2];	/* a pipe: closed to let all go */

struct fixture {
	struct ledger_tree board;
	struct child child;
	struct monitor monitor;
	char value[PRELOAD_VALUE_BYTES];
	int input;	/* the program ends when it is closed */
	unsigned nr_ended, nr_running, nr_unreadable, nr_leaving;
	uint64_t allocs;
};

static void on_ended(void *arg, struct heap *h, bool is_root)
{
	struct fixture *f = arg;

	(void)is_root;
	f->nr_ended++;
	f->nr_running += h->end == HEAP_RUNNING;
	f->allocs += h->allocs;
	heap_free(h);
}

static void on_unreadable(void *arg, pid_t pid, bool is_root, const struct err *e)
{
	(void)pid, (void)is_root, (void)e;
	((struct fixture *)arg)->nr_unreadable++;
}

static void on_leaving(void *arg, pid_t pid, const struct leaving *l)
{
	(void)pid, (void)l;
	((struct fixture *)arg)->nr_leaving++;
}

static const struct monitor_ops ops = { .ended = on_ended,
					.unreadable = on_unreadable,
					.leaving = on_leaving };

static int setup(void **state)
{
	const struct ledger_tree_options o = { .limit_bytes = 4 * MIB,
					       .space_bytes = UINT64_MAX,
					       .file_bytes = UINT64_MAX,
					       .follow = true,
					       .leaks = true };
	char *argv[] = { "/bin/sh", "-c", "read line", NULL };
	struct fixture *f = calloc(1, sizeof(*f));
	int fds[2], old = dup(0);

	*state = f;
	if (pipe2(gate, O_CLOEXEC))
		return -1;
	if (child_prepare(&f->child, &run_signals, true, NULL) ||
	    ledger_tree_init(&f->board, &o, NULL) ||
	    monitor_init(&f->monitor, &f->board, &f->child, NULL, 0, &ops, f, NULL) ||
	    pipe2(fds, O_CLOEXEC))
		return -1;
	monitor_value(&f->monitor, f->value);
	dup2(fds[0], 0);
	close(fds[0]);
	f->input = fds[1];
	if (child_start(&f->child, argv[0], argv, environ, NULL))
		return -1;
	dup2(old, 0);
	close(old);
	monitor_begin(&f->monitor, 0);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->input);
	close(gate[0]);
	close(gate[1]);
	monitor_until_root(&f->monitor);
	monitor_fini(&f->monitor);
	ledger_tree_fini(&f->board);
	close(f->child.signal_fd);
	sigprocmask(SIG_SETMASK, &f->child.mask, NULL);
	free(f);
	return 0;
}

/* A child that does that; what it exits with is the result. */
static pid_t guest(struct fixture *f, int (*play)(struct fake_agent *a))
{
	pid_t pid = fork();
	struct fake_agent a;

	if (pid)
		return pid;
	alarm(200); /* not left over when the test dies */
	_exit(fake_agent_find(&a, f->value) ? 99 : play(&a));
}

static void step_until_ended(struct fixture *f, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid)
		monitor_step(&f->monitor);
	assert_int_equal(status, 0);
}

static void step_until_gone(struct fixture *f)
{
	serve_drain(&f->monitor.serve, 0);
	for (unsigned i = 0; i < 6000 && f->monitor.roll.all.nr; i++)
		monitor_step(&f->monitor);
	assert_int_equal(f->monitor.roll.all.nr, 0);
}

/* ---- files ---- */

static int hand_in(struct fake_agent *a, int fd)
{
	int rc = fake_say(&a->env, 0, (struct pmm_message){ .what = PMM_SAY_HERE }, fd, NULL);

	close(fd);
	return rc;
}

static int memfd(uint64_t bytes, int seals)
{
	int fd = memfd_create(PMM_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return ftruncate(fd, (off_t)bytes) || (seals && fcntl(fd, F_ADD_SEALS, seals)) ? -1 : fd;
}

static int good(struct fake_agent *a, struct fake_agent *b)
{
	int fd = fake_agent_file(a);

	*b = *a;
	return fake_agent_begin(b, fd) ? -1 : fd;
}

/* Everything that is no ledger file of this tree: 13 in all. */
static int play_no_ledgers(struct fake_agent *a)
{
	const int both = F_SEAL_SHRINK | F_SEAL_GROW;
	const uint64_t bytes = fake_agent_bytes(a);
	struct fake_agent b;
	int fds[2], fd, rc = 0;

	rc |= pipe(fds) || hand_in(a, fds[0]);
	rc |= hand_in(a, open("/proc/self/exe", O_RDONLY));
	rc |= hand_in(a, open("/", O_PATH));
	rc |= hand_in(a, memfd(bytes, 0));
	rc |= hand_in(a, memfd(bytes, F_SEAL_SHRINK));
	rc |= hand_in(a, memfd(bytes, both));		/* empty */
	rc |= hand_in(a, memfd(bytes + 4096, both));
	rc |= hand_in(a, memfd(bytes, both | F_SEAL_WRITE));
	fd = good(a, &b);
	b.tree->version++;
	rc |= hand_in(a, fd);
	fd = good(a, &b);
	b.tree->slot_bytes -= 4096;
	rc |= hand_in(a, fd);
	fd = good(a, &b);
	b.ledger->arena_end = UINT64_MAX;
	rc |= hand_in(a, fd);
	fd = good(a, &b);
	b.ledger->magic = 0;
	rc |= hand_in(a, fd);
	fd = good(a, &b);
	b.tree->nr_slots = 2;
	rc |= hand_in(a, fd);
	return rc;
}

static void what_is_no_ledger_is_lost(void **state)
{
	struct fixture *f = *state;

	step_until_ended(f, guest(f, play_no_ledgers));
	step_until_gone(f);
	assert_int_equal(f->monitor.nr_lost, 13);
	assert_int_equal(f->monitor.roll.all.nr, 0);
	assert_int_equal(f->nr_ended, 0);
}

/*
 * The head and the header are overwritten at random all the time, and it asks to leave all the
 * time.
 */
static int play_scribbler(struct fake_agent *a)
{
	uint32_t *words, seed = 12345;
	time_t end = time(NULL) + 3;
	int fd;

	/* it has been accepted */
	if (fake_agent_claim(a) ||
	    fake_say(&a->env, 0, (struct pmm_message){ .what = PMM_SAY_LIMIT }, -1, &fd))
		return 1;
	fake_agent_record(a, 3, 0);
	for (words = (uint32_t *)a->tree; time(NULL) <= end;) {
		for (unsigned i = 0; i < 100000; i++) {
			seed = seed * 1664525u + 1013904223u;
			words[(seed >> 8) % (sizeof(struct pmm_tree) / 4)] = seed;
			a->tree->slot[0].leave = PMM_LEAVE_ASKED;
			((uint32_t *)a->ledger)[(seed >> 10) % 2048] = seed;
		}
	}
	a->tree->slot[0].state = 77;
	return 0;
}

static int play_good(struct fake_agent *a)
{
	if (fake_agent_claim(a))
		return 1;
	fake_agent_record(a, 1, 0);
	return 0;
}

/*
 * It gets its heap or is said to be unreadable; it is searched a few times and no more; the clock
 * goes on, and others are served.
 */
static void scribbler_harms_nobody(void **state)
{
	struct fixture *f = *state;
	uint32_t tick = f->board.head->tick;
	uint64_t start_ns = ledger_tree_now_ns(&f->board), steps = 0;
	pid_t pid = guest(f, play_scribbler);
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		monitor_step(&f->monitor);
		steps++;
	}
	assert_int_equal(status, 0);
	assert_true(f->board.head->tick > tick);
	assert_true(f->nr_leaving <= 8);
	/* not busy: some ten steps for each tick at most */
	assert_true(steps < 10 * ((ledger_tree_now_ns(&f->board) - start_ns) / PMM_TICK_NS + 100));
	step_until_ended(f, guest(f, play_good));
	step_until_gone(f);
	assert_int_equal(f->nr_ended + f->nr_unreadable + f->monitor.nr_without_events, 2);
	assert_true(f->nr_ended >= 1);
}

/* ---- questions ---- */

static int play_exec_and_ask(struct fake_agent *a)
{
	int fd;

	if (fake_say(&a->env, 0, (struct pmm_message){ .what = PMM_SAY_LIMIT }, -1, &fd) !=
		    PMM_LIMIT_AS_IT_WAS ||
	    fake_agent_claim_by(a, 0, 1))
		return 1;
	a->tree->slot[0].limit_raised = PMM_LIMIT_RAISED_POOL;
	if (fake_say(&a->env, 1, (struct pmm_message){ .what = PMM_SAY_LIMIT }, -1, &fd) !=
	    PMM_LIMIT_RAISED_POOL)
		return 2;
	if (!fork())
		_exit(fake_say(&a->env, 0, (struct pmm_message){ .what = PMM_SAY_LIMIT }, -1,
			       &fd) != PMM_LIMIT_RAISED_POOL);
	if (wait(&fd) < 0 || fd)
		return 3;
	a->tree->slot[0].limit_raised = 12345;	/* hostile */
	if (fake_say(&a->env, 0, (struct pmm_message){ .what = PMM_SAY_LIMIT }, -1, &fd) !=
	    PMM_LIMIT_AS_IT_WAS)
		return 4;
	fake_agent_record(a, 5, 0);
	if (fake_agent_claim_by(a, 0, 1))	/* the next image */
		return 5;
	fake_agent_record(a, 7, 0);
	return a->tree->slot[0].state != PMM_SLOT_LIVE;
}

/*
 * The limit of the image before, or of the parent; the older image is replaced, and the newer one
 * delivered.
 */
static void limit_is_that_of_the_image_before(void **state)
{
	struct fixture *f = *state;

	step_until_ended(f, guest(f, play_exec_and_ask));
	step_until_gone(f);
	assert_int_equal(f->monitor.nr_replaced, 1);
	assert_int_equal(f->nr_ended, 1);
	assert_int_equal(f->allocs, 7);
	assert_int_equal(f->monitor.nr_lost, 0);
}

/* A file that the monitor has made, handed in once more as well. */
static int play_file(struct fake_agent *a)
{
	int fd;

	if (fake_say(&a->env, 0, (struct pmm_message){ .what = PMM_SAY_FILE }, -1, &fd) || fd < 0 ||
	    fake_agent_begin(a, fd))
		return 1;
	fake_agent_record(a, 11, 0);
	return hand_in(a, fd);
}

static void file_is_made_for_who_may_not(void **state)
{
	struct fixture *f = *state;

	step_until_ended(f, guest(f, play_file));
	step_until_gone(f);
	assert_int_equal(f->nr_ended, 1);
	assert_int_equal(f->allocs, 11);
	assert_int_equal(f->monitor.nr_replaced, 0);
	assert_int_equal(f->monitor.nr_lost, 0);
}

/* Leaves, and says so or not: its word is seen all the same. */
static int leave(struct fake_agent *a, bool said)
{
	if (fake_agent_claim(a))
		return 1;
	a->ledger->leave = (struct pmm_leave){ .tid = (uint32_t)getpid(), .cause = PMM_LEAVE_EXIT };
	__atomic_store_n(&a->tree->slot[0].leave, PMM_LEAVE_ASKED, __ATOMIC_RELEASE);
	if (said && fake_say(&a->env, 0, (struct pmm_message){ .what = PMM_SAY_LEAVE }, -1, NULL))
		return 2;
	for (unsigned i = 0; i < 100000 && __atomic_load_n(&a->tree->slot[0].leave,
							   __ATOMIC_ACQUIRE) != PMM_LEAVE_DONE;
	     i++)
		usleep(1000);
	return a->tree->slot[0].leave != PMM_LEAVE_DONE;
}

static int play_leave(struct fake_agent *a)
{
	return leave(a, true);
}

static int play_leave_mute(struct fake_agent *a)
{
	return leave(a, false);
}

static void who_leaves_is_searched_and_let_go(void **state)
{
	struct fixture *f = *state;

	step_until_ended(f, guest(f, play_leave));
	assert_int_equal(f->nr_leaving, 1);
	step_until_ended(f, guest(f, play_leave_mute));
	assert_int_equal(f->nr_leaving, 2);
	assert_int_equal(f->monitor.asked.nr, 0);
}

/* ---- very many ---- */

/* A ledger that takes next to no memory. */
static int play_one_of_many(struct fake_agent *a)
{
	int fd = fake_agent_file(a);
	struct pmm_ledger *l;
	char byte;

	a->tree = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (a->tree == MAP_FAILED)
		return 1;
	*a->tree = *a->board;
	a->tree->slot[0] = (struct pmm_slot){ .state = PMM_SLOT_LIVE, .pid = (uint32_t)getpid() };
	l = (struct pmm_ledger *)((char *)a->tree + a->board->slots_off);
	l->version = PMM_LEDGER_VERSION;
	l->header_bytes = sizeof(*l);
	l->arena_off = l->arena_used = l->arena_ready = PMM_ARENA_OFF;
	l->arena_end = a->board->slot_bytes;
	l->magic = PMM_LEDGER_MAGIC;
	if (hand_in(a, fd))
		return 2;
	close(gate[1]);
	return read(gate[0], &byte, 1) != 0;
}

/* Each takes as long to fork as it has memory, of which the sanitizers' shadow is a lot. */
#ifdef SANITIZED
#define MANY 500
#else
#define MANY 5000
#endif

/*
 * Has them as children: forked from here each would have the monitor's mappings of all before it.
 */
static int play_mother(struct fake_agent *a)
{
	int status, nr_well = 0;

	for (unsigned i = 0; i < MANY; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(play_one_of_many(a));
	}
	close(gate[1]);
	while (wait(&status) > 0)
		nr_well += !status;
	return nr_well != MANY;
}

static void thousands_at_once(void **state)
{
	struct fixture *f = *state;
	struct rlimit files, processes;
	const unsigned nr = MANY;
	uint32_t tick, most = 0;
	uint64_t start_ns;
	pid_t mother;

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_NPROC, &processes);
	if (files.rlim_cur < 3 * nr + 500 || processes.rlim_cur < nr + 1000)
		skip(); /* three descriptors each */
	mother = guest(f, play_mother);
	assert_true(mother > 0);
	start_ns = ledger_tree_now_ns(&f->board);
	for (tick = f->board.head->tick;
	     f->monitor.roll.all.nr < nr &&
	     ledger_tree_now_ns(&f->board) - start_ns < 100000000000ull;) {
		monitor_step(&f->monitor);
		most = f->board.head->tick - tick > most ? f->board.head->tick - tick : most;
		tick = f->board.head->tick;
	}
	assert_int_equal(f->monitor.roll.all.nr, nr);
	assert_int_equal(f->monitor.nr_lost, 0);
	assert_int_equal(monitor_living(&f->monitor, NULL), nr);
	assert_true(most < 400);	/* who waits gives up after four seconds without a tick */
	close(gate[1]);
	step_until_ended(f, mother);
	step_until_gone(f);
	assert_int_equal(f->monitor.nr_without_events, nr);
	print_message("%u processes, at most %u ticks in a step\n", nr, most);
}

/*
 * Once descriptors run out the rest is lost and counted, and what was there before is not harmed.
 */
static void too_many_are_counted(void **state)
{
	struct fixture *f = *state;
	struct rlimit old, few;
	uint64_t start_ns;
	unsigned nr = 40;
	int status;

	getrlimit(RLIMIT_NOFILE, &old);
	few = (struct rlimit){ 60, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (unsigned i = 0; i < nr; i++)
		assert_true(guest(f, play_one_of_many) > 0);
	start_ns = ledger_tree_now_ns(&f->board);
	while (f->monitor.roll.all.nr + f->monitor.nr_lost < nr &&
	       ledger_tree_now_ns(&f->board) - start_ns < 100000000000ull)
		monitor_step(&f->monitor);
	assert_int_equal(f->monitor.roll.all.nr + f->monitor.nr_lost, nr);
	assert_true(f->monitor.nr_lost > 0 && f->monitor.roll.all.nr > 5);
	close(gate[1]);
	step_until_gone(f);
	if (f->monitor.nr_without_events + f->monitor.nr_lost != nr)
		fail_msg("%u without events, %u lost, %u unreadable, %u ended; not %u",
			 f->monitor.nr_without_events, f->monitor.nr_lost, f->nr_unreadable,
			 f->nr_ended, nr);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	while (nr && wait(&status) > 0)
		nr--;
	assert_int_equal(nr, 0);
	step_until_ended(f, guest(f, play_good));
	step_until_gone(f);
	assert_int_equal(f->allocs, 1);
}

/* ---- the monitor goes ---- */

static bool board_lives(const struct fixture *f)
{
	uint32_t word = f->board.head->life[f->board.head->life_at];

	return word && !(word & 0x40000000 /* FUTEX_OWNER_DIED */);
}

/* A forked monitor takes over, serves, and its life is on the board. */
static void forked_monitor_takes_over(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t pid;

	assert_true(board_lives(f));
	assert_int_equal(f->board.head->life[0], getpid());
	pid = monitor_fork(&f->monitor);
	if (!pid) {
		alarm(100);
		step_until_ended(f, guest(f, play_good));
		step_until_gone(f);
		for (unsigned i = 0; i < 60000 && f->nr_ended == 1; i++)
			usleep(1000);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(f->board.head->life_at, 1);
	assert_int_equal(f->board.head->life[1], pid);
	assert_int_equal(f->board.head->monitor_pid, pid);
	assert_true(board_lives(f));
	pulse_drop(&f->monitor.pulse);
	assert_true(board_lives(f));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(board_lives(f));
	f->monitor.handed_over = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_no_ledger_is_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(scribbler_harms_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(limit_is_that_of_the_image_before, setup, teardown),
		cmocka_unit_test_setup_teardown(file_is_made_for_who_may_not, setup, teardown),
		cmocka_unit_test_setup_teardown(who_leaves_is_searched_and_let_go, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(thousands_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(forked_monitor_takes_over, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
