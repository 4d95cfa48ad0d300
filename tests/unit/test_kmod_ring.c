/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmod/pmm_ring.c against writers of include/pmm/kmod_ring.h: records once each, full rings, slots
 * that are never finished or too late, counters that wrap, and a program that writes anything
 * anywhere. The ring lies between pages that nobody may touch.
 */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pmm/kmod_ring.h>

#include "kmod/pmm_ring.h"
#include "tests/unit/kmod_sum.h"

#define SLOTS	64u
#define NOW	1000000000000ull
#define SECOND	1000000000ull

static struct pmm_log_limits limits;
static struct pmm_log the_log;
static struct pmm_ring ring;
static struct pmm_kmod_ring *shared;
static size_t page, mapped;
static u32 written;			/* by put() */

static void ring_new(u32 slots)
{
	size_t bytes = PMM_KMOD_RING_BYTES(slots);
	char *at;

	page = (size_t)sysconf(_SC_PAGESIZE);
	mapped = (bytes + page - 1) / page * page + 2 * page;
	at = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at + page, mapped - 2 * page, PROT_READ | PROT_WRITE), 0);
	shared = (struct pmm_kmod_ring *)(at + page);
	assert_int_equal(bytes % page, 0);
	limits = (struct pmm_log_limits){ .entries_per_process = 1u << 24,
					  .entries_in_all = 1u << 24 };
	pmm_log_init(&the_log, &limits, 1);
	pmm_ring_init(&ring, shared, slots);
	written = 0;
}

