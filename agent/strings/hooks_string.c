/* SPDX-License-Identifier: MIT */
/*
 * Functions of strings: how far they go is found out from the string.
 *
 * Outside of the guard pool the real function comes first, and where it got to is looked at
 * afterwards: what is behind a block can be read, and nothing long is gone through twice, such as
 * a buffer that is searched line after line. In the pool, and where something is wrong, the
 * `careful' form reads no further than the block.
 */
#include "agent/strings/strings.h"

/* copies between strings at least so far from each other are taken to be apart */
#define NEAR	65536u

static inline bool put_passes(const char *to, const char *source)
{
	return !bounds_suspect(to) && !bounds_suspect(source) && apart(to, source, NEAR);
}

/* ---- length ---------------------------------------------------------------------------------- */

static SLOW size_t strlen_body(const char *s)
{
	return string_length(s, "strlen", FROM);
}

/* A short string's end is found by the look at it. */
HOOK(size_t, strlen, const char *s)
{
	bool in = bounds_canaried(s);
	size_t n;

	if (!in || bounds_guarded(s) || !quick_length(s, &n))
		ENTRY(!in && !bounds_guarded(s), strlen, strlen, s);
	return n;
}

HOOK(size_t, strnlen, const char *s, size_t n)
{
	return string_length_within(s, n, "strnlen", FROM);
}

/* ---- copying --------------------------------------------------------------------------------- */

static SLOW char *strcpy_body(char *to, const char *source)
{
	const struct caller *from = FROM;

	string_put(to, source, string_length(source, "strcpy", from), "strcpy", from);
	return to;
}

HOOK(char *, strcpy, char *to, const char *source)
{
	ENTRY(put_passes(to, source), strcpy, strcpy, to, source);
}

static SLOW char *stpcpy_body(char *to, const char *source)
{
	const struct caller *from = FROM;
	size_t n = string_length(source, "stpcpy", from);

	string_put(to, source, n, "stpcpy", from);
	return to + n;
}

HOOK(char *, stpcpy, char *to, const char *source)
{
	ENTRY(put_passes(to, source), stpcpy, stpcpy, to, source);
}

/* Zeros from `length` on; of what begins before a block (may is 0) those in it. */
static void pad(char *to, size_t length, size_t n, size_t may)
{
	size_t before = may ? 0 : bounds_before(to, n), start = before > length ? before : length;

	if (before)
		may = start + least(n - start, bounds_left(to + start, n - start));
	if (may > start)
		NEXT(memset)(to + start, 0, may - start);
}

/*
 * Of `source` no more is read than up to its NUL; all n bytes of `to` are written. Returns the
 * string's length.
 */
static inline size_t put_padded(char *to, const char *source, size_t n, const char *function,
				const struct caller *from)
{
	size_t length = string_length_within(source, n, function, from);
	size_t may = string_stays(to, n) ? n
					 : bounds_check(to, n, PMM_ACCESS_WRITE, function, from);

	overlap_check(to, source, length < n ? length + 1 : n, function, from);
	string_copy(to, source, length, least(length, may));
	pad(to, length, n, may);
	return length;
}

HOOK(char *, strncpy, char *to, const char *source, size_t n)
{
	put_padded(to, source, n, "strncpy", FROM);
	return to;
}

HOOK(char *, stpncpy, char *to, const char *source, size_t n)
{
	return to + put_padded(to, source, n, "stpncpy", FROM);
}

HOOK(char *, strcat, char *to, const char *source)
{
	const struct caller *from = FROM;
	size_t n = string_length(source, "strcat", from);

	string_put(to + string_length(to, "strcat", from), source, n, "strcat", from);
	return to;
}

HOOK(char *, strncat, char *to, const char *source, size_t n)
{
	const struct caller *from = FROM;
	size_t length = string_length_within(source, n, "strncat", from);

	string_put(to + string_length(to, "strncat", from), source, length, "strncat", from);
	return to;
}

/* The copy is made by the real function, which is seen where it allocates. */
static SLOW char *strdup_body(const char *s)
{
	return NEXT(strndup)(s, string_length(s, "strdup", FROM));
}

