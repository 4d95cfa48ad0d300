/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that lists lead to, in any order: pages of the memory that is searched, each read once.
 *
 * Lists of freed chunks have up to a million, and the program may be stopped while they are
 * followed; a system call for each chunk would take seconds. Most lists lead through neighbours, up
 * or down, and so a page that adjoins what was read last is read with all of its piece. Others lead
 * to and fro, and for these what was read stays.
 *
 * Page n is in slot n % nr_slots, so a piece is in slots that adjoin each other. Slots that nothing
 * was read into take no memory.
 */
#include <stdlib.h>
#include <string.h>

#include "src/proc/limits.h"
#include "src/roots/roots_priv.h"

#define PIECE_PAGES	(ROOTS_CACHE_PIECE / ROOTS_PAGE)
#define MIN_BYTES	(1ull << 20)

_Static_assert(MIN_BYTES % ROOTS_CACHE_PIECE == 0, "a piece would not be in one stretch");
_Static_assert(!(ROOTS_CACHE_BYTES & (ROOTS_CACHE_BYTES - 1)), "slots are masked");

/* Smaller where memory is short. Without memory for it there is none. */
static bool cache_open(struct roots_page_cache *c)
{
	uint64_t bytes = ROOTS_CACHE_BYTES, most;

	if (c->bytes || c->none)
		return c->bytes;
	for (most = limits_share("") / 4; bytes > most && bytes > MIN_BYTES; bytes /= 2)
		;
	c->nr_slots = bytes / ROOTS_PAGE;
	c->bytes = malloc(bytes);
	c->tag = calloc(c->nr_slots, sizeof(*c->tag));
	if (c->bytes && c->tag)
		return true;
	roots_page_cache_fini(c);
	c->none = true;
	return false;
}

static size_t slot_of(const struct roots_page_cache *c, uint64_t page)
{
	return page & (c->nr_slots - 1);
}

static bool is_held(const struct roots_page_cache *c, uint64_t page)
{
	return c->tag[slot_of(c, page)] == page + 1;
}

/* Read pages, as many of them as there are. */
static void pages_read(struct roots_find *f, uint64_t page, size_t nr)
{
	struct roots_page_cache *c = &f->cache;
	const size_t slot = slot_of(c, page);
	size_t n;

	memset(c->tag + slot, 0, nr * sizeof(*c->tag));
	n = roots_read(f, page * ROOTS_PAGE, c->bytes + slot * ROOTS_PAGE, nr * ROOTS_PAGE);
	for (size_t i = 0; i < n / ROOTS_PAGE; i++)
		c->tag[slot + i] = page + i + 1;
	c->start = page;
	c->end = page + nr;
}

/* Where a mapping ends or begins within a piece the page is read for itself. */
static bool page_fetch(struct roots_find *f, uint64_t page)
{
	struct roots_page_cache *c = &f->cache;

	if (is_held(c, page))
		return true;
	if (page + 1 >= c->start && page <= c->end)
		pages_read(f, page - page % PIECE_PAGES, PIECE_PAGES);
	if (!is_held(c, page))
		pages_read(f, page, 1);
	return is_held(c, page);
}

bool roots_cached_word(struct roots_find *f, uint64_t address, uint64_t *word)
{
	const uint64_t page = address / ROOTS_PAGE, offset = address % ROOTS_PAGE;
	struct roots_page_cache *c = &f->cache;

	/* of a core file, a part of a page may be all there is */
	if (address & 7 || !cache_open(c) || !page_fetch(f, page))
		return roots_word(f, address, word);
	memcpy(word, c->bytes + slot_of(c, page) * ROOTS_PAGE + offset, sizeof(*word));
	return true;
}

void roots_page_cache_fini(struct roots_page_cache *c)
{
	free(c->bytes);
	free(c->tag);
	*c = (struct roots_page_cache){ 0 };
}
