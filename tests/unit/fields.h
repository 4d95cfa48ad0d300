/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test helper: are two structures the same in the fields of a list? Padding and what is not in the
 * list do not count.
 *
 *     static const struct field fields[] = { FIELD(heap_thread, tid), FIELD_TEXT(heap_thread, name)
 *  };
 */
#ifndef TESTS_UNIT_FIELDS_H
#define TESTS_UNIT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct field {
	const char *name;
	size_t offset, bytes;
	enum { FIELD_BYTES, FIELD_TEXT_HERE, FIELD_TEXT_ELSEWHERE } kind;
};

#define FIELD_OF(type, field, how)                                                                 \
	{                                                                                          \
#field, offsetof(struct type, field), sizeof(((struct type *)0)->field), (how)     \
	}
#define FIELD(type, field)		FIELD_OF(type, field, FIELD_BYTES)
/* A string, as an array or a pointer. */
#define FIELD_TEXT(type, field)                                                                    \
	FIELD_OF(type, field,                                                                      \
		 __builtin_types_compatible_p(__typeof__(((struct type *)0)->field), char *)       \
			 ? FIELD_TEXT_ELSEWHERE                                                    \
			 : FIELD_TEXT_HERE)

static inline const char *field_text(const struct field *f, const char *at)
{
	return f->kind == FIELD_TEXT_ELSEWHERE ? *(const char *const *)(const void *)at : at;
}

static inline bool field_equal(const struct field *f, const char *a, const char *b)
{
	return f->kind == FIELD_BYTES ? !memcmp(a, b, f->bytes)
				      : !strcmp(field_text(f, a), field_text(f, b));
}

/* On a difference `what`, of `size`, names the field. */
static inline bool fields_equal(const struct field *fields, size_t nr, const void *a, const void *b,
				char *what, size_t size)
{
	for (const struct field *f = fields; f < fields + nr; f++) {
		const char *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;

		if (field_equal(f, x, y))
			continue;
		if (f->kind == FIELD_BYTES)
			snprintf(what, size, "%s", f->name);
		else
			snprintf(what, size, "%s: '%s', '%s'", f->name, field_text(f, x),
				 field_text(f, y));
		return false;
	}
	return true;
}

#endif
