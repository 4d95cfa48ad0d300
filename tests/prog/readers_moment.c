/* SPDX-License-Identifier: GPL-2.0-or-later
 * The truth of readers_victim at some time, copied while it changes: readers_moment.h.
 */
#include "tests/prog/readers_moment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"

#define ACQUIRE(x)	__atomic_load_n(&(x), __ATOMIC_ACQUIRE)

static void copy_slot(const struct readers_slot *from, struct readers_slot *to)
{
	do {
		to->seq = ACQUIRE(from->seq);
		to->is = from->is;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (!(to->seq & 1) && ACQUIRE(from->seq) != to->seq);
}

static void add_flight(struct readers_moment *m, const struct readers_flight *from)
{
	struct readers_flight *to = &m->flight[m->nr_flights];

	do {
		to->nr = ACQUIRE(from->nr);
		if (!(to->nr & 1))
			return;
		to->slot = from->slot;
		to->old = from->old;
		to->new = from->new;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (ACQUIRE(from->nr) != to->nr);
	m->nr_flights++;
}

/* What is left by a jump is there before it is no flight any more. */
static void copy_flights(const struct readers_truth *t, struct readers_moment *m)
{
	m->nr_flights = 0;
	for (unsigned w = 0; w < READERS_WORKERS; w++)
		add_flight(m, &t->worker[w].flight);
	m->nr_left = m->nr_flights;
	for (unsigned k = 0; k < READERS_LEFT; k++)
		add_flight(m, &t->left[k]);
	m->nr_left = m->nr_flights - m->nr_left;
}

static bool has_flight(const struct readers_moment *m, uint32_t n)
{
	for (unsigned k = 0; k < m->nr_flights; k++)
		if (m->flight[k].slot == n)
			return true;
	return false;
}

/* Of each slot its block, or the operation that is under way on it. */
static void copy_slots(const struct readers_truth *t, struct readers_moment *m)
{
	bool again = true;

	for (uint32_t n = 0; n < READERS_SLOTS; n++)
		copy_slot(&t->slot[n], &m->slot[n]);
	while (again) {
		again = false;
		copy_flights(t, m);
		for (uint32_t n = 0; n < READERS_SLOTS; n++)
			if (m->slot[n].seq & 1 && !has_flight(m, n)) {
				copy_slot(&t->slot[n], &m->slot[n]);	/* it has ended */
				again |= m->slot[n].seq & 1;
			}
	}
}

static void copy_logged(const struct readers_truth *t, struct readers_moment *m)
{
	for (unsigned w = 0; w < READERS_WORKERS; w++)
		m->nr_logged[w] = ACQUIRE(t->worker[w].nr_logged);
}

void readers_add_sums(struct readers_sums *to, const struct readers_sums *from)
{
	to->allocs += from->allocs;
	to->bytes_in += from->bytes_in;
	to->frees += from->frees;
	to->bytes_out += from->bytes_out;
	to->failed += from->failed;
	to->void_frees += from->void_frees;
	to->void_bytes += from->void_bytes;
}

/* Releases first: so there are never more of them than blocks that they can be of. */
static void copy_sums(const struct readers_truth *t, struct readers_moment *m, bool done)
{
	memset(m->sums, 0, sizeof(m->sums));
	memset(m->worker, 0, sizeof(m->worker));
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned w = 0; w < READERS_WORKERS; w++)
			for (unsigned g = 0; g < READERS_GROUPS; g++) {
				const struct readers_sums *from = done ? &t->worker[w].done[g]
								       : &t->worker[w].begun[g];
				struct readers_sums some = { 0 };

				if (!pass) {
					some.frees = ACQUIRE(from->frees);
					some.bytes_out = ACQUIRE(from->bytes_out);
				} else {
					some.allocs = ACQUIRE(from->allocs);
					some.bytes_in = ACQUIRE(from->bytes_in);
					some.failed = ACQUIRE(from->failed);
					some.void_frees = ACQUIRE(from->void_frees);
					some.void_bytes = ACQUIRE(from->void_bytes);
				}
				readers_add_sums(&m->sums[g], &some);
				if (g / READERS_LINKS != READERS_MMAP)
					readers_add_sums(&m->worker[w], &some);
			}
}

static uint64_t total_of(struct ledger_map *map)
{
	uint64_t total = 0;

	if (ledger_map_read(map, offsetof(struct pmm_ledger, total), &total, sizeof(total)))
		abort();
	return total;
}

void readers_before(const struct readers_truth *t, struct ledger_map *map, struct readers_moment *m)
{
	copy_logged(t, m);
	copy_slots(t, m);
	copy_sums(t, m, true);
	m->sure_peak = ACQUIRE(t->sure_peak);
	m->perhaps_peak = ACQUIRE(t->perhaps_peak);
	m->total = total_of(map);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void readers_after(const struct readers_truth *t, struct ledger_map *map, struct readers_moment *m)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	m->total = total_of(map);
	copy_sums(t, m, false);
	copy_slots(t, m);
	copy_logged(t, m);
	m->sure_peak = ACQUIRE(t->sure_peak);
	m->perhaps_peak = ACQUIRE(t->perhaps_peak);
}
