/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/guard/guard.c and what is below it: blocks on pages of their own, and what happens around
 * them. Also of agent/guard/area.c, own.c, guard_pages.c, guard_hit.c.
 */
#include "tests/unit/guard_host.h"

static void every_area(void)
{
	static const size_t sizes[] = { 0,	1,	8,	15,	16,	 17,
					100,	4080,	4095,	4096,	4097,	 8192,
					8193,	12288,	12289,	20000,	33000,	 66000,
					131072, 131073, 270000, 600000, 1048575, 1048576 };

	start();
	for (unsigned i = 0; i < NR(sizes); i++)
		for (size_t align = 1; align <= PAGE; align *= 4) {
			uint32_t run = block(sizes[i], align);

			look_at(run, sizes[i], align);
			memset(at(run), 0xee, sizes[i]);	/* for those who come after */
			give(run);
			CHECK(stops(at(run)) && stops(at(run) + sizes[i]) &&
			      (!sizes[i] || stops(at(run) + sizes[i] - 1)));
			CHECK(guard_block((uint64_t)at(run)) == NO_RUN &&
			      guard_find((uint64_t)at(run)) == run);
			CHECK(!guard_release(run));
		}
	CHECK(agent.ledger->check.guarded == NR(sizes) * 7 && !agent.ledger->check.guarded_now &&
	      agent.ledger->check.guarded_most == 1);
}

/*
 * Runs that come back were used by blocks of other sizes: all of them zero, and guarded as the
 * first time.
 */
static void used_again(void)
{
	struct pmm_check options = guard_usual;
	uint32_t first = NO_RUN;
	unsigned again = 0;

	options.max_guarded = 1;
	start_with(options);
	for (unsigned i = 0; i < 3000; i++) {
		size_t size = 16 * PAGE + 1 + i * 31 % (16 * PAGE);
		uint32_t run = block(size, 16);

		if (!i)
			first = run;
		again += run == first;
		if (i % 64 == 0 || run == first)
			look_at(run, size, 16);
		memset(at(run), 0xee, size);
		give(run);
	}
	CHECK(again >= 2);
}

/* What the monitor sees of blocks, and of changes to them; counted once. */
static void in_the_ledger(void)
{
	struct pmm_guard *g, *copy;
	uint32_t run;

	start();
	block(1, 1);
	run = block(100, 16);
	g = guard_at(run);
	copy = arena_chunk(agent.ledger->guard_dir, run, PMM_GUARD_SHIFT, sizeof(*copy));
	CHECK(copy->state == PMM_GUARD_LIVE && copy->address == g->address &&
	      copy->size_bytes == 100 && copy->pages == 1);
	g->kind = PMM_KIND_NEW;
	g->site = 7;
	g->tick = 8;
	g->thread = 9;
	g->pid = 10;
	g->align = 64;
	guard_publish(run);
	CHECK(copy->kind == PMM_KIND_NEW && copy->site == 7 && copy->tick == 8 &&
	      copy->thread == 9 && copy->pid == 10 && copy->align == 64);
	CHECK(agent.ledger->check.guarded == 2 && agent.ledger->check.guarded_now == 2 &&
	      agent.ledger->check.guarded_most == 2);
	CHECK(agent.ledger->check.nr_guards > run);
	CHECK(guard_release(run));
	g->free_site = 11;
	g->free_tick = 12;
	g->free_thread = 13;
	guard_close(run);
	CHECK(copy->state == PMM_GUARD_FREED && copy->free_site == 11 && copy->free_tick == 12 &&
	      copy->free_thread == 13);
	CHECK(agent.ledger->check.guarded == 2 && agent.ledger->check.guarded_now == 1);
	CHECK(agent.ledger->check.pool_start == areas.start &&
	      agent.ledger->check.pool_end == areas.end);
}

/* ---- order ----------------------------------------------------------------------------------- */

/*
 * A released run is not met again before as many others as the area has, and all of them are met in
 * the order of their release.
 */
