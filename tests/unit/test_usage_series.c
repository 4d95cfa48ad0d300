/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's figures over time: which points stay, when is looked, what is left at the end. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/track/usage_series.h"
#include "tests/unit/recipe_heap.h"

#define MS 1000000ull

static struct usage_series series(void)
{
	struct usage_series u = { .points = NULL };

	usage_series_begin(&u, 0, 0);
	assert_non_null(u.points);
	return u;
}

static void add(struct usage_series *u, uint64_t time, uint64_t swap, uint64_t pss)
{
	usage_series_add(u, &(struct heap_usage_point){
				    .time_ns = time,
				    .known = HEAP_USAGE_SIZES | (pss ? HEAP_USAGE_PSS : 0),
				    .swap_bytes = swap,
				    .pss_bytes = pss });
}

static void every_second_one_goes(void **state)
{
	struct usage_series u = series();

	(void)state;
	for (unsigned i = 0; i < USAGE_MAX_POINTS; i++)
		add(&u, i * 10 * MS, 0, 0);
	assert_int_equal(u.nr_points, USAGE_MAX_POINTS);
	assert_int_equal(u.interval_ns, 10 * MS);
	add(&u, 5120 * MS, 0, 0);
	assert_int_equal(u.nr_points, USAGE_MAX_POINTS / 2 + 1);
	assert_int_equal(u.interval_ns, 20 * MS);
	for (unsigned i = 0; i <= USAGE_MAX_POINTS / 2; i++)
		assert_int_equal(u.points[i].time_ns, i * 20 * MS);
	usage_series_fini(&u);
	assert_null(u.points);
}

/* Wherever they are, and however often it is thinned out. */
static void the_highest_are_never_lost(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 3000; at += 13) {
		const uint64_t other = (at * 7 + 1) % 3000;
		struct usage_series u = series();
		bool swap = false, pss = false;

		for (uint64_t i = 0; i < 3000; i++)
			add(&u, i, i == at ? 1000 : i % 999, i == other ? 1000 : 1 + i % 998);
		assert_true(u.nr_points <= USAGE_MAX_POINTS);
		assert_true(u.nr_points >= USAGE_MAX_POINTS / 2);
		for (uint32_t i = 0; i < u.nr_points; i++) {
			swap |= u.points[i].swap_bytes == 1000 && u.points[i].time_ns == at;
			pss |= u.points[i].pss_bytes == 1000 && u.points[i].time_ns == other;
			assert_true(!i || u.points[i].time_ns > u.points[i - 1].time_ns);
		}
		assert_true(swap);
		assert_true(pss);
		usage_series_fini(&u);
	}
}

/* One in eight has PSS, off the beat of what is thinned out: none of them goes before the rest. */
static void points_with_pss_stay(void **state)
{
	struct usage_series u = series();
	unsigned nr = 0;

	(void)state;
	for (uint64_t i = 0; i <= USAGE_MAX_POINTS; i++)
		add(&u, i, 0, i % 8 == 5 ? 10 : 0);
	for (uint32_t i = 0; i < u.nr_points; i++)
		nr += u.points[i].pss_bytes == 10;
	assert_int_equal(nr, USAGE_MAX_POINTS / 8);
	for (uint64_t i = 0; i < USAGE_MAX_POINTS / 2; i++)
		add(&u, 1000 + i, 0, 0);
	for (uint32_t i = nr = 0; i < u.nr_points; i++)
		nr += u.points[i].pss_bytes == 10;
	assert_int_equal(nr, USAGE_MAX_POINTS / 8);
	usage_series_fini(&u);
}

/* Any series of points: bounded, in order, evenly spread, the first one stays. */
static void any_series_is_spread_evenly(void **state)
{
	uint64_t random = 42;

	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		const uint64_t end_ns = USAGE_FIRST_NS << round / 3;
		struct usage_series u = series();

		for (uint64_t now = 0; now < end_ns; now += u.interval_ns) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			add(&u, now, random >> 40, random >> 61 ? 0 : random >> 30 | 1);
		}
		assert_true(u.nr_points <= USAGE_MAX_POINTS);
		assert_true(u.nr_points >= USAGE_MAX_POINTS / 2 || u.interval_ns == USAGE_FIRST_NS);
		assert_true(u.points[0].time_ns < u.interval_ns);
		/* each is one of as many neighbours as an interval has */
		for (uint32_t i = 1; i < u.nr_points; i++) {
			const uint64_t gap = u.points[i].time_ns - u.points[i - 1].time_ns;

			assert_true(u.points[i].time_ns > u.points[i - 1].time_ns);
			assert_true(gap < 2 * u.interval_ns);
		}
		usage_series_fini(&u);
	}
}

