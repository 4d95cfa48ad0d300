/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expiry: what is told at which look, to the number; and random heaps against a count of every
 * single block.
 */
#include "tests/unit/unit.h"

#include "src/analyze/estimate.h"
#include "src/analyze/expiry.h"
#include "src/model/heap_lifetimes.h"

#define SECOND 1000000000ull

/* ---- heaps made by hand ---- */

struct made {
	struct heap *h;
	uint64_t room;
};

/* Site i has the number 100 - i when its place is not its name. */
static struct made make(uint64_t now_s, uint32_t nr_sites, bool backwards)
{
	struct made m = { .h = heap_new() };

	m.h->taken_ns = now_s * SECOND;
	m.h->tick_ns = 10000000;
	free(m.h->sites);
	m.h->sites = calloc(nr_sites, sizeof(*m.h->sites));
	m.h->nr_sites = nr_sites;
	for (uint32_t i = 1; i < nr_sites; i++)
		m.h->sites[i].number = backwards ? 100 - (nr_sites - i) : 100 - i;
	return m;
}

static void add(struct made *m, uint32_t site, uint64_t address, uint64_t birth_ns, uint64_t bytes)
{
	struct heap *h = m->h;

	if (h->nr_blocks == m->room) {
		m->room = 2 * m->room + 16;
		h->blocks = realloc(h->blocks, m->room * sizeof(*h->blocks));
	}
	h->blocks[h->nr_blocks++] = (struct heap_block){
		.address = address, .site = site, .birth_ns = birth_ns, .size_bytes = bytes,
	};
	h->sites[site].allocs++;
	h->sites[site].live_blocks++;
	h->sites[site].live_bytes += (int64_t)bytes;
}

/* nr blocks of 10 bytes, born together. */
static void add_many(struct made *m, uint32_t site, unsigned nr, uint64_t birth_s)
{
	for (unsigned i = 0; i < nr; i++)
		add(m, site, 4096 * site + 64 * i, birth_s * SECOND, 10);
}

static void look(struct expiry *x, struct made m, struct expiry_events *ev)
{
	assert_int_equal(expiry_look(x, m.h, ev), 0);
	heap_free(m.h);
}

#define ASSERT_EVENT(e, what_, number_, site_, blocks_, expired_) do {	\
	assert_int_equal((e).what, what_);				\
	assert_int_equal((e).number, number_);				\
	assert_int_equal((e).site, site_);				\
	assert_int_equal((e).count.blocks, blocks_);			\
	assert_int_equal((e).count.bytes, 10 * (blocks_));		\
	assert_int_equal((e).expired.blocks, expired_);			\
	assert_int_equal((e).expired.bytes, 10 * (expired_));		\
} while (0)

static void a_site_is_told_when_its_blocks_expire(void **state)
{
	struct expiry x = { .expire_ns = 10 * SECOND };
	struct expiry_events ev = { 0 };
	struct made m = make(19, 3, false);

	(void)state;
	add_many(&m, 1, 3, 10);
	add_many(&m, 2, 5, 15);
	look(&x, m, &ev);		/* the oldest is 9 s old */
	assert_int_equal(ev.list.nr, 0);
	m = make(20, 3, false);
	add_many(&m, 1, 3, 10);
	add_many(&m, 2, 5, 15);
	look(&x, m, &ev);		/* 10 s to the nanosecond */
	assert_int_equal(ev.list.nr, 1);
	ASSERT_EVENT(ev.list.v[0], EXPIRY_NEW, 1, 1, 3, 3);
	assert_int_equal(ev.list.v[0].oldest_ns, 10 * SECOND);
	m = make(25, 3, false);
	add_many(&m, 1, 3, 10);
	add_many(&m, 2, 5, 15);
	look(&x, m, &ev);
	assert_int_equal(ev.list.nr, 1);
	ASSERT_EVENT(ev.list.v[0], EXPIRY_NEW, 2, 2, 5, 5);
	expiry_fini(&x);
	vec_fini(&ev.list);
}

