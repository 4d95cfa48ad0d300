/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps from recipes with suppressions beside them.
 */
#ifndef TESTS_UNIT_SUPPRESS_FIXTURE_H
#define TESTS_UNIT_SUPPRESS_FIXTURE_H

#include "src/analyze/suppress/suppressions.h"
#include "src/symbol/symbol.h"
#include "tests/unit/recipe_heap.h"

/*
 * As recipe_resolve(); functions that begin with _Z or _R are mangled ones, in source line 7 of
 * /src/NAME.c.
 */
static inline unsigned suppress_resolve(void *ctx, const struct heap *h, uint32_t node,
					struct frame_name *out, unsigned max)
{
	unsigned nr = recipe_resolve(ctx, h, node, out, max);
	char readable[300];

	for (unsigned i = 0; i < nr; i++) {
		out[i].linkage = out[i].function;
		if (symbol_demangle(out[i].linkage, readable, sizeof(readable)))
			out[i].function = intern_text(
				&recipe_strings, (uint32_t)intern_add(&recipe_strings, readable));
	}
	return nr;
}

struct suppress_fixture {
	struct heap *heap;
	struct names names;
	struct suppress *s;
};

/* A heap from a recipe, and what suppresses its sites from a text; both must be right. */
static inline void open_fixture(struct suppress_fixture *c, const char *recipe, const char *text)
{
	struct err e = { 0 };

	c->heap = recipe_heap(recipe);
	names_init(&c->names, c->heap, suppress_resolve, NULL);
	c->s = suppress_new();
	assert_non_null(c->s);
	if (suppress_parse(c->s, "x.supp", text, strlen(text), &e))
		fail_msg("%s (%s)", e.text, e.hint);
	assert_int_equal(suppress_begin(c->s, &c->names), 0);
}

static inline void close_fixture(struct suppress_fixture *c)
{
	suppress_free(c->s);
	names_fini(&c->names);
	heap_free(c->heap);
}

/* The name of what suppresses a site with blocks of this stack, class and kind; "" = nothing. */
static inline const char *matched(const char *text, const char *stack, const char *kind,
				  unsigned class)
{
	static char name[200];
	char recipe[800];
	struct suppress_fixture c;
	const char *found;

	snprintf(recipe, sizeof(recipe), "site %s kind=%s size=8\n", stack, kind);
	open_fixture(&c, recipe, text);
	found = suppress_match(c.s, c.heap->nr_sites - 1, class, 1, 8);
	snprintf(name, sizeof(name), "%s", found ? found : "");
	close_fixture(&c);
	return name;
}

#endif
