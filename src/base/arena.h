/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arena: many small objects released at once. All zero is empty.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_chunk *chunks;	/* newest first */
	size_t used_bytes;		/* of the newest */
};

/* Zeroed memory, aligned to 16, until arena_fini(). NULL when out of memory. */
void *arena_alloc(struct arena *a, size_t bytes);

/* A copy of a string (of n bytes, NUL added). NULL when out of memory. */
char *arena_strdup(struct arena *a, const char *text);
char *arena_strndup(struct arena *a, const char *text, size_t n);

void arena_fini(struct arena *a);

#endif
