// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does memory grow? (pmm_trend.h)
 *
 * Everything is relative to the oldest sample. Times are scaled to at most 2^20 units and memory to
 * units of which the greatest difference is at most 2^30, so that with 64 samples no product or sum
 * exceeds 2^62: n * sum(xy) <= 2^6 * 2^6 * 2^20 * 2^30.
 */
#include "pmm_trend.h"

#define X_BITS	20
#define Y_BITS	30

struct line {
	s64 nr, x, y, xx, xy;		/* sums */
	u32 x_shift, y_shift;
	u64 span_ms;
};

void pmm_trend_init(struct pmm_trend *t, u32 window)
{
	memset(t, 0, sizeof(*t));
	t->window = window < PMM_TREND_MIN ? PMM_TREND_MIN : window;
	if (t->window > PMM_TREND_MAX)
		t->window = PMM_TREND_MAX;
}

static u32 index_of(const struct pmm_trend *t, u32 i)
{
	return (t->nr < t->window ? i : t->next + i) % t->window;
}

static u64 bytes_at(const struct pmm_trend *t, u32 i)
{
	return t->samples[index_of(t, i)].bytes;
}

static u64 ms_at(const struct pmm_trend *t, u32 i)
{
	return t->samples[index_of(t, i)].time_ms;
}

void pmm_trend_add(struct pmm_trend *t, u64 time_ms, u64 bytes)
{
	u32 last = (t->next + t->window - 1) % t->window;

	if (t->nr && time_ms <= t->samples[last].time_ms) {
		t->samples[last].bytes = bytes;
		return;
	}
	t->samples[t->next].time_ms = time_ms;
	t->samples[t->next].bytes = bytes;
	t->next = (t->next + 1) % t->window;
	if (t->nr < t->window)
		t->nr++;
}

static u32 shift_to(u64 value, u32 bits)
{
	u32 shift = 0;

	while (value >> shift >> bits)
		shift++;
	return shift;
}

/* The difference of two amounts, cut to what fits. */
static s64 difference(u64 a, u64 b)
{
	u64 d = a > b ? a - b : b - a;

	if (d >> 62)
		d = 1ull << 62;
	return a > b ? (s64)d : -(s64)d;
}

static s64 scaled(s64 value, u32 shift)
{
	return value < 0 ? -(s64)((u64)-value >> shift) : (s64)((u64)value >> shift);
}

static void sum(const struct pmm_trend *t, struct line *l)
{
	u64 most = 0, d;
	s64 x, y;
	u32 i;

	memset(l, 0, sizeof(*l));
	l->span_ms = ms_at(t, t->nr - 1) - ms_at(t, 0);
	for (i = 1; i < t->nr; i++) {
		y = difference(bytes_at(t, i), bytes_at(t, 0));
		d = (u64)(y < 0 ? -y : y);
		most = d > most ? d : most;
	}
	l->x_shift = shift_to(l->span_ms, X_BITS);
	l->y_shift = shift_to(most, Y_BITS);
	l->nr = t->nr;
	for (i = 0; i < t->nr; i++) {
		x = (s64)((ms_at(t, i) - ms_at(t, 0)) >> l->x_shift);
		y = scaled(difference(bytes_at(t, i), bytes_at(t, 0)), l->y_shift);
		l->x += x;
		l->y += y;
		l->xx += x * x;
		l->xy += x * y;
	}
}

/* What the line gains from the first sample to the last. */
static s64 gain(const struct pmm_trend *t)
{
	struct line l;
	s64 over, under, x, y;
	u32 shift;

	if (t->nr < 2)
		return 0;
	sum(t, &l);
	over = l.nr * l.xy - l.x * l.y;
	under = l.nr * l.xx - l.x * l.x;
	if (!under)
		return 0;
	shift = shift_to((u64)under, 40);
	over = over < 0 ? -(-over >> shift) : over >> shift;
	under >>= shift;
	x = (s64)(l.span_ms >> l.x_shift);
	y = div64_s64(over, under);
	y = y * x + div64_s64((over - y * under) * x, under);
	if (y >= 1ll << (62 - l.y_shift))
		return 1ll << 62;
	if (y <= -(1ll << (62 - l.y_shift)))
		return -(1ll << 62);
	return y * (1ll << l.y_shift);
}

s64 pmm_trend_bytes_per_s(const struct pmm_trend *t)
{
	s64 bytes = gain(t), span_ms, whole;

	if (!bytes)
		return 0;
	span_ms = (s64)(ms_at(t, t->nr - 1) - ms_at(t, 0));
	whole = div64_s64(bytes, span_ms);
	if (whole >= (1ll << 62) / 1000)
		return 1ll << 62;
	if (whole <= -(1ll << 62) / 1000)
		return -(1ll << 62);
	return whole * 1000 + div64_s64((bytes - whole * span_ms) * 1000, span_ms);
}

/* The lowest of samples [from, to). */
static u64 lowest(const struct pmm_trend *t, u32 from, u32 to)
{
	u64 least = bytes_at(t, from);
	u32 i;

	for (i = from + 1; i < to; i++)
		if (bytes_at(t, i) < least)
			least = bytes_at(t, i);
	return least;
}

/* From a sample to a later one, at most. */
static u64 greatest_fall(const struct pmm_trend *t)
{
	u64 highest = 0, fall = 0, bytes;
	u32 i;

	for (i = 0; i < t->nr; i++) {
		bytes = bytes_at(t, i);
		if (bytes > highest)
			highest = bytes;
		else if (highest - bytes > fall)
			fall = highest - bytes;
	}
	return fall;
}

u64 pmm_trend_growth(const struct pmm_trend *t)
{
	u32 third = t->nr / 3;
	u64 first, middle, last;
	s64 gained;

	if (t->nr < PMM_TREND_MIN)
		return 0;
	first = lowest(t, 0, third);
	middle = lowest(t, third, t->nr - third);
	last = lowest(t, t->nr - third, t->nr);
	if (first >= middle || middle >= last || last - first < greatest_fall(t))
		return 0;
	gained = gain(t);
	return gained > 0 ? (u64)gained : 0;
}
