/*
 * Functions of strings: how far they go is found out from the string.
 *
 * Nothing is read that the real function would not read, and nothing twice that can be long: a buffer that is searched line after line
 * must not be gone through to its end each time.
 */
#include "agent/check/strings.h"

#define NEAR	65536u		/* copies between strings at least so far from each other are taken to be apart */
#define WINDOW	128u		/* bytes searched at first; twice as many each next time */

static inline bool put_passes(const char *to, const char *source)
{
	return !bounds_suspect(to) && !bounds_suspect(source) && apart(to, source, NEAR);
}

/* ---- length --------------------------------------------------------------------------------------------- */

static SLOW size_t strlen_body(const char *s)
{
	return string_length(s, "strlen", FROM);
}

HOOK(size_t, strlen, const char *s)
{
	ENTRY(!bounds_suspect(s), strlen, strlen, s);
}

HOOK(size_t, strnlen, const char *s, size_t n)
{
	return string_length_within(s, n, "strnlen", FROM);
}

/* ---- copying -------------------------------------------------------------------------------------------- */

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

/* Of `source` no more is read than up to its NUL; all n bytes of `to` are written. Returns the string's length. */
static inline size_t put_padded(char *to, const char *source, size_t n, const char *function, const struct caller *from)
{
	size_t length = string_length_within(source, n, function, from);
	size_t may = bounds_check(to, n, PMM_ACCESS_WRITE, function, from);

	overlap_check(to, source, length < n ? length + 1 : n, function, from);
	NEXT(memmove)(to, source, least(length, may));
	if (may > length)
		NEXT(memset)(to + length, 0, may - length);
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

/* ---- comparing ------------------------------------------------------------------------------------------ */

typedef int compare_within(const char *a, const char *b, size_t n);

/*
 * Up to the first difference or the end of both, but no more than n bytes. `within` is the real function with a number.
 */
static int compare(const char *a, const char *b, size_t n, compare_within *within, const char *function, const struct caller *from)
{
	size_t left_a = bounds_left(a, n != 0), left_b = bounds_left(b, n != 0), left = least(left_a, left_b), may = n;
	int order = within(a, b, least(n, left));

	if (order || n <= left || NEXT(strnlen)(a, left) < left)
		return order;
	if (left_a == left)
		may = least(may, bounds_over(a, n, PMM_ACCESS_READ, function, from));
	if (left_b == left)
		may = least(may, bounds_over(b, n, PMM_ACCESS_READ, function, from));
	return within(a, b, may);
}

static SLOW int strcmp_body(const char *a, const char *b)
{
	return compare(a, b, SIZE_MAX, NEXT(strncmp), "strcmp", FROM);
}

HOOK(int, strcmp, const char *a, const char *b)
{
	ENTRY(!bounds_suspect(a) && !bounds_suspect(b), strcmp, strcmp, a, b);
}

static SLOW int strncmp_body(const char *a, const char *b, size_t n)
{
	return compare(a, b, n, NEXT(strncmp), "strncmp", FROM);
}

HOOK(int, strncmp, const char *a, const char *b, size_t n)
{
	ENTRY(!bounds_suspect(a) && !bounds_suspect(b), strncmp, strncmp, a, b, n);
}

static SLOW int strcasecmp_body(const char *a, const char *b)
{
	return compare(a, b, SIZE_MAX, NEXT(strncasecmp), "strcasecmp", FROM);
}

HOOK(int, strcasecmp, const char *a, const char *b)
{
	ENTRY(!bounds_suspect(a) && !bounds_suspect(b), strcasecmp, strcasecmp, a, b);
}

static SLOW int strncasecmp_body(const char *a, const char *b, size_t n)
{
	return compare(a, b, n, NEXT(strncasecmp), "strncasecmp", FROM);
}

HOOK(int, strncasecmp, const char *a, const char *b, size_t n)
{
	ENTRY(!bounds_suspect(a) && !bounds_suspect(b), strncasecmp, strncasecmp, a, b, n);
}

/* ---- searching ------------------------------------------------------------------------------------------ */

/* The first c, or NUL: *at. False: neither is in the first `left` bytes. */
static bool find_char(const char *s, int c, size_t left, const char **at)
{
	size_t done = 0, window = WINDOW, n, length;

	for (; done < left; done += n, window *= 2) {
		n = least(window, left - done);
		length = NEXT(strnlen)(s + done, n);
		*at = NEXT(memchr)(s + done, c, length);
		if (*at)
			return true;
		*at = s + done + length;
		if (length < n)
			return true;
	}
	return false;
}

static const char *search(const char *s, int c, const char *function, const struct caller *from)
{
	size_t left = bounds_left(s, 1);
	const char *at;

	if (left == SIZE_MAX)
		return NEXT(strchrnul)(s, c);
	if (likely(find_char(s, c, left, &at)))
		return at;
	left = bounds_over(s, SIZE_MAX, PMM_ACCESS_READ, function, from);
	return left == SIZE_MAX || find_char(s, c, left, &at) ? NEXT(strchrnul)(s, c) : s + left;
}

static SLOW char *strchr_body(const char *s, int c)
{
	const char *at = search(s, c, "strchr", FROM);

	return *at == (char)c ? (char *)at : NULL;
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
	return (char *)search(s, c, "strchrnul", FROM);
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

/* Like find_char(); *at is NULL where the string ends without it. */
static bool find_string(const char *s, const char *what, size_t what_length, size_t left, const char **at)
{
	size_t done = 0, window = WINDOW + 2 * what_length, n, length;

	for (; done < left; window *= 2) {
		n = least(window, left - done);
		length = NEXT(strnlen)(s + done, n);
		*at = NEXT(memmem)(s + done, length, what, what_length);
		if (*at || length < n)
			return true;
		done += n < left - done ? n + 1 - what_length : n;	/* it may begin at the end of this window */
	}
	return false;
}

static SLOW char *strstr_body(const char *s, const char *what)
{
	size_t n = string_length(what, "strstr", FROM), left = bounds_left(s, 1);
	const char *at;

	if (left == SIZE_MAX || !n)
		return NEXT(strstr)(s, what);
	if (likely(find_string(s, what, n, left, &at)))
		return (char *)at;
	left = bounds_over(s, SIZE_MAX, PMM_ACCESS_READ, "strstr", FROM);
	return left == SIZE_MAX ? NEXT(strstr)(s, what) : NULL;
}

HOOK(char *, strstr, const char *s, const char *what)
{
	ENTRY(!bounds_suspect(s) && !bounds_suspect(what), strstr, strstr, s, what);
}

/* ---- sets of characters --------------------------------------------------------------------------------- */

struct set {
	uint64_t bit[4];
};

static bool set_has(const struct set *set, char c)
{
	return set->bit[(uint8_t)c >> 6] >> ((uint8_t)c & 63) & 1;
}

/* How many characters at the start of s are (not) in the set. NUL is neither. */
static size_t span(const char *s, const char *chars, bool in, const char *function, const struct caller *from)
{
	size_t nr = string_length(chars, function, from), left = bounds_left(s, 1), i = 0;
	struct set set = { { 0 } };

	for (size_t k = 0; k < nr; k++)
		set.bit[(uint8_t)chars[k] >> 6] |= 1ull << ((uint8_t)chars[k] & 63);
	while (i < left && s[i] && set_has(&set, s[i]) == in)
		i++;
	if (likely(i < left))
		return i;
	left = bounds_over(s, SIZE_MAX, PMM_ACCESS_READ, function, from);
	while (i < left && s[i] && set_has(&set, s[i]) == in)
		i++;
	return i;
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

	return s[n] ? (char *)s + n : NULL;
}

HOOK(char *, strpbrk, const char *s, const char *set)
{
	ENTRY(!bounds_suspect(s) && !bounds_suspect(set), strpbrk, strpbrk, s, set);
}