static void the_largest_comes_first(void **state)
{
	struct expiry x = { .expire_ns = SECOND };
	struct expiry_events ev = { 0 };
	struct made m = make(20, 4, false);

	(void)state;
	add_many(&m, 1, 3, 1);
	add_many(&m, 2, 7, 1);
	add_many(&m, 3, 5, 1);
	look(&x, m, &ev);
	assert_int_equal(ev.list.nr, 3);
	ASSERT_EVENT(ev.list.v[0], EXPIRY_NEW, 1, 2, 7, 7);
	ASSERT_EVENT(ev.list.v[1], EXPIRY_NEW, 2, 3, 5, 5);
	ASSERT_EVENT(ev.list.v[2], EXPIRY_NEW, 3, 1, 3, 3);
	expiry_fini(&x);
	vec_fini(&ev.list);
}

/* A site keeps its number when heaps list their sites otherwise. */
static void sites_are_known_by_their_number(void **state)
{
	struct expiry x = { .expire_ns = SECOND };
	struct expiry_events ev = { 0 };
	struct made m = make(20, 3, false);	/* numbers 99, 98 */

	(void)state;
	add_many(&m, 2, 4, 1);
	look(&x, m, &ev);
	ASSERT_EVENT(ev.list.v[0], EXPIRY_NEW, 1, 2, 4, 4);
	m = make(30, 3, true);			/* numbers 98, 99 */
	add_many(&m, 1, 6, 1);
	look(&x, m, &ev);
	assert_int_equal(ev.list.nr, 1);
	ASSERT_EVENT(ev.list.v[0], EXPIRY_AGAIN, 1, 1, 2, 6);
	expiry_fini(&x);
	vec_fini(&ev.list);
}

/*
 * One block a second; expires after 10 s. Told at 10, 20, 40, 80 ... s: silence doubles from one
 * expiry time on.
 */
static void again_comes_at_growing_intervals(void **state)
{
	struct expiry x = { .expire_ns = 10 * SECOND };
	struct expiry_events ev = { 0 };
	uint64_t told[8], nr_told = 0, blocks = 0;

	(void)state;
	for (unsigned now = 0; now <= 200; now++) {
		struct made m = make(now, 2, false);

		for (unsigned b = 0; b <= now; b++)
			add(&m, 1, 64 * b, b * SECOND, 10);
		look(&x, m, &ev);
		vec_each(&ev.list, e) {
			assert_true(nr_told < 8);
			assert_int_equal(e->what, nr_told ? EXPIRY_AGAIN : EXPIRY_NEW);
			assert_int_equal(e->number, 1);
			blocks += e->count.blocks;
			assert_int_equal(blocks, e->expired.blocks);
			assert_int_equal(blocks, now - 9);
			told[nr_told++] = now;
		}
	}
	assert_int_equal(nr_told, 5);
	assert_int_equal(told[0], 10);
	assert_int_equal(told[1], 20);
	assert_int_equal(told[2], 40);
	assert_int_equal(told[3], 80);
	assert_int_equal(told[4], 160);
	expiry_fini(&x);
	vec_fini(&ev.list);
}

static void what_is_freed_silences_the_site(void **state)
{
	struct expiry x = { .expire_ns = SECOND };
	struct expiry_events ev = { 0 };
	struct expiry_row *rows;
	static const struct {
		unsigned blocks, events;
		enum expiry_what what;
		uint64_t count;
	} looks[] = {
		{ 10, 1, EXPIRY_NEW, 10 },
		{ 6, 1, EXPIRY_FREED, 4 },
		{ 5, 0, 0, 0 },
		{ 20, 0, 0, 0 }, /* twice the most: still silent */
		{ 21, 1, EXPIRY_AGAIN, 16 }, /* 15 and 1 since it was told of */
		{ 21, 0, 0, 0 },
		{ 1, 1, EXPIRY_FREED, 20 },
		{ 42, 0, 0, 0 },
		{ 43, 1, EXPIRY_AGAIN, 42 },
	};
	struct expiry_count sum;
	uint32_t nr_silent;
	bool silent = false;
	struct made m;

	(void)state;
	for (size_t i = 0; i < NR(looks); i++) {
		m = make(10 + 10 * i, 2, false);
		add_many(&m, 1, looks[i].blocks, 1);
		look(&x, m, &ev);
		assert_int_equal(ev.list.nr, looks[i].events);
		if (looks[i].events)
			ASSERT_EVENT(ev.list.v[0], looks[i].what, 1, 1, looks[i].count,
				     looks[i].blocks);
		silent = looks[i].events ? looks[i].what == EXPIRY_FREED : silent;
		assert_int_equal(expiry_held(&x, &sum, &nr_silent), 1);
		assert_int_equal(nr_silent, silent);
		assert_int_equal(sum.blocks, looks[i].blocks);
	}
	m = make(1000, 2, false);
	add_many(&m, 1, 43, 1);
	m.h->sites[1].frees = 25;
	m.h->sites[1].first_ns = SECOND;
	*heap_lifetime_at(m.h, &m.h->sites[1], 4) = 25;
	assert_int_equal(expiry_look(&x, m.h, &ev), 0);
	assert_int_equal(expiry_rows(&x, m.h, &rows), 1);
	assert_int_equal(rows[0].number, 1);
	assert_false(rows[0].silent);
	assert_int_equal(rows[0].live.blocks, 43);
	assert_int_equal(rows[0].expired.blocks, 43);
	assert_int_equal(rows[0].ever.blocks, 10 + 16 + 42);
	assert_int_equal(rows[0].freed.blocks, 4 + 1 + 20);
	assert_int_equal(rows[0].freed.bytes, 250);
	assert_int_equal(rows[0].oldest_ns, 999 * SECOND);
	assert_int_equal(rows[0].lifetime.nr, 25);
	assert_int_equal(rows[0].lifetime.min.from_ns, 80000000);
	assert_int_equal(rows[0].lifetime.max.to_ns, 160000000);
	free(rows);
	heap_free(m.h);
	expiry_fini(&x);
	vec_fini(&ev.list);
}