HOOK(char *, strdup, const char *s)
{
	ENTRY(!bounds_suspect(s), strdup, strdup, s);
}

HOOK(char *, strndup, const char *s, size_t n)
{
	return NEXT(strndup)(s, string_length_within(s, n, "strndup", FROM));
}

/* ---- comparing ------------------------------------------------------------------------------- */

typedef int compare_within(const char *a, const char *b, size_t n);

/*
 * Up to the first difference or the end of both, but no more than n bytes. `within` is the real
 * function with a number.
 */
static SLOW int compare_careful(const char *a, const char *b, size_t n, compare_within *within,
				const char *function, const struct caller *from)
{
	size_t left_a = bounds_left(a, n != 0), left_b = bounds_left(b, n != 0),
	       left = least(left_a, left_b), may = n;
	int order = within(a, b, least(n, left));

	if (order || n <= left || NEXT(strnlen)(a, left) < left)
		return order;
	if (left_a == left)
		may = least(may, bounds_over(a, n, PMM_ACCESS_READ, function, from));
	if (left_b == left)
		may = least(may, bounds_over(b, n, PMM_ACCESS_READ, function, from));
	return within(a, b, may);
}

/*
 * Bytes of both that a comparison looks at: it ends with a difference or with the strings. fold:
 * small and capital letters are the same.
 */
static inline size_t compared(const char *a, const char *b, size_t n, bool fold)
{
	uint32_t end, high;
	size_t i = 0;

	while (i < n && !fold && quick_whole(a + i, ARCH_LANES) && quick_whole(b + i, ARCH_LANES)) {
		end = arch_lanes_end(a + i, b + i, &high);
		if (end)
			return least(n, i + (unsigned)__builtin_ctz(end) + 1);
		i += ARCH_LANES;
	}
	while (i < n && a[i] && (a[i] == b[i] || (fold && ((a[i] ^ b[i]) & 0xdf) == 0)))
		i++;
	return i < n ? i + 1 : n;
}

static inline __attribute__((always_inline)) int compare(const char *a, const char *b, size_t n,
							 bool fold, compare_within *within,
							 const char *function,
							 const struct caller *from)
{
	size_t bytes;

	if (!bounds_guarded(a) && !bounds_guarded(b)) {
		bytes = compared(a, b, n, fold);
		if (likely(string_stays(a, bytes) && string_stays(b, bytes)))
			return within(a, b, n);
	}
	return compare_careful(a, b, n, within, function, from);
}

static SLOW int strcmp_body(const char *a, const char *b)
{
	return compare(a, b, SIZE_MAX, false, NEXT(strncmp), "strcmp", FROM);
}

HOOK(int, strcmp, const char *a, const char *b)
{
	ENTRY(quick_compares(a, b, SIZE_MAX), strcmp, strcmp, a, b);
}

static SLOW int strncmp_body(const char *a, const char *b, size_t n)
{
	return compare(a, b, n, false, NEXT(strncmp), "strncmp", FROM);
}

HOOK(int, strncmp, const char *a, const char *b, size_t n)
{
	ENTRY(quick_compares(a, b, n), strncmp, strncmp, a, b, n);
}

static SLOW int strcasecmp_body(const char *a, const char *b)
{
	return compare(a, b, SIZE_MAX, true, NEXT(strncasecmp), "strcasecmp", FROM);
}

HOOK(int, strcasecmp, const char *a, const char *b)
{
	ENTRY(!bounds_suspect(a) && !bounds_suspect(b), strcasecmp, strcasecmp, a, b);
}

static SLOW int strncasecmp_body(const char *a, const char *b, size_t n)
{
	return compare(a, b, n, true, NEXT(strncasecmp), "strncasecmp", FROM);
}

HOOK(int, strncasecmp, const char *a, const char *b, size_t n)
{
	ENTRY(!bounds_suspect(a) && !bounds_suspect(b), strncasecmp, strncasecmp, a, b, n);
}

/* ---- searching ------------------------------------------------------------------------------- */