static void a_look_rests_for_what_it_costs(void **state)
{
	struct usage_series u = series();
	uint64_t now = 0, looks = 0;

	(void)state;
	u.share = 1;
	/* where the machine stalls during a look, that counts as its cost: more rest follows */
	for (; now < 2000 * MS || (looks < 3 && now < 10000000 * MS); now += 10 * MS) {
		if (now >= u.next_ns)
			looks++;
		usage_series_tick(&u, getpid(), now);
	}
	assert_int_equal(u.nr_points, looks);
	assert_true(looks > 2);
	assert_int_equal(u.points[0].time_ns, 0);
	assert_int_equal(u.points[0].known, HEAP_USAGE_TIMES | HEAP_USAGE_SIZES);
	assert_true(u.whole.took_ns > 0);
	assert_int_equal(u.whole.why, HEAP_USAGE_KNOWN);
	/* it rested: the time of the looks is the share that it may have, and one look more */
	assert_true(u.whole.took_ns * USAGE_REST_EARLY <=
		    now + u.whole.took_ns / looks * USAGE_REST_EARLY * 8 +
			    u.whole.pss_took_ns * USAGE_REST_EARLY);
	usage_series_fini(&u);
}

/* What hardly runs is looked at more rarely: this one, of which much time seems to pass. */
static void an_idle_process_is_told_from_a_busy_one(void **state)
{
	struct usage_series u = series();

	(void)state;
	assert_int_equal(usage_series_idle(&u), 1);
	usage_series_tick(&u, getpid(), 0);
	assert_int_equal(usage_series_idle(&u), 1);
	usage_series_tick(&u, getpid(), 90000 * MS);
	assert_int_equal(usage_series_idle(&u), USAGE_MOST_IDLE);
	u.cpu_in_ns = 3000 * MS;
	u.cpu_ns = 1700 * MS;
	assert_int_equal(usage_series_idle(&u), 2);
	u.cpu_ns = 2400 * MS;
	assert_int_equal(usage_series_idle(&u), 1);
	u.cpu_ns = 9000 * MS;
	assert_int_equal(usage_series_idle(&u), 1);
	u.cpu_in_ns = 90 * MS;
	u.cpu_ns = 0;
	assert_int_equal(usage_series_idle(&u), 1);
	usage_series_fini(&u);
}

/* With as many processes each one waits as many times longer. */
static void many_share_the_time(void **state)
{
	struct usage_series u = series();

	(void)state;
	u.share = 1000000;
	usage_series_tick(&u, getpid(), 0);
	assert_int_equal(u.nr_points, 1);
	assert_true(u.next_ns >= 1000000ull * USAGE_REST_EARLY);
	usage_series_tick(&u, getpid(), u.next_ns - 1);
	assert_int_equal(u.nr_points, 1);
	usage_series_fini(&u);
}

/* What PSS takes of us is guessed; of one with very many mappings it is too much after 199 s. */
static void pss_waits_for_its_share(void **state)
{
	struct usage_series u = series();

	(void)state;
	usage_series_tick(&u, getpid(), 0);
	usage_series_tick(&u, getpid(), 100000 * MS);	/* how many mappings? */
	u.mappings_asked = true;
	u.nr_mappings = 300000;
	usage_series_tick(&u, getpid(), 199000 * MS);	/* 150 ms and more, for 99.5 ms */
	u.nr_mappings = 30;
	for (uint32_t i = 0; i < u.nr_points; i++)
		assert_int_equal(u.points[i].pss_bytes, 0);
	assert_int_equal(u.whole.pss_why, HEAP_USAGE_DEAR);
	assert_int_equal(u.whole.pss_took_ns, 0);
	usage_series_tick(&u, getpid(), 301000 * MS);	/* 150 ms may be spent */
	assert_int_equal(u.points[u.nr_points - 1].known, HEAP_USAGE_ALL);
	assert_true(u.points[u.nr_points - 1].pss_bytes > 4096);
	assert_int_equal(u.whole.pss_why, HEAP_USAGE_KNOWN);
	assert_true(u.whole.pss_took_ns > 0);
	assert_int_equal(u.next_pss_ns, 301000 * MS + USAGE_PSS_REST * u.whole.pss_took_ns);
	usage_series_fini(&u);
}

