/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim/kmod*.c: what pmm.h logs to the kernel module, request by request; in the static form and,
 * compiled with FULL, in the full form.
 */
#include "tests/unit/shim_ring.h"

#include <pthread.h>
#include <sys/wait.h>

/* ---- one thread */

static void each_request_is_a_record(void **state)
{
	static const uint16_t kind[] = { PMM_KMOD_MALLOC, PMM_KMOD_CALLOC, PMM_KMOD_ALIGNED,
					 PMM_KMOD_MALLOC, PMM_KMOD_MALLOC, PMM_KMOD_FREE,
					 PMM_KMOD_FREE,	  PMM_KMOD_FREE,   PMM_KMOD_FREE,
					 PMM_KMOD_FREE };
	static const uint64_t bytes[] = { 10, 60, 64, 6, 7 };
	void *p[5];

	(void)state;
	p[0] = pmm_malloc("a.c", 1, "f", 10);
	p[1] = pmm_calloc("a.c", 2, "f", 3, 20);
	p[2] = pmm_aligned_alloc("a.c", 3, "f", 64, 64);
	p[3] = pmm_strdup("a.c", 4, "f", "hello");
	p[4] = pmm_new("a.c", 5, "g", 7, 0);
	for (int i = 0; i < 5; i++)
		pmm_free("a.c", 9, "f", p[i]);
	for (unsigned i = 0; i < 10; i++) {
		const struct pmm_kmod_slot *r = record(i);

		assert_int_equal(r->kind, kind[i]);
		assert_int_equal(r->pointer, (uintptr_t)p[i % 5]);
		assert_int_equal(r->bytes, i < 5 ? bytes[i] : 0);
		assert_int_equal(r->site, i < 5 ? i + 1 : 0);
		assert_int_equal(r->tid, getpid());
		assert_true(r->time_ns > 1600000000000000000ull);
	}
	assert_int_equal(fake.nr, 10);
	assert_int_equal(fake.opens, 1);
	assert_int_equal(pmm_kmod_status(), 1);
	assert_true(record(0)->caller > (uintptr_t)each_request_is_a_record &&
		    record(0)->caller < (uintptr_t)each_request_is_a_record + 4096);
}

static void a_place_is_asked_for_once(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++)
		pmm_free("a.c", 9, "f", pmm_malloc("src/a.c", 3 + i % 2, "work", 10));
	assert_int_equal(fake.sites, 2);
	assert_string_equal(fake.site[0].file, "src/a.c");
	assert_string_equal(fake.site[0].function, "work");
	assert_int_equal(fake.site[0].line, 3);
	assert_int_equal(record(0)->site, 1);
	assert_int_equal(record(2)->site, 2);
	assert_int_equal(record(4)->site, 1);
	assert_int_equal(fake.nr, 100);
}

static void long_names_keep_their_end(void **state)
{
	static char file[301];

	(void)state;
	memset(file, 'x', 300);
	memcpy(file + 295, "/a.cc", 5);
	pmm_free("a.c", 9, "f", pmm_malloc(file, 3, file, 10));
	assert_int_equal(strlen(fake.site[0].file), PMM_KMOD_FILE_BYTES - 1);
	assert_string_equal(fake.site[0].file + PMM_KMOD_FILE_BYTES - 6, "/a.cc");
	assert_int_equal(strlen(fake.site[0].function), PMM_KMOD_FUNCTION_BYTES - 1);
}

static void places_without_room_have_no_number(void **state)
{
	(void)state;
	for (int i = 0; i < 12; i++)
		pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1 + i, "f", 10));
	assert_int_equal(fake.sites, PMM_KMOD_SITES);
	assert_int_equal(record(14)->site, 8);
	assert_int_equal(record(16)->site, 0);
	assert_int_equal(record(22)->site, 0);
	setup(NULL);
	fake.no_sites = true;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	assert_int_equal(record(0)->site, 0);
	assert_int_equal(record(0)->bytes, 10);
}

