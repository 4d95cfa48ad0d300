/* SPDX-License-Identifier: MIT */
/*
 * Functions of wide characters, which are four bytes each.
 */
#include "agent/strings/hooks_wide.h"

/* Bytes of n wide characters; SIZE_MAX when there cannot be so many. */
static inline size_t bytes_of(size_t n)
{
	size_t bytes;

	return __builtin_mul_overflow(n, WIDE, &bytes) ? SIZE_MAX : bytes;
}

/* Characters of a string of at most n, or as many as can be read. */
static size_t length_within(const wide *s, size_t n, const char *function,
			    const struct caller *from)
{
	size_t left = bounds_left(s, n != 0) / WIDE, found = NEXT(wcsnlen)(s, least(n, left)), may;

	if (found < left || n <= left)
		return found;
	may = bounds_over(s, n == SIZE_MAX ? SIZE_MAX : bytes_of(n), PMM_ACCESS_READ, function,
			  from);
	return NEXT(wcsnlen)(s, may == SIZE_MAX ? n : least(n, may / WIDE));
}

size_t wide_length(const wide *s, const char *function, const struct caller *from)
{
	return length_within(s, SIZE_MAX, function, from);
}

/* `length` characters and a NUL, as far as may be. */
static void put(wide *to, const wide *source, size_t length, const char *function,
		const struct caller *from)
{
	size_t may = bounds_check(to, (length + 1) * WIDE, PMM_ACCESS_WRITE, function, from) / WIDE;

	overlap_check(to, source, (length + 1) * WIDE, function, from);
	NEXT(memmove)(to, source, least(length, may) * WIDE);
	if (may > length)
		to[length] = 0;
}

static void copy(wide *to, const wide *source, size_t n, bool overlaps, const char *function,
		 const struct caller *from)
{
	size_t bytes = bytes_of(n),
	       read = bounds_check(source, bytes, PMM_ACCESS_READ, function, from);
	size_t may = least(read, bounds_check(to, bytes, PMM_ACCESS_WRITE, function, from));

	if (!overlaps)
		overlap_check(to, source, bytes, function, from);
	NEXT(memmove)(to, source, may);
}

HOOK(size_t, wcslen, const wide *s)
{
	return wide_length(s, "wcslen", FROM);
}

HOOK(size_t, wcsnlen, const wide *s, size_t n)
{
	return length_within(s, n, "wcsnlen", FROM);
}

HOOK(wide *, wcscpy, wide *to, const wide *source)
{
	const struct caller *from = FROM;

	put(to, source, length_within(source, SIZE_MAX, "wcscpy", from), "wcscpy", from);
	return to;
}

HOOK(wide *, wcpcpy, wide *to, const wide *source)
{
	const struct caller *from = FROM;
	size_t n = length_within(source, SIZE_MAX, "wcpcpy", from);

	put(to, source, n, "wcpcpy", from);
	return to + n;
}

HOOK(wide *, wcsncpy, wide *to, const wide *source, size_t n)
{
	const struct caller *from = FROM;
	size_t length = length_within(source, n, "wcsncpy", from), may;

	may = bounds_check(to, bytes_of(n), PMM_ACCESS_WRITE, "wcsncpy", from) / WIDE;
	overlap_check(to, source, least(length + 1, n) * WIDE, "wcsncpy", from);
	NEXT(memmove)(to, source, least(length, may) * WIDE);
	if (may > length)
		NEXT(memset)(to + length, 0, (may - length) * WIDE);
	return to;
}

HOOK(wide *, wcscat, wide *to, const wide *source)
{
	const struct caller *from = FROM;
	size_t n = length_within(source, SIZE_MAX, "wcscat", from);

	put(to + length_within(to, SIZE_MAX, "wcscat", from), source, n, "wcscat", from);
	return to;
}

HOOK(wide *, wcsncat, wide *to, const wide *source, size_t n)
{
	const struct caller *from = FROM;
	size_t length = length_within(source, n, "wcsncat", from);

	put(to + length_within(to, SIZE_MAX, "wcsncat", from), source, length, "wcsncat", from);
	return to;
}

/* Up to the first difference or the end of both, but no more than n characters. */
static int compare(const wide *a, const wide *b, size_t n, const char *function,
		   const struct caller *from)
{
	size_t left_a = bounds_left(a, n != 0) / WIDE, left_b = bounds_left(b, n != 0) / WIDE,
	       left = least(n, least(left_a, left_b)), i = 0;
	size_t may = n, bytes = n == SIZE_MAX ? n : bytes_of(n);

	while (i < left && a[i] == b[i] && a[i])
		i++;
	if (i < left)
		return a[i] < b[i] ? -1 : a[i] > b[i];
	if (left == n)
		return 0;
	if (left_a == left)
		may = least(may, bounds_over(a, bytes, PMM_ACCESS_READ, function, from) / WIDE);
	if (left_b == left)
		may = least(may, bounds_over(b, bytes, PMM_ACCESS_READ, function, from) / WIDE);
	while (i < may && a[i] == b[i] && a[i])
		i++;
	return i == may || a[i] == b[i] ? 0 : a[i] < b[i] ? -1 : 1;
}

