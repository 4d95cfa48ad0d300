/*
 * Heap errors of two snapshots of a process, brought together.
 */
#include "tests/unit/recipe_heap.h"

#include "src/analyze/findings.h"

static void sites(struct heap *h, uint32_t first)
{
	for (uint32_t i = 1; i < h->nr_sites; i++)
		h->sites[i].number = first + i;
}

/* By number, whatever the order they come in; sites and threads are those of the later snapshot, or not known. */
static void carried_ones_keep_their_order(void **state)
{
	struct heap *early = recipe_heap("check light sweeps=3 swept=4s lost=7\nthread main tid=1\nthread w tid=9\n"
					 "site a size=1\nsite b size=1\n"
					 "finding type=overrun number=0\n"
					 "finding type=overrun by=sweep number=1024 alloc=b alloc-thread=main thread=w text=words\n"
					 "finding type=underrun by=sweep number=1026 alloc=a\n");
	struct heap *later = recipe_heap("check light sweeps=1\nthread main tid=1\nthread other tid=8\n"
					 "site c size=1\nsite b size=1\n"
					 "finding type=overrun number=0\nfinding type=size number=1\n"
					 "finding type=overrun by=sweep number=1025\n");
	static const uint32_t numbers[] = { 0, 1, 1024, 1025, 1026 };
	char why[200];

	(void)state;
	sites(early, 0);	/* a 1, b 2 */
	sites(later, 0);	/* c 1, b 2 */
	later->sites[1].number = 3;
	assert_int_equal(findings_carry(early, 1, later), 0);
	assert_int_equal(heap_check(later, why, sizeof(why)), 0);
	assert_int_equal(later->nr_findings, NR(numbers));
	for (size_t i = 0; i < NR(numbers); i++)
		assert_int_equal(later->findings[i].number, numbers[i]);
	assert_int_equal(later->findings[2].alloc_site, 2);
	assert_int_equal(later->findings[2].alloc_thread, 0);
	assert_int_equal(later->findings[2].thread, HEAP_NO_THREAD);
	assert_string_equal(later->findings[2].text, "words");
	assert_int_equal(later->findings[4].alloc_site, HEAP_NO_SITE);
	assert_int_equal(later->check.findings_lost, 7);
	assert_int_equal(later->check.sweeps, 3);
	assert_int_equal(later->check.swept_ns, 4000000000);
	heap_free(early);
	heap_free(later);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carried_ones_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
