/* SPDX-License-Identifier: MIT */
/*
 * Strings in the order of a language: compared, or made into others that strcmp() orders so. Either
 * reads all of them.
 */
#include "agent/strings/strings.h"

HOOK_AS(int, strcoll, const char *a, const char *b);
HOOK_AS(size_t, strxfrm, char *to, const char *source, size_t n);

static SLOW int strcoll_body(const char *a, const char *b)
{
	const struct caller *from = FROM;
	struct bounce stand_a, stand_b;
	int order;

	a = string_begin(&stand_a, a, SIZE_MAX, "strcoll", from);
	b = string_begin(&stand_b, b, SIZE_MAX, "strcoll", from);
	order = NEXT(strcoll)(a, b);
	bounce_end(&stand_b, 0);
	bounce_end(&stand_a, 0);
	return order;
}

HOOK(int, strcoll, const char *a, const char *b)
{
	ENTRY(!bounds_suspect(a) && !bounds_suspect(b), strcoll, strcoll, a, b);
}

/*
 * How long what is made gets is known behind it only: it is given no more room than the block has,
 * and only then more.
 */
static SLOW size_t strxfrm_body(char *to, const char *source, size_t n)
{
	const struct caller *from = FROM;
	size_t left = least(n, bounds_left(to, n != 0)), length;
	struct bounce stand;

	source = string_begin(&stand, source, SIZE_MAX, "strxfrm", from);
	length = NEXT(strxfrm)(to, source, left);
	if (left < n && length >= left)
		length = NEXT(strxfrm)(to, source,
				       least(n, bounds_over(to, least(n, length + 1),
							    PMM_ACCESS_WRITE, "strxfrm", from)));
	bounce_end(&stand, 0);
	return length;
}

HOOK(size_t, strxfrm, char *to, const char *source, size_t n)
{
	ENTRY(!bounds_suspect(to) && !bounds_suspect(source), strxfrm, strxfrm, to, source, n);
}