/* Blocks that expired in the look that finds others freed are of what it held at most. */
static void what_expires_beside_a_free_counts(void **state)
{
	struct expiry x = { .expire_ns = SECOND };
	struct expiry_events ev = { 0 };
	static const struct { unsigned old, young, events; uint64_t count; } looks[] = {
		{ 10, 0, 1, 10 },
		{ 8, 22, 1, 2 },	/* freed; it holds 30 */
		{ 8, 32, 0, 0 },
		{ 8, 52, 0, 0 },
		{ 8, 53, 1, 53 },
	};

	(void)state;
	for (size_t i = 0; i < NR(looks); i++) {
		struct made m = make(10 + 10 * i, 2, false);

		add_many(&m, 1, looks[i].old, 1);
		add_many(&m, 1, looks[i].young, 12);
		look(&x, m, &ev);
		assert_int_equal(ev.list.nr, looks[i].events);
		if (looks[i].events)
			assert_int_equal(ev.list.v[0].count.blocks, looks[i].count);
	}
	expiry_fini(&x);
	vec_fini(&ev.list);
}

static void rows_hold_every_site_that_allocated(void **state)
{
	struct expiry x = { .expire_ns = 10 * SECOND };
	struct expiry_events ev = { 0 };
	struct expiry_count sum;
	struct expiry_row *rows;
	uint32_t nr_silent;
	struct made m = make(20, 5, false);

	(void)state;
	add_many(&m, 1, 1, 15);		/* young */
	add_many(&m, 2, 9, 15);		/* young, more */
	add_many(&m, 3, 2, 5);		/* expired */
	m.h->sites[0].allocs = 7;	/* unknown stack, all freed */
	assert_int_equal(expiry_look(&x, m.h, &ev), 0);
	assert_int_equal(expiry_rows(&x, m.h, &rows), 4);
	assert_int_equal(rows[0].site, 3);
	assert_int_equal(rows[0].number, 1);
	assert_int_equal(rows[1].site, 2);
	assert_int_equal(rows[1].number, 0);
	assert_int_equal(rows[1].live.blocks, 9);
	assert_int_equal(rows[2].site, 1);
	assert_int_equal(rows[3].site, 0);
	assert_int_equal(rows[3].oldest_ns, 0);
	assert_int_equal(expiry_held(&x, &sum, &nr_silent), 1);
	assert_int_equal(nr_silent, 0);
	assert_int_equal(sum.blocks, 2);
	assert_int_equal(sum.bytes, 20);
	free(rows);
	heap_free(m.h);
	expiry_fini(&x);
	vec_fini(&ev.list);
}

/* One block of 1000 bytes stands for 1 / (1 - exp(-1000 / 1000)) = 1.58198 blocks. */
static void sampled_counts_are_estimates(void **state)
{
	struct expiry x = { .expire_ns = SECOND };
	struct expiry_events ev = { 0 };
	struct made m = make(20, 2, false);

	(void)state;
	m.h->mode = HEAP_SAMPLED;
	m.h->sample_bytes = 1000;
	for (unsigned i = 0; i < 100; i++)
		add(&m, 1, 4096 * i, SECOND, 1000);
	look(&x, m, &ev);
	assert_int_equal(ev.list.nr, 1);
	assert_int_equal(ev.list.v[0].count.blocks, 158);
	assert_int_equal(ev.list.v[0].count.bytes, 158198);
	expiry_fini(&x);
	vec_fini(&ev.list);
}