HOOK(int, wcscmp, const wide *a, const wide *b)
{
	if (!bounds_suspect(a) && !bounds_suspect(b))
		return NEXT(wcscmp)(a, b);
	return compare(a, b, SIZE_MAX, "wcscmp", FROM);
}

HOOK(int, wcsncmp, const wide *a, const wide *b, size_t n)
{
	if (!bounds_suspect(a) && !bounds_suspect(b))
		return NEXT(wcsncmp)(a, b, n);
	return compare(a, b, n, "wcsncmp", FROM);
}

HOOK(wide *, wmemcpy, wide *to, const wide *source, size_t n)
{
	copy(to, source, n, false, "wmemcpy", FROM);
	return to;
}

HOOK(wide *, wmempcpy, wide *to, const wide *source, size_t n)
{
	copy(to, source, n, false, "wmempcpy", FROM);
	return to + n;
}

HOOK(wide *, wmemmove, wide *to, const wide *source, size_t n)
{
	copy(to, source, n, true, "wmemmove", FROM);
	return to;
}

HOOK(wide *, wmemset, wide *to, wide c, size_t n)
{
	return NEXT(wmemset)(
		to, c, bounds_check(to, bytes_of(n), PMM_ACCESS_WRITE, "wmemset", FROM) / WIDE);
}

HOOK(wide *, wmemchr, const wide *s, wide c, size_t n)
{
	size_t left = least(n, bounds_left(s, n != 0) / WIDE);
	wide *found = NEXT(wmemchr)(s, c, left);

	if (found || left == n)
		return found;
	return NEXT(wmemchr)(s, c,
			     bounds_over(s, bytes_of(n), PMM_ACCESS_READ, "wmemchr", FROM) / WIDE);
}

HOOK(int, wmemcmp, const wide *a, const wide *b, size_t n)
{
	size_t left_a = bounds_left(a, n != 0) / WIDE, left_b = bounds_left(b, n != 0) / WIDE,
	       left = least(left_a, left_b), may = n;
	const struct caller *from = FROM;
	int order = NEXT(wmemcmp)(a, b, least(n, left));

	if (order || n <= left)
		return order;
	if (left_a < n)
		may = least(may,
			    bounds_over(a, bytes_of(n), PMM_ACCESS_READ, "wmemcmp", from) / WIDE);
	if (left_b < n)
		may = least(may,
			    bounds_over(b, bytes_of(n), PMM_ACCESS_READ, "wmemcmp", from) / WIDE);
	return NEXT(wmemcmp)(a, b, may);
}

/* ---- searching in strings -------------------------------------------------------------------- */

/* What is found first, a character or the end, is looked for in as much as the block holds. */
HOOK(wide *, wcschr, const wide *s, wide c)
{
	size_t left = bounds_left(s, 1) / WIDE, n;
	wide *found;

	if (left == SIZE_MAX / WIDE)
		return NEXT(wcschr)(s, c);
	n = NEXT(wcsnlen)(s, left);
	found = NEXT(wmemchr)(s, c, n < left ? n + 1 : n);
	if (found || n < left)
		return found;
	return bounds_over(s, SIZE_MAX, PMM_ACCESS_READ, "wcschr", FROM) == SIZE_MAX
		       ? NEXT(wcschr)(s, c)
		       : NULL;
}

HOOK(wide *, wcsrchr, const wide *s, wide c)
{
	size_t n = length_within(s, SIZE_MAX, "wcsrchr", FROM);

	if (!c)
		return (wide *)s + n;
	while (n--)
		if (s[n] == c)
			return (wide *)s + n;
	return NULL;
}

HOOK(wide *, wcsstr, const wide *s, const wide *what)
{
	const struct caller *from = FROM;
	size_t nr = length_within(what, SIZE_MAX, "wcsstr", from), left = bounds_left(s, 1) / WIDE,
	       n;

	if (left == SIZE_MAX / WIDE)
		return NEXT(wcsstr)(s, what);
	n = NEXT(wcsnlen)(s, left);
	for (size_t i = 0; i + nr <= n; i++)
		if (!NEXT(wmemcmp)(s + i, what, nr))
			return (wide *)s + i;
	if (n == left)
		length_within(s, SIZE_MAX, "wcsstr", from);
	return NULL;
}
