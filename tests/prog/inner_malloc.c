/* SPDX-License-Identifier: GPL-2.0-or-later
 * libinner_malloc.so: an allocator whose calloc() and realloc() call its malloc() and free() by their names, so that a tracer's hooks come between.
 * Blocks are 64 bytes apart, and the one freed last is given out next.
 */
#include <stddef.h>
#include <string.h>

#define ROOM	64ul

static char pool[64ul << 20] __attribute__((aligned(64)));
static size_t used;
static void *last;

void (*inner_callback)(void);	/* the program's, called by malloc(777) */

void *malloc(size_t bytes)
{
	void *p;

	if (bytes == 777 && inner_callback)
		inner_callback();
	p = last;
	if (bytes <= ROOM && p) {
		last = NULL;
		return p;
	}
	p = pool + used;
	used += bytes ? (bytes + ROOM - 1) & -ROOM : ROOM;
	return used <= sizeof(pool) ? p : NULL;
}

void free(void *p)
{
	if (p)
		last = p;
}

void *calloc(size_t n, size_t each)
{
	void *p = malloc(n * each);

	return p ? memset(p, 0, n * each) : NULL;
}

void *realloc(void *old, size_t bytes)
{
	void *p = malloc(bytes);

	if (p && old) {
		memcpy(p, old, bytes < ROOM ? bytes : ROOM);
		free(old);
	}
	return p;
}
