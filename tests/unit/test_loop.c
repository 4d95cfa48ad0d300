/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event loop: descriptors, timers, and loops in loops. */
#include "tests/unit/loop_calls.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* ---- descriptors ---- */

static void descriptors_are_called_for_as_long_as_they_are_ready(void **state)
{
	struct source a = { .name = 'a' }, b = { .name = 'b' };
	struct loop *l = *state;
	int fds[2], more[2];
	char byte = 1;

	a_pipe(fds);
	a_pipe(more);
	add_fd(l, &a, fds[0], EPOLLIN);
	add_fd(l, &b, more[0], EPOLLIN);
	assert_false(is_due(l));
	assert_int_equal(loop_step(l, 0), 0);
	assert_int_equal(write(fds[1], &byte, 1), 1);
	assert_true(is_due(l));
	assert_int_equal(loop_step(l, LONG_NS), 1);
	assert_int_equal(a.events, EPOLLIN);
	assert_int_equal(loop_step(l, -1), 1);		/* not read: again */
	assert_calls("aa");
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(loop_step(l, 0), 0);
	assert_false(is_due(l));
	assert_int_equal(write(fds[1], &byte, 1), 1);
	assert_int_equal(write(more[1], &byte, 1), 1);
	assert_int_equal(loop_step(l, 0), 2);
	assert_calls("ab");
	loop_del(l, a.self);
	loop_del(l, b.self);
	close_both(fds);
	close_both(more);
}

static void what_cannot_be_watched_is_refused(void **state)
{
	struct loop *l = *state;
	struct source a = { .name = 'a' };
	int fds[2], file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	a_pipe(fds);
	assert_int_equal(loop_add_fd(l, file, EPOLLIN, on_fd, &a, NULL), -EPERM);
	close(file);
	assert_int_equal(loop_add_fd(l, file, EPOLLIN, on_fd, &a, NULL), -EBADF);
	add_fd(l, &a, fds[0], EPOLLIN);
	assert_int_equal(loop_add_fd(l, fds[0], EPOLLIN, on_fd, &a, NULL), -EEXIST);
	close(fds[1]);					/* the other end is closed: unasked */
	assert_int_equal(loop_step(l, 0), 1);
	assert_int_equal(a.events, EPOLLHUP);
	assert_calls("a");
	loop_del(l, a.self);
	assert_int_equal(loop_step(l, 0), 0);
	close(fds[0]);
}

/* One that was closed before it was deleted is silent, and deleting it does no harm. */
static void a_closed_descriptor_is_silent(void **state)
{
	struct source a = { .name = 'a' };
	struct loop *l = *state;
	int fds[2];

	a_pipe(fds);
	add_fd(l, &a, fds[0], EPOLLIN);
	assert_int_equal(write(fds[1], "x", 1), 1);
	close(fds[0]);
	assert_int_equal(loop_step(l, 0), 0);
	loop_del(l, a.self);
	assert_int_equal(loop_step(l, 0), 0);
	close(fds[1]);
	assert_calls("");
}

/* Whichever the kernel reports first: it deletes the other, which is not called. */
static void a_callback_deletes_others_and_itself(void **state)
{
	struct source s[4] = { { .name = 'a' }, { .name = 'b' }, { .name = 'c' }, { .name = 't' } };
	struct loop *l = *state;
	int fds[3][2];

	for (unsigned i = 0; i < 3; i++) {
		a_pipe(fds[i]);
		add_fd(l, &s[i], fds[i][0], EPOLLIN);
		assert_int_equal(write(fds[i][1], "x", 1), 1);
	}
	add_timer(l, &s[3], 0);
	s[0].kill[0] = s[1].self;
	s[1].kill[0] = s[0].self;
	s[2].kill[0] = s[2].self;
	s[2].kill[1] = s[3].self;
	assert_int_equal(loop_step(l, 0), 2);
	assert_true(!strcmp(calls, "ac") || !strcmp(calls, "bc") || !strcmp(calls, "ca") ||
		    !strcmp(calls, "cb"));
	assert_int_equal(loop_step(l, 0), 1);		/* who is left of a and b */
	for (unsigned i = 0; i < 3; i++)
		close_both(fds[i]);
}

static void more_than_a_step_takes_come_in_the_next(void **state)
{
	enum { MANY = 100 };
	struct source s[MANY] = { 0 };
	struct loop *l = *state;
	int fds[MANY][2];

	for (unsigned i = 0; i < MANY; i++) {
		a_pipe(fds[i]);
		s[i].name = 'm';
		add_fd(l, &s[i], fds[i][0], EPOLLIN);
		assert_int_equal(write(fds[i][1], "x", 1), 1);
	}
	assert_int_equal(loop_step(l, 0), 64);
	assert_int_equal(loop_step(l, 0), 64);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(s[i].events, EPOLLIN);	/* nobody waits for ever */
		loop_del(l, s[i].self);
		close_both(fds[i]);
	}
}

/* ---- timers ---- */

