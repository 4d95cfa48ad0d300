/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * include/pmm/kmod_ring.h: four threads write into a ring that a fifth one reads as the kernel
 * module does. Each record comes out exactly once and whole, or is counted as an overflow.
 */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sched.h>

#include <pmm/kmod_ring.h>

#define SLOTS		256u
#define WRITERS		4
#define RECORDS		200000u	/* of each writer */

static struct pmm_kmod_ring *ring;
static unsigned char *seen[WRITERS];
static unsigned finished;
static uint64_t taken, senseless;

static void setup_ring(void)
{
	ring = aligned_alloc(4096, PMM_KMOD_RING_BYTES(SLOTS));
	memset(ring, 0, PMM_KMOD_RING_BYTES(SLOTS));
	ring->version = PMM_KMOD_VERSION;
	ring->slots = SLOTS;
	for (uint32_t i = 0; i < SLOTS; i++)
		pmm_kmod_slot(ring, i, SLOTS)->sequence = i;
}

static struct pmm_kmod_slot make(unsigned writer, uint32_t number)
{
	return (struct pmm_kmod_slot){ .site = number, .bytes = number * 3ull,
				       .pointer = number * 5ull, .prev = number * 7ull,
				       .caller = number * 11ull, .time_ns = number * 13ull,
				       .tid = writer, .kind = (uint16_t)(1 + number % 5),
				       .flags = (uint16_t)(number & 1) };
}

/* All fields are of one record of one writer. */
static bool is_whole(const struct pmm_kmod_slot *s)
{
	struct pmm_kmod_slot want = make(s->tid, s->site);

	want.sequence = s->sequence;
	want.reserved = s->reserved;
	return s->tid < WRITERS && s->site < RECORDS && !memcmp(&want, s, sizeof(want));
}

/* What is there, as the module reads it. */
static void drain(uint32_t *tail)
{
	for (;;) {
		struct pmm_kmod_slot *slot = pmm_kmod_slot(ring, *tail, SLOTS), copy;

		if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != *tail + 1)
			return;
		copy = *slot;
		if (is_whole(&copy))
			seen[copy.tid][copy.site]++;
		else
			senseless++;
		taken++;
		__atomic_store_n(&slot->sequence, *tail + SLOTS, __ATOMIC_RELEASE);
		++*tail;
		__atomic_store_n(&ring->tail, *tail, __ATOMIC_RELAXED);
	}
}

static void *read_all(void *arg)
{
	uint32_t tail = 0;

	(void)arg;
	while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) < WRITERS) {
		drain(&tail);
		sched_yield();
	}
	drain(&tail);
	return NULL;
}

static void *write_all(void *arg)
{
	const unsigned writer = (unsigned)(uintptr_t)arg;
	uintptr_t lost = 0;

	for (uint32_t i = 0; i < RECORDS; i++) {
		struct pmm_kmod_slot record = make(writer, i);

		lost += !pmm_kmod_write(ring, SLOTS, &record);
	}
	__atomic_fetch_add(&finished, 1, __ATOMIC_RELEASE);
	return (void *)lost;
}

static void each_record_comes_once_or_is_counted(void **state)
{
	pthread_t writer[WRITERS], reader;
	uint64_t lost = 0, once = 0;

	(void)state;
	setup_ring();
	for (unsigned i = 0; i < WRITERS; i++)
		seen[i] = calloc(RECORDS, 1);
	pthread_create(&reader, NULL, read_all, NULL);
	for (uintptr_t i = 0; i < WRITERS; i++)
		pthread_create(&writer[i], NULL, write_all, (void *)i);
	for (unsigned i = 0; i < WRITERS; i++) {
		void *of_this;

		pthread_join(writer[i], &of_this);
		lost += (uintptr_t)of_this;
	}
	pthread_join(reader, NULL);
	for (unsigned i = 0; i < WRITERS; i++) {
		for (uint32_t k = 0; k < RECORDS; k++) {
			assert_true(seen[i][k] <= 1);
			once += seen[i][k];
		}
		free(seen[i]);
	}
	assert_int_equal(senseless, 0);
	assert_int_equal(once, taken);
	assert_int_equal(ring->overflows, lost);
	assert_int_equal(once + lost, (uint64_t)WRITERS * RECORDS);
	assert_int_equal(ring->head, (uint32_t)taken);
	assert_int_equal(pmm_kmod_pending(ring), 0);
	free(ring);
}

static void a_full_ring_takes_nothing_until_it_is_read(void **state)
{
	struct pmm_kmod_slot record = make(0, 1);
	uint32_t tail = 0;

	(void)state;
	setup_ring();
	seen[0] = calloc(RECORDS, 1);
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_int_equal(pmm_kmod_write(ring, SLOTS, &record), 1);
	assert_int_equal(pmm_kmod_pending(ring), SLOTS);
	assert_int_equal(pmm_kmod_write(ring, SLOTS, &record), 0);
	assert_int_equal(pmm_kmod_write(ring, SLOTS, &record), 0);
	assert_int_equal(ring->overflows, 2);
	taken = 0;
	drain(&tail);
	assert_int_equal(taken, SLOTS);
	assert_int_equal(pmm_kmod_write(ring, SLOTS, &record), 1);
	assert_int_equal(ring->overflows, 2);
	free(seen[0]);
	free(ring);
}

/* Positions have 32 bits and begin anew. */
static void positions_begin_anew(void **state)
{
	struct pmm_kmod_slot record = make(0, 1);
	uint32_t start = UINT32_MAX - 100, tail = start & ~(SLOTS - 1);

	(void)state;
	setup_ring();
	ring->head = ring->tail = tail;
	for (uint32_t i = 0; i < SLOTS; i++)
		pmm_kmod_slot(ring, tail + i, SLOTS)->sequence = tail + i;
	seen[0] = calloc(RECORDS, 1);
	taken = senseless = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(pmm_kmod_write(ring, SLOTS, &record), 1);
		drain(&tail);
	}
	assert_int_equal(taken, 1000);
	assert_int_equal(senseless, 0);
	assert_true(ring->head < 1000);
	assert_int_equal(ring->overflows, 0);
	free(seen[0]);
	free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_record_comes_once_or_is_counted),
		cmocka_unit_test(a_full_ring_takes_nothing_until_it_is_read),
		cmocka_unit_test(positions_begin_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
