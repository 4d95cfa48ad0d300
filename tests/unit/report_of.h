/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of a heap that a recipe makes. */
#ifndef TESTS_UNIT_REPORT_OF_H
#define TESTS_UNIT_REPORT_OF_H

#include "tests/unit/recipe_heap.h"

#include "src/view/report_view.h"

/* As text in this style; NULL: as JSON. free() it. */
static inline char *report_of(const char *text, struct report_options opt,
			      const struct style *style)
{
	struct heap *h = recipe_heap(text);
	struct names n;
	struct report r;
	struct err e = { 0 };
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	recipe_names(&n, h);
	assert_int_equal(report_init(&r, h, &n, &opt, &e), 0);
	assert_int_equal(style ? doc_print_text(&r.doc, style, out) : doc_print_json(&r.doc, out),
			 0);
	fclose(out);
	report_fini(&r);
	names_fini(&n);
	heap_free(h);
	return got;
}

#endif