static void timers_are_called_in_order_of_time_then_of_setting(void **state)
{
	struct source s[6] = { { .name = 'a' }, { .name = 'b' }, { .name = 'c' },
			       { .name = 'd' }, { .name = 'e' }, { .name = 'f' } };
	const uint64_t at[6] = { 30, 10, 20, 10, 0, UINT64_MAX };
	struct loop *l = *state;

	for (unsigned i = 0; i < 6; i++)
		add_timer(l, &s[i], at[i]);
	assert_true(is_due(l));
	assert_int_equal(loop_step(l, -1), 5);
	assert_calls("ebdca");
	assert_false(is_due(l));
	assert_int_equal(loop_step(l, 0), 0);
	loop_set_timer(l, s[5].self, 7);
	loop_set_timer(l, s[0].self, 7);
	loop_set_timer(l, s[1].self, 3);
	loop_set_timer(l, s[1].self, LOOP_NEVER);
	assert_int_equal(loop_step(l, -1), 2);
	assert_calls("fa");
}

/* Many, in a heap: each in its place, also after some were taken out of the middle. */
static void many_timers_stay_in_order(void **state)
{
	enum { MANY = 500 };
	static struct source s[MANY];
	struct loop *l = *state;
	uint64_t at[MANY], random = 7;
	unsigned nr = 0;

	memset(s, 0, sizeof(s));
	for (unsigned i = 0; i < MANY; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		at[i] = random >> 40;
		s[i].name = (char)(at[i] >> 18);	/* 0..63: never falls */
		s[i].name += '0';
		add_timer(l, &s[i], at[i]);
	}
	for (unsigned i = 0; i < MANY; i += 3) {
		loop_del(l, s[i].self);
		nr++;
	}
	assert_int_equal(loop_step(l, 0), MANY - nr);
	assert_int_equal(strlen(calls), MANY - nr);
	for (unsigned i = 1; i < MANY - nr; i++)
		assert_true(calls[i - 1] <= calls[i]);
	assert_int_equal(calls[0], '0');
}

/*
 * A timer of `of` that is due in a while; a step of `l` before that calls nobody. When the timer is
 * due; where this process had to wait until then, it is put off again and for longer.
 */
static uint64_t step_before(struct loop *l, struct loop *of, const struct source *timer)
{
	for (uint64_t wait_ns = 30000000;; wait_ns *= 4) {
		const uint64_t at_ns = nanotime() + wait_ns;
		int nr;

		loop_set_timer(of, timer->self, at_ns);
		nr = loop_step(l, 0);
		if (nanotime() < at_ns) {
			assert_int_equal(nr, 0);
			return at_ns;
		}
		*calls = '\0';
	}
}

static void a_timer_waits_for_its_time(void **state)
{
	struct source a = { .name = 'a' }, b = { .name = 'b' };
	struct loop *l = *state;
	uint64_t at_ns;

	add_timer(l, &a, LOOP_NEVER);
	add_timer(l, &b, nanotime() + 3600 * 1000000000ull);
	at_ns = step_before(l, l, &a);
	assert_true(!is_due(l) || nanotime() >= at_ns);
	assert_int_equal(loop_step(l, LONG_NS), 1);
	assert_true(nanotime() >= at_ns);
	assert_calls("a");
	assert_false(is_due(l));
}

static void a_step_waits_no_longer_than_it_may(void **state)
{
	const uint64_t start_ns = nanotime();

	assert_int_equal(loop_step(*state, 20000000), 0);
	assert_true(nanotime() - start_ns >= 20000000);
}

/* What a callback sets or adds comes in the next step, so that no step is endless. */
static void what_a_callback_sets_comes_in_the_next_step(void **state)
{
	struct source a = { .name = 'a' }, b = { .name = 'b' }, c = { .name = 'c' },
		      d = { .name = 'd' };
	struct loop *l = *state;

	add_timer(l, &a, 1);
	add_timer(l, &b, 2);
	add_timer(l, &c, 3);
	d.loop = l;
	a.set = a.self;			/* at once again */
	a.kill[0] = c.self;		/* due as well */
	a.add = &d;
	b.set = b.self;
	b.set_ns = LOOP_NEVER;
	assert_int_equal(loop_step(l, 0), 2);
	assert_calls("ab");
	a.set = b.self;			/* due in its own turn only */
	assert_int_equal(loop_step(l, 0), 2);
	assert_calls("ad");		/* it was set before it added the other */
	assert_int_equal(loop_step(l, 0), 1);
	assert_calls("b");
	add_timer(l, &a, 1);
	add_timer(l, &b, 2);
	a.set = b.self;			/* was due: put off */
	assert_int_equal(loop_step(l, 0), 1);
	assert_calls("a");
}

/* ---- the loop ---- */

static void a_run_ends_after_the_step_that_stops_it(void **state)
{
	struct source a = { .name = 'a' }, b = { .name = 'b' };
	struct loop *l = *state;

	add_timer(l, &a, 1);
	add_timer(l, &b, 2);
	a.stops = true;
	assert_int_equal(loop_run(l), 0);
	assert_calls("ab");				/* due in the same step */
	loop_stop(l);
	assert_int_equal(loop_run(l), 0);		/* asked before: at once */
	assert_calls("");
	loop_set_timer(l, a.self, 1);
	assert_int_equal(loop_run(l), 0);		/* what was asked is done */
	assert_calls("a");
}

