/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent/check/canary.c: heads and tails, to the byte, as include/pmm/check.h says they are. */
#include "tests/unit/agent_host.h"

#include "tests/unit/unit.h"

#include "agent/check/canary.h"
#include "include/pmm/check.h"

#define SECRET	0x1122334455667788ull

static uint8_t memory[1 << 18] __attribute__((aligned(4096)));
static const size_t aligns[] = { 0, 8, 16, 32, 64, 256 };

static int begin(void **state)
{
	(void)state;
	agent_host_init(1 << 20);
	canary_start(SECRET);
	return 0;
}

static int end(void **state)
{
	(void)state;
	agent_host_fini();
	return 0;
}

/* A block in `memory`, which is full of what was there before. */
static uint8_t *make(size_t size, size_t align)
{
	memset(memory, 0x5a, 4096);
	return canary_make(memory, size, align);
}

static void sizes_asked_for(void **state)
{
	static const struct { size_t size, align, bytes;
	} want[] = {
		{ 0, 0, 32 },	 { 1, 0, 48 },	{ 16, 0, 48 }, { 17, 0, 64 },
		{ 100, 8, 144 }, { 1, 32, 64 }, { 1, 64, 96 }, { 4096, 4096, 8208 },
	};
	size_t bytes;

	(void)state;
	for (size_t i = 0; i < NR(want); i++) {
		assert_true(canary_bytes(want[i].size, want[i].align, &bytes));
		assert_int_equal(bytes, want[i].bytes);
	}
	assert_false(canary_bytes(SIZE_MAX, 0, &bytes));
	assert_false(canary_bytes(1ull << 44, 0, &bytes));
	assert_true(canary_bytes((1ull << 44) - 1, 0, &bytes));
}

static void layout(void **state)
{
	(void)state;
	for (size_t a = 0; a < NR(aligns); a++)
		for (size_t size = 0; size < 70; size++) {
			uint8_t *p = make(size, aligns[a]),
				*tail = (uint8_t *)pmm_tail_end((uint64_t)p, size);
			size_t bytes, says_size, says_align;

			assert_ptr_equal(p, memory + pmm_front_bytes(aligns[a]));
			assert_true(canary_bytes(size, aligns[a], &bytes));
			assert_ptr_equal(tail, memory + bytes);
			assert_int_equal(*tail, 0x5a);
			for (uint8_t *b = memory; b < tail; b++)
				if (b < p - PMM_HEAD_BYTES || b >= p + size)
					assert_int_equal(*b, pmm_canary_byte(SECRET, (uint64_t)p,
									     (uint64_t)b));
				else if (b >= p)
					assert_int_equal(*b, 0x5a);
			assert_int_equal(canary_look(p, &says_size, &says_align), CANARY_LIVE);
			assert_int_equal(says_size, size);
			assert_int_equal(says_align, aligns[a] ? aligns[a] : 1);
			assert_ptr_equal(canary_real(p, says_align), memory);
		}
}

/* First byte of gap, head or tail that is not as it was: the tail is looked at on both ways. */
static bool damaged(const void *p, size_t size, size_t align, uint64_t *at)
{
	uint64_t around = UINT64_MAX, headless = UINT64_MAX;
	bool found = canary_damage_around(p, size, align, &around);

	found |= canary_damage_headless(p, size, align, 0, &headless);
	*at = around < headless ? around : headless;
	return found;
}

/* Whatever single byte around a block changes is found, and where. */
static void damage(void **state)
{
	uint64_t at;

	(void)state;
	for (size_t a = 0; a < NR(aligns); a++)
		for (size_t size = 0; size < 40; size++) {
			uint8_t *p = make(size, aligns[a]),
				*tail = (uint8_t *)pmm_tail_end((uint64_t)p, size);

			assert_false(damaged(p, size, aligns[a], &at));
			for (uint8_t *b = memory; b < tail; b++) {
				uint8_t was = *b;

				*b ^= 4;
				if (b >= p && b < p + size) {
					assert_false(damaged(p, size, aligns[a], &at));
				} else if (b != p - PMM_HEAD_BYTES + 6) { /* byte 6 holds the flag
									     of released blocks */
					assert_true(damaged(p, size, aligns[a], &at));
					assert_ptr_equal(at, b);
				} else {
					assert_true(damaged(p, size, aligns[a], &at));
				}
				*b = was;
			}
			assert_false(damaged(p, size, aligns[a], &at));
		}
}

/*
 * Before the head canary lies on its page only: an alignment of megabytes is to touch no other
 * memory than a small one.
 */
static void large_alignment(void **state)
{
	static uint8_t real[3 * 32768] __attribute__((aligned(32768)));
	uint8_t *p = canary_make(real, 10, 32768);
	uint64_t at;

	(void)state;
	assert_ptr_equal(p, real + 32768);
	for (unsigned i = 0; i < 32768 - 4096; i++)
		assert_int_equal(real[i], 0);
	assert_false(damaged(p, 10, 32768, &at));
	assert_false(canary_spilled(p, 10, 32768));
	p[-4095] ^= 1;
	assert_true(damaged(p, 10, 32768, &at));
	assert_ptr_equal(at, p - 4095);
	assert_true(canary_spilled(p, 10, 32768));
	p[-4095] ^= 1;
	p[10] ^= 1;
	assert_false(canary_spilled(p, 10, 32768));
	p[31] ^= 1;
	assert_true(canary_spilled(p, 10, 32768));
}

