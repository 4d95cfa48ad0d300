/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/record.c: random events against a plain model of them, each in one of the two ways in which
 * the code for it is expanded.
 */
#include "tests/unit/record_host.h"

#define BLOCKS	300
#define SITES	9
#define EVENTS	60000

struct model_block {
	uint64_t size;
	uint32_t site, birth;
	bool live;
};

struct model_site {
	uint64_t allocs, frees, bytes_in, bytes_out, temporary, failed, zero_size, max_bytes;
	uint64_t released[PMM_NR_LIFETIMES];
	uint32_t first, last;
};

static struct model_block model[BLOCKS];
static struct model_site sites[SITES + 1];
static uint32_t seed;
static uint64_t apart;			/* bytes from each block's address to the next one's */

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 4) * below >> 28);
}

static uint64_t any_size(void)
{
	return any(10) ? any(1u << any(18)) % (apart + 1) : 0;
}

static void site_grows(struct model_site *s, uint64_t size)
{
	s->allocs++;
	s->bytes_in += size;
	s->max_bytes = size > s->max_bytes ? size : s->max_bytes;
	s->last = tree()->tick;
	s->first = s->first == NOTHING ? s->last : s->first;
}

static void model_alloc(uint32_t i)
{
	model[i] = (struct model_block){ any_size(), 1 + any(SITES), tree()->tick, true };
	site_grows(&sites[model[i].site], model[i].size);
	sites[model[i].site].zero_size += !model[i].size;
	if (any(2))
		record_alloc_at(c, HEAP + i * apart, model[i].size, PMM_KIND_MALLOC, model[i].site);
	else
		usual_alloc(HEAP + i * apart, model[i].size, model[i].site);
}

/* As the hook of free() does it; it says only the size. */
static bool usually_freed(uint32_t i)
{
	if (any(2))
		return false;
	assert_int_equal(record_take_usual(c, HEAP + i * apart), model[i].size);
	return true;
}

/* In ticks: the first one, then always twice as many. */
static unsigned lifetime_of(uint32_t birth)
{
	unsigned k = 0;

	while (tree()->tick - birth >= 1u << k)
		k++;
	return k;
}

static void model_free(uint32_t i, bool next)
{
	struct model_site *s = &sites[model[i].site];

	if (!usually_freed(i)) {
		assert_true(record_free(c, HEAP + i * apart, &was));
		assert_int_equal(was.size, model[i].size);
		assert_int_equal(was.site, model[i].site);
		if (any(4) == 0) {
			record_restore(c, HEAP + i * apart, &was);
			return;
		}
	}
	s->frees++;
	s->released[lifetime_of(model[i].birth)]++;
	s->bytes_out += model[i].size;
	s->temporary += next;
	model[i].live = false;
}

static void model_move(uint32_t i)
{
	struct model_site *s = &sites[model[i].site];

	s->allocs--;
	s->bytes_in -= model[i].size;
	model[i].site = 1 + any(SITES);
	site_grows(&sites[model[i].site], model[i].size);
	assert_true(record_move(c, HEAP + i * apart, model[i].site));
}

static void model_failed(void)
{
	uint32_t site = 1 + any(SITES);
	uint64_t size = any_size();

	sites[site].failed++;
	sites[site].zero_size += !size;
	sites[site].max_bytes = size > sites[site].max_bytes ? size : sites[site].max_bytes;
	record_failed_at(c, size, site);
}

static void compare(void)
{
	uint64_t live = 0, sums[2] = { 0, 0 };

	for (uint32_t k = 1; k <= SITES; k++) {
		const struct model_site *s = &sites[k];
		const struct pmm_record *r = record(k);

		live += s->bytes_in - s->bytes_out;
		assert_int_equal(r->allocs, s->allocs);
		assert_int_equal(r->frees, s->frees);
		assert_int_equal(r->bytes_in, s->bytes_in);
		assert_int_equal(r->bytes_out, s->bytes_out);
		assert_int_equal(r->temporary, s->temporary);
		assert_int_equal(r->failed, s->failed);
		assert_int_equal(r->zero_size, s->zero_size);
		assert_int_equal(r->max_bytes, s->max_bytes);
		assert_int_equal(r->first_tick, s->first);
		assert_int_equal(r->last_tick, s->last);
		for (unsigned i = 0; i < PMM_NR_LIFETIMES; i++)
			assert_int_equal(released_after(k, i), s->released[i]);
	}
	for (unsigned i = 0; i < PMM_NR_CLASSES; i++) {
		sums[0] += c->pub.class[i].calls[PMM_KIND_MALLOC];
		sums[1] += c->pub.class[i].bytes_in - c->pub.class[i].bytes_out;
	}
	assert_int_equal(sums[0], pmm_ctx_sums(&c->pub).allocs);
	assert_int_equal(sums[1], live);
	assert_int_equal(agent_host_live(), live);
	assert_int_equal(agent_host_total(), live);
	assert_int_equal(pmm_ctx_sums(&c->pub).bytes_in - pmm_ctx_sums(&c->pub).bytes_out, live);
	assert_int_equal(c->pub.seq % 2, 0);
}

static void follow_a_model(uint64_t spacing)
{
	uint32_t i, newest = NOTHING;
	uint64_t peak = 0;

	seed = 20261122;
	apart = spacing;
	memset(model, 0, sizeof(model));
	memset(sites, 0, sizeof(sites));
	for (uint32_t k = 0; k <= SITES; k++)
		sites[k].first = NOTHING;
	for (unsigned n = 0; n < EVENTS; n++) {
		i = any(BLOCKS);
		tree()->tick += any(50) == 0;
		if (!model[i].live && any(20)) {
			model_alloc(i);
			newest = i;
		} else if (any(20) == 0) {
			model_failed();
		} else if (model[i].live && any(5) == 0) {
			model_move(i);
		} else if (model[i].live) {
			model_free(i, i == newest);
			newest = NOTHING;
		}
		peak = agent_host_total() > peak ? agent_host_total() : peak;
		if (n % 1000 == 0 && n > 5000)
			compare();
	}
	compare();
	for (i = 0; i < BLOCKS; i++) {
		if (!model[i].live)
			continue;
		assert_true(record_free(c, HEAP + i * apart, &was));
	}
	assert_int_equal(agent_host_total(), 0);
	assert_int_equal(agent_host_live(), 0);
	assert_int_equal(agent.ledger->peak_bytes, peak);
	assert_int_equal(agent_host_at_peak(), peak);
}

static void random_events_follow_a_model(void **state)
{
	(void)state;
	follow_a_model(0x40000);
}

/* With an allocator whose blocks share granules, four of them or two. */
static void random_events_of_neighbours(void **state)
{
	(void)state;
	agent.dense = true;
	follow_a_model(8);
}

static void random_events_of_neighbours_in_one_thread(void **state)
{
	static const uint8_t alone = 1;

	(void)state;
	agent.dense = true;
	agent.single_threaded = &alone;
	follow_a_model(16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(random_events_follow_a_model),
		TEST(random_events_of_neighbours),
		TEST(random_events_of_neighbours_in_one_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