static int setup(void **state)
{
	(void)state;
	ring_new(SLOTS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pmm_log_clear(&the_log);
	munmap((char *)shared - page, mapped);
	return 0;
}

/* Write a malloc, whose pointer is the next number. */
static int put(void)
{
	struct pmm_kmod_slot record = { .kind = PMM_KMOD_MALLOC, .bytes = 1, .pointer = ++written };

	return pmm_kmod_write(shared, ring.slots, &record);
}

/* Take a position without filling the slot. */
static struct pmm_kmod_slot *begin(void)
{
	return pmm_kmod_slot(shared, shared->head++, ring.slots);
}

static u32 drain_at(u64 now_ns)
{
	return pmm_ring_drain(&ring, &the_log, now_ns, false);
}

static void test_as_it_begins(void **state)
{
	(void)state;
	assert_int_equal(shared->version, PMM_KMOD_VERSION);
	assert_int_equal(shared->slots, SLOTS);
	assert_int_equal(shared->off, 0);
	assert_int_equal(drain_at(NOW), 0);
	assert_int_equal(ring.waited, 0);
	pmm_ring_switch(&ring, false);
	assert_int_equal(shared->off, 1);
	pmm_ring_switch(&ring, true);
	assert_int_equal(shared->off, 0);
}

static void test_a_record(void **state)
{
	struct pmm_site *site = pmm_sites_add(&the_log.sites, "f", "a.c", 3);
	struct pmm_kmod_slot record = { .site = site->id,
					.kind = PMM_KMOD_REALLOC,
					.flags = PMM_KMOD_PREV_GONE,
					.bytes = 7,
					.pointer = 8,
					.prev = 9,
					.caller = 10,
					.time_ns = NOW - 1,
					.tid = 11 };
	struct pmm_log_entry *entry;

	(void)state;
	assert_int_equal(pmm_kmod_write(shared, SLOTS, &record), 1);
	assert_int_equal(pmm_kmod_pending(shared), 1);
	assert_int_equal(drain_at(NOW), 1);
	assert_int_equal(pmm_kmod_pending(shared), 0);
	assert_int_equal(shared->tail, 1);
	entry = list_entry(list_first_entry(&the_log.items, struct pmm_log_item, list),
			   struct pmm_log_entry, item);
	assert_ptr_equal(entry->site, site);
	assert_int_equal(entry->bytes, 7);
	assert_int_equal(entry->pointer, 8);
	assert_int_equal(entry->prev, 9);
	assert_int_equal(entry->caller, 10);
	assert_int_equal(entry->time_ns, NOW - 1);
	assert_int_equal(entry->tid, 11);
	assert_int_equal(entry->kind, PMM_KMOD_REALLOC);
	assert_int_equal(the_log.nr_wrong, 0);
	assert_int_equal(ring.records, 1);
	assert_int_equal(the_log.counts.sites_lost, 0);
}

static u64 time_of(u64 time_ns)
{
	struct pmm_kmod_slot record = { .kind = PMM_KMOD_MALLOC, .pointer = 1, .time_ns = time_ns };

	pmm_kmod_write(shared, SLOTS, &record);
	assert_int_equal(drain_at(NOW), 1);
	return list_entry(list_first_entry(&the_log.items, struct pmm_log_item, list),
			  struct pmm_log_entry, item)
		->time_ns;
}

static void test_times(void **state)
{
	(void)state;
	assert_int_equal(time_of(0), NOW);
	assert_int_equal(time_of(1), 1);
	assert_int_equal(time_of(NOW), NOW);
	assert_int_equal(time_of(NOW + 1), NOW);
	assert_int_equal(time_of(~0ull), NOW);
}

static void test_senseless_records(void **state)
{
	struct pmm_kmod_slot record = { .kind = PMM_KMOD_MALLOC };

	(void)state;
	pmm_kmod_write(shared, SLOTS, &record);
	record.pointer = 1;
	record.kind = 77;
	pmm_kmod_write(shared, SLOTS, &record);
	record.kind = PMM_KMOD_MALLOC;
	record.site = 5;
	pmm_kmod_write(shared, SLOTS, &record);
	assert_int_equal(drain_at(NOW), 3);
	assert_int_equal(the_log.counts.bad, 2);
	assert_int_equal(the_log.counts.sites_lost, 1);
	assert_int_equal(the_log.entries, 1);
}

static void test_full(void **state)
{
	(void)state;
	for (unsigned round = 1; round <= 5; round++) {
		for (unsigned i = 0; i < SLOTS; i++)
			assert_int_equal(put(), 1);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(put(), 0);
		assert_int_equal(pmm_kmod_pending(shared), SLOTS);
		assert_int_equal(drain_at(NOW), SLOTS);
		assert_int_equal(ring.overflows, 3 * round);
		assert_int_equal(the_log.entries, SLOTS * round);
		assert_int_equal(ring.waited, 0);
	}
	assert_int_equal(the_log.counts.replaced, 0);
}

/* One that is unfinished holds up the rest: for long enough, and only if there is a rest. */
static void test_given_up(void **state)
{
	(void)state;
	put();
	begin();
	assert_int_equal(drain_at(NOW), 1);
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(drain_at(NOW + i * SECOND), 0);
	assert_int_equal(ring.torn, 0);
	put();
	put();
	assert_int_equal(drain_at(NOW + 40 * SECOND), 2);
	assert_int_equal(ring.torn, 1);
	assert_int_equal(ring.records, 3);
	assert_int_equal(the_log.entries, 3);
	assert_int_equal(shared->tail, 4);
	assert_int_equal(ring.waited, 0);
}

static void test_patience(void **state)
{
	(void)state;
	begin();
	put();
	for (unsigned i = 0; i < 100; i++)	/* many drains, but no time */
		assert_int_equal(drain_at(NOW + SECOND - 1), 0);
	assert_int_equal(ring.waiting_since_ns, NOW + SECOND - 1);
	assert_int_equal(drain_at(NOW), 0);	/* the clock is set back */
	assert_int_equal(ring.waiting_since_ns, NOW);
	assert_int_equal(drain_at(NOW + SECOND - 1), 0);
	assert_int_equal(drain_at(NOW + SECOND), 1);
	begin();
	put();
	for (unsigned i = 0; i < PMM_RING_PATIENCE; i++)	/* time, but few drains */
		assert_int_equal(drain_at(NOW + 10 * i * SECOND), 0);
	assert_int_equal(ring.torn, 1);
	assert_int_equal(drain_at(NOW + 10 * PMM_RING_PATIENCE * SECOND), 1);
	assert_int_equal(ring.torn, 2);
}

static void test_unfinished_but_in_time(void **state)
{
	struct pmm_kmod_slot *slot = begin();

	(void)state;
	put();
	assert_int_equal(drain_at(NOW), 0);
	slot->kind = PMM_KMOD_MALLOC;
	slot->pointer = 99;
	__atomic_store_n(&slot->sequence, 1, __ATOMIC_RELEASE);
	assert_int_equal(drain_at(NOW), 2);
	assert_int_equal(ring.waited, 0);
	assert_int_equal(ring.torn, 0);
}

static void test_last(void **state)
{
	(void)state;
	begin();
	put();
	begin();
	begin();
	assert_int_equal(pmm_ring_drain(&ring, &the_log, NOW, true), 1);
	assert_int_equal(ring.torn, 3);
	assert_int_equal(ring.position, 4);
	assert_int_equal(pmm_ring_drain(&ring, &the_log, NOW, true), 0);
	assert_int_equal(ring.torn, 3);
	for (unsigned i = 0; i < SLOTS; i++)	/* all of them */
		begin();
	assert_int_equal(pmm_ring_drain(&ring, &the_log, NOW, true), 0);
	assert_int_equal(ring.torn, 3 + SLOTS);
}

/* A slot that was given up is finished later, at each stage of the rounds that follow. */
static void test_finished_too_late(void **state)
{
	(void)state;
	for (unsigned later = 0; later <= 3 * SLOTS; later++) {
		u32 position = shared->head;
		struct pmm_kmod_slot *slot = begin();

		assert_int_equal(pmm_ring_drain(&ring, &the_log, NOW, true), 0);
		for (unsigned i = 0; i < later; i++) {
			assert_int_equal(put(), 1);
			assert_int_equal(drain_at(NOW), 1);
		}
		__atomic_store_n(&slot->sequence, position + 1, __ATOMIC_RELEASE);
		for (unsigned i = 0; i < 2 * SLOTS; i++) {
			put();		/* full at the slot that is damaged */
			drain_at(NOW);
		}
		pmm_ring_drain(&ring, &the_log, NOW, true);
		for (unsigned i = 0; i < 2 * SLOTS; i++) {
			assert_int_equal(put(), 1);
			assert_int_equal(drain_at(NOW), 1);
		}
	}
	assert_in_range(ring.overflows, 1, 3 * SLOTS + 1);
	assert_int_equal(the_log.entries + ring.overflows, written);
	assert_int_equal(ring.torn, 3 * SLOTS + 1);
}

/* As if there had been nearly 2^32 records. */
static void move_to(u32 position)
{
	ring.position = position;
	shared->head = position;
	for (u32 i = 0; i < SLOTS; i++)
		pmm_kmod_slot(shared, position + i, SLOTS)->sequence = position + i;
}

static void test_positions_wrap(void **state)
{
	(void)state;
	move_to(0u - 100);
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(put(), 1);
		if (i % 3 == 2)
			assert_int_equal(drain_at(NOW), 3);
	}
	assert_int_equal(ring.position, 98);
	assert_int_equal(drain_at(NOW), 2);
	move_to(0u - 10);
	for (unsigned i = 0; i < SLOTS; i++)
		assert_int_equal(put(), 1);
	assert_int_equal(put(), 0);
	assert_int_equal(drain_at(NOW), SLOTS);
	move_to(0u - 1);
	begin();
	put();
	assert_int_equal(pmm_ring_drain(&ring, &the_log, NOW, true), 1);
	assert_int_equal(ring.torn, 1);
	assert_int_equal(the_log.counts.replaced, 0);
}

