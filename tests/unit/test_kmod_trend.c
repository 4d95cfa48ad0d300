/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmod/pmm_trend.c: slopes to the byte, and what is growth and what is not. */
#include "tests/unit/unit.h"

#include "kmod/pmm_trend.h"

#define MiB	(1ull << 20)

static struct pmm_trend t;

/* `n` samples a second apart, of a(i). */
static void samples(u32 window, u32 n, u64 (*bytes)(u32 i))
{
	pmm_trend_init(&t, window);
	for (u32 i = 0; i < n; i++)
		pmm_trend_add(&t, 1000000 + 1000ull * i, bytes(i));
}

static u64 steady(u32 i)
{
	(void)i;
	return 300 * MiB;
}

static u64 line(u32 i)
{
	return 5 * MiB + 1000ull * i;
}

static u64 falling(u32 i)
{
	return 500 * MiB - 1001ull * i;
}

static u64 step_at_20(u32 i)
{
	return i < 20 ? 100 * MiB : 180 * MiB;
}

/* From one megabyte to sixteen, then back. */
static u64 sawtooth(u32 i)
{
	return (1 + i % 16) * MiB;
}

static u64 leaking_sawtooth(u32 i)
{
	return (1 + i % 16) * MiB + MiB * i;
}

static u64 doubling(u32 i)
{
	return 4096ull << (i / 2);
}

static u64 huge_line(u32 i)
{
	return (1ull << 63) + (u64)i * (1ull << 50);
}

static u64 end_to_end(u32 i)
{
	return i < 32 ? 0 : ~0ull;
}

static u64 end_to_end_down(u32 i)
{
	return i < 32 ? ~0ull : 0;
}

static void test_no_sample_and_one(void **state)
{
	(void)state;
	pmm_trend_init(&t, 16);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 0);
	assert_int_equal(pmm_trend_growth(&t), 0);
	pmm_trend_add(&t, 5, 1000);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 0);
	assert_int_equal(pmm_trend_growth(&t), 0);
	pmm_trend_add(&t, 1005, 1700);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 700);
	assert_int_equal(pmm_trend_growth(&t), 0);
}

static void test_window(void **state)
{
	(void)state;
	pmm_trend_init(&t, 0);
	assert_int_equal(t.window, PMM_TREND_MIN);
	pmm_trend_init(&t, 1000);
	assert_int_equal(t.window, PMM_TREND_MAX);
	pmm_trend_init(&t, PMM_TREND_MAX);
	assert_int_equal(t.window, 64);
	pmm_trend_init(&t, 9);
	assert_int_equal(t.window, 9);
	for (u32 i = 0; i < 9 * 3 + 5; i++)	/* what is older than the window does not count */
		pmm_trend_add(&t, 1000 * i, i < 9 * 2 + 5 ? 77 * MiB : 100 * i);
	assert_int_equal(t.nr, 9);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 100);
	assert_int_equal(pmm_trend_growth(&t), 800);
}

static void test_equal_times(void **state)
{
	(void)state;
	pmm_trend_init(&t, 16);
	for (u64 i = 0; i < 10; i++)
		pmm_trend_add(&t, 1000, i * MiB);
	assert_int_equal(t.nr, 1);
	assert_int_equal(t.samples[0].bytes, 9 * MiB);
	pmm_trend_add(&t, 900, 3);		/* a clock that is set back */
	assert_int_equal(t.nr, 1);
	assert_int_equal(t.samples[0].bytes, 3);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 0);
	pmm_trend_add(&t, 2000, 13);
	pmm_trend_add(&t, 2000, 23);
	assert_int_equal(t.nr, 2);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 20);
}

static void test_line_is_exact(void **state)
{
	static const u32 windows[] = { 8, 9, 16, 30, 63, 64 };

	(void)state;
	for (unsigned w = 0; w < NR(windows); w++)
		for (u32 n = 8; n <= 150; n += 7) {
			u32 used = n < windows[w] ? n : windows[w];

			samples(windows[w], n, line);
			assert_int_equal(pmm_trend_bytes_per_s(&t), 1000);
			assert_int_equal(pmm_trend_growth(&t), 1000ull * (used - 1));
			samples(windows[w], n, falling);
			assert_int_equal(pmm_trend_bytes_per_s(&t), -1001);
			assert_int_equal(pmm_trend_growth(&t), 0);
		}
	samples(64, 7, line);
	assert_int_equal(pmm_trend_growth(&t), 0);	/* too few to judge by */
	assert_int_equal(pmm_trend_bytes_per_s(&t), 1000);
}

/* Least squares by hand: (0,0) (1,0) (2,3) (3,3) have the slope 1.2. */
static void test_scattered(void **state)
{
	static const u64 bytes[] = { 1000, 1000, 4000, 4000 };

	(void)state;
	pmm_trend_init(&t, 8);
	for (u32 i = 0; i < NR(bytes); i++)
		pmm_trend_add(&t, 1000 * i, bytes[i]);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 1200);
	pmm_trend_init(&t, 8);
	for (u32 i = 0; i < NR(bytes); i++)
		pmm_trend_add(&t, 500 * i, bytes[3 - i]);
	assert_int_equal(pmm_trend_bytes_per_s(&t), -2400);
}

