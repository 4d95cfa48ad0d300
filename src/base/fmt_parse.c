/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as people type them: sizes, durations, ranges. */
#include "src/base/fmt.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 }, { "b", 1 },
	{ "k", 1ull << 10 }, { "kb", 1ull << 10 }, { "kib", 1ull << 10 },
	{ "m", 1ull << 20 }, { "mb", 1ull << 20 }, { "mib", 1ull << 20 },
	{ "g", 1ull << 30 }, { "gb", 1ull << 30 }, { "gib", 1ull << 30 },
	{ "t", 1ull << 40 }, { "tb", 1ull << 40 }, { "tib", 1ull << 40 },
	{ NULL, 0 }
};

static const struct unit time_units[] = {
	{ "", 1000000000 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	{ "m", 60000000000 }, { "min", 60000000000 }, { "h", 3600000000000 },
	{ "d", 86400000000000 },
	{ NULL, 0 }
};

static const struct unit no_units[] = { { "", 1 }, { NULL, 0 } };

/*
 * Digits with an optional fraction (at most 9 digits of it count), then a unit: whole + fraction *
 * factor, exact.
 */
static int parse(const char *text, const struct unit *units, uint64_t *out)
{
	const char *p = text;
	uint64_t n = 0, part = 0, scale = 1, frac;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
			return -ERANGE;
	if (p == text)
		return -EINVAL;
	if (*p == '.' && units != no_units) {
		if (p[1] < '0' || p[1] > '9')
			return -EINVAL;
		for (p++; *p >= '0' && *p <= '9'; p++) {
			if (scale < 1000000000) {
				part = part * 10 + (*p - '0');
				scale *= 10;
			}
		}
	}
	for (; units->name; units++)
		if (!strcasecmp(units->name, p))
			break;
	if (!units->name)
		return -EINVAL;
	frac = (uint64_t)((unsigned __int128)part * units->factor / scale);
	if (__builtin_mul_overflow(n, units->factor, &n) || __builtin_add_overflow(n, frac, &n))
		return -ERANGE;
	*out = n;
	return 0;
}

static int report(int rc, const char *text, const char *what, const char *hint, struct err *e)
{
	if (rc == -ERANGE)
		return err_set(e, rc, "'%s' is too large", text);
	if (rc) {
		err_set(e, rc, "'%s' is not a %s", text, what);
		err_hint(e, "%s", hint);
	}
	return rc;
}

int fmt_parse_size(const char *text, uint64_t *bytes, struct err *e)
{
	return report(parse(text, size_units, bytes), text, "size",
		      "a number of bytes, or with K, M, G or T: 4096, 64K, 1.5M", e);
}

int fmt_parse_duration(const char *text, uint64_t *ns, struct err *e)
{
	return report(parse(text, time_units, ns), text, "duration",
		      "a number of seconds, or with ns, us, ms, s, m, h or d: 10ms, 5s, 2m", e);
}

int fmt_parse_uint(const char *text, uint64_t *n, struct err *e)
{
	return report(parse(text, no_units, n), text, "number", "decimal digits only", e);
}

int fmt_parse_range(const char *text, struct fmt_range *range,
		    int (*parse_end)(const char *, uint64_t *, struct err *), struct err *e)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	struct fmt_range r = { 0, UINT64_MAX };
	char low[64];
	int rc;

	if (len >= sizeof(low) || (!len && (!colon || !colon[1]))) {
		err_set(e, -EINVAL, "'%s' is not a range", text);
		err_hint(e, "MIN, MIN:MAX or :MAX");
		return -EINVAL;
	}
	memcpy(low, text, len);
	low[len] = '\0';
	if (len && (rc = parse_end(low, &r.min, e)))
		return rc;
	if (colon && colon[1] && (rc = parse_end(colon + 1, &r.max, e)))
		return rc;
	if (r.min > r.max)
		return err_set(e, -EINVAL, "the range '%s' is empty", text);
	*range = r;
	return 0;
}