static void test_overflows_wrap(void **state)
{
	(void)state;
	shared->overflows = 0u - 3;
	drain_at(NOW);
	assert_int_equal(ring.overflows, 0u - 3);
	shared->overflows += 10;
	drain_at(NOW);
	assert_int_equal(ring.overflows, 0xfffffffdull + 10);
	drain_at(NOW);
	assert_int_equal(ring.overflows, 0xfffffffdull + 10);
}

#define NR_WRITERS	4
#define NR_RECORDS	40000u

static void *writer(void *arg)
{
	u64 number = (u64)(uintptr_t)arg;
	u64 lost = 0;

	for (u64 i = 1; i <= NR_RECORDS; i++) {
		struct pmm_kmod_slot record = { .kind = PMM_KMOD_MALLOC,
						.bytes = number,
						.pointer = number << 32 | i,
						.caller = ~i,
						.tid = (u32)i };

		lost += !pmm_kmod_write(shared, SLOTS * 16, &record);
		if (i % 256 == 0)
			sched_yield();
	}
	return (void *)(uintptr_t)lost;
}

/* Without memory for a table records are not thrown away one after another; at the end they are. */
static void test_no_memory_ends_a_drain(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 9; i++)
		put();
	pmm_os_allocs_left = 0;
	assert_int_equal(pmm_ring_drain(&ring, &the_log, NOW, false), 1);
	assert_int_equal(the_log.counts.no_memory, 1);
	assert_int_equal(shared->tail, 1);
	pmm_os_allocs_left = 2;
	assert_int_equal(pmm_ring_drain(&ring, &the_log, NOW, false), 8);
	assert_int_equal(the_log.entries, 1);
	assert_int_equal(the_log.counts.no_memory, 1);
	assert_int_equal(the_log.counts.evicted, 7);
	assert_int_equal(pmm_log_evict(&the_log, 1), 1);
	for (unsigned i = 0; i < 6; i++)
		put();
	assert_int_equal(pmm_ring_drain(&ring, &the_log, NOW, true), 6);
	pmm_os_allocs_left = -1;
	assert_int_equal(the_log.entries, 0);
	assert_int_equal(the_log.counts.no_memory, 7);
	assert_int_equal(ring.torn, 0);
}

