/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `pmm check` says of a heap that a recipe makes, as text or JSON. */
#ifndef TESTS_UNIT_CHECK_VIEW_OF_H
#define TESTS_UNIT_CHECK_VIEW_OF_H

#include "tests/unit/recipe_heap.h"

#include "src/view/check/check_view.h"

#define PROCESS                                                                                    \
	"process comm=demo cmdline=demo pid=42 taken=10s end=running\nthread main tid=7\nthread "  \
	"worker tid=8\n"

static inline unsigned four(const uint8_t *code, unsigned bytes)
{
	return bytes && code[0] == 0x8b ? 4 : 0;
}

static inline bool odd(const uint8_t *code, unsigned bytes, const uint64_t regs[HEAP_NR_REGS],
		       uint64_t *address, bool *writes)
{
	*address = 0xfdfdfdfdfdfdfe05 + regs[0];
	*writes = true;
	return bytes && code[0] == 0x8b;
}

static inline char *make(const char *recipe, struct check_view_options opt, bool json)
{
	struct heap *h = recipe_heap(recipe);
	const struct style style = { .width = 80 };
	struct check_view v;
	struct names n;
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	opt.access_bytes = four;
	opt.odd_address = odd;
	recipe_names(&n, h);
	assert_int_equal(check_view_init(&v, h, &n, &opt), 0);
	assert_int_equal(json ? doc_print_json(&v.doc, out) : doc_print_text(&v.doc, &style, out),
			 0);
	fclose(out);
	check_view_fini(&v);
	names_fini(&n);
	heap_free(h);
	return got;
}

static inline void expect(const char *recipe, struct check_view_options opt, const char *text)
{
	char *got = make(recipe, opt, false);

	assert_string_equal(got, text);
	free(got);
}

#endif
