/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/site.c: stacks become numbers, the same number for the same stack, also when threads race.
 * Also of agent/agent_stack.c, agent/agent_arena.c, agent/node.c.
 */
#include "tests/unit/agent_host.h"

#include "agent/node.h"
#include "tests/unit/unit.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
	/* recursion is another node */
	assert_int_equal(node_get(a, 0x1000100000402000ull), 4);
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
	agent_host_init(256 << 10);
	for (uint64_t i = 0; i < 10000; i++) {
		node = node_get(0, 0x400000 + i);
		if (!node)
			break;
		last = node;
	}
	assert_int_equal(node, 0);
	assert_in_range(last, 1000, 4095);
	/* no number is used up in vain */
	assert_int_equal(agent.ledger->nr_nodes, last + 1);
	for (uint32_t i = 1; i <= last; i++)
		assert_int_equal(node_get(0, 0x400000 + i - 1), i);	/* what there is stays */
	assert_int_equal(node_get(0, 0x300000), 0);
	assert_int_equal(site_get(0, 0), 0);
	/* an eighth is left, for blocks */
	assert_in_range(agent.ledger->arena_used - agent.ledger->arena_off,
			(224 << 10) - (16 << 10), (240 << 10));
	agent_host_fini();
}

/*
 * More than go into the buckets at the start: those made before and after there are more keep their
 * numbers, with room for more or not.
 */
static void test_many_nodes(void **state)
{
	/* the nodes take 7, the buckets 4 when there are 6 of nodes */
	static const size_t arena[] = { 32 << 20, 12 << 20 };
	enum { NODES = 9 << 15 };

	(void)state;
	for (size_t k = 0; k < NR(arena); k++) {
		agent_host_init(arena[k]);
		for (uint32_t i = 0; i < NODES; i++)
			assert_int_equal(node_get(i / 3, 0x400000 + i), i + 1);
		for (uint32_t i = NODES; i-- > 0;)
			assert_int_equal(node_get(i / 3, 0x400000 + i), i + 1);
		agent_host_fini();
	}
}

/* ---- many, by several at once ---------------------------------------------------------------- */

#define MANY_BITS	16		/* stacks of so many frames, each one of two */

/* The nodes of stack `number`, in runs of four as walks have them. */
static uint32_t stack_get(uint32_t number)
{
	uint64_t frame[NODE_RUN], hash[NODE_RUN + 1] = { 0 };
	uint32_t node = 0;

	for (uint32_t i = 0; i < MANY_BITS; i += NODE_RUN) {
		for (uint32_t k = 0; k < NODE_RUN; k++) {
			frame[k] = 0x1000100000400000ull + (i + k) * 16 +
				   (number >> (MANY_BITS - 1 - i - k) & 1);
			hash[k + 1] = node_hash(hash[k], frame[k]);
		}
		node = node_get_run(node, hash, frame, NODE_RUN);
		hash[0] = hash[NODE_RUN];
		if (!node)
			return 0;
	}
	return node;
}

static uint32_t many[THREADS][1 << MANY_BITS];

/*
 * Each thread in an order of its own; the first two in the same one, so that they meet all the
 * time.
 */
static void *intern_many(void *arg)
{
	uint32_t (*mine)[1 << MANY_BITS] = arg;
	uint32_t thread = (uint32_t)(mine - many), step = thread < 2 ? 1 : 2 * thread + 7919;

	for (uint32_t i = 0; i < 1 << MANY_BITS; i++) {
		uint32_t number = i * step & ((1 << MANY_BITS) - 1);

		(*mine)[number] = site_get(stack_get(number), 0);
	}
	return NULL;
}

/* Does the node's stack say what it was made for? */
static bool stack_is(uint32_t node, uint32_t number)
{
	for (uint32_t i = MANY_BITS; i-- > 0; number >>= 1) {
		const struct pmm_node *n = node_at(node);

		if (n->frame != 0x1000100000400000ull + i * 16 + (number & 1) || n->parent >= node)
			return false;
		node = n->parent;
	}
	return !node;
}