/* Who does not wait for memory leaves records that take some, until the ring is nearly full. */
static void test_records_wait_for_memory(void **state)
{
	struct pmm_kmod_slot freed = { .kind = PMM_KMOD_FREE, .pointer = 1 };

	(void)state;
	put();
	assert_int_equal(drain_at(NOW), 1);
	the_log.nowait = true;
	pmm_os_allocs_left = 0;
	for (unsigned i = 0; i < SLOTS / 4 * 3; i++)
		put();
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(drain_at(NOW + i * SECOND), 0);
	assert_int_equal(the_log.counts.evicted, 0);
	put();
	assert_int_equal(drain_at(NOW), 1);
	assert_int_equal(the_log.counts.evicted, 1);
	assert_int_equal(shared->tail, 2);
	pmm_os_allocs_left = 2;
	assert_int_equal(drain_at(NOW), 2);
	assert_int_equal(the_log.counts.evicted, 1);
	the_log.nowait = false;			/* who does takes all, the oldest give way */
	assert_int_equal(drain_at(NOW), SLOTS / 4 * 3 - 2);
	assert_int_equal(the_log.entries, 3);
	put();
	the_log.nowait = true;			/* as does the last one */
	assert_int_equal(pmm_ring_drain(&ring, &the_log, NOW, true), 1);
	assert_int_equal(the_log.entries, 3);
	freed.pointer = list_entry(the_log.items.next, struct pmm_log_entry, item.list)->pointer;
	assert_int_equal(pmm_kmod_write(shared, SLOTS, &freed), 1);
	put();
	assert_int_equal(drain_at(NOW), 2);	/* what is freed makes room */
	assert_int_equal(the_log.counts.frees, 1);
	assert_int_equal(the_log.entries, 3);
	assert_int_equal(the_log.counts.no_memory + ring.torn, 0);
	assert_true(kmod_adds_up(&the_log));
	pmm_os_allocs_left = -1;
}

/* Each record of each thread is in the log once, whole, in the order it was written, or is lost. */
static void check_written(u64 lost)
{
	u64 last[NR_WRITERS + 1] = { 0 };
	struct pmm_log_cursor c = { 0 };
	struct pmm_log_entry *entry;

	assert_int_equal(ring.overflows, lost);
	assert_int_equal(the_log.entries, NR_WRITERS * NR_RECORDS - lost);
	assert_int_equal(the_log.counts.replaced + the_log.counts.bad + ring.torn, 0);
	pmm_cursor_begin(&c, &the_log);
	while ((entry = pmm_cursor_look(&c, &the_log))) {
		u64 number = entry->pointer >> 32, i = entry->pointer & 0xffffffff;

		assert_in_range(number, 1, NR_WRITERS);
		assert_true(i > last[number] && i <= NR_RECORDS);
		assert_true(entry->bytes == number && entry->caller == ~i && entry->tid == i);
		last[number] = i;
		pmm_cursor_pass(&c, entry);
	}
	pmm_cursor_end(&c);
}

