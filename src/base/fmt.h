/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for people: bytes, counts, durations, both ways.
 *
 * The fmt_* functions return the text by value, so that it serves as an argument: printf("%s",
 * fmt_bytes(n).s).
 */
#ifndef BASE_FMT_H
#define BASE_FMT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"

#define FMT_NOUN_BYTES 24

struct fmt {
	char s[56];		/* the largest number, with commas, and FMT_NOUN_BYTES of a noun */
};

/* A part of a range; `max` is UINT64_MAX when open. Both ends belong to it. */
struct fmt_range {
	uint64_t min, max;
};

/* "0 B", "1023 B", "1.5 KiB", "20.1 MiB", "3.00 GiB": exact below 1024, else three digits. */
struct fmt fmt_bytes(uint64_t bytes);

/* "999", "12,345,678": exact, in groups of three. */
struct fmt fmt_count(uint64_t n);
/* "999", "9999", "12.3k", "4.57M", "1.20G", ...: for narrow columns. */
struct fmt fmt_count_short(uint64_t n);

/*
 * A count and what it counts: "1 block", "12,345 blocks", "2 processes", "0 libraries". Of a noun
 * the first FMT_NOUN_BYTES bytes.
 */
struct fmt fmt_many(uint64_t n, const char *noun);

/* The word that agrees with the count: `one` of exactly one thing, else `many`. */
const char *fmt_agree(uint64_t n, const char *one, const char *many);

/* "0 s", "350 ns", "1.50 ms", "12.3 s", "2m05s", "3h04m", "5d06h". */
struct fmt fmt_duration(uint64_t ns);

/*
 * What a clock of so long a step has measured: no digit is finer than the step. "under 10 ms", "30
 * ms", "1.05 s", "12.3 s". Step 0: as fmt_duration().
 */
struct fmt fmt_duration_step(uint64_t ns, uint64_t step_ns);

/* What the user gave: "1 s", "1.5 s", "500 ms", "5m", "1h30m", "1d". */
struct fmt fmt_duration_given(uint64_t ns);

/* An estimate, to two digits of one unit at most: "12 s", "50 minutes", "1 hour", "54 days". */
struct fmt fmt_duration_rough(uint64_t ns);

/* "12.5%", "<0.1%", "100%"; "-" when of nothing. */
struct fmt fmt_percent(uint64_t part, uint64_t whole);

/* "2026-03-01 12:34:56" local time of CLOCK_REALTIME nanoseconds. */
struct fmt fmt_time(uint64_t realtime_ns);

/*
 * "4096", "64K", "1.5M", "2G", "1T" (1024; an ending B or iB is accepted). 0 or -EINVAL, -ERANGE.
 */
int fmt_parse_size(const char *text, uint64_t *bytes, struct err *e);

/*
 * "10ms", "5s", "2m", "3h", "1d", "500us", "20ns"; a bare number is seconds; fractions allowed. 0,
 * -EINVAL, -ERANGE.
 */
int fmt_parse_duration(const char *text, uint64_t *ns, struct err *e);

/* A plain decimal number. 0, -EINVAL, -ERANGE. */
int fmt_parse_uint(const char *text, uint64_t *n, struct err *e);

/*
 * "MIN", "MIN:", ":MAX", "MIN:MAX", each end through `parse`. 0, -EINVAL (also MIN > MAX), -ERANGE.
 */
int fmt_parse_range(const char *text, struct fmt_range *range,
		    int (*parse)(const char *, uint64_t *, struct err *), struct err *e);

#endif
