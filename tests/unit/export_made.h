/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What src/export/ makes of the heap of a recipe. */
#ifndef TESTS_UNIT_EXPORT_MADE_H
#define TESTS_UNIT_EXPORT_MADE_H

#include "src/export/export.h"
#include "tests/unit/recipe_heap.h"

struct made {
	char *bytes;
	size_t nr;
};

/* `filter` may be NULL; the caller frees the bytes. */
static inline struct made make(const char *recipe, enum export_form form, enum rank_key key,
			       const struct filter *filter)
{
	struct heap *h = recipe_heap(recipe);
	struct selection selection;
	struct made m = { 0 };
	FILE *f = open_memstream(&m.bytes, &m.nr);
	struct names n;

	recipe_names(&n, h);
	assert_int_equal(selection_init(&selection, h, &n, filter, NULL), 0);
	assert_int_equal(export_write(form, &(struct export_source){ h, &n, &selection, key }, f),
			 0);
	fclose(f);
	selection_fini(&selection);
	names_fini(&n);
	heap_free(h);
	return m;
}

#endif
