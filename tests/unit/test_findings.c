/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors of two snapshots of a process, brought together.
 */
#include "tests/unit/recipe_heap.h"

#include "include/pmm/check.h"
#include "src/analyze/findings.h"

static void sites(struct heap *h, uint32_t first)
{
	for (uint32_t i = 1; i < h->nr_sites; i++)
		h->sites[i].number = first + i;
}

/*
 * By number, whatever the order they come in; sites and threads are those of the later snapshot, or
 * not known.
 */
static void carried_ones_keep_their_order(void **state)
{
	struct heap *early = recipe_heap(
		"check light sweeps=3 swept=4s lost=7\nthread main tid=1\nthread w tid=9\n"
		"site a size=1\nsite b size=1\n"
		"finding type=overrun number=0\n"
		"finding type=overrun by=sweep number=1024 alloc=b alloc-thread=main thread=w "
		"text=words\n"
		"finding type=underrun by=sweep number=1026 alloc=a\n");
	struct heap *later = recipe_heap(
		"check light sweeps=1\nthread main tid=1\nthread other tid=8\n"
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
	assert_int_equal(later->check.scans, 3);
	assert_int_equal(later->check.swept_ns, 4000000000);
	heap_free(early);
	heap_free(later);
}

/* Of each of its three places, by number: the same sites may be elsewhere in the later heap. */
static void carried_places_are_found_by_number(void **state)
{
	struct heap *early = recipe_heap("check light\nthread main tid=1\nthread w tid=9\nsite a "
					 "size=1\nsite b size=1\nsite c size=1\n"
					 "finding type=overrun number=0 site=a alloc=b free=c "
					 "thread=w alloc-thread=w free-thread=main\n"
					 "finding type=overrun number=1 site=c alloc=a free=b\n");
	struct heap *later = recipe_heap("check light\nthread main tid=1\nthread w tid=9\nsite c "
					 "size=1\nsite x size=1\nsite b size=1\nsite a size=1\n");

	(void)state;
	for (uint32_t i = 0; i < early->nr_sites; i++)
		early->sites[i].number = 100 + i;
	for (uint32_t i = 0; i < later->nr_sites; i++)
		later->sites[i].number = 200 + i;
	later->sites[1].number = 103;	/* c, b, a; 0 is the unknown one in both */
	later->sites[3].number = 102;
	later->sites[4].number = 101;
	assert_int_equal(findings_carry(early, 0, later), 0);
	assert_int_equal(later->nr_findings, 2);
	assert_int_equal(later->findings[0].site, 4);
	assert_int_equal(later->findings[0].alloc_site, 3);
	assert_int_equal(later->findings[0].free_site, 1);
	assert_int_equal(later->findings[0].thread, 1);
	assert_int_equal(later->findings[0].alloc_thread, 1);
	assert_int_equal(later->findings[0].free_thread, 0);
	assert_int_equal(later->findings[1].site, 1);
	assert_int_equal(later->findings[1].alloc_site, 4);
	assert_int_equal(later->findings[1].free_site, 3);
	heap_free(early);
	heap_free(later);
}

static bool by_release(const void *ctx, const struct heap_finding *f)
{
	return f->by == PMM_BY_RELEASE && f->address != *(const uint64_t *)ctx;
}

/*
 * To the canary scan's finding of the same block, else of the same call site; what was not told
 * before stays, and so does what no canary scan has.
 */
static void releases_of_damage_told_before_are_folded(void **state)
{
	struct heap *h = recipe_heap(
		"check light\nthread main tid=1\nthread w tid=9\nsite a size=1\nsite b "
		"size=1\nsite c size=1\n"
		"finding type=overrun by=release release=delete address=2018 block=2000 alloc=a "
		"alloc-at=2s kind=new site=c first=5s thread=w count=7\n"
		"finding type=overrun by=release release=free address=9018 block=9000 alloc=a "
		"alloc-at=4s kind=new site=b first=6s\n"
		"finding type=overrun by=release release=free address=7777 block=7000 alloc=a "
		"alloc-at=4s kind=new site=b first=6s\n"
		"finding type=overrun by=release release=free address=8018 block=8000 alloc=b "
		"alloc-at=4s kind=new site=b first=6s\n"
		"finding type=underrun by=release release=free address=fff block=1000 alloc=a "
		"alloc-at=1s kind=new site=b first=6s\n"
		"finding type=overrun by=sweep number=1024 address=1018 block=1000 alloc=a "
		"alloc-at=1s kind=new first=7s count=2\n"
		"finding type=overrun by=sweep number=1025 address=2018 block=2000 alloc=a "
		"alloc-at=2s kind=new count=2\n");
	const uint64_t new = 0x7777;
	char why[200];

	(void)state;
	findings_fold(h, by_release, &new);
	assert_int_equal(heap_check(h, why, sizeof(why)), 0);
	assert_int_equal(h->nr_findings, 5);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(h->findings[i].number, 2 + i);
	assert_int_equal(h->findings[3].free_site, 2);
	assert_int_equal(h->findings[3].release, PMM_RELEASE_FREE);
	assert_int_equal(h->findings[3].count, 2);
	assert_int_equal(h->findings[3].free_ns, 7000000000);	/* the process's clock was late */
	assert_int_equal(h->findings[4].free_site, 3);
	assert_int_equal(h->findings[4].release, PMM_RELEASE_DELETE);
	assert_int_equal(h->findings[4].free_ns, 5000000000);
	assert_int_equal(h->findings[4].free_thread, 1);
	assert_int_equal(h->findings[4].count, 7);
	heap_free(h);
}

static struct heap *ended(const char *end)
{
	char recipe[300];

	snprintf(recipe, sizeof(recipe),
		 "process comm=demo pid=42 taken=10s %s\ncheck light\nfinding type=overrun "
		 "by=sweep number=1024\n",
		 end);
	return recipe_heap(recipe);
}

/*
 * A crash that the agent could not note is one all the same; what it noted, and what was sent,
 * stands for itself.
 */
static void deaths_that_nobody_noted_are_findings(void **state)
{
	struct heap *h = ended("end=killed status=11");
	char why[200];

	(void)state;
	assert_int_equal(findings_note_crash(h), 1);
	assert_int_equal(findings_note_crash(h), 0);
	assert_int_equal(heap_check(h, why, sizeof(why)), 0);
	assert_int_equal(h->nr_findings, 2);
	assert_int_equal(h->findings[1].type, PMM_FINDING_CRASH);
	assert_int_equal(h->findings[1].by, PMM_BY_SIGNAL);
	assert_int_equal(h->findings[1].site, HEAP_NO_SITE);
	assert_int_equal(h->findings[1].first_ns, 10000000000);
	assert_true(h->death.known);
	assert_int_equal(h->death.signal, 11);
	assert_int_equal(h->death.finding, h->findings[1].number);
	heap_free(h);
	for (const char *const *end =
		     (const char *const[]){ "end=killed status=9", "end=killed status=15",
					    "end=exited status=11", NULL };
	     *end; end++) {
		h = ended(*end);
		assert_int_equal(findings_note_crash(h), 0);
		assert_int_equal(h->nr_findings, 1);
		heap_free(h);
	}
	h = ended("end=killed status=6");
	h->death = (struct heap_death){
		.known = true, .by_choice = true, .signal = 6, .finding = HEAP_NO_FINDING
	};
	assert_int_equal(findings_note_crash(h), 0);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carried_ones_keep_their_order),
		cmocka_unit_test(carried_places_are_found_by_number),
		cmocka_unit_test(releases_of_damage_told_before_are_folded),
		cmocka_unit_test(deaths_that_nobody_noted_are_findings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
