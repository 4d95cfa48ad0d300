/* SPDX-License-Identifier: MIT */
/*
 * Memory functions: what they will access is known when they are called.
 */
#include "agent/strings/strings.h"

static inline __attribute__((always_inline)) bool copy_passes(const void *to, const void *source,
							      size_t n)
{
	return apart(to, source, n) && quick_both_fit(to, source, n, true);
}

/* How many bytes of a copy can be made. */
static size_t copy_check(const void *to, const void *source, size_t n, const char *function,
			 const struct caller *from)
{
	size_t read = bounds_check(source, n, PMM_ACCESS_READ, function, from);

	return least(read, bounds_check(to, n, PMM_ACCESS_WRITE, function, from));
}

static void copy_wrong(void *to, const void *source, size_t n, const char *function,
		       const struct caller *from)
{
	size_t may = copy_check(to, source, n, function, from);

	overlap_check(to, source, n, function, from);
	string_copy(to, source, n, may);
}

static SLOW void *memcpy_wrong(void *to, const void *source, size_t n)
{
	copy_wrong(to, source, n, "memcpy", FROM);
	return to;
}

static SLOW void *memcpy_body(void *to, const void *source, size_t n)
{
	if (likely(apart(to, source, n)) && bounds_fits(to, n) && bounds_fits(source, n))
		return NEXT(memcpy)(to, source, n);
	return memcpy_wrong(to, source, n);
}

HOOK(void *, memcpy, void *to, const void *source, size_t n)
{
	ENTRY(copy_passes(to, source, n), memcpy, memcpy, to, source, n);
}

/*
 * The memcpy of programs linked before glibc 2.14, which was a memmove: overlap is nothing to them.
 * The linker takes this one for them by its version (agent/check/check.map).
 */
__asm__(".symver memcpy_before_2_14, memcpy@GLIBC_2.2.5");
HOOK_AS(void *, memcpy_before_2_14, void *to, const void *source, size_t n);

static SLOW void *memcpy_old_wrong(void *to, const void *source, size_t n)
{
	string_copy(to, source, n, copy_check(to, source, n, "memcpy", FROM));
	return to;
}

static SLOW void *memcpy_old_body(void *to, const void *source, size_t n)
{
	return bounds_fits(to, n) && bounds_fits(source, n) ? NEXT(memmove)(to, source, n)
							    : memcpy_old_wrong(to, source, n);
}

HOOK(void *, memcpy_before_2_14, void *to, const void *source, size_t n)
{
	ENTRY(quick_both_fit(to, source, n, true), memcpy_old, memmove, to, source, n);
}

static SLOW void *mempcpy_wrong(void *to, const void *source, size_t n)
{
	copy_wrong(to, source, n, "mempcpy", FROM);
	return (char *)to + n;
}

static SLOW void *mempcpy_body(void *to, const void *source, size_t n)
{
	if (likely(apart(to, source, n)) && bounds_fits(to, n) && bounds_fits(source, n))
		return NEXT(mempcpy)(to, source, n);
	return mempcpy_wrong(to, source, n);
}

HOOK(void *, mempcpy, void *to, const void *source, size_t n)
{
	ENTRY(copy_passes(to, source, n), mempcpy, mempcpy, to, source, n);
}

static SLOW void *memmove_wrong(void *to, const void *source, size_t n)
{
	string_copy(to, source, n, copy_check(to, source, n, "memmove", FROM));
	return to;
}

static SLOW void *memmove_body(void *to, const void *source, size_t n)
{
	return bounds_fits(to, n) && bounds_fits(source, n) ? NEXT(memmove)(to, source, n)
							    : memmove_wrong(to, source, n);
}

HOOK(void *, memmove, void *to, const void *source, size_t n)
{
	ENTRY(quick_both_fit(to, source, n, true), memmove, memmove, to, source, n);
}

HOOK(void, bcopy, const void *source, void *to, size_t n)
{
	string_copy(to, source, n, copy_check(to, source, n, "bcopy", FROM));
}

/* What may be filled, or, of what begins before a block, what is in it. */
static void fill(void *to, int c, size_t n, const char *function, const struct caller *from)
{
	size_t may = bounds_check(to, n, PMM_ACCESS_WRITE, function, from),
	       skip = may ? 0 : bounds_before(to, n);

	if (skip) {
		to = (char *)to + skip;
		may = least(n - skip, bounds_left(to, n - skip));
	}
	NEXT(memset)(to, c, may);
}

static SLOW void *memset_wrong(void *to, int c, size_t n)
{
	fill(to, c, n, "memset", FROM);
	return to;
}

static SLOW void *memset_body(void *to, int c, size_t n)
{
	return bounds_fits(to, n) ? NEXT(memset)(to, c, n) : memset_wrong(to, c, n);
}

