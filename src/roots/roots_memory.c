/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that is searched, read: bytes, words, words in order of address. */
#include <stdlib.h>

#include "src/roots/roots_priv.h"

#define SMALL_WINDOW	(4u << 10)

size_t roots_read(const struct roots_find *f, uint64_t address, void *to, size_t bytes)
{
	size_t n = f->memory->ops->read(f->memory->arg, address, to, bytes);

	return n < bytes ? n : bytes;
}

bool roots_word(const struct roots_find *f, uint64_t address, uint64_t *word)
{
	return roots_read(f, address, word, sizeof(*word)) == sizeof(*word);
}

bool roots_window_word(struct roots_window *w, uint64_t address, uint64_t *word)
{
	if (address < w->start || address - w->start + 8 > w->held) {
		bool near = w->held && address >= w->start &&
			    address - w->start < w->held + ROOTS_WINDOW_BYTES;

		if (!w->bytes)
			w->bytes = malloc(ROOTS_WINDOW_BYTES);
		if (!w->bytes)
			return roots_word(w->f, address, word);
		w->start = address & ~7ull;
		w->held = roots_read(w->f, w->start, w->bytes,
				     near ? ROOTS_WINDOW_BYTES : SMALL_WINDOW);
		if (address - w->start + 8 > w->held)
			return false;
	}
	*word = *(const uint64_t *)(const void *)(w->bytes + (address - w->start));
	return true;
}
