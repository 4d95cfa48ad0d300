/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growable array of any type.
 *
 *	VEC(uint32_t) ids = { 0 };		also as a member: VEC(struct row) rows;
 *	if (vec_push(&ids, 7)) return -ENOMEM;
 *	vec_each(&ids, p) sum += *p;		p is a pointer to the element
 *	vec_fini(&ids);
 *
 * All zero is empty. Elements move when it grows: keep indices, not pointers.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define VEC(type) struct { type *v; size_t nr, room; }

/* Make room for `n` elements altogether. 0 or -ENOMEM (contents untouched). */
#define vec_reserve(vec, n) ({							\
	void *vec_new_ = vec_grow((vec)->v, &(vec)->room, (n), sizeof(*(vec)->v));	\
	if (vec_new_)								\
		(vec)->v = vec_new_;						\
	vec_new_ ? 0 : -ENOMEM;							\
})

/* Append a value. 0 or -ENOMEM. */
#define vec_push(vec, ...) ({							\
	int vec_err_ = vec_reserve((vec), (vec)->nr + 1);			\
	if (!vec_err_)								\
		(vec)->v[(vec)->nr++] = (__VA_ARGS__);				\
	vec_err_;								\
})

/* Set the number of elements; new ones are zero. 0 or -ENOMEM. */
#define vec_resize(vec, n) ({							\
	size_t vec_n_ = (n);							\
	int vec_rc_ = vec_reserve((vec), vec_n_);				\
	if (!vec_rc_) {								\
		vec_zero((vec)->v, (vec)->nr, vec_n_, sizeof(*(vec)->v));	\
		(vec)->nr = vec_n_;						\
	}									\
	vec_rc_;								\
})

#define vec_last(vec)	(&(vec)->v[(vec)->nr - 1])
#define vec_each(vec, p) \
	for (__typeof__(*(vec)->v) *p = (vec)->v; p && p < (vec)->v + (vec)->nr; p++)
#define vec_sort(vec, compare) vec_qsort((vec)->v, (vec)->nr, sizeof(*(vec)->v), (compare))

/*
 * How many elements come before the first one for which the expression, on `p` that points to it,
 * does not hold. They are sorted so that it holds for none behind that. Binary search:
 * vec_while(&rows, r, r->address <= address). array_while() is for `n` elements of a plain array.
 */
#define vec_while(vec, p, ...) array_while((vec)->v, (vec)->nr, p, __VA_ARGS__)
#define array_while(array, n, p, ...) ({					\
	const __typeof__(*(array)) *vec_array_ = (array);			\
	size_t vec_low_ = 0, vec_high_ = (n);					\
	while (vec_low_ < vec_high_) {						\
		size_t vec_middle_ = vec_low_ + (vec_high_ - vec_low_) / 2;	\
		const __typeof__(*vec_array_) *p = &vec_array_[vec_middle_];	\
		if (__VA_ARGS__)						\
			vec_low_ = vec_middle_ + 1;				\
		else								\
			vec_high_ = vec_middle_;				\
	}									\
	vec_low_;								\
})

/* Release the elements; the vector is empty and usable again. */
#define vec_fini(vec) do {							\
	free((vec)->v);								\
	(vec)->v = NULL;							\
	(vec)->nr = (vec)->room = 0;						\
} while (0)

/*
 * Behind the macros: never NULL on success; grows by at least half; NULL when out of memory or n *
 * size overflows.
 */
void *vec_grow(void *v, size_t *room, size_t n, size_t size);
void vec_zero(void *v, size_t from, size_t to, size_t size);
void vec_qsort(void *v, size_t nr, size_t size, int (*compare)(const void *a, const void *b));

#endif