static void oldest_first(void)
{
	struct pmm_check options = guard_usual;
	uint32_t area = 6, runs, *seen;

	options.max_guarded = 4;
	start_with(options);
	runs = agent.ledger->check.area_runs[area];
	CHECK(runs >= 512 && runs < 600);
	seen = calloc(runs, sizeof(*seen));
	for (uint32_t i = 0; i < 5 * runs; i++) {
		uint32_t run = block(64 * PAGE, 16), place = i % (areas.area[area].kept + 1);

		if (i > areas.area[area].kept)
			CHECK(seen[place] == run);
		else
			for (uint32_t j = 0; j < i; j++)
				CHECK(seen[j] != run);
		seen[place] = run;
		give(run);
	}
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void each_byte_of_canary(void)
{
	static const size_t sizes[] = { 0, 1, 5, 16, 1001, 4090, 5000 };
	uint64_t damaged;

	start();
	for (unsigned i = 0; i < NR(sizes); i++) {
		uint32_t run = block(sizes[i], 16);
		uint64_t bytes,
			lo = block_pages(area_of_run(run), run - area_of_run(run)->first, &bytes);

		for (uint64_t p = lo; p < lo + bytes; p++) {
			uint8_t *byte = (uint8_t *)p, was = *byte;

			*byte ^= 0x10;
			if (p - guard_at(run)->address < sizes[i]) {
				CHECK(!guard_damage(run, &damaged));
			} else {
				CHECK(guard_damage(run, &damaged) && damaged == p);
				*byte = was;
			}
		}
		CHECK(!guard_damage(run, &damaged));
		give(run);
	}
}

/* ---- pages opened for one access ------------------------------------------------------------- */

static void page_by_page(void)
{
	uint32_t run[3] = { block(100, 16), block(3 * PAGE, 16), block(100, 16) };
	uint64_t page = (uint64_t)at(run[1]) & -PAGE,
		 first = run_start(area_of_run(run[1]), run[1] - area_of_run(run[1])->first);
	uint64_t outside[4] = { first - PAGE,
				(guard_flags & PMM_CHECK_LEFT) ? first + 3 * PAGE : first,
				first + 4 * PAGE, 0 };

	for (unsigned i = 0; i < 3; i++) {	/* beside the block's pages */
		CHECK(stops((uint8_t *)outside[i]) && guard_page_open(outside[i]) &&
		      !stops((uint8_t *)outside[i]));
		CHECK(!*(uint8_t *)outside[i]);
		*(uint8_t *)outside[i] = 1;
		guard_page_close(outside[i]);
		CHECK(stops((uint8_t *)outside[i]));
	}
	*at(run[1]) = 77;			/* its own page is not closed under it */
	CHECK(guard_page_open(page));
	guard_page_close(page);
	CHECK(*at(run[1]) == 77);
	give(run[1]);
	CHECK(guard_page_open(page) && !*(uint8_t *)page);
	*(uint8_t *)page = 1;
	guard_page_close(page);
	CHECK(stops((uint8_t *)page));
	CHECK(guard_page_open(page) && !*(uint8_t *)page);
	guard_page_close(page);
}

static void one_access(void)
{
	start();
	page_by_page();
	CHECK(!guard_page_open(agent.ledger->check.pool_end - PAGE));	/* where nothing was ever */
	CHECK(!guard_page_open((uint64_t)&guard_usual & -PAGE));
	CHECK(guard_find(agent.ledger->check.pool_end - PAGE) == NO_RUN);
}

/* While a page of it is open a run is not taken, however many others are. */
static void held(void)
{
	struct pmm_check options = guard_usual;
	uint32_t run, n;
	uint64_t page;

	options.max_guarded = 1;
	start_with(options);
	run = block(PAGE << 7, 16);
	give(run);
	page = (uint64_t)at(run) & -PAGE;
	CHECK(guard_page_open(page));
	n = agent.ledger->check.area_runs[7];
	for (uint32_t i = 0; i < 3 * n; i++) {
		uint32_t other = block(PAGE << 7, 16);

		CHECK(other != run);
		give(other);
	}
	guard_page_close(page);
	CHECK(stops((uint8_t *)page));
	for (uint32_t i = 0;; i++) {
		uint32_t other = block(PAGE << 7, 16);

		CHECK(i < 3 * n);
		if (other == run)
			break;
		give(other);
	}
	look_at(run, PAGE << 7, 16);
}

/* ---- all of them ----------------------------------------------------------------------------- */

BOTH(every_area) LEFT(every_area)
BOTH(used_again) LEFT(used_again)
BOTH(in_the_ledger)
BOTH(oldest_first)
BOTH(each_byte_of_canary) LEFT(each_byte_of_canary)
BOTH(one_access) LEFT(one_access)
BOTH(held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TESTS(every_area), LEFT_TESTS(every_area),
		TESTS(used_again), LEFT_TESTS(used_again),
		TESTS(in_the_ledger),
		TESTS(oldest_first),
		TESTS(each_byte_of_canary), LEFT_TESTS(each_byte_of_canary),
		TESTS(one_access), LEFT_TESTS(one_access),
		TESTS(held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
