/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/ptrace/watchdog.c, hurry.c: a process beside ours that takes away what we leave, and only
 * that; and priority for a moment.
 */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/ptrace/hurry.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"
#include "src/ptrace/watchdog.h"

/* What the watchdog tells of itself. */
struct told {
	int nr_cleaned, fail_first, nr_open;
	pid_t target, session;
	bool null[3];
	char name[PROC_COMM_BYTES], where[64];
};

static struct told *told;
static pid_t target;

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static void end_of(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int begin(void **state)
{
	(void)state;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	target = sleeper();
	return told == MAP_FAILED;
}

static int end(void **state)
{
	(void)state;
	end_of(target);
	munmap(told, sizeof(*told));
	return 0;
}

static void look_around(struct told *t)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (d && (entry = readdir(d)))
		t->nr_open += entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(d);
	for (int i = 0; i < 3; i++) {
		char path[32], link[32] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
		t->null[i] = readlink(path, link, sizeof(link) - 1) > 0 &&
			     !strcmp(link, "/dev/null");
	}
	if (!getcwd(t->where, sizeof(t->where)))
		t->where[0] = 0;
	t->session = getsid(0);
	proc_comm(getpid(), t->name);
}

static int clean(pid_t pid, void *arg)
{
	struct told *t = arg;

	t->target = pid;
	if (!t->nr_cleaned)
		look_around(t);
	__atomic_fetch_add(&t->nr_cleaned, 1, __ATOMIC_SEQ_CST);
	return t->nr_cleaned <= t->fail_first ? -EAGAIN : 0;
}

static bool gone(pid_t pid)
{
	for (unsigned ms = 0; ms < 20000; ms++) {
		if (waitpid(pid, NULL, WNOHANG) == pid || (kill(pid, 0) && errno == ESRCH))
			return true;
		usleep(1000);
	}
	return false;
}

static void all_is_well(void **state)
{
	struct watchdog w;
	pid_t pid;

	(void)state;
	assert_int_equal(watchdog_start(&w, target, clean, told, NULL), 0);
	pid = w.pid;
	assert_true(pid > 0 && w.fd >= 0);
	assert_int_equal(kill(pid, 0), 0);
	watchdog_end(&w, true);
	assert_int_equal(w.pid, 0);
	assert_int_equal(w.fd, -1);
	assert_int_equal(kill(pid, 0), -1);		/* it was waited for */
	assert_int_equal(told->nr_cleaned, 0);
	watchdog_end(&w, true);				/* there is none */
	watchdog_end(&(struct watchdog){ 0 }, false);
}

static void what_is_left_is_taken_away(void **state)
{
	struct watchdog w;
	pid_t pid;

	(void)state;
	told->fail_first = 1;				/* tried again */
	assert_int_equal(watchdog_start(&w, target, clean, told, NULL), 0);
	pid = w.pid;
	watchdog_end(&w, false);
	assert_true(gone(pid));
	assert_int_equal(told->nr_cleaned, 2);
	assert_int_equal(told->target, target);
	/* it keeps nothing of ours */
	/* 0 to 3, and which process we are */
	assert_int_equal(told->nr_open, 5);
	assert_true(told->null[0] && told->null[1] && told->null[2]);
	assert_string_equal(told->where, "/");
	assert_string_equal(told->name, TASK_WATCHDOG_NAME);
	assert_int_equal(told->session, pid);
}

static void who_dies_is_cleaned_up_after(void **state)
{
	pid_t us = fork();

	(void)state;
	if (!us) {
		struct watchdog w;

		if (watchdog_start(&w, target, clean, told, NULL) || !w.pid)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	waitpid(us, NULL, 0);
	for (unsigned ms = 0; ms < 20000 && !__atomic_load_n(&told->nr_cleaned, __ATOMIC_SEQ_CST);
	     ms++)
		usleep(1000);
	assert_int_equal(told->nr_cleaned, 1);
	assert_int_equal(told->target, target);
}

/* Signals for a whole group or session, and those sent to it, do not end it. */
static void signals_do_not_end_it(void **state)
{
	static const int usual[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGALRM };
	struct watchdog w;
	pid_t pid;

	(void)state;
	assert_int_equal(watchdog_start(&w, target, clean, told, NULL), 0);
	pid = w.pid;
	/* by then it has masked all */
	for (unsigned ms = 0; ms < 20000 && getsid(pid) != pid; ms++)
		usleep(1000);
	for (size_t i = 0; i < NR(usual); i++)
		kill(pid, usual[i]);
	watchdog_end(&w, false);
	assert_true(gone(pid));
	assert_int_equal(told->nr_cleaned, 1);
}

static void where_there_is_no_process_there_is_no_watchdog(void **state)
{
	struct watchdog w = { 1, 2 };

	(void)state;
	assert_int_equal(watchdog_start(&w, 0x7ffffff0, clean, told, NULL), 0);
	assert_int_equal(w.pid, 0);
	assert_int_equal(w.fd, -1);
	watchdog_end(&w, false);
	assert_int_equal(told->nr_cleaned, 0);
}

static void who_has_ended_needs_no_cleaning(void **state)
{
	struct watchdog w;
	pid_t pid;

	(void)state;
	assert_int_equal(watchdog_start(&w, target, clean, told, NULL), 0);
	pid = w.pid;
	end_of(target);
	watchdog_end(&w, false);
	assert_true(gone(pid));
	assert_int_equal(told->nr_cleaned, 0);
	target = sleeper();
}

/* ---- priority -------------------------------------------------------------------------------- */

static void priority_is_had_for_a_moment(void **state)
{
	struct hurry h;

	(void)state;
	hurry_begin(&h);
	assert_int_equal(h.policy, SCHED_OTHER);
	assert_int_equal(h.priority, 0);
	assert_int_equal(sched_getscheduler(0), h.on ? SCHED_RR : SCHED_OTHER);
	hurry_end(&h);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	hurry_end(&(struct hurry){ 0 });
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

static void who_has_chosen_a_priority_keeps_it(void **state)
{
	struct hurry h;

	(void)state;
	assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 }), 0);
	hurry_begin(&h);
	assert_false(h.on);
	assert_int_equal(h.policy, SCHED_BATCH);
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	hurry_end(&h);
	assert_int_equal(sched_getscheduler(0), SCHED_BATCH);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 }), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(all_is_well),
		TEST(what_is_left_is_taken_away),
		TEST(who_dies_is_cleaned_up_after),
		TEST(signals_do_not_end_it),
		TEST(where_there_is_no_process_there_is_no_watchdog),
		TEST(who_has_ended_needs_no_cleaning),
		cmocka_unit_test(priority_is_had_for_a_moment),
		cmocka_unit_test(who_has_chosen_a_priority_keeps_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
