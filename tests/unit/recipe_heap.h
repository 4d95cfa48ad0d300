/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps for tests of what stands on the model: made from a recipe (tests/fake/fake.c), named
 * after their modules.
 *
 * A frame NAME of a recipe lies in a module NAME; recipe_names() calls the function that, in
 * NAME.c:7. A name "a|b" stands for b inlined into a. Modules with a '/' or ".so" in their name
 * have no symbols; '{' and '}' stand for '<' and '>', which part the frames of a recipe.
 */
#ifndef TESTS_UNIT_RECIPE_HEAP_H
#define TESTS_UNIT_RECIPE_HEAP_H

#include "src/names/names.h"
#include "src/base/hash.h"
#include "tests/fake/fake.h"
#include "tests/unit/unit.h"

static inline struct heap *recipe_heap(const char *recipe)
{
	struct heap *h = NULL;
	struct err e = { 0 };
	char why[200] = "";

	if (fake_make(recipe, &h, &e))
		fail_msg("%s", e.text);
	if (heap_check(h, why, sizeof(why)))
		fail_msg("%s", why);
	return h;
}

static struct intern recipe_strings;
static unsigned recipe_lookups;

static inline const char *recipe_keep(const char *text, size_t n)
{
	char copy[300];

	snprintf(copy, sizeof(copy), "%.*s", (int)n, text);
	for (char *p = copy; *p; p++)
		*p = *p == '{' ? '<' : *p == '}' ? '>' : *p;
	return intern_text(&recipe_strings, (uint32_t)intern_add(&recipe_strings, copy));
}

static inline unsigned recipe_resolve(void *ctx, const struct heap *h, uint32_t node,
				      struct frame_name *out, unsigned max)
{
	const char *path = h->modules[h->nodes[node].module].path;
	unsigned nr = 0;

	(void)ctx;
	recipe_lookups++;
	if (!*path || strchr(path, '/') || strstr(path, ".so"))
		return 0;
	for (const char *end = path + strlen(path); end && nr < max; nr++) {
		const char *start = end;
		char file[300];

		while (start > path && start[-1] != '|')
			start--;
		out[nr].function = recipe_keep(start, (size_t)(end - start));
		snprintf(file, sizeof(file), "/src/%s.c", out[nr].function);
		out[nr].file = recipe_keep(file, strlen(file));
		out[nr].line = 7;
		end = start > path ? start - 1 : NULL;
	}
	return nr;
}

static inline void recipe_names(struct names *n, const struct heap *h)
{
	recipe_lookups = 0;
	names_init(n, h, recipe_resolve, NULL);
}

/* The number of the site whose innermost frame lies in a module of this name; UINT32_MAX: none. */
static inline uint32_t recipe_site(const struct heap *h, const char *name)
{
	for (uint32_t i = 0; i < h->nr_sites; i++)
		if (strcmp(h->modules[h->nodes[h->sites[i].node].module].path, name) == 0)
			return i;
	return UINT32_MAX;
}

#endif