static void test_threads(void **state)
{
	pthread_t threads[NR_WRITERS];
	u64 lost = 0;
	void *result;

	(void)state;
	ring_new(SLOTS * 16);
	for (uintptr_t i = 0; i < NR_WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, writer, (void *)(i + 1)), 0);
	for (unsigned i = 0; i < NR_WRITERS; i++) {
		while (pthread_tryjoin_np(threads[i], &result)) {
			drain_at(NOW);	/* no time passes: nothing is given up */
			sched_yield();
		}
		lost += (u64)(uintptr_t)result;
	}
	drain_at(NOW);
	assert_int_equal(shared->tail, shared->head);
	check_written(lost);
}

static u32 random_state;

static u32 random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

static volatile bool ended;

static void *scribble(void *arg)
{
	u32 *words = (u32 *)shared, nr = (u32)(PMM_KMOD_RING_BYTES(SLOTS) / 4), state = 99;

	while (!ended) {
		u32 at;

		state = state * 1664525 + 1013904223;
		at = (u32)(((u64)state * nr) >> 32);
		__atomic_store_n(&words[at], state & 1 ? state : state >> 28, __ATOMIC_RELAXED);
	}
	return arg;
}

/* A drain among random memory: its bounds, and what it keeps for itself. */
static void hostile_drain(unsigned round)
{
	const struct pmm_log_counts *c = &the_log.counts;
	struct pmm_ring before = ring;
	u64 was = c->bad;
	u32 taken = pmm_ring_drain(&ring, &the_log, NOW + round * SECOND, round % 7 == 0);

	assert_in_range(taken, 0, SLOTS);
	assert_ptr_equal(ring.shared, shared);
	assert_int_equal(ring.slots, SLOTS);
	assert_int_equal(ring.records, before.records + taken);
	assert_int_equal((u32)(ring.position - before.position), taken + ring.torn - before.torn);
	assert_in_range(ring.position - before.position, 0, SLOTS);
	assert_in_range(c->bad, was, was + taken);
	assert_in_range(ring.overflows, before.overflows, before.overflows + UINT32_MAX);
	assert_true(kmod_adds_up(&the_log));
	assert_in_range(the_log.entries, 0, 500);
}

static void random_ring(void)
{
	u32 *words = (u32 *)shared;

	for (size_t i = 0; i < PMM_KMOD_RING_BYTES(SLOTS) / 4; i++)
		words[i] = random_word() & 1 ? random_word() : random_word() >> 28;
	if (random_word() & 1)
		shared->head = ring.position + random_word() % (2 * SLOTS);
	for (u32 i = 0; i < random_word() % (2 * SLOTS); i++)	/* some that are taken */
		pmm_kmod_slot(shared, ring.position + i, SLOTS)->sequence = ring.position + i + 1;
}

static void test_hostile(void **state)
{
	pthread_t thread;

	(void)state;
	limits.entries_per_process = 500;
	random_state = 7;
	for (unsigned i = 1; i <= 3000; i++) {
		random_ring();
		hostile_drain(i);
	}
	assert_true(ring.records > 10000 && ring.torn > 100 && the_log.counts.bad > 1000);
	assert_true(the_log.counts.allocations > 100 && the_log.counts.foreign_frees > 10);
	ended = false;
	assert_int_equal(pthread_create(&thread, NULL, scribble, NULL), 0);
	for (unsigned i = 1; i <= 3000; i++) {
		if (i % 10 == 0)
			random_ring();
		hostile_drain(i);
	}
	ended = true;
	pthread_join(thread, NULL);
}

/* The ring of a program that has come to its senses works again, once it is as it should be. */
static void test_after_nonsense(void **state)
{
	(void)state;
	memset(shared, 0xff, PMM_KMOD_RING_BYTES(SLOTS));
	assert_int_equal(drain_at(NOW), 0);
	assert_int_equal(ring.overflows, 0xffffffff);
	move_to(ring.position);
	for (unsigned i = 0; i < 3 * SLOTS; i++) {
		assert_int_equal(put(), 1);
		assert_int_equal(drain_at(NOW), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_as_it_begins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_senseless_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_given_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patience, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unfinished_but_in_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last, setup, teardown),
		cmocka_unit_test_setup_teardown(test_finished_too_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory_ends_a_drain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_wait_for_memory, setup, teardown),
	cmocka_unit_test_setup_teardown(test_positions_wrap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overflows_wrap, setup, teardown),
		cmocka_unit_test_teardown(test_threads, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_after_nonsense, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
