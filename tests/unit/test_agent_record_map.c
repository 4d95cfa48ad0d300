/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/record.c: mappings, whole and in parts, against the sums that they must change, to the
 * page.
 */
#include "tests/unit/record_host.h"

#include "agent/unwind/rule.h"
#include "agent/unwind/unwind.h"

#define MAPS	0x7f0000000000ull

static uint64_t frames[64];

/* A caller that is its stack's outermost function, one for each number. */
static struct caller caller(unsigned number)
{
	const uint64_t pc = 0x401000 + number * 0x40ull, module = 7;

	agent.rules->far[pc * 0x9e3779b97f4a7c15ull >> (64 - RULE_FAR_BITS)] =
		(struct rule_entry){ CFI_END ^ (pc | module << 48), CFI_END };
	*rule_near_entry(rule_mix(pc)) = 0;
	return (struct caller){ .ra = pc + 1, .sp = (uint64_t)&frames[32] };
}

static void map_by(unsigned number, uint64_t first, uint64_t pages)
{
	struct caller from = caller(number);

	record_map(c, MAPS + first * PAGE, pages * PAGE, &from);
}

static void unmap(uint64_t first, uint64_t pages)
{
	record_unmap(c, MAPS + first * PAGE, pages * PAGE);
}

static uint32_t mapped_by(unsigned number)
{
	struct caller from = caller(number);

	return unwind_site(c, &from, PMM_SITE_MAPPING);
}

/* What is mapped at a page and begins there: pages, 0 = nothing. */
static uint64_t mapping_at(uint64_t first, uint32_t site)
{
	struct block_info m;
	uint64_t at, pages;

	if (!block_take_map(MAPS + first * PAGE, MAPS + first * PAGE + PAGE, false, &at, &m))
		return 0;
	assert_int_equal(m.site, site);
	assert_int_equal(block_thread(&m), 3);
	pages = m.size / PAGE;
	assert_true(block_add_map(at, m.size, m.site, 3, m.birth));
	return pages;
}

static void mappings_are_counted_apart(void **state)
{
	uint32_t site;

	(void)state;
	map_by(1, 0, 10);
	site = mapped_by(1);
	assert_int_not_equal(site, 0);
	tree()->tick = 1100;
	record_map(c, MAPS + 20 * PAGE, 100,
		   &(struct caller){ .ra = caller(1).ra, .sp = caller(1).sp });
	assert_int_equal(record(site)->bytes_in, 10 * PAGE + 100);
	assert_int_equal(record(site)->allocs, 2);
	assert_int_equal(record(site)->max_bytes, 10 * PAGE);
	assert_int_equal(record(site)->first_tick, 1000);
	assert_int_equal(record(site)->last_tick, 1100);
	assert_int_equal(agent_host_total(), 0);		/* no heap */
	assert_int_equal(pmm_ctx_sums(&c->pub).allocs, 0);
	record_unmap(c, MAPS + 20 * PAGE, 1);			/* its page */
	assert_int_equal(record(site)->bytes_out, 100);
	assert_int_equal(record(site)->frees, 1);
	unmap(0, 10);
	assert_int_equal(record(site)->bytes_out, 10 * PAGE + 100);
	assert_int_equal(record(site)->frees, 2);
	assert_int_equal(record(site)->lifetimes, 0);
	events_were(4);
}

static void a_part_of_a_mapping_goes(void **state)
{
	struct pmm_record *r;
	uint32_t site;

	(void)state;
	map_by(1, 10, 10);
	site = mapped_by(1);
	r = record(site);
	unmap(10, 2);						/* its beginning */
	assert_int_equal(mapping_at(10, site), 0);
	assert_int_equal(mapping_at(12, site), 8);
	assert_int_equal(r->bytes_out, 2 * PAGE);
	assert_int_equal(r->frees, 0);
	unmap(19, 5);						/* its end and beyond */
	assert_int_equal(mapping_at(12, site), 7);
	assert_int_equal(r->bytes_out, 3 * PAGE);
	assert_int_equal(r->frees, 0);
	assert_int_equal(r->allocs, 1);
	unmap(14, 1);						/* a hole: one becomes two */
	assert_int_equal(mapping_at(12, site), 2);
	assert_int_equal(mapping_at(15, site), 4);
	assert_int_equal(r->bytes_out, 4 * PAGE);
	assert_int_equal(r->allocs, 2);
	assert_int_equal(r->frees, 0);
	unmap(0, 100);
	assert_int_equal(r->bytes_out, 10 * PAGE);
	assert_int_equal(r->frees, 2);
	assert_int_equal(mapping_at(12, site), 0);
	assert_int_equal(mapping_at(15, site), 0);
}

static void a_new_mapping_covers_others(void **state)
{
	uint32_t a, b;

	(void)state;
	map_by(1, 0, 4);
	map_by(1, 4, 4);
	map_by(1, 8, 4);
	a = mapped_by(1);
	/* over halves of two and all of one */
	map_by(2, 2, 8);
	b = mapped_by(2);
	assert_int_equal(mapping_at(0, a), 2);
	assert_int_equal(mapping_at(2, b), 8);
	assert_int_equal(mapping_at(4, a), 0);
	assert_int_equal(mapping_at(8, a), 0);
	assert_int_equal(mapping_at(10, a), 2);
	assert_int_equal(record(a)->bytes_in - record(a)->bytes_out, 4 * PAGE);
	assert_int_equal(record(a)->frees, 1);
	assert_int_equal(record(b)->bytes_in, 8 * PAGE);
	map_by(2, 2, 8);					/* the same place again */
	assert_int_equal(record(b)->frees, 1);
	assert_int_equal(record(b)->allocs, 2);
	assert_int_equal(record(b)->bytes_out, 8 * PAGE);
	assert_int_equal(mapping_at(2, b), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mappings_are_counted_apart),
		TEST(a_part_of_a_mapping_goes),
		TEST(a_new_mapping_covers_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
