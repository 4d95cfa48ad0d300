/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmod/pmm_sites.c: numbers of places, as many as there may be, memory that runs out. */
#include "tests/unit/unit.h"

#include "kmod/pmm_sites.h"

static struct pmm_sites sites;

static int setup(void **state)
{
	(void)state;
	memset(&sites, 0, sizeof(sites));
	pmm_os_allocs_left = -1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pmm_sites_clear(&sites);
	return 0;
}

static u32 add(const char *function, const char *file, u32 line)
{
	struct pmm_site *site = pmm_sites_add(&sites, function, file, line);

	if (!site)
		return 0;
	assert_ptr_equal(pmm_sites_at(&sites, site->id), site);
	assert_string_equal(pmm_site_function(site), function);
	assert_string_equal(pmm_site_file(site), file);
	assert_int_equal(site->line, line);
	return site->id;
}

static void test_same_place_same_number(void **state)
{
	(void)state;
	assert_null(pmm_sites_at(&sites, 0));
	assert_null(pmm_sites_at(&sites, 1));
	assert_int_equal(add("main", "a.c", 1), 1);
	assert_int_equal(add("main", "a.c", 2), 2);
	assert_int_equal(add("main", "b.c", 1), 3);
	assert_int_equal(add("f", "a.c", 1), 4);
	assert_int_equal(add("", "", 0), 5);
	assert_int_equal(add("maina", ".c", 1), 6);
	assert_int_equal(add("main", "a.c", 1), 1);
	assert_int_equal(add("f", "a.c", 1), 4);
	assert_int_equal(add("", "", 0), 5);
	assert_null(pmm_sites_at(&sites, 0));
	assert_null(pmm_sites_at(&sites, 7));
	assert_null(pmm_sites_at(&sites, ~0u));
	assert_string_equal(pmm_site_function(NULL), "");
	assert_string_equal(pmm_site_file(NULL), "");
}

/* The same hash is not the same place; the lines were found by trying. */
static void test_same_hash(void **state)
{
	struct pmm_site *a, *b;

	(void)state;
	a = pmm_sites_add(&sites, "f", "x", 21442);
	b = pmm_sites_add(&sites, "f", "x", 197482);
	assert_int_equal(a->hash, b->hash);
	assert_int_equal(a->id, 1);
	assert_int_equal(b->id, 2);
	assert_int_equal(add("f", "x", 21442), 1);
}

/* Who knows places of one hash in one log does not know any in another. */
static void test_hash_has_a_seed(void **state)
{
	static struct pmm_sites other;
	char name[16];
	int same = 0;

	(void)state;
	sites.seed = 1;
	other.seed = 1ull << 40;
	for (u32 i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		same += pmm_sites_add(&sites, name, "x.c", 1)->hash ==
			pmm_sites_add(&other, name, "x.c", 1)->hash;
	}
	assert_int_equal(same, 0);
	pmm_sites_clear(&other);
	assert_int_equal(other.seed, 1ull << 40);
}

/* Numbers of places that have gone mean no other place. */
static void test_cleared(void **state)
{
	(void)state;
	assert_int_equal(add("f", "a.c", 1), 1);
	assert_int_equal(add("g", "a.c", 2), 2);
	pmm_sites_clear(&sites);
	assert_null(pmm_sites_at(&sites, 1));
	assert_int_equal(add("h", "a.c", 3), 3);
	assert_null(pmm_sites_at(&sites, 1));
	assert_null(pmm_sites_at(&sites, 2));
	assert_null(pmm_sites_at(&sites, 4));
	pmm_sites_clear(&sites);
	sites.before = UINT32_MAX - PMM_SITES_MAX;
	assert_int_equal(add("i", "a.c", 4), UINT32_MAX - PMM_SITES_MAX + 1);
	pmm_sites_clear(&sites);
	assert_int_equal(add("i", "a.c", 4), 1);
}

static void test_as_many_as_there_may_be(void **state)
{
	unsigned longest = 0, counted = 0;

	(void)state;
	for (u32 line = 1; line <= PMM_SITES_MAX; line++)
		assert_int_equal(add("f", "a.c", line), line);
	assert_int_equal(add("f", "a.c", 70000), 0);
	assert_int_equal(add("f", "a.c", PMM_SITES_MAX), PMM_SITES_MAX);
	assert_int_equal(sites.bits, 16);
	assert_int_equal(sites.room, 65536);
	for (u32 i = 0; i < 1u << sites.bits; i++) {
		struct pmm_site *site;
		unsigned n = 0;

		hlist_for_each_entry(site, &sites.buckets[i], node)
			n++;
		longest = n > longest ? n : longest;
		counted += n;
	}
	assert_int_equal(counted, PMM_SITES_MAX);
	assert_in_range(longest, 1, 12);
}

static void test_each_allocation_fails(void **state)
{
	(void)state;
	/* two for the tables, one for the place */
	for (long at = 0; at < 3; at++) {
		pmm_os_allocs_left = at;
		assert_int_equal(add("f", "a.c", 1), 0);
		assert_int_equal(sites.nr, 0);
	}
	pmm_os_allocs_left = -1;
	for (u32 line = 1; line <= 64; line++)
		assert_int_equal(add("f", "a.c", line), line);
	for (long at = 0; at < 2; at++) {
		pmm_os_allocs_left = at;
		assert_int_equal(add("f", "a.c", 65), 0);
		assert_int_equal(sites.room, 64);
		assert_int_equal(sites.bits, 6);
		assert_int_equal(add("f", "a.c", 64), 64);
	}
	pmm_os_allocs_left = -1;
	assert_int_equal(add("f", "a.c", 65), 65);
	assert_int_equal(sites.room, 128);
	assert_int_equal(sites.bits, 7);
	for (u32 line = 1; line <= 65; line++)
		assert_int_equal(add("f", "a.c", line), line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_place_same_number, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_hash, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hash_has_a_seed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cleared, setup, teardown),
		cmocka_unit_test_setup_teardown(test_as_many_as_there_may_be, setup, teardown),
		cmocka_unit_test_setup_teardown(test_each_allocation_fails, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