/* A birth that is known coarsely puts a block into the past: it expired anew. */
static void nothing_gets_lost_by_coarse_births(void **state)
{
	struct expiry x = { .expire_ns = SECOND };
	struct expiry_events ev = { 0 };
	struct made m = make(20, 2, false);

	(void)state;
	add_many(&m, 1, 3, 1);
	look(&x, m, &ev);
	m = make(22, 2, false);
	add_many(&m, 1, 5, 1);
	look(&x, m, &ev);
	assert_int_equal(ev.list.nr, 1);
	ASSERT_EVENT(ev.list.v[0], EXPIRY_AGAIN, 1, 1, 2, 5);
	expiry_fini(&x);
	vec_fini(&ev.list);
}

/* ---- against a count of every block ---- */

#define NR_BLOCKS 400
#define NR_SITES 6

struct single {
	uint64_t birth_ns, bytes;
	uint32_t site;
	bool live, expired;
};

static uint64_t seed = 1;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void random_heaps_agree_with_single_blocks(void **state)
{
	struct single b[NR_BLOCKS] = { 0 };
	struct expiry x = { .expire_ns = 5 * SECOND };
	struct expiry_events ev = { 0 };
	uint64_t ever[NR_SITES] = { 0 }, freed[NR_SITES] = { 0 }, held[NR_SITES], anew = 0,
		 gone = 0;

	(void)state;
	for (unsigned now = 1; now < 300; now++) {
		struct made m = make(now, NR_SITES, now % 2);
		struct expiry_row *rows;
		int64_t nr;

		memset(held, 0, sizeof(held));
		for (unsigned k = 0; k < NR_BLOCKS; k++) {
			if (b[k].live && draw(20) == 0) {
				b[k].live = false;
				freed[b[k].site] += b[k].expired ? b[k].bytes : 0;
				gone += b[k].expired;
			}
			if (!b[k].live && draw(15) == 0)
				b[k] = (struct single){ .live = true,
							.bytes = 1 + draw(1000),
							.site = draw(NR_SITES),
							.birth_ns = (now - 1) * SECOND +
								    draw(1000000000) };
			if (!b[k].live)
				continue;
			if (!b[k].expired && now * SECOND - b[k].birth_ns >= x.expire_ns) {
				b[k].expired = true;
				ever[b[k].site] += b[k].bytes;
				anew++;
			}
			held[b[k].site] += b[k].expired ? b[k].bytes : 0;
			add(&m, b[k].site && now % 2 ? NR_SITES - b[k].site : b[k].site, k * 64,
			    b[k].birth_ns, b[k].bytes);
		}
		/*
		 * numbers: site s of the even looks is 100 - s, and has index NR_SITES - s in the
		 * odd ones
		 */
		assert_int_equal(expiry_look(&x, m.h, &ev), 0);
		nr = expiry_rows(&x, m.h, &rows);
		for (int64_t i = 0; i < nr; i++) {
			uint32_t at = rows[i].site, site = at && now % 2 ? NR_SITES - at : at;

			assert_int_equal(rows[i].expired.bytes, held[site]);
			assert_int_equal(rows[i].ever.bytes, ever[site]);
			assert_int_equal(rows[i].freed.bytes, freed[site]);
		}
		free(rows);
		heap_free(m.h);
	}
	assert_true(anew > 1000 && gone > 800);
	expiry_fini(&x);
	vec_fini(&ev.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_site_is_told_when_its_blocks_expire),
		cmocka_unit_test(the_largest_comes_first),
		cmocka_unit_test(sites_are_known_by_their_number),
		cmocka_unit_test(again_comes_at_growing_intervals),
		cmocka_unit_test(what_is_freed_silences_the_site),
		cmocka_unit_test(what_expires_beside_a_free_counts),
		cmocka_unit_test(rows_hold_every_site_that_allocated),
		cmocka_unit_test(sampled_counts_are_estimates),
		cmocka_unit_test(nothing_gets_lost_by_coarse_births),
		cmocka_unit_test(random_heaps_agree_with_single_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
