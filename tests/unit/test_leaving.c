/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/track/leaving.c: who asks to be searched at his end is taken once, read, and let go on,
 * whatever else stands in the word.
 */
#include "tests/unit/unit.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "src/track/leaving.h"
#include "src/ledger/ledger_map.h"
#include "src/track/watched.h"
#include "tests/unit/ledger_image.h"

static struct image im;
static struct watched w;

static int begin(void **state)
{
	(void)state;
	im = image_new();
	w = (struct watched){ .pid = getpid(), .fd = im.fd, .head = im.tree };
	return ledger_map_open_fd(im.fd, IMAGE_SLOT, &w.map, NULL);
}

static int end(void **state)
{
	(void)state;
	ledger_map_close(w.map);
	image_free(&im);
	return 0;
}

static uint32_t *word(void)
{
	return &im.tree->slot[0].leave;
}

static void it_is_taken_once(void **state)
{
	static const uint32_t others[] = { PMM_LEAVE_NOT, PMM_LEAVE_FILLING, PMM_LEAVE_DONE, 4711 };

	(void)state;
	*word() = PMM_LEAVE_ASKED;
	assert_true(leaving_take(&w));
	assert_int_equal(*word(), PMM_LEAVE_SEARCHED);
	leaving_answer(&w);
	assert_int_equal(*word(), PMM_LEAVE_DONE);
	for (size_t i = 0; i < NR(others); i++) {
		*word() = others[i];
		assert_false(leaving_take(&w));
		assert_int_equal(*word(), others[i]);
	}
	*word() = PMM_LEAVE_SEARCHED;		/* by nobody: it would wait for ever */
	assert_false(leaving_take(&w));
	assert_int_equal(*word(), PMM_LEAVE_DONE);
	w.head = NULL;
	assert_false(leaving_take(&w));
}

static void the_smallest_is_next_and_the_oldest_in_turn(void **state)
{
	const struct leaving_asked asked[] = {
		{ 1, 900 }, { 2, 300 }, { 3, 100 }, { 4, 100 }, { 5, 0x100000000ull }
	};

	(void)state;
	for (unsigned turn = 0; turn < 40; turn++) {
		assert_int_equal(leaving_pick(asked, NR(asked), turn), turn % 8 == 7 ? 0 : 2);
		assert_int_equal(leaving_pick(asked, 2, turn), turn % 8 == 7 ? 0 : 1);
		assert_int_equal(leaving_pick(asked + 4, 1, turn), 0);
	}
}

static void who_never_asked_or_was_answered_does_not_wait(void **state)
{
	(void)state;
	*word() = PMM_LEAVE_NOT;
	assert_false(leaving_waits(&w));
	for (uint32_t i = PMM_LEAVE_NOT + 1; i < PMM_LEAVE_DONE; i++) {
		*word() = i;
		assert_true(leaving_waits(&w));
	}
	*word() = PMM_LEAVE_DONE;
	assert_false(leaving_waits(&w));
	w.head = NULL;
	assert_false(leaving_waits(&w));
}

static void *waits(void *arg)
{
	while (__atomic_load_n(word(), __ATOMIC_ACQUIRE) == PMM_LEAVE_SEARCHED)
		syscall(SYS_futex, word(), FUTEX_WAIT, PMM_LEAVE_SEARCHED,
			&(struct timespec){ .tv_sec = 20 }, NULL, 0);
	clock_gettime(CLOCK_MONOTONIC, arg);
	return NULL;
}

/* At once, not when its patience ends. */
static void who_waits_is_woken(void **state)
{
	struct timespec begun, woken;
	pthread_t t;

	(void)state;
	*word() = PMM_LEAVE_SEARCHED;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	assert_int_equal(pthread_create(&t, NULL, waits, &woken), 0);
	usleep(50000);
	leaving_answer(&w);
	pthread_join(t, NULL);
	assert_true(woken.tv_sec - begun.tv_sec < 15);
}

static void what_is_said_of_the_end(void **state)
{
	struct leaving got;

	(void)state;
	im.l->leave = (struct pmm_leave){
		.sp = 0x7fff1000, .tid = (uint32_t)getpid(), .cause = PMM_LEAVE_SIGNAL, .number = 11
	};
	im.l->image = 99;
	assert_int_equal(leaving_read(&w, &got), 0);
	assert_int_equal(got.cause, PMM_LEAVE_SIGNAL);
	assert_int_equal(got.tid, getpid());
	assert_int_equal(got.sp, 0x7fff1000);
	assert_int_equal(got.number, 11);
	assert_int_equal(got.fd, im.fd);
	assert_int_equal(got.image, 99);
	assert_null(got.let_go);
	/* there is no such thread: nothing is left out of anybody's stack */
	im.l->leave.tid = 0x7ffffff0;
	im.l->leave.cause = PMM_NR_LEAVE_CAUSES;
	assert_int_equal(leaving_read(&w, &got), 0);
	assert_int_equal(got.tid, 0);
	assert_int_equal(got.sp, 0);
	assert_int_equal(got.cause, PMM_LEAVE_NO_CAUSE);
	ledger_map_close(w.map);
	w.map = NULL;
	assert_int_equal(leaving_read(&w, &got), -EAGAIN);
}

static void causes_have_names(void **state)
{
	(void)state;
	assert_string_equal(leaving_cause_name(PMM_LEAVE_EXIT), "exit()");
	assert_string_equal(leaving_cause_name(PMM_LEAVE_SIGNAL), "death by a signal");
	assert_string_equal(leaving_cause_name(PMM_NR_LEAVE_CAUSES), "end");
	for (unsigned i = 0; i < PMM_NR_LEAVE_CAUSES; i++)
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(leaving_cause_name(i), leaving_cause_name(k));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(it_is_taken_once),
		TEST(the_smallest_is_next_and_the_oldest_in_turn),
		TEST(who_never_asked_or_was_answered_does_not_wait),
		TEST(who_waits_is_woken),
		TEST(what_is_said_of_the_end),
		TEST(causes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