/*
 * Every stack is one, whoever comes upon it first, while the table grows under all of them: a tree
 * of 2^17 nodes has no more than that, but for numbers that whoever lost a race left empty.
 */
static void test_many_threads_make_each_node_once(void **state)
{
	static bool used[1 << (MANY_BITS + 1)];
	uint32_t nodes = 0, sites = 0;
	pthread_t thread[THREADS];

	(void)state;
	agent_host_init(64 << 20);
	for (int t = 0; t < THREADS; t++)
		pthread_create(&thread[t], NULL, intern_many, &many[t]);
	for (int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	for (uint32_t i = 0; i < 1 << MANY_BITS; i++) {
		uint32_t site = many[0][i];

		assert_int_not_equal(site, 0);
		for (int t = 1; t < THREADS; t++)
			assert_int_equal(many[t][i], site);
		assert_true(stack_is(stack_get(i), i));
		assert_true(site < NR(used) && !used[site]);
		used[site] = true;
	}
	for (uint32_t i = 1; i < agent.ledger->nr_nodes; i++)
		nodes += node_at(i)->frame != 0;
	assert_int_equal(nodes, (2 << MANY_BITS) - 2);
	for (uint32_t i = 1; i < agent.ledger->nr_sites; i++)
		sites += ((struct pmm_site *)arena_at(agent.ledger->site_dir[i >> PMM_SITE_SHIFT]))
				 [i & ((1 << PMM_SITE_SHIFT) - 1)]
					 .node != 0;
	assert_int_equal(sites, 1 << MANY_BITS);
	agent_host_fini();
}

/*
 * A process is killed while its threads make stacks, at any instruction: what was handed out is
 * there, and others that have the same ledger go on with it, find it all, and double nothing.
 */
static void test_killed_in_the_midst(void **state)
{
	size_t bytes = PMM_ARENA_OFF + (64 << 20);

	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		uint32_t made, nodes = 0;
		pid_t child;

		assert_ptr_not_equal(base, MAP_FAILED);
		agent_host_init_at(base, bytes);
		child = fork();
		if (!child) {
			pthread_t thread[THREADS];

			for (int t = 0; t < THREADS; t++)
				pthread_create(&thread[t], NULL, intern_many, &many[t]);
			for (;;)
				pause();
		}
		while (LOAD(agent.ledger->nr_nodes) < 1000 + round * 9973)
			usleep(100);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		made = agent.ledger->nr_nodes;
		for (uint32_t i = 0; i < 1 << MANY_BITS; i++)
			assert_true(stack_is(stack_get(i), i));
		for (uint32_t i = 1; i < agent.ledger->nr_nodes; i++)
			nodes += node_at(i)->frame != 0;
		/* at most one of each thread was filled and not yet put into the table */
		assert_in_range(nodes, (2 << MANY_BITS) - 2, (2 << MANY_BITS) - 2 + THREADS);
		assert_true(made <= agent.ledger->nr_nodes);
		munmap(base, bytes);
	}
}

/* An array was closed by whoever then stopped for ever: others make the larger one themselves. */
static void test_a_closed_part_is_grown_by_others(void **state)
{
	enum { CLOSED = 1 << 28, GROWING_BIT = 38 };
	uint32_t nodes[64];
	uint64_t *part;

	(void)state;
	agent_host_init(16 << 20);
	part = (uint64_t *)(agent.base + PMM_NODE_HASH_OFF);
	for (uint32_t i = 0; i < 64; i++)
		nodes[i] = node_get(0, 0x400000 + i);
	for (uint64_t p = 0; p < PMM_NODE_HASH_BYTES / 8; p++) {
		uint64_t *slots = part[p] ? arena_at((pmm_ref)part[p]) : NULL;

		for (uint64_t i = 0; slots && i < 1ull << (part[p] >> 32 & 63); i++)
			slots[i] = slots[i] ? slots[i] : CLOSED;
		part[p] |= slots ? 1ull << GROWING_BIT : 0;
	}
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(node_get(0, 0x400000 + i), nodes[i]);
	for (uint32_t i = 64; i < 20000; i++)
		assert_int_equal(node_get(0, 0x400000 + i), i + 1);
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(node_get(0, 0x400000 + i), i + 1);
	agent_host_fini();
}