static void released_once(void **state)
{
	size_t size, align;
	uint8_t *p = make(33, 0);

	(void)state;
	assert_true(canary_take(p));
	assert_false(canary_take(p));
	assert_int_equal(canary_look(p, &size, &align), CANARY_FREED);
	assert_int_equal(size, 33);
	canary_clear(p);
	assert_int_equal(canary_look(p, &size, &align), CANARY_NOTHING);
}

static void poison(void **state)
{
	uint64_t at;

	(void)state;
	for (size_t size = 0; size < 80; size++) {
		uint8_t *p = make(size, 0);

		assert_true(canary_take(p));
		quick_poison(p, size);
		assert_true(canary_poisoned(p, size, 0, &at));
		for (size_t i = 0; i < size; i++) {
			assert_int_equal(p[i], PMM_POISON_BYTE);
			p[i] = 1;
			assert_false(canary_poisoned(p, size, 0, &at));
			assert_ptr_equal(at, p + i);
			p[i] = PMM_POISON_BYTE;
		}
		p[size] ^= 1;			/* and what is behind it is looked at as well */
		assert_false(canary_poisoned(p, size, 0, &at));
		assert_ptr_equal(at, p + size);
	}
}

static void poison_of_large_blocks_ends(void **state)
{
	size_t size = CANARY_POISON_MOST + 1000;
	uint8_t *p = make(size, 0);
	uint64_t at;

	(void)state;
	p[CANARY_POISON_MOST] = 7;
	assert_true(canary_take(p));
	quick_poison(p, size);
	assert_int_equal(p[0], PMM_POISON_BYTE);
	assert_int_equal(p[CANARY_POISON_MOST - 1], PMM_POISON_BYTE);
	assert_int_equal(p[CANARY_POISON_MOST], 7);
	assert_true(canary_poisoned(p, size, 0, &at));
	p[CANARY_POISON_MOST - 1] = 0;
	assert_false(canary_poisoned(p, size, 0, &at));
	assert_ptr_equal(at, p + CANARY_POISON_MOST - 1);
}

/* What is in front of other memory is no head: zeroes, a copied one, one of an odd address. */
static void no_heads(void **state)
{
	size_t size, align;
	uint8_t *p = make(50, 0);

	(void)state;
	memcpy(memory + 1024, p - PMM_HEAD_BYTES, PMM_HEAD_BYTES);
	assert_int_equal(canary_look(memory + 1024 + PMM_HEAD_BYTES, &size, &align),
			 CANARY_NOTHING);
	memset(memory + 1024, 0, PMM_HEAD_BYTES);
	assert_int_equal(canary_look(memory + 1024 + PMM_HEAD_BYTES, &size, &align),
			 CANARY_NOTHING);
	assert_int_equal(canary_look(p + 8, &size, &align), CANARY_NOTHING);
	assert_int_equal(canary_look_safely((void *)16, &size, &align), CANARY_NOTHING);
	assert_int_equal(canary_look_safely((void *)0x7ffffffff000, &size, &align), CANARY_NOTHING);
	assert_int_equal(canary_look_safely(p, &size, &align), CANARY_LIVE);
}

/*
 * Facts are what was noted, seal the head all the same, and damage to them alone is found where
 * they are known.
 */
static void facts(void **state)
{
	static const uint64_t some[] = { 1, 0x7ffffffff, 0x412345678, 0x400000000 };
	uint64_t found;
	size_t size, align;
	uint64_t at;

	(void)state;
	for (size_t i = 0; i < NR(some); i++) {
		uint8_t *p = make(33, 0);

		quick_note(p, some[i]);
		assert_int_equal(canary_look_facts(p, &size, &align, &found), CANARY_LIVE);
		assert_int_equal(found, some[i]);
		assert_int_equal(size, 33);
		assert_false(canary_damage_headless(p, 33, 1, some[i], &at));
		for (uint8_t *b = p - 8; b < p; b++) {
			*b ^= 1;
			assert_int_equal(canary_look(p, &size, &align),
					 b < p - 3 ? CANARY_LIVE : CANARY_NOTHING);
			assert_true(canary_damage_headless(p, 33, 1, some[i], &at));
			assert_ptr_equal(at, b);
			*b ^= 0x81;
			assert_int_equal(canary_look(p, &size, &align), CANARY_NOTHING);
			*b ^= 0x80;
		}
		canary_rename(p, PMM_KIND_NEW);
		canary_look_facts(p, &size, &align, &found);
		assert_int_equal(found, (some[i] & ~(15ull << PMM_FACTS_KIND_SHIFT)) |
						PMM_KIND_NEW << PMM_FACTS_KIND_SHIFT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts),	   cmocka_unit_test(sizes_asked_for),
		cmocka_unit_test(layout),	   cmocka_unit_test(damage),
		cmocka_unit_test(large_alignment), cmocka_unit_test(released_once),
		cmocka_unit_test(poison),	   cmocka_unit_test(poison_of_large_blocks_ends),
		cmocka_unit_test(no_heads),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
