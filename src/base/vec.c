/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growable array: what its macros call. */
#include "src/base/vec.h"

#include <string.h>

void *vec_grow(void *v, size_t *room, size_t n, size_t size)
{
	size_t want = *room + *room / 2;

	if (n <= *room && v)
		return v;
	if (want < n)
		want = n;
	if (want < 8)
		want = 8;
	v = reallocarray(v, want, size);
	if (v)
		*room = want;
	return v;
}

void vec_zero(void *v, size_t from, size_t to, size_t size)
{
	if (to > from)
		memset((char *)v + from * size, 0, (to - from) * size);
}

void vec_qsort(void *v, size_t nr, size_t size, int (*compare)(const void *a, const void *b))
{
	if (nr > 1)
		qsort(v, nr, size, compare);
}
