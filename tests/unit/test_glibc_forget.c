/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that were freed past the hooks, in real processes: children that say which of the blocks
 * in the table they have freed.
 */
#include "tests/unit/unit.h"

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "tests/unit/roots_host.h"

#define NR_RANDOM	600

static pthread_barrier_t there;

static void run(void (*child)(void))
{
	needs_glibc();
	assert_int_equal(host_run(child, true, true, NULL), 0);
	assert_int_equal(host_run(child, false, true, NULL), 0);
}

static void freed(const char *name, void *p)
{
	host_place(name, p, IS_FREED);
	free(p);
}

/*
 * Each third block is freed: of all sizes, into a thread's cache, fast bins, the list of those not
 * sorted yet.
 */
static void sizes_child(void)
{
	static const size_t size[] = { 0, 100, 1000, 1032, 2000, 20000, 120000, 200000, 3000000 };
	void *p[NR(size)][30];

	for (unsigned i = 0; i < NR(size); i++)
		for (unsigned k = 0; k < NR(p[i]); k++)
			p[i][k] = host_malloc(size[i]);
	for (unsigned i = 0; i < NR(size); i++)
		for (unsigned k = 0; k < NR(p[i]); k++)
			if (k % 3 == 1)
				freed("freed", p[i][k]);
			else
				host_place("kept", p[i][k], IS_LIVE);
	host_ready();
}

static void every_size(void **state)
{
	(void)state;
	run(sizes_child);
}

/*
 * Neighbours that were freed are one chunk, sorted into a bin by a later request; the last ones are
 * part of the top.
 */
static void merged_child(void)
{
	char *p[60];

	for (unsigned i = 0; i < NR(p); i++)
		p[i] = host_malloc(3000);
	for (unsigned i = 0; i < 50; i++)
		if (i % 10 == 9)
			host_place("between merged ones", p[i], IS_LIVE);
		else
			freed("merged", p[i]);
	free(malloc(100000));
	for (unsigned i = 50; i < NR(p); i++)
		freed("in the top", p[i]);
	host_ready();
}

static void merged_with_neighbours(void **state)
{
	(void)state;
	run(merged_child);
}

static void *cache_user(void *arg)
{
	void *p[64];

	for (unsigned i = 0; i < NR(p); i++)
		p[i] = host_malloc(16 + i % 32 * 16);
	for (unsigned i = 0; i < NR(p); i++)
		if (i % 4)
			freed("in a thread's cache", p[i]);
		else
			host_place("of a thread with a cache", p[i], IS_LIVE);
	host_stay(&there);
	return arg;
}

static void caches_child(void)
{
	pthread_t thread[6];

	pthread_barrier_init(&there, NULL, NR(thread) + 1);
	free(malloc(24));
	for (unsigned i = 0; i < NR(thread); i++)
		if (pthread_create(&thread[i], NULL, cache_user, NULL))
			_exit(2);
	pthread_barrier_wait(&there);
	host_ready();
}

static void caches_of_threads(void **state)
{
	(void)state;
	run(caches_child);
}

/* Handed out anew past the hooks: in another size that shows; in the same size nothing tells. */
static void reused_child(void)
{
	char *p[40], *same;

	for (unsigned i = 0; i < NR(p); i++)
		p[i] = host_malloc(2000);
	host_place("behind them", host_malloc(100), IS_LIVE);
	for (unsigned i = 0; i < NR(p); i++)
		freed("handed out in another size", p[i]);
	for (unsigned i = 0; i < 16; i++)
		memset(malloc(5000), 1, 5000);
	p[0] = host_malloc(300);
	free(p[0]);
	same = malloc(300);
	if (same != p[0])
		_exit(3);
	host_place("handed out in the same size", same, IS_LIVE);
	host_ready();
}

static void handed_out_anew(void **state)
{
	(void)state;
	run(reused_child);
}

/*
 * Whatever a program does: no block that is in use is ever said to be freed, and one that is said
 * to be in use is, or lies where one is that nobody saw. Seen and unseen calls at random, of all
 * that makes blocks.
 */
static struct known {
	char *p;
	size_t bytes;
	uint8_t kind;
	bool is_live;
} known[NR_RANDOM];
static struct { char *p; size_t bytes; } unseen[NR_RANDOM];

static size_t some_bytes(void)
{
	static const size_t below[] = { 40, 200, 1100, 5000, 40000, 300000 };

	return (size_t)rand() % below[rand() % (int)NR(below)];
}

static void known_make(struct known *k)
{
	*k = (struct known){ .bytes = some_bytes(), .kind = PMM_KIND_MALLOC, .is_live = true };
	switch (rand() % 5) {
	case 4:
		k->kind = PMM_KIND_PVALLOC;
		k->p = pvalloc(k->bytes);
		break;
	case 0:
		k->kind = PMM_KIND_MEMALIGN;
		k->p = memalign(16u << rand() % 8, k->bytes);
		break;
	case 1:
		k->kind = PMM_KIND_REALLOC;
		k->p = realloc(malloc(some_bytes() + 1), k->bytes + 1);
		k->bytes++;
		break;
	default:
		k->p = malloc(k->bytes);
	}
	for (unsigned i = 0; i < NR_RANDOM; i++)	/* the table has one at an address */
		if (&known[i] != k && known[i].p == k->p)
			known[i].p = NULL;
}

static bool is_under_unseen(const struct known *k)
{
	for (unsigned i = 0; i < NR_RANDOM; i++)
		if (unseen[i].p == k->p)
			return true;
	return false;
}

static void random_child(void)
{
	for (unsigned n = 0; n < 20000; n++) {
		unsigned i = (unsigned)rand() % NR_RANDOM;

		if (rand() % 3 == 0) {
			free(unseen[i].p);
			unseen[i].bytes = some_bytes();
			unseen[i].p = rand() % 2 ? malloc(unseen[i].bytes) : NULL;
		} else if (known[i].is_live) {
			free(known[i].p);
			known[i].is_live = false;
			if (rand() % 2)
				known[i].p = NULL;	/* seen */
		} else {
			known_make(&known[i]);
		}
	}
	for (unsigned i = 0; i < NR_RANDOM; i++) {
		if (!known[i].p)
			continue;
		host_block(known[i].p, known[i].bytes);
		host->block[host->nr_blocks - 1].kind = known[i].kind;
		if (known[i].is_live)
			host_place("in use", known[i].p, IS_LIVE);
		else if (!is_under_unseen(&known[i]))
			host_place(known[i].bytes > 100000		? "freed large"
				   : known[i].kind == PMM_KIND_MEMALIGN ||
				   known[i].kind == PMM_KIND_PVALLOC ? "freed, aligned"
									: "freed",
				   known[i].p, IS_FREED);
	}
	host_ready();
}

static void at_random(void **state)
{
	(void)state;
	needs_glibc();
	for (unsigned seed = 1; seed <= 40; seed++) {
		srand(seed);
		memset(known, 0, sizeof(known));
		memset(unseen, 0, sizeof(unseen));
		assert_int_equal(host_run(random_child, seed % 2, true, NULL), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),
		cmocka_unit_test(merged_with_neighbours),
		cmocka_unit_test(caches_of_threads),
		cmocka_unit_test(handed_out_anew),
		cmocka_unit_test(at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
