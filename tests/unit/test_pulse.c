/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of src/track/pulse.c: the board says that the monitor lives exactly as long as it
 * does.
 */
#include "tests/unit/unit.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/track/pulse.h"

static struct pmm_tree *board;

static int setup(void **state)
{
	(void)state;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return board == MAP_FAILED;
}

static int teardown(void **state)
{
	(void)state;
	return munmap(board, sizeof(*board));
}

static bool word_lives(uint32_t word)
{
	return word && !(word & FUTEX_OWNER_DIED);
}

/* As a process looks: which word counts may change between the looks. */
static bool lives(void)
{
	for (;;) {
		uint32_t at = __atomic_load_n(&board->life_at, __ATOMIC_ACQUIRE);
		uint32_t word = __atomic_load_n(&board->life[at], __ATOMIC_ACQUIRE);

		if (word_lives(word) || at == __atomic_load_n(&board->life_at, __ATOMIC_ACQUIRE))
			return word_lives(word);
	}
}

static void wait_until_it_lives(void)
{
	for (unsigned i = 0; i < 60000 && !lives(); i++)
		usleep(1000);
	assert_true(lives());
}

static void play(int sig)
{
	struct pulse p;

	alarm(200); /* not left over when the test dies */
	if (pulse_take(&p, board, 0))
		_exit(1);
	if (sig == SIGKILL)
		pause();
	signal(sig, SIG_DFL);
	if (sig)
		raise(sig);
	_exit(0);
}

/* However it ends, and without a handler for that. */
static void death_is_marked(void **state)
{
	const int ends[] = { SIGKILL, SIGSEGV, 0 };

	(void)state;
	for (size_t i = 0; i < NR(ends); i++) {
		pid_t pid;

		board->life[0] = 0;
		pid = fork();
		if (!pid)
			play(ends[i]);
		if (ends[i] == SIGKILL) {
			wait_until_it_lives();
			assert_int_equal(board->life[0], pid);
			kill(pid, SIGKILL);
		}
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(board->life[0], FUTEX_OWNER_DIED);
		assert_false(lives());
	}
}

/* What was there before is back, and nothing points to the board any more. */
static void orderly_end_leaves_nothing(void **state)
{
	struct robust_list_head *before, *after;
	struct pulse p;
	size_t bytes;

	(void)state;
	assert_int_equal(syscall(SYS_get_robust_list, 0, &before, &bytes), 0);
	assert_int_equal(pulse_take(&p, board, 2), -EINVAL);
	pulse_drop(&p);
	assert_int_equal(pulse_take(&p, board, 1), 0);
	assert_int_equal(board->life_at, 1);
	assert_int_equal(board->life[1], getpid());
	pulse_drop(&p);
	assert_int_equal(board->life[1], 0);
	assert_int_equal(syscall(SYS_get_robust_list, 0, &after, &bytes), 0);
	assert_ptr_equal(before, after);
	pulse_drop(&p);
}

static bool stop;
static uint64_t nr_dead;

static void *look(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		nr_dead += !lives();
	return arg;
}

/* A monitor that hands over to its child each time, which lives on when it has gone. */
static void play_generations(unsigned nr)
{
	struct pulse p;
	char byte = 0;
	int fds[2];

	alarm(200); /* not left over when the test dies; a child has none of its own at first */
	for (unsigned i = 0; i < nr; i++) {
		if (pulse_take(&p, board, i % 2) || (i && write(fds[1], &byte, 1) != 1) ||
		    pipe(fds))
			_exit(1);
		if (!fork()) {
			alarm(200);
			continue;
		}
		if (read(fds[0], &byte, 1) != 1)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	if (pulse_take(&p, board, nr % 2) || write(fds[1], &byte, 1) != 1)
		_exit(1);
	__atomic_store_n(&board->code_epoch, (uint32_t)getpid(), __ATOMIC_RELEASE);
	pause();
}

static void hand_over_has_no_gap(void **state)
{
	pthread_t thread;
	pid_t pid, last = 0;

	(void)state;
	board->life[0] = board->life[1] = 0;
	board->code_epoch = 0;
	pid = fork();
	if (!pid)
		play_generations(50);
	wait_until_it_lives();
	pthread_create(&thread, NULL, look, NULL);
	for (unsigned i = 0; i < 60000 && !last; i++) {
		usleep(1000);
		last = (pid_t)__atomic_load_n(&board->code_epoch, __ATOMIC_ACQUIRE);
	}
	assert_true(last > 0);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(nr_dead, 0);
	assert_true(lives());
	assert_int_equal(board->life[board->life_at], last);
	kill(last, SIGKILL);
	for (unsigned i = 0; i < 60000 && lives(); i++)
		usleep(1000);
	assert_false(lives());
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(death_is_marked),
		cmocka_unit_test(orderly_end_leaves_nothing),
		cmocka_unit_test(hand_over_has_no_gap),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
