/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/track/figures_last.c: when a process that is watched is asked for its allocator's figures,
 * and when those count. Also of ledger_read_names().
 */
#include "tests/unit/unit.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/track/figures_last.h"
#include "tests/unit/ledger_read.h"

#define MS	1000000ull
#define SECOND	(1000 * MS)
#define LIBC	"/lib/x86_64-linux-gnu/libc.so.6"

static struct said {
	struct mallinfo2 figures;
	volatile bool ready;
} *said;

static pid_t child_begin(void)
{
	pid_t pid;

	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		said->figures = mallinfo2();
		said->ready = true;
		for (;;)
			pause();
	}
	while (!said->ready)
		nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(said, sizeof(*said));
}

struct roots {
	struct image im;
	struct ledger_map *map;
	struct pmm_ctx *ctx;
	struct figures_last last;
	pid_t pid;
};

static struct roots begin(const char *allocator)
{
	struct roots s = { .im = image_new() };

	s.ctx = image_at(&s.im, image_ctx(&s.im));
	s.im.l->allocator = image_string(&s.im, allocator, strlen(allocator));
	s.im.l->allocator_len = (uint32_t)strlen(allocator);
	s.im.l->exe = image_string(&s.im, "/bin/x", 6);
	s.im.l->exe_len = 6;
	assert_int_equal(ledger_map_open_fd(s.im.fd, IMAGE_SLOT, &s.map, NULL), 0);
	s.pid = child_begin();
	return s;
}

static void end(struct roots *s)
{
	child_end(s->pid);
	figures_last_fini(&s->last);
	ledger_map_close(s->map);
	image_free(&s->im);
}

/* When it was asked last, as of `now_ns`. */
static uint64_t asked(struct roots *s, uint64_t now_ns)
{
	figures_last_tick(&s->last, s->map, s->pid, now_ns);
	return s->last.asked ? s->last.asked->allocator.taken_ns : 0;
}

static void asked_now_and_then(void **state)
{
	struct roots s = begin(LIBC);
	uint64_t at;

	(void)state;
#ifdef SANITIZED
	end(&s);
	skip();
#endif
	assert_int_equal(asked(&s, 5 * SECOND), 0);
	assert_int_equal(asked(&s, 5 * SECOND + 19 * MS), 0);
	at = 5 * SECOND + 20 * MS;
	assert_int_equal(asked(&s, at), at);
	assert_string_equal(s.last.asked->exe, "/bin/x");
	assert_true(s.last.asked->allocator.valid && s.last.asked->allocator.outside);
	assert_int_equal(s.last.asked->allocator.arena_bytes, said->figures.arena);
	assert_int_equal(s.last.asked->allocator.used_bytes, said->figures.uordblks);
	/* not at once again, and not soon where nothing has happened */
	s.ctx->class[0].calls[PMM_KIND_MALLOC]++;
	assert_int_equal(asked(&s, at + 19 * MS), at);
	at += 1500 * MS;
	assert_int_equal(asked(&s, at), at);
	assert_int_equal(asked(&s, at + 1500 * MS), at);
	s.ctx->class[0].frees++;
	at += 1600 * MS;
	assert_int_equal(asked(&s, at), at);
	assert_int_equal(asked(&s, at + 1950 * MS), at);
	at += 2100 * MS;
	assert_int_equal(asked(&s, at), at);
	assert_int_equal(asked(&s, at + 3950 * MS), at);
	at += 4100 * MS;
	assert_int_equal(asked(&s, at), at);
	end(&s);
}

/* The more processes there are, the more rarely. */
static void asked_more_rarely_among_many(void **state)
{
	struct roots s = begin(LIBC);

	(void)state;
	s.last.share = 10;
	asked(&s, SECOND);
	assert_int_equal(s.last.next_ns, SECOND + 200 * MS);
	end(&s);
	s = begin(LIBC);
	s.last.share = 5000;
	asked(&s, SECOND);
	assert_int_equal(s.last.next_ns, 2 * SECOND);
	end(&s);
}

static void another_allocator_is_asked_once(void **state)
{
	struct roots s = begin("/usr/lib/libjemalloc.so.2");
	struct heap *h = heap_new();

	(void)state;
	asked(&s, SECOND);
	assert_int_equal(s.last.next_ns, SECOND + 20 * MS);
	asked(&s, 2 * SECOND);
	assert_int_equal(s.last.next_ns, UINT64_MAX);
	figures_last_give(&s.last, h);
	assert_false(h->allocator.valid);
	heap_free(h);
	end(&s);
}

/*
 * Of a heap that ended so at 10 s, with figures of `taken_ns` (0 = none): when those are from that
 * it has then.
 */
static uint64_t given(const struct figures_last *last, enum heap_end how, uint64_t taken_ns)
{
	struct heap *h = heap_new();
	uint64_t ns;

	h->end = how;
	h->taken_ns = 10 * SECOND;
	h->allocator.valid = taken_ns != 0;
	h->allocator.taken_ns = taken_ns;
	free(h->allocator.path);
	h->allocator.path = strdup("its own");
	figures_last_give(last, h);
	assert_string_equal(h->allocator.path, "its own");
	ns = h->allocator.valid ? h->allocator.taken_ns : 0;
	heap_free(h);
	return ns;
}

static void the_newest_count(void **state)
{
	struct figures_last last = { .asked = heap_new() };

	(void)state;
	last.asked->allocator.valid = true;
	last.asked->allocator.taken_ns = 8 * SECOND;
	assert_int_equal(given(&last, HEAP_KILLED, 0), 8 * SECOND);
	assert_int_equal(given(&last, HEAP_EXITED, 0), 8 * SECOND);
	assert_int_equal(given(&last, HEAP_GONE, 7 * SECOND), 8 * SECOND);
	assert_int_equal(given(&last, HEAP_GONE, 9 * SECOND), 9 * SECOND);
	assert_int_equal(given(&last, HEAP_EXITED, 10 * SECOND), 10 * SECOND);
	assert_int_equal(given(&last, HEAP_REPLACED, 0), 0);
	/* the monitor's clock is ahead of the agent's */
	last.asked->allocator.taken_ns = 10 * SECOND + 30 * MS;
	assert_int_equal(given(&last, HEAP_EXITED, 10 * SECOND - 10 * MS), 10 * SECOND - 10 * MS);
	last.asked->allocator.valid = false;
	assert_int_equal(given(&last, HEAP_KILLED, 0), 0);
	figures_last_fini(&last);
	assert_int_equal(given(&last, HEAP_KILLED, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asked_now_and_then),
		cmocka_unit_test(asked_more_rarely_among_many),
		cmocka_unit_test(another_allocator_is_asked_once),
		cmocka_unit_test(the_newest_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