HOOK(void *, memset, void *to, int c, size_t n)
{
	ENTRY(quick_fits(to, n, true), memset, memset, to, c, n);
}

HOOK(void, bzero, void *to, size_t n)
{
	fill(to, 0, n, "bzero", FROM);
}

HOOK(void, explicit_bzero, void *to, size_t n)
{
	NEXT(explicit_bzero)(to, bounds_check(to, n, PMM_ACCESS_WRITE, "explicit_bzero", FROM));
}

/* ---- searching ------------------------------------------------------------------------------- */

/* What is behind the byte found is not accessed (C11 7.24.5.1). */
static SLOW void *memchr_careful(const void *s, int c, size_t n)
{
	size_t left = least(n, bounds_left(s, n != 0));
	void *found = NEXT(memchr)(s, c, left);

	if (found || left == n)
		return found;
	return NEXT(memchr)(s, c, bounds_over(s, n, PMM_ACCESS_READ, "memchr", FROM));
}

static SLOW void *memchr_body(const void *s, int c, size_t n)
{
	const char *found;

	if (bounds_guarded(s))
		return memchr_careful(s, c, n);
	found = NEXT(memchr)(s, c, n);
	return bounds_fits(s, found ? (size_t)(found - (const char *)s) + 1 : n)
		       ? (void *)found
		       : memchr_careful(s, c, n);
}

HOOK(void *, memchr, const void *s, int c, size_t n)
{
	ENTRY(!bounds_suspect(s), memchr, memchr, s, c, n);
}

HOOK(void *, memrchr, const void *s, int c, size_t n)
{
	return NEXT(memrchr)(s, c, bounds_check(s, n, PMM_ACCESS_READ, "memrchr", FROM));
}

static SLOW void *rawmemchr_body(const void *s, int c)
{
	size_t left = bounds_left(s, 1), may;
	void *found = left == SIZE_MAX ? NULL : NEXT(memchr)(s, c, left);

	if (found)
		return found;
	may = left == SIZE_MAX ? left
			       : bounds_over(s, SIZE_MAX, PMM_ACCESS_READ, "rawmemchr", FROM);
	return may == SIZE_MAX ? NEXT(rawmemchr)(s, c) : (char *)s + may;
}

HOOK(void *, rawmemchr, const void *s, int c)
{
	ENTRY(!bounds_suspect(s), rawmemchr, rawmemchr, s, c);
}

HOOK(void *, memmem, const void *s, size_t bytes, const void *what, size_t what_bytes)
{
	const struct caller *from = FROM;
	size_t may = bounds_check(what, what_bytes, PMM_ACCESS_READ, "memmem", from);

	return NEXT(memmem)(s, bounds_check(s, bytes, PMM_ACCESS_READ, "memmem", from), what, may);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/*
 * The standard has all bytes accessed; but programs compare with what is shorter and differs, and
 * nothing can go wrong there.
 */
static SLOW int memcmp_careful(const void *a, const void *b, size_t n)
{
	size_t left_a = bounds_left(a, n != 0), left_b = bounds_left(b, n != 0),
	       left = least(left_a, left_b), may = n;
	const struct caller *from = FROM;
	int order = NEXT(memcmp)(a, b, least(n, left));

	if (order || n <= left)
		return order;
	if (left_a < n)
		may = least(may, bounds_over(a, n, PMM_ACCESS_READ, "memcmp", from));
	if (left_b < n)
		may = least(may, bounds_over(b, n, PMM_ACCESS_READ, "memcmp", from));
	return NEXT(memcmp)(a, b, may);
}

static SLOW int memcmp_body(const void *a, const void *b, size_t n)
{
	if (bounds_fits(a, n) && bounds_fits(b, n))
		return NEXT(memcmp)(a, b, n);
	return memcmp_careful(a, b, n);
}

HOOK(int, memcmp, const void *a, const void *b, size_t n)
{
	ENTRY(quick_both_fit(a, b, n, false), memcmp, memcmp, a, b, n);
}

HOOK(int, bcmp, const void *a, const void *b, size_t n)
{
	ENTRY(quick_both_fit(a, b, n, false), memcmp, memcmp, a, b, n);
}

/* ---- copying up to a byte -------------------------------------------------------------------- */

HOOK(void *, memccpy, void *to, const void *source, int c, size_t n)
{
	size_t left = least(n, bounds_left(source, n != 0)), all, may;
	const struct caller *from = FROM;
	const char *found = NEXT(memchr)(source, c, left);

	all = found ? (size_t)(found - (const char *)source) + 1 : n;
	may = found || left == n ? all : bounds_over(source, n, PMM_ACCESS_READ, "memccpy", from);
	may = least(may, bounds_check(to, all, PMM_ACCESS_WRITE, "memccpy", from));
	overlap_check(to, source, all, "memccpy", from);
	NEXT(memmove)(to, source, may);
	return found ? (char *)to + all : NULL;
}
