/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/guard/guard.c, guard_owner(): whose an access in the pool is, at every distance between
 * blocks of either bias.
 */
#include "tests/unit/guard_host.h"

#define BLOCKS 48u

struct extent {
	uint64_t start, end;
	uint32_t run;
};

static struct extent known[BLOCKS];
static uint64_t near_bytes;	/* a block that is further away is not blamed */

static int by_address(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Blocks in the order of their addresses, biases and sizes mixed. */
static void fill(size_t largest)
{
	uint32_t state = 12345;

	for (unsigned i = 0; i < BLOCKS; i++) {
		enum guard_refusal why;
		size_t size;

		state = state * 1103515245 + 12345;
		size = largest / 2 + 1 + state / 65536 % (largest - largest / 2);
		if (largest <= PAGE)
			size = i % 5 ? 1 + state / 65536 % largest : largest;
		known[i].run = guard_alloc(
			size, 0, state >> 30 & 1 ? PMM_GUARD_LEFT : PMM_GUARD_RIGHT, &why);
		CHECK(known[i].run != NO_RUN);
		guard_publish(known[i].run);
		known[i].start = guard_at(known[i].run)->address;
		known[i].end = known[i].start + size;
	}
	near_bytes = 2ull * (largest / PAGE + 1) * PAGE;
	qsort(known, BLOCKS, sizeof(known[0]), by_address);
}

/* All blocks are asked, not only those next to it. */
static uint32_t oracle(uint64_t at, uint64_t bytes)
{
	const struct extent *before = NULL, *next = NULL;

	for (unsigned i = 0; i < BLOCKS; i++) {
		if (at >= known[i].start && at < known[i].end)
			return known[i].run;
		if (known[i].end <= at && at - known[i].end < near_bytes)
			before = &known[i];
		if (known[i].start > at && known[i].start - at < near_bytes && !next)
			next = &known[i];
	}
	if (!before || !next)
		return before ? before->run : next ? next->run : NO_RUN;
	if (at == before->end)
		return before->run;
	if (at + bytes > next->start)
		return next->run;
	return at - (before->end - 1) <= next->start - at ? before->run : next->run;
}

static void look(uint64_t lo, uint64_t hi)
{
	static const uint64_t bytes[] = { 0, 1, 8, 40, 4000, 5000 };

	for (uint64_t p = lo; p < hi; p++)
		for (unsigned i = 0; i < NR(bytes); i++)
			CHECK(guard_owner(p, bytes[i]) == oracle(p, bytes[i]));
}

static void every_distance_of(size_t largest)
{
	start();
	fill(largest);
	look(known[0].start - PAGE, known[BLOCKS - 1].end + PAGE);
	for (unsigned i = 0; i < BLOCKS; i += 3)	/* released ones count as well */
		give(known[i].run);
	look(known[0].start - PAGE, known[BLOCKS - 1].end + PAGE);
}

static void one_page(void)
{
	every_distance_of(PAGE);
}

static void some_of_four_pages(void)
{
	every_distance_of(4 * PAGE);
}

/*
 * Two guard pages lie between the last run of an area and the first of the next one; the last is
 * used when all others are, or are kept back.
 */
static void between_areas(void)
{
	struct pmm_check options = guard_usual;
	uint32_t last = NO_RUN, next;
	uint64_t end;

	options.max_guarded = 300;
	start_with(options);
	next = block(PAGE << 8, 0);
	CHECK(next == areas.area[8].first);
	give(next);
	for (unsigned i = 0; i < 1000 && last != next - 1; i++) {
		if (i >= options.max_guarded)
			give(last);
		last = block(PAGE << 7, 0);
	}
	CHECK(last == next - 1);
	end = (uint64_t)at(last) + (PAGE << 7);
	CHECK((uint64_t)at(next) - end == 2 * PAGE);
	for (uint64_t p = 0; p < 2 * PAGE; p++)
		CHECK(guard_owner(end + p, 0) == (p < PAGE ? last : next));
}

/*
 * Where there is nothing, nothing is named; beside a run that was never used the other one has it.
 */
static void alone(void)
{
	uint32_t run;

	start();
	CHECK(guard_owner(areas.start + PAGE, 0) == NO_RUN);
	run = block(100, 0);
	CHECK(guard_owner((uint64_t)at(run) - PAGE, 8) == run &&
	      guard_owner((uint64_t)at(run) + 2 * PAGE, 8) == run);
	CHECK(guard_owner((uint64_t)at(run) + 5 * PAGE, 8) == NO_RUN);
	CHECK(guard_owner((uint64_t)&guard_usual, 8) == NO_RUN);
}

BOTH(one_page)
BOTH(some_of_four_pages)
BOTH(between_areas)
BOTH(alone)

int main(void)
{
	const struct CMUnitTest tests[] = { TESTS(one_page), TESTS(some_of_four_pages),
					    TESTS(between_areas), TESTS(alone) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
