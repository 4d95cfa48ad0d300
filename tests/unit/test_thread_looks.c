/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/track/thread_looks.c: which threads were seen, what each was called last. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/track/thread_looks.h"

#define MS	1000000ull

static void expect(const struct thread_looks *l, size_t nr, const struct ledger_seen *seen)
{
	assert_int_equal(l->nr, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(l->seen[i].tid, seen[i].tid);
		assert_int_equal(l->seen[i].seen_ns, seen[i].seen_ns);
		assert_string_equal(l->seen[i].name, seen[i].name);
	}
}

static void the_last_name_of_each_stays(void **state)
{
	struct proc_thread first[] = { { 9, 9, "nine" }, { 5, 5, "five" }, { 7, 7, "seven" } };
	struct proc_thread second[] = { { 8, 8, "eight" }, { 7, 7, "again" } };
	struct thread_looks l = { .seen = NULL };

	(void)state;
	assert_int_equal(thread_looks_add(&l, first, NR(first), 1 * MS), 0);
	expect(&l, 3,
	       (const struct ledger_seen[]){
		       { 5, "five", 1 * MS }, { 7, "seven", 1 * MS }, { 9, "nine", 1 * MS } });
	assert_int_equal(thread_looks_add(&l, second, NR(second), 2 * MS), 0);
	expect(&l, 4,
	       (const struct ledger_seen[]){ { 5, "five", 1 * MS },
					     { 7, "again", 2 * MS },
					     { 8, "eight", 2 * MS },
					     { 9, "nine", 1 * MS } });
	assert_int_equal(l.look_ns, 2 * MS);
	thread_looks_fini(&l);
}

static void ended_ones_are_forgotten_when_there_are_many(void **state)
{
	struct thread_looks l = { .seen = NULL };
	struct proc_thread t = { .comm = "short" };

	(void)state;
	for (int i = 1; i <= THREAD_LOOKS_ENDED + 2; i++) {
		t.ns_tid = i;
		assert_int_equal(thread_looks_add(&l, &t, 1, (uint64_t)i * MS), 0);
		assert_int_equal(l.nr, i);
	}
	t.ns_tid++;
	assert_int_equal(thread_looks_add(&l, &t, 1, MS), 0);
	expect(&l, 1, (const struct ledger_seen[]){ { (uint32_t)t.ns_tid, "short", MS } });
	thread_looks_fini(&l);
}

static pthread_barrier_t turn;
static uint32_t other;

static void *thread(void *arg)
{
	other = (uint32_t)gettid();
	prctl(PR_SET_NAME, "other");
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	return arg;
}

static const struct ledger_seen *find(const struct thread_looks *l, uint32_t tid)
{
	for (uint32_t i = 0; i < l->nr; i++)
		if (l->seen[i].tid == tid)
			return &l->seen[i];
	fail_msg("thread %u was not seen", tid);
	return NULL;
}

/* The kernel takes a thread that has been joined out of its list a moment later. */
static bool is_gone(uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%u", tid);
	for (int i = 0; i < 1000 && !access(path, F_OK); i++)
		usleep(1000);
	return access(path, F_OK);
}

static void a_process_is_looked_at_in_time(void **state)
{
	struct thread_looks l = { .seen = NULL };
	pthread_t t;

	(void)state;
	pthread_barrier_init(&turn, NULL, 2);
	assert_int_equal(pthread_create(&t, NULL, thread, NULL), 0);
	pthread_barrier_wait(&turn);
	thread_looks_tick(&l, getpid(), 10 * MS);
	thread_looks_tick(&l, getpid(), 29 * MS);
	assert_int_equal(l.nr, 0);
	thread_looks_tick(&l, getpid(), 30 * MS);
	assert_int_equal(l.look_ns, 30 * MS);
	assert_string_equal(find(&l, other)->name, "other");
	assert_true(l.next_ns >= 50 * MS);
	pthread_barrier_wait(&turn);
	pthread_join(t, NULL);
	assert_true(is_gone(other));
	thread_looks_tick(&l, getpid(), l.next_ns);
	assert_true(l.look_ns > 30 * MS);
	assert_int_equal(find(&l, other)->seen_ns, 30 * MS);
	assert_int_equal(find(&l, (uint32_t)gettid())->seen_ns, l.look_ns);
	thread_looks_fini(&l);
	pthread_barrier_destroy(&turn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_name_of_each_stays),
		cmocka_unit_test(ended_ones_are_forgotten_when_there_are_many),
		cmocka_unit_test(a_process_is_looked_at_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
