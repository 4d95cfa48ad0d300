/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words entrusted to the kernel: what lines of its text have them. */
#include "tests/unit/unit.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/proc/entrusted.h"

#define NONE 0xdeadull

static uint64_t of(bool (*parse)(const char *, uint64_t *), const char *line)
{
	uint64_t word = ~NONE;		/* what it is told must have been found */

	return parse(line, &word) ? word : NONE;
}

static void lines_of_an_epoll(void **state)
{
	(void)state;
	assert_int_equal(of(entrusted_epoll_line, "tfd:     1634 events:       19 data:     "
						  "123456789abc  pos:0 ino:40e sdev:10\n"),
			 0x123456789abc);
	assert_int_equal(of(entrusted_epoll_line, "tfd: 5 events: 19 data: ffffffffffffffff"),
			 UINT64_MAX);
	assert_int_equal(of(entrusted_epoll_line, "tfd: 5 events: 19 data:7\n"), 7);
	assert_int_equal(of(entrusted_epoll_line, "tfd: 5 events: 19 data:\n"), NONE);
	assert_int_equal(of(entrusted_epoll_line, "tfd: 5 events: 19 data: 12x\n"), NONE);
	assert_int_equal(of(entrusted_epoll_line, "tfd: 5 events: 19 data: 1ffffffffffffffff\n"),
			 NONE);
	assert_int_equal(of(entrusted_epoll_line, "tfd: 5 events: 19 data: -1\n"), NONE);
	assert_int_equal(of(entrusted_epoll_line, "tfd: 5 events: 19 data: g\n"), NONE);
	assert_int_equal(of(entrusted_epoll_line, "tfd: 5 events: 19 data:\t 1f 2\n"), 0x1f);
	assert_int_equal(of(entrusted_epoll_line, "tfd: 5 events: 19 dat"), NONE);
	assert_int_equal(of(entrusted_epoll_line, "pos: 0 data: 12\n"), NONE);
	assert_int_equal(of(entrusted_epoll_line, ""), NONE);
}

static void lines_of_timers(void **state)
{
	(void)state;
	assert_int_equal(of(entrusted_timer_line, "signal: 10/0000000000abcdef\n"), 0xabcdef);
	assert_int_equal(of(entrusted_timer_line, "signal: 10/\n"), NONE);
	assert_int_equal(of(entrusted_timer_line, "signal: 10/(null)\n"), NONE);
	assert_int_equal(of(entrusted_timer_line, "signal: 10"), NONE);
	assert_int_equal(of(entrusted_timer_line, "notify: signal/pid.521\n"), NONE);
}

static unsigned times(const struct entrusted *x, uint64_t word)
{
	unsigned nr = 0;

	vec_each(&x->words, w)
		nr += *w == word;
	return nr;
}

/*
 * One that is read while the process stands still has then what is in it then; a slow one, what was
 * in it before and after.
 */
static void what_is_in_an_epoll(void **state)
{
	struct entrusted x = { 0 };
	int epoll = epoll_create1(0), first = eventfd(0, 0), second = eventfd(0, 0);

	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		epoll_ctl(epoll, EPOLL_CTL_ADD, first, &(struct epoll_event){ .data.u64 = 0x1111 });
		assert_int_equal(entrusted_before(&x, getpid()), 0);
		assert_int_equal(x.epolls.nr, 1);
		assert_int_equal(x.epolls.v[0].fd, epoll);
		if (slow && !x.epolls.v[0].slow) {
			x.epolls.v[0].slow = true;
			assert_int_equal(vec_push(&x.words, 0x1111), 0);
		} else if (x.epolls.v[0].slow) {
			x.epolls.v[0].slow = slow;
			x.words.nr = (size_t)slow;
		}
		epoll_ctl(epoll, EPOLL_CTL_ADD, second,
			  &(struct epoll_event){ .data.u64 = 0x2222 });
		epoll_ctl(epoll, EPOLL_CTL_DEL, first, NULL);
		assert_int_equal(entrusted_stopped(&x, getpid()), 0);
		assert_int_equal(times(&x, 0x2222), !slow);
		assert_int_equal(entrusted_after(&x, getpid()), 0);
		assert_int_equal(times(&x, 0x1111), slow);
		assert_int_equal(times(&x, 0x2222), 1);
		epoll_ctl(epoll, EPOLL_CTL_DEL, second, NULL);
		entrusted_fini(&x);
		x = (struct entrusted){ 0 };
	}
	close(epoll);
	assert_int_equal(entrusted_before(&x, getpid()), 0);
	assert_int_equal(x.epolls.nr, 0);
	entrusted_fini(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_an_epoll),
		cmocka_unit_test(lines_of_timers),
		cmocka_unit_test(what_is_in_an_epoll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