static void the_last_figures_are_the_end(void **state)
{
	struct usage_series u = series();
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	usage_series_end(&u, getpid(), 5 * MS);		/* it lives */
	assert_int_equal(u.nr_points, 0);
	usage_series_end(&u, pid, 7 * MS);
	usage_series_end(&u, pid, 8 * MS);
	usage_series_tick(&u, getpid(), 90 * MS);
	assert_int_equal(u.nr_points, 1);
	assert_int_equal(u.points[0].time_ns, 7 * MS);
	assert_int_equal(u.points[0].known, HEAP_USAGE_TIMES);
	assert_int_equal(u.points[0].threads, 0);
	assert_true(u.points[0].minor_faults > 0);
	waitpid(pid, NULL, 0);
	usage_series_fini(&u);
}

/* Its number may belong to another one when it is looked at again, and when that one ends. */
static void another_process_of_its_number_is_not_it(void **state)
{
	struct usage_series u = series();
	siginfo_t info;
	pid_t pid;

	(void)state;
	usage_series_tick(&u, getpid(), 0);
	assert_int_equal(u.nr_points, 1);
	usleep(50000);		/* the kernel tells when one began in steps of 10 ms */
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	assert_true(pid > 0);
	usage_series_tick(&u, pid, 90000 * MS);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	usage_series_end(&u, pid, 91000 * MS);
	waitpid(pid, NULL, 0);
	assert_int_equal(u.whole.why, HEAP_USAGE_KNOWN);
	assert_int_equal(u.nr_points, 1);
	assert_false(u.ended);
	usage_series_tick(&u, getpid(), 200000 * MS);	/* it is looked at still */
	assert_int_equal(u.nr_points, 2);
	usage_series_fini(&u);
}

static void a_heap_gets_a_copy(void **state)
{
	struct heap *h = recipe_heap("process taken=1s\n");
	struct usage_series none = { .points = NULL }, u = series();
	char why[200];

	(void)state;
	assert_int_equal(usage_series_give(&none, h->taken_ns, h), 0);
	assert_false(h->usage.sampled);
	add(&u, 999 * MS, 1, 2);
	add(&u, 1001 * MS, 3, 4);
	assert_int_equal(usage_series_give(&u, h->taken_ns, h), 0);
	assert_int_equal(usage_series_give(&u, h->taken_ns, h), 0);	/* again, in its place */
	assert_int_equal(h->nr_usage_points, 2);
	assert_int_equal(h->usage_points[0].time_ns, 999 * MS);
	assert_int_equal(h->usage_points[1].time_ns, 1000 * MS);
	assert_int_equal(h->usage_points[1].pss_bytes, 4);
	assert_true(h->usage.sampled);
	assert_int_equal(h->usage.pss_why, HEAP_USAGE_DEAR);
	assert_int_equal(heap_check(h, why, sizeof(why)), 0);
	heap_free(h);
	usage_series_fini(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_second_one_goes),
		cmocka_unit_test(the_highest_are_never_lost),
		cmocka_unit_test(points_with_pss_stay),
		cmocka_unit_test(any_series_is_spread_evenly),
		cmocka_unit_test(a_look_rests_for_what_it_costs),
		cmocka_unit_test(an_idle_process_is_told_from_a_busy_one),
		cmocka_unit_test(many_share_the_time),
		cmocka_unit_test(pss_waits_for_its_share),
		cmocka_unit_test(the_last_figures_are_the_end),
		cmocka_unit_test(another_process_of_its_number_is_not_it),
		cmocka_unit_test(a_heap_gets_a_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