/* ---- records --------------------------------------------------------------------------------- */

/*
 * Near and far ones: each has a record of its own, and keeps it. Without room there is none, but
 * that of site 0.
 */
static void test_records_of_all_numbers(void **state)
{
	static const uint32_t site[] = { 1,
					 1023,
					 1024,
					 SITE_NEAR - 1,
					 SITE_NEAR,
					 SITE_NEAR + 1,
					 2 * SITE_NEAR - 1,
					 2 * SITE_NEAR,
					 PMM_MAX_SITES - 1 };
	struct pmm_record *record[NR(site)], *none;
	struct tctx *c;

	(void)state;
	agent_host_init(16 << 20);
	c = agent_host_ctx();
	for (size_t i = 0; i < NR(site); i++) {
		record[i] = site_record(c, site[i], 0);
		assert_int_equal(record[i]->site, site[i]);
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(record[k], record[i]);
	}
	for (size_t i = 0; i < NR(site); i++)
		assert_ptr_equal(site_record(c, site[i], 0), record[i]);
	assert_null(site_record(c, 0, 0));
	agent.ledger->arena_end = agent.ledger->arena_used;
	assert_null(site_record(c, 2, 0));
	assert_ptr_equal(site_record(c, 1, 0), record[0]);
	none = site_record_none(c, 0);
	assert_ptr_equal(site_record_none(c, 0), none);
	assert_int_equal(none->site, 0);
	assert_ptr_equal(arena_at(c->pub.records), none);
	agent_host_fini();
}

static unsigned list_length(const struct tctx *c)
{
	unsigned nr = 0;

	for (pmm_ref ref = c->pub.records; ref; ref = ((struct pmm_record *)arena_at(ref))->next)
		nr++;
	return nr;
}

/* A handler jumped out when the record was in the list and not yet noted as that of its site. */
static void test_a_record_is_never_made_twice(void **state)
{
	const uint32_t site[] = { 3, SITE_NEAR + 3 };
	struct pmm_record *record;
	struct tctx *c;

	(void)state;
	agent_host_init(16 << 20);
	c = agent_host_ctx();
	site_recover(c);			/* no records: nothing to do */
	assert_int_equal(list_length(c), 0);
	for (unsigned i = 0; i < NR(site); i++) {
		pmm_ref *page;

		record = site_record(c, site[i], 0);
		page = arena_at(i ? *(pmm_ref *)arena_at(c->site_far[0]) : c->site_page[0]);
		assert_ptr_equal(arena_at(page[3]), record);
		page[3] = 0;
		site_recover(c);
		assert_ptr_equal(site_record(c, site[i], 0), record);
		assert_int_equal(list_length(c), i + 1);
	}
	record = site_record_none(c, 0);
	assert_int_not_equal(record->lifetimes, 0);
	record->lifetimes = 0;
	site_recover(c);
	assert_ptr_equal(site_record_none(c, 0), record);
	assert_int_equal(list_length(c), 3);
	agent_host_fini();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes_are_shared),
		cmocka_unit_test(test_threads_agree),
		cmocka_unit_test(test_a_full_arena_gives_site_zero),
		cmocka_unit_test(test_many_nodes),
		cmocka_unit_test(test_many_threads_make_each_node_once),
		cmocka_unit_test(test_killed_in_the_midst),
		cmocka_unit_test(test_a_closed_part_is_grown_by_others),
		cmocka_unit_test(test_records_of_all_numbers),
		cmocka_unit_test(test_a_record_is_never_made_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
