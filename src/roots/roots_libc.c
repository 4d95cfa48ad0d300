/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that the C library holds by pointers into them.
 *
 * glibc's loader keeps what _dl_find_object() looks up in segments that it aligns itself within
 * larger blocks (elf/dl-find_object.c, struct dlfo_mappings_segment: previous segment | block to be
 * freed | ...). Thread vectors (dtv) are the other such thing: roots_threads.c. What it mangles
 * (PTR_MANGLE) are addresses of functions and the saved stacks of setjmp(), not blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"
#include "src/roots/roots_priv.h"

#define MAX_DATA	(1u << 20)
#define MAX_ALIGN	256u		/* a segment begins so far into its block at most */
#define MAX_SEGMENTS	64

/* Is there such a segment at an address? Its predecessor in *previous. */
static bool is_segment(const struct roots_find *f, uint64_t at, uint64_t *previous)
{
	uint64_t i = at & 7 ? 0 : roots_block_from(f->heap, at), word[2];
	const struct heap_block *b;

	if (!i)
		return false;
	b = &f->heap->blocks[i - 1];
	if (at - b->address > MAX_ALIGN || at - b->address >= b->size_bytes ||
	    roots_read(f, at, word, sizeof(word)) != sizeof(word))
		return false;
	*previous = word[0];
	return word[1] == b->address;
}

static int range_search(struct roots_find *f, uint64_t start, uint64_t end)
{
	uint64_t *word, at;
	size_t nr;
	int rc = 0;

	if (end - start > MAX_DATA)
		end = start + MAX_DATA;
	word = malloc(end - start);
	if (!word)
		return -ENOMEM;
	nr = roots_read(f, start, word, end - start) / 8;
	for (size_t i = 0; !rc && i < nr; i++) {
		uint64_t previous;

		at = word[i];
		for (unsigned n = 0; !rc && n < MAX_SEGMENTS && is_segment(f, at, &previous); n++) {
			rc = vec_push(&f->memory->owned, at);
			at = previous;
		}
	}
	free(word);
	return rc;
}

int roots_libc_find(struct roots_find *f)
{
	const struct roots_ranges *r = &f->ranges;
	int rc = 0;

	vec_each(&f->objects, o) {
		const char *name = strrchr(o->path, '/');

		if (!name || !str_starts(name, "/ld"))
			continue;
		for (size_t i = roots_range_at(r, o->start);
		     !rc && i < r->nr && r->v[i].start < o->end; i++)
			rc = range_search(f, r->v[i].start, r->v[i].end);
	}
	return rc;
}
