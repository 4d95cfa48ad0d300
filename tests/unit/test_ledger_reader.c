/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ledgers that change while they are read: whole records, and nobody is waited for long. */
#include <pthread.h>

#include "tests/unit/unit.h"

#include "src/ledger/ledger_heap.h"
#include "src/model/heap_lifetimes.h"
#include "tests/unit/ledger_image.h"
#include "tests/unit/ledger_read.h"

static uint64_t damaged;

struct writer {
	struct pmm_ctx *ctx;
	struct pmm_record *record;
	uint64_t *lifetimes;
	bool stop;
};

/*
 * Keeps the record's first word and the last of its lifetimes in step between events, as the agent
 * would, and like a program does something else in between.
 */
static void *write_events(void *arg)
{
	struct writer *w = arg;
	uint64_t *last = &w->lifetimes[PMM_NR_LIFETIMES - 1];

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		__atomic_store_n(&w->ctx->seq, w->ctx->seq + 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&w->record->bytes_in, w->record->bytes_in + 16, __ATOMIC_RELEASE);
		__atomic_store_n(last, *last + 1, __ATOMIC_RELEASE);
		__atomic_store_n(&w->ctx->seq, w->ctx->seq + 1, __ATOMIC_SEQ_CST);
		for (unsigned i = 0; i < 2000; i++)
			__asm__ volatile("");
	}
	return NULL;
}

/* Also when another thread stays in the middle of an event and has many records. */
static void a_record_is_read_between_events(void **state)
{
	struct image im = image_new();
	pmm_ref stopped = image_ctx(&im), a = image_ctx(&im);
	struct ledger_options o = { .running = true, .pid = getpid() };
	struct writer w = { .ctx = image_at(&im, a) };
	unsigned torn = 0;
	bool moved = false;
	pthread_t thread;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	((struct pmm_ctx *)image_at(&im, stopped))->seq = 7;
	for (unsigned i = 2; i < 100; i++) {
		image_site(&im, i, 1, 0);
		image_record(&im, stopped, i);
	}
	w.record = image_record(&im, a, 1);
	w.lifetimes = image_lifetimes(&im, w.record);
	pthread_create(&thread, NULL, write_events, &w);
	for (unsigned i = 0; i < 400; i++) {
		struct heap *h = read_with(&im, &o);

		torn += (uint64_t)h->sites[1].live_bytes !=
			16 * heap_lifetime(h, &h->sites[1], HEAP_NR_LIFETIMES - 1);
		assert_int_equal(h->live_bytes, h->sites[1].live_bytes);
		moved |= h->drift_blocks > 0;
		heap_free(h);
	}
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_true(moved);
	assert_in_range(torn, 0, 10);	/* the writer may lose its processor in the middle */
	image_free(&im);
}

/* Peaks are sealed all the time: the records are added up again, not added twice. */
static void *write_epochs(void *arg)
{
	struct image *im = arg;

	while (__atomic_load_n(&im->l->want_view, __ATOMIC_RELAXED) == 0) {
		__atomic_store_n(&im->l->total, im->l->total + 1, __ATOMIC_RELAXED);
		for (unsigned i = 0; i < 1000; i++)
			__asm__ volatile("");
	}
	return NULL;
}

static void peaks_sealed_meanwhile_start_over(void **state)
{
	struct image im = image_new();
	struct ledger_options o = { .running = true, .pid = getpid(), .damaged = &damaged };
	pmm_ref a = image_ctx(&im);
	pthread_t thread;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	for (unsigned i = 1; i < 50; i++) {
		image_site(&im, i, 1, 0);
		image_record(&im, a, i)->allocs = 1;
	}
	pthread_create(&thread, NULL, write_epochs, &im);
	for (unsigned i = 0; i < 50; i++) {
		struct heap *h = read_with(&im, &o);

		assert_int_equal(h->allocs, 49);
		assert_int_equal(damaged, 0);
		heap_free(h);
	}
	im.l->want_view = 1;
	pthread_join(thread, NULL);
	image_free(&im);
}

/* A thread stopped in the middle of an event must not hold the reader up. */
static void a_context_in_the_middle_is_not_waited_for(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct ledger_options o = { .running = true, .pid = getpid() };
	struct heap *h;

	(void)state;
	((struct pmm_ctx *)image_at(&im, a))->seq = 7;
	image_node(&im, 1, 0, 0, 0x1000);
	for (unsigned i = 1; i < 1000; i++) {
		image_site(&im, i, 1, 0);
		image_record(&im, a, i)->allocs = 1;
	}
	h = read_with(&im, &o);
	assert_int_equal(h->allocs, 999);
	assert_true(h->drift_blocks > 0);
	heap_free(h);
	image_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_read_between_events),
		cmocka_unit_test(peaks_sealed_meanwhile_start_over),
		cmocka_unit_test(a_context_in_the_middle_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
