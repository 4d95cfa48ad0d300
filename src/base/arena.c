/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arena: a list of chunks, filled from the front. */
#include "src/base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)

struct arena_chunk {
	struct arena_chunk *next;
	size_t bytes;
	_Alignas(16) char data[];
};

static struct arena_chunk *chunk_new(size_t bytes)
{
	struct arena_chunk *c;

	if (bytes > SIZE_MAX - sizeof(*c))
		return NULL;
	c = calloc(1, sizeof(*c) + bytes);
	if (c)
		c->bytes = bytes;
	return c;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	size_t need = (bytes + 15) & ~(size_t)15;
	struct arena_chunk *c = a->chunks;
	void *p;

	if (need < bytes)
		return NULL;
	if (need > CHUNK_BYTES / 4 && (!c || need > c->bytes - a->used_bytes)) {
		/* a chunk of its own, behind the newest so that that one continues filling */
		struct arena_chunk *own = chunk_new(need);

		if (!own)
			return NULL;
		if (c) {
			own->next = c->next;
			c->next = own;
		} else {
			a->chunks = own;
			a->used_bytes = need;
		}
		return own->data;
	}
	if (!c || need > c->bytes - a->used_bytes) {
		c = chunk_new(CHUNK_BYTES);
		if (!c)
			return NULL;
		c->next = a->chunks;
		a->chunks = c;
		a->used_bytes = 0;
	}
	p = c->data + a->used_bytes;
	a->used_bytes += need;
	return p;
}

char *arena_strndup(struct arena *a, const char *text, size_t n)
{
	char *copy;

	n = strnlen(text, n);
	copy = arena_alloc(a, n + 1);
	if (copy)
		memcpy(copy, text, n);
	return copy;
}

char *arena_strdup(struct arena *a, const char *text)
{
	return arena_strndup(a, text, strlen(text));
}

void arena_fini(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
	a->used_bytes = 0;
}