static void a_realloc_replaces_in_one_thread(void **state)
{
	void *p = pmm_malloc("a.c", 1, "f", 10), *q = pmm_realloc("a.c", 2, "f", p, 100000);

	(void)state;
	assert_int_equal(record(1)->kind, PMM_KMOD_REALLOC);
	assert_int_equal(record(1)->prev, (uintptr_t)p);
	assert_int_equal(record(1)->pointer, (uintptr_t)q);
	assert_int_equal(record(1)->bytes, 100000);
	assert_int_equal(record(1)->flags, 0);
	/* one that fails changes nothing */
	assert_null(pmm_realloc("a.c", 3, "f", q, MOST_BYTES));
	take();
	assert_int_equal(fake.nr, 2);
	assert_null(pmm_realloc("a.c", 4, "f", q, 0));
	assert_int_equal(record(2)->kind, PMM_KMOD_FREE);
	q = pmm_realloc("a.c", 5, "f", NULL, 5);
	assert_int_equal(record(3)->kind, PMM_KMOD_REALLOC);
	assert_int_equal(record(3)->prev, 0);
	pmm_free("a.c", 6, "f", q);
	/* a block of code without pmm.h */
	p = (malloc)(10);
	q = pmm_realloc("a.c", 7, "f", p, 20);
	assert_int_equal(record(5)->kind, PMM_KMOD_REALLOC);
	assert_int_equal(record(5)->prev, (uintptr_t)p);
	pmm_free("a.c", 8, "f", q);
}

static void disabled_it_logs_frees_only(void **state)
{
	void *p = pmm_malloc("a.c", 1, "f", 10), *q = pmm_malloc("a.c", 2, "f", 10), *r;

	(void)state;
	pmm_disable();
	r = pmm_malloc("a.c", 3, "f", 10);
	pmm_free("a.c", 4, "f", p);
	q = pmm_realloc("a.c", 5, "f", q, 100000);
	pmm_enable();
	pmm_free("a.c", 6, "f", r);
	assert_int_equal(record(2)->kind, PMM_KMOD_FREE);
	assert_int_equal(record(2)->pointer, (uintptr_t)p);
	assert_int_equal(record(3)->kind, PMM_KMOD_FREE);
	assert_int_equal(record(4)->kind, PMM_KMOD_FREE);
	assert_int_equal(record(4)->pointer, (uintptr_t)r);
	assert_int_equal(fake.nr, 5);
	pmm_free("a.c", 7, "f", q);
}

static void it_is_drained_at_half(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	take();
	assert_int_equal(fake.nr, 2000);
	assert_int_equal(fake.ring->overflows, 0);
	assert_int_equal(fake.drains, 2000 / 129);
}

static void without_a_device_nothing_is_done(void **state)
{
	(void)state;
	fake.refuse = ENOENT;
	errno = 77;
	for (int i = 0; i < 10; i++)
		pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	assert_int_equal(errno, 77);
	assert_int_equal(fake.opens, 1);
	assert_int_equal(fake.sites, 0);
	assert_int_equal(pmm_kmod_status(), -ENOENT);
	setup(NULL);
	fake.most_bytes = 4096;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	assert_int_equal(pmm_kmod_status(), -ENOMEM);
}

static void a_smaller_ring_will_do(void **state)
{
	(void)state;
	fake.most_bytes = PMM_KMOD_RING_BYTES(64);
	errno = 77;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	assert_int_equal(errno, 77);
	assert_int_equal(kmod.slots, 64);
	assert_int_equal(pmm_kmod_status(), 1);
	assert_int_equal(record(1)->kind, PMM_KMOD_FREE);
}

static void the_module_can_switch_it_off(void **state)
{
	(void)state;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	fake.ring->off = 1;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	take();
	assert_int_equal(fake.nr, 2);
}

static void a_closed_descriptor_is_opened_again(void **state)
{
	(void)state;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	fake.descriptor_is_gone = true;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 2, "f", 10));
	assert_int_equal(fake.opens, 2);
	assert_int_equal(record(2)->site, 2);
	assert_int_equal(fake.nr, 4);
}

static void the_report_says_whether_it_logs(void **state)
{
	char text[4000] = "";
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	pmm_report_fd(pipes[1], PMM_TOTALS);
	assert_true(read(pipes[0], text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "kernel module: logs here, 0 records lost"));
	setup(NULL);
	fake.refuse = ENOENT;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	memset(text, 0, sizeof(text));
	pmm_report_fd(pipes[1], PMM_TOTALS);
	assert_true(read(pipes[0], text, sizeof(text) - 1) > 0);
	assert_non_null(strstr(text, "kernel module: logs nothing, it is not loaded (error 2)"));
	close(pipes[0]);
	close(pipes[1]);
}

