/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/model/memory.c: roots and code in order and disjoint, whatever they were before. */
#include "tests/unit/unit.h"

#include "src/model/memory.h"

static void root(struct memory *m, uint64_t start, uint64_t end, uint8_t kind)
{
	assert_int_equal(
		vec_push(&m->roots,
			 (struct memory_range){ .start = start, .end = end, .kind = kind }),
		0);
}

static void code(struct memory *m, uint64_t start, uint64_t end)
{
	assert_int_equal(vec_push(&m->code, (struct memory_span){ start, end }), 0);
}

static void root_is(const struct memory *m, size_t i, uint64_t start, uint64_t end, uint8_t kind)
{
	assert_int_equal(m->roots.v[i].start, start);
	assert_int_equal(m->roots.v[i].end, end);
	assert_int_equal(m->roots.v[i].kind, kind);
}

static void code_is(const struct memory *m, size_t i, uint64_t start, uint64_t end)
{
	assert_int_equal(m->code.v[i].start, start);
	assert_int_equal(m->code.v[i].end, end);
}

static void overlaps_are_cut(void **state)
{
	struct memory m = { 0 };

	(void)state;
	root(&m, 500, 600, MEMORY_TLS);
	root(&m, 100, 200, MEMORY_DATA);
	root(&m, 150, 300, MEMORY_STACK);		/* cut in front */
	root(&m, 160, 170, MEMORY_SHARED);		/* within another */
	root(&m, 300, 310, MEMORY_FILE);		/* right behind */
	root(&m, 500, 520, MEMORY_BREAK);		/* the shorter of two that begin there */
	root(&m, 400, 400, MEMORY_DATA);		/* nothing */
	root(&m, 700, 690, MEMORY_DATA);		/* less */
	code(&m, 50, 60);
	code(&m, 10, 30);
	code(&m, 20, 40);
	code(&m, 10, 20);
	code(&m, 55, 58);
	assert_int_equal(memory_order(&m), 0);
	assert_int_equal(m.roots.nr, 4);
	root_is(&m, 0, 100, 200, MEMORY_DATA);
	root_is(&m, 1, 200, 300, MEMORY_STACK);
	root_is(&m, 2, 300, 310, MEMORY_FILE);
	root_is(&m, 3, 500, 600, MEMORY_TLS);
	assert_int_equal(m.code.nr, 3);
	code_is(&m, 0, 10, 30);
	code_is(&m, 1, 30, 40);
	code_is(&m, 2, 50, 60);
	assert_int_equal(memory_order(&m), 0);		/* as it is */
	assert_int_equal(m.roots.nr, 4);
	assert_int_equal(m.code.nr, 3);
	memory_fini(&m);
}

/* Random ranges: what is covered is covered once, and nothing else is. */
static void the_same_is_covered(void **state)
{
	enum { END = 400 };
	uint32_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		uint8_t wanted[2][END] = { { 0 } }, got[2][END] = { { 0 } };
		struct memory m = { 0 };

		for (unsigned i = 0; i < round % 20; i++) {
			uint64_t at[4];

			for (unsigned k = 0; k < 4; k++)
				at[k] = (seed = seed * 1664525 + 1013904223) >> 16 & 255;
			root(&m, at[0], at[0] + at[1] / 4, MEMORY_DATA);
			code(&m, at[2], at[2] + at[3] / 4);
			memset(wanted[0] + at[0], 1, at[1] / 4);
			memset(wanted[1] + at[2], 1, at[3] / 4);
		}
		memory_order(&m);
		vec_each(&m.roots, r)
			for (uint64_t i = r->start; i < r->end; i++)
				got[0][i]++;
		vec_each(&m.code, s)
			for (uint64_t i = s->start; i < s->end; i++)
				got[1][i]++;
		assert_memory_equal(got, wanted, sizeof(got));
		memory_fini(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlaps_are_cut),
		cmocka_unit_test(the_same_is_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
