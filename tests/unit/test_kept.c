/* Unit tests of src/capture/kept.c: a tree with slots as agents leave them. */
#include "tests/unit/unit.h"

#include <string.h>

#include "src/capture/kept.h"

#define SECOND 1000000000ull

static struct ledger_tree tree;
static struct kept kept;

static int begin(void **state)
{
	const struct ledger_tree_options o = { .limit_bytes = 64ull << 20, .space_bytes = UINT64_MAX, .file_bytes = UINT64_MAX,
					       .check = { .level = PMM_CHECK_LIGHT } };

	(void)state;
	memset(&kept, 0, sizeof(kept));
	return ledger_tree_init(&tree, &o, NULL);
}

static int end(void **state)
{
	(void)state;
	ledger_tree_fini(&tree);
	return 0;
}

/* A process lives in slot k, forked from that of slot `parent`; -1: not forked. */
static void live(unsigned k, int parent)
{
	struct pmm_slot *s = &tree.head->slot[k];

	s->state = PMM_SLOT_LIVE;
	s->parent = (uint32_t)(parent + 1);
	s->parent_use = parent < 0 ? 0 : tree.head->slot[parent].use;
}

static void ends(unsigned k, uint64_t now_ns)
{
	ledger_tree_slot_take(&tree, k);
	kept_add(&kept, &tree, k, now_ns);
	kept_tend(&kept, &tree, now_ns);
}

static uint32_t state_of(unsigned k)
{
	return tree.head->slot[k].state;
}

static void a_slot_stays_as_long_as_one_forked_from_it_lives(void **state)
{
	(void)state;
	live(0, -1);
	live(1, 0);
	live(2, 1);
	ends(0, SECOND);
	ends(1, SECOND);
	assert_int_equal(state_of(0), PMM_SLOT_TAKEN);
	assert_int_equal(state_of(1), PMM_SLOT_TAKEN);
	assert_int_equal(tree.head->slot[0].use, 0);
	ends(2, SECOND);
	for (unsigned k = 0; k < 3; k++) {
		assert_int_equal(state_of(k), PMM_SLOT_FREE);
		assert_int_equal(tree.head->slot[k].use, 1);
		assert_int_equal(tree.head->slot[k].parent, 0);
	}
	assert_int_equal(kept.nr, 0);
}

static void only_so_many_forks_back(void **state)
{
	(void)state;
	for (int k = 0; k <= PMM_MAX_ANCESTORS + 1; k++)
		live((unsigned)k, k - 1);
	for (unsigned k = 0; k <= PMM_MAX_ANCESTORS; k++)
		ends(k, SECOND);
	assert_int_equal(state_of(0), PMM_SLOT_FREE);
	for (unsigned k = 1; k <= PMM_MAX_ANCESTORS; k++)
		assert_int_equal(state_of(k), PMM_SLOT_TAKEN);
}

/* A slot that was emptied since and is another's is none of the child's. */
static void another_use_is_not_meant(void **state)
{
	(void)state;
	live(0, -1);
	live(1, 0);
	tree.head->slot[0].use++;
	ends(0, SECOND);
	assert_int_equal(state_of(0), PMM_SLOT_FREE);
	live(1, 1);			/* scribbled on: its own parent */
	tree.head->slot[2].parent = UINT32_MAX;
	tree.head->slot[2].state = PMM_SLOT_LIVE;
	ends(1, SECOND);
	assert_int_equal(state_of(1), PMM_SLOT_FREE);
}

static void few_free_slots_are_not_kept_from_others(void **state)
{
	unsigned three_quarters = tree.nr_slots - tree.nr_slots / 4;

	(void)state;
	for (unsigned k = 0; k < three_quarters; k++)
		live(k, k ? 0 : -1);
	ends(0, SECOND);
	assert_int_equal(state_of(0), PMM_SLOT_FREE);
}

static void a_child_may_be_on_its_way(void **state)
{
	(void)state;
	live(0, -1);
	tree.head->forks_begun = 1;
	ends(0, SECOND);
	assert_int_equal(state_of(0), PMM_SLOT_TAKEN);
	kept_tend(&kept, &tree, SECOND - 1);	/* a look at the clock from before */
	assert_int_equal(state_of(0), PMM_SLOT_TAKEN);
	kept_tend(&kept, &tree, 2 * SECOND);	/* the fork failed */
	assert_int_equal(state_of(0), PMM_SLOT_FREE);
	live(0, -1);
	ends(0, 3 * SECOND);
	live(1, 0);
	tree.head->forks_seen = 1;
	kept_tend(&kept, &tree, 3 * SECOND);
	assert_int_equal(state_of(0), PMM_SLOT_TAKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_slot_stays_as_long_as_one_forked_from_it_lives, begin, end),
		cmocka_unit_test_setup_teardown(only_so_many_forks_back, begin, end),
		cmocka_unit_test_setup_teardown(another_use_is_not_meant, begin, end),
		cmocka_unit_test_setup_teardown(few_free_slots_are_not_kept_from_others, begin, end),
		cmocka_unit_test_setup_teardown(a_child_may_be_on_its_way, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
