/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for people: bytes, counts, durations. */
#include "src/base/fmt.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* x with three digits: 1.23, 12.3, 123. Rounds down what would round up to 1000. */
static void three_digits(char *s, size_t size, double x, const char *unit)
{
	if (x < 9.995)
		snprintf(s, size, "%.2f%s", x, unit);
	else if (x < 99.95)
		snprintf(s, size, "%.1f%s", x, unit);
	else
		snprintf(s, size, "%.0f%s", x, unit);
}

/* In the unit, each `step` of the one before, that leaves a number below step. */
static struct fmt scaled(uint64_t n, double step, const char *const units[6])
{
	struct fmt f;
	double x = (double)n / step;
	size_t i;

	for (i = 0; x >= step - 0.5 && i < 5; i++)
		x /= step;
	three_digits(f.s, sizeof(f.s), x, units[i]);
	return f;
}

struct fmt fmt_bytes(uint64_t bytes)
{
	static const char *const units[6] = { " KiB", " MiB", " GiB", " TiB", " PiB", " EiB" };
	struct fmt f;

	if (bytes >= 1024)
		return scaled(bytes, 1024, units);
	snprintf(f.s, sizeof(f.s), "%u B", (unsigned)bytes);
	return f;
}

struct fmt fmt_count(uint64_t n)
{
	struct fmt f;
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *p = f.s;
	int i;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return f;
}

struct fmt fmt_count_short(uint64_t n)
{
	static const char *const units[6] = { "k", "M", "G", "T", "P", "E" };
	struct fmt f;

	if (n >= 10000)
		return scaled(n, 1000, units);
	snprintf(f.s, sizeof(f.s), "%u", (unsigned)n);
	return f;
}

struct fmt fmt_many(uint64_t n, const char *noun)
{
	size_t length = strnlen(noun, FMT_NOUN_BYTES);
	const char *end = n == 1 ? "" : "s";
	struct fmt f;

	if (n != 1 && length && noun[length - 1] == 's') {
		end = "es";
	} else if (n != 1 && length && noun[length - 1] == 'y') {
		length--;
		end = "ies";
	}
	snprintf(f.s, sizeof(f.s), "%.26s %.*s%s", fmt_count(n).s, (int)length, noun, end);
	return f;
}

const char *fmt_agree(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

struct fmt fmt_duration(uint64_t ns)
{
	struct fmt f;
	uint64_t s = ns / 1000000000;

	if (!ns)
		snprintf(f.s, sizeof(f.s), "0 s");
	else if (ns < 1000)
		snprintf(f.s, sizeof(f.s), "%u ns", (unsigned)ns);
	else if (ns < 999500)
		three_digits(f.s, sizeof(f.s), ns / 1e3, " us");
	else if (ns < 999500000)
		three_digits(f.s, sizeof(f.s), ns / 1e6, " ms");
	else if (ns < 99950000000)
		three_digits(f.s, sizeof(f.s), ns / 1e9, " s");
	else if (s < 3600)
		snprintf(f.s, sizeof(f.s), "%um%02us", (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 86400)
		snprintf(f.s, sizeof(f.s), "%uh%02um", (unsigned)(s / 3600),
			 (unsigned)(s / 60 % 60));
	else
		snprintf(f.s, sizeof(f.s), "%llud%02uh", (unsigned long long)(s / 86400),
			 (unsigned)(s / 3600 % 24));
	return f;
}

struct fmt fmt_duration_step(uint64_t ns, uint64_t step_ns)
{
	uint64_t left = step_ns ? ns % step_ns : 0;
	struct fmt f;

	if (step_ns && ns < step_ns) {
		snprintf(f.s, sizeof(f.s), "under %.30s", fmt_duration_step(step_ns, step_ns).s);
		return f;
	}
	ns = left < step_ns - left || ns > UINT64_MAX - step_ns ? ns - left : ns - left + step_ns;
	f = fmt_duration(ns);
	/* of milliseconds and seconds so many decimals as are the step's */
	if (step_ns >= 1000000 && ns < 999500000)
		snprintf(f.s, sizeof(f.s), "%u ms", (unsigned)((ns + 500000) / 1000000));
	else if (step_ns >= 1000000000 && ns < 99950000000)
		snprintf(f.s, sizeof(f.s), "%u s", (unsigned)((ns + 500000000) / 1000000000));
	else if (step_ns >= 100000000 && ns < 9995000000)
		snprintf(f.s, sizeof(f.s), "%.1f s", (double)ns / 1e9);
	return f;
}

struct fmt fmt_duration_given(uint64_t ns)
{
	static const char *const nothing[] = { "00s", "00m", "00h" };
	struct fmt f = fmt_duration(ns);
	size_t len = strlen(f.s);
	char *unit = strchr(f.s, ' '), *end = unit;

	if (unit && strchr(f.s, '.')) {
		while (end[-1] == '0')
			end--;
		end -= end[-1] == '.';
		memmove(end, unit, strlen(unit) + 1);
	}
	for (unsigned i = 0; i < 3; i++)
		if (len > 3 && !strcmp(f.s + len - 3, nothing[i]))
			f.s[len - 3] = '\0';
	return f;
}

struct fmt fmt_duration_rough(uint64_t ns)
{
	static const struct {
		uint64_t s;
		const char *one, *many;
	} units[] = { { 86400, "day", "days" },
		      { 3600, "hour", "hours" },
		      { 60, "minute", "minutes" },
		      { 1, "s", "s" } };
	uint64_t s = ns / 1000000000, n;
	struct fmt f;
	unsigned i = 0;

	/* the largest unit of which there are two; else one of the next is too coarse */
	while (i < 3 && s < 2 * units[i].s)
		i++;
	n = (s + units[i].s / 2) / units[i].s;
	if (n >= 100)
		n = (n + 5) / 10 * 10;
	snprintf(f.s, sizeof(f.s), "%.30s %s", fmt_count(n).s,
		 fmt_agree(n, units[i].one, units[i].many));
	return f;
}

struct fmt fmt_percent(uint64_t part, uint64_t whole)
{
	struct fmt f;
	double x = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!whole)
		snprintf(f.s, sizeof(f.s), "-");
	else if (!part)
		snprintf(f.s, sizeof(f.s), "0%%");
	else if (part == whole)
		snprintf(f.s, sizeof(f.s), "100%%");
	else if (x < 0.1)
		snprintf(f.s, sizeof(f.s), "<0.1%%");
	else
		snprintf(f.s, sizeof(f.s), "%.1f%%", part < whole && x > 99.9 ? 99.9 : x);
	return f;
}

struct fmt fmt_time(uint64_t realtime_ns)
{
	time_t t = (time_t)(realtime_ns / 1000000000);
	struct tm tm;
	struct fmt f = { "?" };

	if (localtime_r(&t, &tm))
		strftime(f.s, sizeof(f.s), "%Y-%m-%d %H:%M:%S", &tm);
	return f;
}
