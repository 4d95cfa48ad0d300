/*
 * agent/site.c: stacks become numbers, the same number for the same stack, also when threads race.
 */
#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"
#include <pthread.h>

static void test_nodes_are_shared(void **state)
{
	uint32_t main_, a, b;

	(void)state;
	agent_host_init(16 << 20);
	main_ = node_get(0, 0x1000100000401000ull);
	a = node_get(main_, 0x1000100000402000ull);
	b = node_get(main_, 0x1000100000403000ull);
	assert_int_equal(main_, 1);
	assert_int_equal(a, 2);
	assert_int_equal(b, 3);
	assert_int_equal(node_get(main_, 0x1000100000402000ull), a);
	assert_int_equal(node_get(a, 0x1000100000402000ull), 4);	/* recursion is another node */
	assert_int_equal(node_get(main_, 0x2000100000402000ull), 5);	/* another module is too */
	assert_int_equal(site_get(a, 0), 1);
	assert_int_equal(site_get(b, PMM_SITE_MAPPING), 2);
	assert_int_equal(site_get(a, 0), 1);
	assert_int_equal(site_get(0, 0), 0);
	agent_host_fini();
}

#define THREADS	4
#define STACKS	20000

static uint32_t seen[THREADS][STACKS];

static void *intern(void *arg)
{
	uint32_t *mine = arg;

	for (uint32_t i = 0; i < STACKS; i++) {
		uint32_t node = node_get(0, 0x400000);

		node = node_get(node, 0x500000 + i % 100);
		node = node_get(node, 0x600000 + i);
		mine[i] = site_get(node, 0);
	}
	return NULL;
}

static void test_threads_agree(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
	agent_host_init(64 << 20);
	for (int t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, intern, seen[t]);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	for (uint32_t i = 0; i < STACKS; i++) {
		assert_int_not_equal(seen[0][i], 0);
		for (int t = 1; t < THREADS; t++)
			assert_int_equal(seen[t][i], seen[0][i]);
		for (uint32_t k = i > 50 ? i - 50 : 0; k < i; k++)
			assert_int_not_equal(seen[0][i], seen[0][k]);
	}
	agent_host_fini();
}

static void test_a_full_arena_gives_site_zero(void **state)
{
	uint32_t node = 0, last = 0;

	(void)state;
	agent_host_init(64 << 10);
	for (uint64_t i = 0; i < 10000; i++) {
		node = node_get(0, 0x400000 + i);
		if (!node)
			break;
		last = node;
	}
	assert_int_equal(node, 0);
	assert_int_equal(last, 2047);		/* two chunks of 24 KiB fit */
	assert_int_equal(site_get(0, 0), 0);
	agent_host_fini();
}

/* More than go into the buckets at the start: those made before and after there are more keep their numbers, with room for more or not. */
static void test_many_nodes(void **state)
{
	static const size_t arena[] = { 32 << 20, 9 << 20 };	/* the nodes take 7, the buckets 4 when there are 6 of nodes */
	enum { NODES = 9 << 15 };

	(void)state;
	for (size_t k = 0; k < NR(arena); k++) {
		agent_host_init(arena[k]);
		for (uint32_t i = 0; i < NODES; i++)
			assert_int_equal(node_get(i / 3, 0x400000 + i), i + 1);
		for (uint32_t i = NODES; i-- > 0;)
			assert_int_equal(node_get(i / 3, 0x400000 + i), i + 1);
		assert_int_equal(!A.node_more, k);
		agent_host_fini();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_are_shared),
		cmocka_unit_test(test_threads_agree),
		cmocka_unit_test(test_a_full_arena_gives_site_zero),
		cmocka_unit_test(test_many_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
