/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks as large as what can be used of them.
 *
 * malloc_usable_size() is for statistics, says its manual, but some programs fill what it says
 * (systemd's growing arrays). So pointers behind what was asked for count in blocks of whose call
 * site the program has asked, which the preloaded agent notes (PMM_SITE_USABLE). In other blocks
 * they do not: there is what is left of older blocks, and it would hide leaks.
 *
 * Of glibc's blocks the size of their chunk is in the word before them; of other allocators'
 * nothing is known here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/roots/glibc/glibc_arenas.h"

#define IS_MMAPPED	2u
#define SIZE(word)	((word) & ~7ull)

/* What can be used of a block, as its chunk says; its size where that makes no sense. */
static uint64_t usable_bytes(struct roots_window *w, const struct heap_block *b,
			     const struct heap_block *next)
{
	uint64_t word, bytes;

	if (b->kind == PMM_KIND_OTHER || b->address & 15 ||
	    !roots_window_word(w, b->address - 8, &word))
		return b->size_bytes;
	bytes = SIZE(word) - (word & IS_MMAPPED ? 16 : 8);
	if (!(word & IS_MMAPPED) && !glibc_fits(b, SIZE(word)))
		return b->size_bytes;
	if (bytes < b->size_bytes || bytes - b->size_bytes > ROOTS_PAGE ||
	    (next && bytes > next->address - b->address - 8))
		return b->size_bytes;
	return bytes;
}

int64_t roots_widen(const struct roots *s, bool all, struct heap *wide)
{
	struct roots_find f = { .memory = (struct memory *)(uintptr_t)&s->memory };
	struct roots_window w = { .f = &f };
	const struct heap *h = s->heap;
	int64_t nr = 0;

	*wide = *h;
	wide->blocks = NULL;
	if (!s->has_chunks || !glibc_gives_blocks(h) || !h->nr_blocks)
		return 0;
	for (uint64_t i = 0; i < h->nr_blocks; i++) {
		uint64_t bytes;

		if (!all && !h->sites[h->blocks[i].site].usable)
			continue;
		bytes = usable_bytes(&w, &h->blocks[i],
				     i + 1 < h->nr_blocks ? &h->blocks[i + 1] : NULL);
		if (bytes == h->blocks[i].size_bytes)
			continue;
		if (!wide->blocks) {
			wide->blocks = malloc(h->nr_blocks * sizeof(*h->blocks));
			if (!wide->blocks) {
				nr = -ENOMEM;
				break;
			}
			memcpy(wide->blocks, h->blocks, h->nr_blocks * sizeof(*h->blocks));
		}
		wide->blocks[i].size_bytes = bytes;
		nr++;
	}
	free(w.bytes);
	return nr;
}

void roots_wide_free(struct heap *wide)
{
	free(wide->blocks);
	wide->blocks = NULL;
}
