/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/guard/guard.c: many threads at once, and forks in their midst.
 */
#include "tests/unit/guard_host.h"

#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define THREADS 8

static uint32_t *owner;			/* by run: which thread has it, + 1 */
static unsigned rounds;
static bool stop;

static void own(uint32_t run, uint32_t me)
{
	uint32_t nobody = 0;

	CHECK(__atomic_compare_exchange_n(&owner[run], &nobody, me, false, __ATOMIC_SEQ_CST,
					  __ATOMIC_SEQ_CST));
}

static void *hammer(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg, mine[64], nr = 0;
	unsigned seed = me;
	uint64_t damaged;

	for (unsigned i = 0; i < rounds && !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		enum guard_refusal why;
		uint32_t k = (uint32_t)rand_r(&seed) % NR(mine);
		size_t size = (size_t)rand_r(&seed) % (i % 100 ? 200 : 20000);

		if (k >= nr) {
			mine[nr] = block_try(size, 16, &why);
			CHECK(mine[nr] != NO_RUN || why == GUARD_KERNEL);
			if (mine[nr] == NO_RUN)
				continue;
			own(mine[nr], me);
			for (size_t j = 0; j < size; j++)
				CHECK(!at(mine[nr])[j]);
			memset(at(mine[nr]), (int)me, size);
			nr++;
		} else {
			const struct pmm_guard *r = guard_at(mine[k]);

			for (size_t j = 0; j < r->size_bytes; j++)
				CHECK(at(mine[k])[j] == me);
			CHECK(guard_block(r->address) == mine[k] &&
			      !guard_damage(mine[k], &damaged));
			CHECK(__atomic_exchange_n(&owner[mine[k]], 0, __ATOMIC_SEQ_CST) == me);
			give(mine[k]);
			mine[k] = mine[--nr];
		}
	}
	while (nr) {
		CHECK(__atomic_exchange_n(&owner[mine[--nr]], 0, __ATOMIC_SEQ_CST) == me);
		give(mine[nr]);
	}
	return NULL;
}

static void threads_begin(pthread_t *thread, uint32_t first)
{
	owner = mmap(NULL, PMM_MAX_GUARDS * sizeof(*owner), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, hammer, (void *)(uintptr_t)(first + i)));
}

static void threads_end(pthread_t *thread)
{
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void threads(void)
{
	struct pmm_check options = guard_usual;
	pthread_t thread[THREADS];

	options.max_guarded = THREADS * 64;
	rounds = guard_flags & PMM_CHECK_MPROTECT ? 20000 : 100000;
	start_with(options);
	threads_begin(thread, 1);
	threads_end(thread);
	CHECK(!agent.ledger->check.guarded_now &&
	      agent.ledger->check.guarded_most <= options.max_guarded);
	for (unsigned i = 0; i < options.max_guarded; i++)
		block(10, 16);
}

/*
 * What was allocated before the fork is there in the child, and it can go on itself, whatever the
 * parent's threads were at.
 */
static void forks(void)
{
	pthread_t thread[THREADS];
	uint32_t run[10];

	rounds = UINT_MAX;
	start();
	for (unsigned i = 0; i < NR(run); i++) {
		run[i] = block(100 + i, 16);
		memset(at(run[i]), (int)i + 1, 100 + i);
	}
	threads_begin(thread, 1);
	for (unsigned round = 0; round < 30; round++) {
		pid_t child = fork();
		int status;

		if (!child) {
			alarm(250);
			guard_forked();
			for (unsigned i = 0; i < NR(run); i++) {
				CHECK(*at(run[i]) == i + 1 &&
				      guard_block((uint64_t)at(run[i])) == run[i]);
				give(run[i]);
				CHECK(stops(at(run[i])));
			}
			rounds = 2000;
			if (round % 3 == 0) {
				threads_begin(thread, 101);
				threads_end(thread);
			} else {
				memset(owner, 0, PMM_MAX_GUARDS * sizeof(*owner));
				hammer((void *)(uintptr_t)100);
			}
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && !status);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	threads_end(thread);
}

BOTH(threads)
BOTH(forks)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TESTS(threads),
		TESTS(forks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
