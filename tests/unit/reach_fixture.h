/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up heap and its memory for tests of reachability: words in a plain array, blocks in it,
 * roots beside it.
 *
 * Addresses begin at ROOTS_BASE; fixture_put() writes a word, fixture_block() adds a block (in
 * order of address). Pages of which nothing can be read are in `holes`. What is said never to have
 * been touched is there all the same: who reads it finds what is in it.
 */
#ifndef TESTS_UNIT_REACH_FIXTURE_H
#define TESTS_UNIT_REACH_FIXTURE_H

#include "src/analyze/reach/reach.h"
#include "src/base/vec.h"
#include "tests/unit/unit.h"

#define FIXTURE_BASE 0x7f0000100000ull
#define FIXTURE_PAGE 4096

struct fixture {
	uint8_t *bytes;
	uint64_t size;
	VEC(struct heap_block) blocks;
	VEC(uint64_t) holes;		/* addresses of pages */
	struct memory_span untouched;
	struct heap heap;
	struct memory memory;
	struct reach_options options;
	struct reach reach;
};

static inline size_t fixture_read(void *arg, uint64_t address, void *to, size_t bytes)
{
	const struct fixture *s = arg;
	size_t n = 0;

	if (address < FIXTURE_BASE || address - FIXTURE_BASE >= s->size)
		return 0;
	if (bytes > s->size - (address - FIXTURE_BASE))
		bytes = s->size - (address - FIXTURE_BASE);
	while (n < bytes) {
		uint64_t page = (address + n) & ~(FIXTURE_PAGE - 1ull);
		size_t part = page + FIXTURE_PAGE - (address + n);

		vec_each(&s->holes, hole)
			if (*hole == page)
				return n;
		if (part > bytes - n)
			part = bytes - n;
		memcpy((char *)to + n, s->bytes + (address + n - FIXTURE_BASE), part);
		n += part;
	}
	return n;
}

static inline uint64_t fixture_untouched(void *arg, uint64_t address, uint64_t bytes)
{
	const struct fixture *s = arg;

	(void)bytes;	/* more than was asked for is no harm */
	return address >= s->untouched.start && address < s->untouched.end
		       ? s->untouched.end - address
		       : 0;
}

static const struct memory_ops fixture_ops = { fixture_read, fixture_untouched };

static inline void fixture_init(struct fixture *s, uint64_t size)
{
	memset(s, 0, sizeof(*s));
	s->bytes = calloc(1, size);
	s->size = size;
	assert_non_null(s->bytes);
	s->memory.ops = &fixture_ops;
	s->memory.arg = s;
	s->options.nr_threads = 1;
	s->options.heuristics = REACH_ALL_HEURISTICS;
}

static inline void fixture_fini(struct fixture *s)
{
	reach_fini(&s->reach);
	memory_fini(&s->memory);
	vec_fini(&s->blocks);
	vec_fini(&s->holes);
	free(s->bytes);
}

/* A test's own, in *state; and gone again. */
static inline int fixture_begin(void **state, uint64_t bytes)
{
	struct fixture *s = malloc(sizeof(*s));

	fixture_init(s, bytes);
	*state = s;
	return 0;
}

static inline int fixture_end(void **state)
{
	fixture_fini(*state);
	free(*state);
	return 0;
}

static inline void fixture_put(struct fixture *s, uint64_t address, uint64_t value)
{
	assert_true(address >= FIXTURE_BASE && address - FIXTURE_BASE + 8 <= s->size);
	memcpy(s->bytes + (address - FIXTURE_BASE), &value, 8);
}

static inline void fixture_block(struct fixture *s, uint64_t address, uint64_t size)
{
	assert_int_equal(
		vec_push(&s->blocks, (struct heap_block){ .address = address, .size_bytes = size }),
		0);
}

static inline void fixture_root(struct fixture *s, uint64_t start, uint64_t end, bool chunk_lists)
{
	struct memory_range r = {
		.start = start, .end = end, .kind = MEMORY_DATA, .chunk_lists = chunk_lists
	};

	assert_int_equal(vec_push(&s->memory.roots, r), 0);
}

#define ROOT	FIXTURE_BASE
#define AT(n)	(FIXTURE_BASE + 0x10000 + (n) * 0x100)

/* The test's, with blocks of 64 bytes at AT(0), AT(1), ... and a root of 4 KiB. */
static inline struct fixture *nr(void **state, unsigned blocks)
{
	struct fixture *s = *state;

	for (unsigned i = 0; i < blocks; i++)
		fixture_block(s, AT(i), 64);
	fixture_root(s, ROOT, ROOT + 4096, false);
	return s;
}

static inline void fixture_word(struct fixture *s, uint64_t value)
{
	assert_int_equal(vec_push(&s->memory.words, (struct memory_word){ .value = value }), 0);
}

static inline void fixture_run(struct fixture *s)
{
	struct err e = { 0 };

	reach_fini(&s->reach);
	s->heap.blocks = s->blocks.v;
	s->heap.nr_blocks = s->blocks.nr;
	if (reach_run(&s->heap, &s->memory, &s->options, &s->reach, &e))
		fail_msg("%s", e.text);
	assert_int_equal(s->reach.nr, s->blocks.nr);
}

/* The classes of all blocks as a string: R reached, P possible, I indirect, D definite. */
static inline void fixture_expect(struct fixture *s, const char *classes)
{
	char got[100] = "";

	assert_true(s->blocks.nr < sizeof(got));
	fixture_run(s);
	for (size_t i = 0; i < s->blocks.nr; i++)
		got[i] = "RPID"[s->reach.class[i]];
	assert_string_equal(got, classes);
}

#endif