/* The first c or else the NUL; NULL when neither can be read. */
static SLOW const char *search_careful(const char *s, int c, const char *function,
				       const struct caller *from)
{
	size_t left = bounds_left(s, 1), n;
	const char *at;

	if (left == SIZE_MAX)
		return NEXT(strchrnul)(s, c);
	n = NEXT(strnlen)(s, left);
	at = NEXT(memchr)(s, c, n);
	if (at || n < left)
		return at ? at : s + n;
	left = bounds_over(s, SIZE_MAX, PMM_ACCESS_READ, function, from);
	return left == SIZE_MAX ? NEXT(strchrnul)(s, c) : NULL;
}

static inline __attribute__((always_inline)) const char *search(const char *s, int c,
								const char *function,
								const struct caller *from)
{
	const char *at;

	if (!bounds_guarded(s)) {
		at = NEXT(strchrnul)(s, c);
		if (likely(string_stays(s, (size_t)(at - s) + 1)))
			return at;
	}
	return search_careful(s, c, function, from);
}

static SLOW char *strchr_body(const char *s, int c)
{
	const char *at = search(s, c, "strchr", FROM);

	return at && *at == (char)c ? (char *)at : NULL;
}

HOOK(char *, strchr, const char *s, int c)
{
	ENTRY(!bounds_suspect(s), strchr, strchr, s, c);
}

HOOK(char *, index, const char *s, int c)
{
	ENTRY(!bounds_suspect(s), strchr, strchr, s, c);
}

static SLOW char *strchrnul_body(const char *s, int c)
{
	const char *at = search(s, c, "strchrnul", FROM);

	return (char *)(at ? at : s + bounds_left(s, 1));
}

HOOK(char *, strchrnul, const char *s, int c)
{
	ENTRY(!bounds_suspect(s), strchrnul, strchrnul, s, c);
}

static SLOW char *strrchr_body(const char *s, int c)
{
	size_t n = string_length(s, "strrchr", FROM);

	return (char)c ? NEXT(memrchr)(s, c, n) : (char *)s + n;
}

HOOK(char *, strrchr, const char *s, int c)
{
	ENTRY(!bounds_suspect(s), strrchr, strrchr, s, c);
}

HOOK(char *, rindex, const char *s, int c)
{
	ENTRY(!bounds_suspect(s), strrchr, strrchr, s, c);
}

typedef char *find_string(const char *s, const char *what);
typedef int same_string(const char *a, const char *b, size_t n);

/* In a guarded block, as far as it goes. */
static SLOW char *find_careful(const char *s, const char *what, size_t n, same_string *differ,
			       const char *function, const struct caller *from)
{
	size_t left = bounds_left(s, 1),
	       length = left == SIZE_MAX ? NEXT(strlen)(s) : NEXT(strnlen)(s, left);

	for (size_t i = 0; i + n <= length; i++)
		if (!differ(s + i, what, n))
			return (char *)s + i;
	if (length == left)
		string_length(s, function, from);
	return NULL;
}

/*
 * A string found may have a neighbour that is not read any more, and so what is behind it may be no
 * string.
 */
static char *find(const char *s, const char *what, find_string *real, same_string *differ,
		  const char *function, const struct caller *from)
{
	size_t n = string_length(what, function, from);
	char *found;

	if (bounds_guarded(s) || bounds_guarded(what))
		return find_careful(s, what, n, differ, function, from);
	found = real(s, what);
	if (!found)
		string_length(s, function, from);
	else if (unlikely(!string_stays(s, (size_t)(found - s) + n)))
		bounds_check(s, (size_t)(found - s) + n, PMM_ACCESS_READ, function, from);
	return found;
}

static SLOW char *strstr_body(const char *s, const char *what)
{
	return find(s, what, NEXT(strstr), NEXT(strncmp), "strstr", FROM);
}

HOOK(char *, strstr, const char *s, const char *what)
{
	ENTRY(!bounds_suspect(s) && !bounds_suspect(what), strstr, strstr, s, what);
}

static SLOW char *strcasestr_body(const char *s, const char *what)
{
	return find(s, what, NEXT(strcasestr), NEXT(strncasecmp), "strcasestr", FROM);
}

HOOK(char *, strcasestr, const char *s, const char *what)
{
	ENTRY(!bounds_suspect(s) && !bounds_suspect(what), strcasestr, strcasestr, s, what);
}
