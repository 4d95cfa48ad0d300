/* SPDX-License-Identifier: MIT */
/*
 * Functions of strings that take a set of characters: how far a string consists of them, and what
 * is between them.
 */
#include "agent/strings/strings.h"

struct set {
	uint64_t bit[4];
};

static bool set_has(const struct set *set, char c)
{
	return set->bit[(uint8_t)c >> 6] >> ((uint8_t)c & 63) & 1;
}

/* How many characters at the start of s are (not) in the set. NUL is neither. */
static SLOW size_t span_careful(const char *s, const char *chars, bool in, const char *function,
				const struct caller *from)
{
	size_t nr = string_length(chars, function, from), left = bounds_left(s, 1), i = 0;
	struct set set = { { 0 } };

	for (size_t k = 0; k < nr; k++)
		set.bit[(uint8_t)chars[k] >> 6] |= 1ull << ((uint8_t)chars[k] & 63);
	while (i < left && s[i] && set_has(&set, s[i]) == in)
		i++;
	if (i < left)
		return i;
	left = bounds_over(s, SIZE_MAX, PMM_ACCESS_READ, function, from);
	while (i < left && s[i] && set_has(&set, s[i]) == in)
		i++;
	return i;
}

static inline __attribute__((always_inline)) size_t span(const char *s, const char *chars, bool in,
							 const char *function,
							 const struct caller *from)
{
	size_t n;

	if (!bounds_guarded(s) && !bounds_guarded(chars)) {
		string_length(chars, function, from);
		n = in ? NEXT(strspn)(s, chars) : NEXT(strcspn)(s, chars);
		if (likely(string_stays(s, n + 1)))
			return n;
	}
	return span_careful(s, chars, in, function, from);
}

static SLOW size_t strspn_body(const char *s, const char *set)
{
	return span(s, set, true, "strspn", FROM);
}

HOOK(size_t, strspn, const char *s, const char *set)
{
	ENTRY(!bounds_suspect(s) && !bounds_suspect(set), strspn, strspn, s, set);
}

static SLOW size_t strcspn_body(const char *s, const char *set)
{
	return span(s, set, false, "strcspn", FROM);
}

HOOK(size_t, strcspn, const char *s, const char *set)
{
	ENTRY(!bounds_suspect(s) && !bounds_suspect(set), strcspn, strcspn, s, set);
}

static SLOW char *strpbrk_body(const char *s, const char *set)
{
	size_t n = span(s, set, false, "strpbrk", FROM);

	return !(bounds_guarded(s) && n >= bounds_left(s, 1)) && s[n] ? (char *)s + n : NULL;
}

HOOK(char *, strpbrk, const char *s, const char *set)
{
	ENTRY(!bounds_suspect(s) && !bounds_suspect(set), strpbrk, strpbrk, s, set);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/*
 * How many characters at the start of s are (not) in the set; sets *over when the string leaves its
 * block, which is reported once.
 */
static size_t part(const char *s, const char *set, bool in, const char *function,
		   const struct caller *from, bool *over)
{
	size_t n;

	if (*over)
		return in ? NEXT(strspn)(s, set) : NEXT(strcspn)(s, set);
	n = span(s, set, in, function, from);
	*over = n >= bounds_left(s, 1);
	return n;
}

/* Does the string end there? In the guard pool it does where its block does. */
static inline bool at_end(const char *s, bool over)
{
	return (over && bounds_guarded(s)) || !*s;
}

/* Cut off what is before the next one of the set; returns what follows, NULL: nothing does. */
static char *cut(char *s, const char *set, const char *function, const struct caller *from,
		 bool over, char **end)
{
	*end = s + part(s, set, false, function, from, &over);
	if (at_end(*end, over))
		return NULL;
	**end = 0;
	return *end + 1;
}

static char *token(char *s, const char *set, char **rest, const char *function,
		   const struct caller *from)
{
	bool over = false;
	char *next, *end;

	s = s ? s : *rest;
	if (!s)
		return NULL;
	s += part(s, set, true, function, from, &over);
	if (at_end(s, over)) {
		*rest = s;
		return NULL;
	}
	next = cut(s, set, function, from, over, &end);
	*rest = next ? next : end;
	return s;
}

static char *rest_of_strtok;		/* the real one does not see what we do */

HOOK(char *, strtok, char *s, const char *set)
{
	return token(s, set, &rest_of_strtok, "strtok", FROM);
}

HOOK(char *, strtok_r, char *s, const char *set, char **rest)
{
	return token(s, set, rest, "strtok_r", FROM);
}

HOOK(char *, __strtok_r, char *s, const char *set, char **rest)
{
	return token(s, set, rest, "strtok_r", FROM);
}

HOOK(char *, strsep, char **rest, const char *set)
{
	char *s = *rest, *end;

	if (s)
		*rest = cut(s, set, "strsep", FROM, false, &end);
	return s;
}