/* The child's ring is its own, with places that are asked for anew. */
static int child_has_its_own(void)
{
	fake.nr = fake.sites = 0;
	fake.ring = NULL;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	take();
	return fake.opens == 2 && fake.sites == 1 && fake.nr == 2 &&
	       fake.record[0].tid == (uint32_t)getpid();
}

static void a_forked_child_has_its_own_ring(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	pid = fork();
	if (!pid)
		_exit(child_has_its_own() ? 5 : 6);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 5 << 8);
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	take();
	assert_int_equal(fake.nr, 4);
	assert_int_equal(fake.opens, 1);
}

/* ---- threads */

static void *nothing(void *arg)
{
	pthread_barrier_wait(arg);
	pthread_barrier_wait(arg);
	return NULL;
}

static void beside_other_threads_a_realloc_frees_first(void **state)
{
	pthread_barrier_t barrier;
	pthread_t thread;
	void *p, *q;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, nothing, &barrier);
	pthread_barrier_wait(&barrier);
	p = pmm_malloc("a.c", 1, "f", 10);
	q = pmm_realloc("a.c", 2, "f", p, 100000);
	assert_null(pmm_realloc("a.c", 3, "f", q, MOST_BYTES));
	assert_int_equal(record(1)->kind, PMM_KMOD_FREE);
	assert_int_equal(record(1)->pointer, (uintptr_t)p);
	assert_int_equal(record(2)->kind, PMM_KMOD_REALLOC);
	assert_int_equal(record(2)->prev, (uintptr_t)p);
	assert_int_equal(record(2)->flags, PMM_KMOD_PREV_GONE);
	assert_int_equal(record(3)->kind, PMM_KMOD_FREE);
	assert_int_equal(record(4)->kind, PMM_KMOD_REALLOC);	/* it is back, as it was */
	assert_int_equal(record(4)->pointer, (uintptr_t)q);
	assert_int_equal(record(4)->bytes, 100000);
	pmm_free("a.c", 4, "f", q);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barrier);
}

static void *many_pairs(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1 + i % 3, "f", 10));
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Each address is had and given back in turn: the records of all threads are in order. */
static void records_of_an_address_are_in_order(void **state)
{
	static uint64_t live[16];
	pthread_t thread[4];
	size_t nr = 0;

	(void)state;
	ring_slots = 16384;	/* for all of them */
	pmm_free("a.c", 9, "f", pmm_malloc("a.c", 1, "f", 10));
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, many_pairs, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	take();
	assert_int_equal(fake.nr, 8002);
	for (unsigned i = 0; i < fake.nr; i++) {
		const struct pmm_kmod_slot *r = &fake.record[i];
		uint64_t *at = bsearch(&r->pointer, live, nr, sizeof(*live), compare);

		if (r->kind == PMM_KMOD_FREE) {
			assert_non_null(at);
			*at = live[--nr];
		} else {
			assert_null(at);
			assert_true(nr < NR(live));
			live[nr++] = r->pointer;
		}
		qsort(live, nr, sizeof(*live), compare);
	}
	assert_int_equal(nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_request_is_a_record, setup),
		cmocka_unit_test_setup(a_place_is_asked_for_once, setup),
		cmocka_unit_test_setup(long_names_keep_their_end, setup),
		cmocka_unit_test_setup(places_without_room_have_no_number, setup),
		cmocka_unit_test_setup(a_realloc_replaces_in_one_thread, setup),
		cmocka_unit_test_setup(disabled_it_logs_frees_only, setup),
		cmocka_unit_test_setup(it_is_drained_at_half, setup),
		cmocka_unit_test_setup(without_a_device_nothing_is_done, setup),
		cmocka_unit_test_setup(a_smaller_ring_will_do, setup),
		cmocka_unit_test_setup(the_module_can_switch_it_off, setup),
		cmocka_unit_test_setup(a_closed_descriptor_is_opened_again, setup),
		cmocka_unit_test_setup(the_report_says_whether_it_logs, setup),
		cmocka_unit_test_setup(a_forked_child_has_its_own_ring, setup),
		cmocka_unit_test_setup(beside_other_threads_a_realloc_frees_first, setup),
		cmocka_unit_test_setup(records_of_an_address_are_in_order, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