static void a_callback_cannot_step_its_own_loop(void **state)
{
	struct source a = { .name = 'a', .steps = true };

	add_timer(*state, &a, 1);
	assert_int_equal(loop_step(*state, 0), 1);
	assert_int_equal(a.step, -EBUSY);
	assert_int_equal(loop_step(*state, 0), 0);
	assert_calls("a");
}

static void on_inner(void *arg, uint32_t events)
{
	assert_int_equal(events, EPOLLIN);
	assert_true(loop_step(arg, 0) >= 0);
}

/* A loop within a loop: timers and descriptors of the inner one wake the outer one. */
static void a_loop_is_a_source_of_another(void **state)
{
	struct source a = { .name = 'a' }, b = { .name = 'b' };
	struct loop *outer = *state, *inner;
	int fds[2];

	a_pipe(fds);
	assert_int_equal(loop_new(&inner), 0);
	assert_int_equal(loop_add_fd(outer, loop_fd(inner), EPOLLIN, on_inner, inner, NULL), 0);
	add_timer(inner, &a, LOOP_NEVER);
	add_fd(inner, &b, fds[0], EPOLLIN);
	step_before(outer, inner, &a);
	assert_int_equal(loop_step(outer, LONG_NS), 1);
	assert_calls("a");
	assert_int_equal(loop_step(outer, 0), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(loop_step(outer, LONG_NS), 1);
	assert_calls("b");
	loop_free(inner);
	assert_int_equal(loop_step(outer, 0), 0);
	close_both(fds);
}

/* In a forked process the loop is freed; the one here goes on as before. */
static void a_forked_process_frees_its_copy(void **state)
{
	struct source a = { .name = 'a' }, t = { .name = 't' };
	struct loop *l = *state;
	int fds[2], status, nr;
	uint64_t at_ns;
	pid_t pid;

	a_pipe(fds);
	add_fd(l, &a, fds[0], EPOLLIN);
	at_ns = nanotime() + 50000000;
	add_timer(l, &t, at_ns);
	pid = fork();
	if (!pid) {
		loop_free(l);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(write(fds[1], "x", 1), 1);
	nr = loop_step(l, 0);
	loop_del(l, a.self);
	assert_true(nr == 1 || (nr == 2 && nanotime() >= at_ns)); /* a slow machine */
	if (nr == 1)
		assert_int_equal(loop_step(l, LONG_NS), 1);
	assert_true(!strcmp(calls, "at") || (nr == 2 && !strcmp(calls, "ta")));
	close_both(fds);
}

/* Where descriptors run out the step that needs one says so and leaves nothing behind. */
static void without_descriptors_nothing_is_half_done(void **state)
{
	struct loop *l = *state, *other = l;
	struct source a = { .name = 'a' };
	struct rlimit old, few;
	sigset_t set;
	int last = 0, filled[256];
	unsigned nr, nr_filled = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	for (int fd = 0; fd < 256; fd++)
		last = fcntl(fd, F_GETFD) >= 0 ? fd : last;
	do	/* no gaps: how many are free is known */
		filled[nr_filled++] = dup(0);
	while (filled[nr_filled - 1] < last);
	nr = open_descriptors();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (unsigned free = 0; free < 2; free++) {
		few = (struct rlimit){ nr + free, old.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		assert_int_equal(loop_new(&other), -EMFILE);
		assert_null(other);
		assert_int_equal(open_descriptors(), nr);
	}
	few.rlim_cur = nr;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(loop_add_child(l, pid, on_child, &a, NULL), -EMFILE);
	assert_int_equal(loop_add_signals(l, &set, on_signal, &a, NULL), -EMFILE);
	assert_int_equal(loop_add_timer(l, 0, on_timer, &a, NULL), 0);	/* needs none */
	assert_int_equal(loop_step(l, -1), 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(loop_add_child(l, pid, on_child, &a, NULL), 0);
	assert_int_equal(loop_step(l, -1), 1);
	assert_calls("aa");
	while (nr_filled)
		close(filled[--nr_filled]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(descriptors_are_called_for_as_long_as_they_are_ready),
		TEST(what_cannot_be_watched_is_refused),
		TEST(a_closed_descriptor_is_silent),
		TEST(a_callback_deletes_others_and_itself),
		TEST(more_than_a_step_takes_come_in_the_next),
		TEST(timers_are_called_in_order_of_time_then_of_setting),
		TEST(many_timers_stay_in_order),
		TEST(a_timer_waits_for_its_time),
		TEST(a_step_waits_no_longer_than_it_may),
		TEST(what_a_callback_sets_comes_in_the_next_step),
		TEST(a_run_ends_after_the_step_that_stops_it),
		TEST(a_callback_cannot_step_its_own_loop),
		TEST(a_loop_is_a_source_of_another),
		TEST(a_forked_process_frees_its_copy),
		TEST(without_descriptors_nothing_is_half_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