static void test_no_growth(void **state)
{
	(void)state;
	samples(32, 32, steady);
	assert_int_equal(pmm_trend_growth(&t), 0);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 0);
	for (u32 n = 8; n <= 100; n++) {	/* wherever the step is in the window */
		samples(32, n, step_at_20);
		assert_int_equal(pmm_trend_growth(&t), 0);
	}
	for (u32 n = 32; n <= 100; n++) {	/* once it has fallen */
		samples(32, n, sawtooth);
		assert_int_equal(pmm_trend_growth(&t), 0);
	}
	samples(32, 64, end_to_end_down);
	assert_int_equal(pmm_trend_growth(&t), 0);
}

static void test_growth(void **state)
{
	(void)state;
	samples(48, 48, leaking_sawtooth);
	assert_in_range(pmm_trend_growth(&t), 50 * MiB, 57 * MiB);
	samples(32, 32, doubling);
	assert_int_equal(pmm_trend_growth(&t), 79312244);
	samples(16, 15, sawtooth);		/* growth until the collector runs */
	assert_int_equal(pmm_trend_growth(&t), 14 * MiB);
}

/* A floor that rises by less than memory falls at times is no growth; by as much, it is. */
static void test_floor_and_fall(void **state)
{
	for (u64 fall = 5; fall <= 7; fall++) {
		pmm_trend_init(&t, 9);
		for (u32 i = 0; i < 9; i++)
			pmm_trend_add(&t, 1000 * i, 100 + i + (i == 4 ? fall + 1 : 0));
		assert_int_equal(pmm_trend_growth(&t) != 0, fall <= 6);
	}
	(void)state;
}

/* The lowest of a third is found wherever it is. */
static void test_floor_of_a_third(void **state)
{
	(void)state;
	for (u32 low = 3; low < 6; low++) {
		pmm_trend_init(&t, 9);
		for (u32 i = 0; i < 9; i++)
			pmm_trend_add(&t, 1000 * i, i == low ? 100 : 100 + i + (i > 5 ? 20 : 0));
		assert_int_equal(pmm_trend_growth(&t), 0);
	}
}

static void test_huge_values(void **state)
{
	(void)state;
	samples(64, 64, huge_line);
	assert_true(pmm_trend_bytes_per_s(&t) == 1ll << 50);
	assert_true(pmm_trend_growth(&t) == 63ull << 50);
	samples(64, 64, end_to_end);
	assert_int_equal(pmm_trend_growth(&t), 0);
	assert_true(pmm_trend_bytes_per_s(&t) > 1ll << 56);
	samples(64, 64, end_to_end_down);
	assert_true(pmm_trend_bytes_per_s(&t) < -(1ll << 56));
	pmm_trend_init(&t, 8);
	pmm_trend_add(&t, 0, 3ull << 60);
	pmm_trend_add(&t, 1000000, 0);
	assert_true(pmm_trend_bytes_per_s(&t) == -(3ll << 60) / 1000);
	pmm_trend_init(&t, 8);
	pmm_trend_add(&t, 0, 0);
	pmm_trend_add(&t, 1, ~0ull);		/* in a millisecond */
	assert_true(pmm_trend_bytes_per_s(&t) == 1ll << 62);
	pmm_trend_init(&t, 8);
	pmm_trend_add(&t, 0, ~0ull);
	pmm_trend_add(&t, 1, 0);
	assert_true(pmm_trend_bytes_per_s(&t) == -(1ll << 62));
}

/* Times that need scaling: samples once in an hour, over days, and decades apart. */
static void test_long_times(void **state)
{
	(void)state;
	pmm_trend_init(&t, 64);
	for (u64 i = 0; i < 64; i++)
		pmm_trend_add(&t, 1 + i * 4096 * 1000, i * 4096 * 250);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 250);
	pmm_trend_init(&t, 64);
	for (u64 i = 0; i < 64; i++)	/* the slope of i * i is 63 */
		pmm_trend_add(&t, i * 16384, i * i * 1000);
	assert_int_equal(pmm_trend_growth(&t), 63 * 63 * 1000);
	pmm_trend_init(&t, 64);
	for (u64 i = 0; i < 64; i++)
		pmm_trend_add(&t, 7 + (i << 50), i << 30);
	assert_int_equal(pmm_trend_bytes_per_s(&t), 0);
	assert_true(pmm_trend_growth(&t) == 63ull << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_sample_and_one), cmocka_unit_test(test_window),
		cmocka_unit_test(test_equal_times),	  cmocka_unit_test(test_line_is_exact),
		cmocka_unit_test(test_scattered),	  cmocka_unit_test(test_no_growth),
		cmocka_unit_test(test_growth),		  cmocka_unit_test(test_floor_and_fall),
		cmocka_unit_test(test_huge_values),	  cmocka_unit_test(test_long_times),
		cmocka_unit_test(test_floor_of_a_third),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
