/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that were executed, against the agents that turned up: in any order of hearing, by
 * process number, by reason.
 */
#include "src/track/census.h"
#include "tests/unit/unit.h"

static void say(struct census *c, pid_t from, pid_t number, uint32_t why, const char *name,
		uint64_t time_ns)
{
	struct pmm_message m = { .number = number, .self = from, .why = why, .time_ns = time_ns };

	snprintf(m.name, sizeof(m.name), "%s", name);
	census_exec(c, &m, from);
}

static void expect(struct census *c, const char *all)
{
	char is[500] = "", *to = is;

	census_close(c);
	vec_each(&c->untracked, u)
		to += sprintf(to, "%s %s x%d\n", u->name, census_why(u->why), (int)u->nr);
	assert_string_equal(is, all);
	census_fini(c);
}

static void who_turns_up_is_tracked(void **state)
{
	struct census c = { 0 };

	(void)state;
	say(&c, 10, 0, PMM_EXEC_TRACKED, "ls", 5);
	census_here(&c, 10, 6);
	say(&c, 11, 0, PMM_EXEC_STATIC, "odd", 5);	/* whatever was thought of it */
	census_here(&c, 11, 6);
	census_here(&c, 12, 8);				/* heard in the other order */
	say(&c, 12, 0, PMM_EXEC_TRACKED, "ls", 7);
	say(&c, 10, 13, PMM_EXEC_TRACKED, "spawned", 9);
	census_here(&c, 13, 10);
	expect(&c, "");
}

/*
 * Spawned at 1, there at 2, executes another program at 3, which is there at 4. Who spawned it may
 * say so at any time; what a process says itself is heard in its order, or the new image before
 * what was said of it.
 */
static void whoever_is_heard_late(void **state)
{
	static const char *const orders[] = { "1234", "2134", "2314", "2341",
					      "1243", "2143", "2413", "2431" };

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct census c = { 0 };

		for (const char *at = orders[i]; *at; at++)
			if (*at == '1')
				say(&c, 10, 11, PMM_EXEC_TRACKED, "spawned", 1);
			else if (*at == '3')
				say(&c, 11, 0, PMM_EXEC_TRACKED, "exe", 3);
			else
				census_here(&c, 11, (uint64_t)(*at - '0'));
		expect(&c, "");
	}
}

static void who_does_not_is_not(void **state)
{
	struct census c = { 0 };

	(void)state;
	census_here(&c, 10, 3);				/* the image before */
	say(&c, 10, 0, PMM_EXEC_STATIC, "busybox", 5);
	assert_true(census_expects(&c, 10));
	assert_int_equal(census_expects_since(&c, 10), 5);
	assert_false(census_expects(&c, 11));
	say(&c, 11, 0, PMM_EXEC_STATIC, "busybox", 5);
	say(&c, 12, 0, PMM_EXEC_SECURE, "sudo", 5);
	say(&c, 12, 0, PMM_EXEC_TRACKED, "ls", 9);	/* another process with that number */
	census_here(&c, 12, 10);
	say(&c, 13, 14, PMM_EXEC_TRACKED, "broken", 9);
	expect(&c, "sudo set-user-ID x1\nbusybox static x2\nbroken pmm's agent did not start in it "
		   "x1\n");
}

static void what_was_not_executed_is_nothing(void **state)
{
	struct census c = { 0 };

	(void)state;
	say(&c, 10, 0, PMM_EXEC_TRACKED, "nonexistent", 5);
	say(&c, 10, 0, PMM_EXEC_FAILED, "nonexistent", 6);
	say(&c, 10, 0, PMM_NR_EXECS, "nonsense", 7);
	say(&c, 11, 0, PMM_EXEC_STATIC, "hidden", 7);
	say(&c, 12, 11, PMM_EXEC_FAILED, "hidden", 8);	/* that is not theirs to say */
	expect(&c, "hidden static x1\n");
}

/* A child whose number nobody here knows: by the shell, or in another namespace. */
static void children_without_a_number(void **state)
{
	struct census c = { 0 };
	struct pmm_message m = {
		.number = 3, .self = 2, .why = PMM_EXEC_STATIC, .name = "inner", .time_ns = 5
	};

	(void)state;
	say(&c, 10, -1, PMM_EXEC_ENVIRONMENT, "sh", 5);
	say(&c, 10, -1, PMM_EXEC_TRACKED, "sh", 5);
	census_exec(&c, &m, 4711);
	expect(&c, "sh its environment is without pmm's agent x1\ninner static x1\n");
}

static void what_can_be_attached(void **state)
{
	(void)state;
	for (uint32_t why = 0; why < PMM_NR_EXECS; why++)
		assert_int_equal(census_can_be_attached(why),
				 why == PMM_EXEC_STATIC || why == PMM_EXEC_SECURE ||
					 why == PMM_EXEC_ELSEWHERE || why == PMM_EXEC_ENVIRONMENT);
}

/* Names come from outside. */
static void names_end(void **state)
{
	struct census c = { 0 };
	struct pmm_message m = { .why = PMM_EXEC_STATIC, .time_ns = 5 };

	(void)state;
	memset(m.name, 'a', sizeof(m.name));
	census_exec(&c, &m, 10);
	census_close(&c);
	assert_int_equal(strlen(c.untracked.v[0].name), PMM_EXEC_NAME - 1);
	census_fini(&c);
}

/* Nobody has these numbers. */
#define GONE (1 << 23)

/* Of millions those are remembered that something may be said of: the rest is forgotten. */
static void millions_of_programs_take_bounded_memory(void **state)
{
	const uint32_t nr = 3 * CENSUS_MAX_PROCESSES / 2;
	struct census c = { 0 };
	size_t most = 0;

	(void)state;
	say(&c, 1, 0, PMM_EXEC_STATIC, "init", 1);	/* lives */
	for (uint32_t i = 0; i < nr; i++) {
		pid_t pid = GONE + (pid_t)i;

		say(&c, pid, 0, i % 1000 ? PMM_EXEC_TRACKED : PMM_EXEC_STATIC,
		    i % 1000 ? "ls" : "busybox", 2 * i + 2);
		if (i % 1000)
			census_here(&c, pid, 2 * i + 3);
		assert_int_equal(census_expects(&c, pid), i % 1000 == 0);
		most = c.processes.nr > most ? c.processes.nr : most;
	}
	assert_true(most <= 4 * CENSUS_FORGETS);
	assert_true(census_expects(&c, 1));
	assert_int_equal(c.nr_more, 0);
	census_here(&c, 1, 5);
	expect(&c, "busybox static x1573\n");
}

/* What was said last of a process is not forgotten before much else was said. */
static void who_was_here_a_moment_ago_is_remembered(void **state)
{
	struct census c = { 0 };

	(void)state;
	for (pid_t i = 0; i < 2 * (pid_t)CENSUS_FORGETS; i++) {
		census_here(&c, GONE + i, 10);
		if (i >= 10)	/* who made it is heard late */
			say(&c, 1, GONE + i - 10, PMM_EXEC_TRACKED, "ls", 9);
	}
	expect(&c, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_turns_up_is_tracked),
		cmocka_unit_test(whoever_is_heard_late),
		cmocka_unit_test(who_does_not_is_not),
		cmocka_unit_test(what_was_not_executed_is_nothing),
		cmocka_unit_test(children_without_a_number),
		cmocka_unit_test(what_can_be_attached),
		cmocka_unit_test(names_end),
		cmocka_unit_test(millions_of_programs_take_bounded_memory),
		cmocka_unit_test(who_was_here_a_moment_ago_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
