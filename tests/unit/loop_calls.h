/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loop for each test, and sources whose calls are written down as letters, in order. */
#ifndef TESTS_UNIT_LOOP_CALLS_H
#define TESTS_UNIT_LOOP_CALLS_H

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "src/base/loop.h"
#include "src/base/nanotime.h"

#define LONG_NS 60000000000ll	/* for what comes sooner or later */

static char calls[4096];	/* one letter a call */

struct source {
	char name;
	struct loop *loop;
	struct loop_source *self;
	struct loop_source *kill[2];	/* deleted by its call */
	struct loop_source *set;	/* set to set_ns by its call */
	uint64_t set_ns;
	struct source *add;		/* a timer that its call adds, due at 0 */
	int step;			/* what loop_step() said within its call */
	bool steps, stops;
	uint32_t events;		/* with the last call */
	int status;
	unsigned nr;			/* signals: how many, and the last one */
	int signal;
};

static inline void called(struct source *s);

static inline void on_fd(void *arg, uint32_t events)
{
	((struct source *)arg)->events = events;
	called(arg);
}

static inline void on_timer(void *arg, uint64_t now_ns)
{
	assert_true(now_ns <= nanotime());
	called(arg);
}

static inline void on_child(void *arg, pid_t pid, int status)
{
	assert_true(pid > 0);
	((struct source *)arg)->status = status;
	called(arg);
}

static inline void on_signal(void *arg, const struct signalfd_siginfo *signal)
{
	((struct source *)arg)->nr++;
	((struct source *)arg)->signal = (int)signal->ssi_signo;
	called(arg);
}

static inline void called(struct source *s)
{
	const size_t n = strlen(calls);

	assert_true(n + 1 < sizeof(calls));
	calls[n] = s->name;
	calls[n + 1] = '\0';
	if (s->steps)
		s->step = loop_step(s->loop, 0);
	for (unsigned i = 0; i < NR(s->kill); i++)
		loop_del(s->loop, s->kill[i]);
	memset(s->kill, 0, sizeof(s->kill));
	if (s->set)
		loop_set_timer(s->loop, s->set, s->set_ns);
	if (s->add)
		assert_int_equal(
			loop_add_timer(s->loop, 0, on_timer, s->add, &s->add->self), 0);
	s->add = NULL;
	if (s->stops)
		loop_stop(s->loop);
}

/* What the calls were since the last time. */
#define assert_calls(expected) do {			\
	assert_string_equal(calls, expected);		\
	calls[0] = '\0';				\
} while (0)

static inline unsigned open_descriptors(void)
{
	unsigned nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static unsigned before;		/* descriptors open when a test begins */

static inline int setup(void **state)
{
	struct loop *l;

	before = open_descriptors();
	calls[0] = '\0';
	if (loop_new(&l))
		return -1;
	*state = l;
	return 0;
}

static inline int teardown(void **state)
{
	loop_free(*state);
	assert_int_equal(open_descriptors(), before);
	return 0;
}

static inline void add_timer(struct loop *l, struct source *s, uint64_t at_ns)
{
	s->loop = l;
	assert_int_equal(loop_add_timer(l, at_ns, on_timer, s, &s->self), 0);
}

static inline void add_fd(struct loop *l, struct source *s, int fd, uint32_t events)
{
	s->loop = l;
	assert_int_equal(loop_add_fd(l, fd, events, on_fd, s, &s->self), 0);
}

static inline void a_pipe(int fds[2])
{
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
}

static inline void close_both(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static inline bool is_due(const struct loop *l)
{
	struct pollfd p = { .fd = loop_fd(l), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
