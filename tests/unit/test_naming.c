/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/names/naming.c and src/session/name_notes.c. */
#include "src/names/naming.h"

#include <stdarg.h>

#include "src/base/str.h"
#include "src/session/name_notes.h"
#include "tests/unit/recipe_heap.h"
#include "tests/unit/unit.h"

static unsigned by_somebody_else(void *ctx, const struct heap *h, uint32_t node,
				 struct frame_name *out, unsigned max)
{
	(void)h, (void)node, (void)max;
	out[0].function = ctx;
	return 1;
}

static void note(void *arg, enum session_kind kind, const char *text)
{
	struct str *s = arg;

	str_addf(s, "%d %s\n", (int)kind, text);
}

/* What is noted of these names. */
static void expect_notes(const struct naming *n, const char *wanted)
{
	static const struct session_ops ops = { .note = note };
	struct str s = STR_INIT;

	name_notes(&(struct session_sink){ .ops = &ops, .arg = &s }, n, "");
	assert_string_equal(str_text(&s), wanted);
	str_fini(&s);
}

static void symbols_are_looked_up_where_they_are_wanted(void **state)
{
	struct heap *h = recipe_heap("site main>f size=1\n");
	struct naming n;

	(void)state;
	naming_open(&n, h, &(struct naming_options){ 0 });
	assert_true(n.wanted);
	assert_non_null(n.sym);
	assert_ptr_equal(n.heap, h);
	expect_notes(&n, "");
	n.names.failed = true;
	expect_notes(&n, "1 functions, files or lines may be missing here: out of memory\n");
	naming_close(&n);

	naming_open(&n, h, &(struct naming_options){ .none = true, .full = true });
	assert_false(n.wanted);
	assert_null(n.sym);
	n.names.failed = true;
	expect_notes(&n, "");
	naming_close(&n);
	heap_free(h);
}

static void who_knows_the_names_is_asked(void **state)
{
	static char name[] = "known";
	struct heap *h = recipe_heap("site main>f size=1\n");
	struct naming n;
	unsigned nr;

	(void)state;
	naming_open(&n, h, &(struct naming_options){ .resolve = by_somebody_else,
						     .resolve_ctx = name });
	assert_false(n.wanted);
	assert_null(n.sym);
	assert_string_equal(names_find(&n.names, h->sites[1].node, &nr)->function, "known");
	expect_notes(&n, "");
	naming_close(&n);
	heap_free(h);
}

/* Not even a symbolizer: what follows may lack names, which is said. */
static void want_of_memory_is_said(void **state)
{
	struct heap *h = recipe_heap("site main>f size=1\n");
	struct naming n;

	(void)state;
	naming_open(&n, h, &(struct naming_options){ 0 });
	symbolizer_free(n.sym);
	n.sym = NULL;
	expect_notes(&n, "1 functions, files or lines may be missing here: out of memory\n");
	naming_close(&n);
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_looked_up_where_they_are_wanted),
		cmocka_unit_test(who_knows_the_names_is_asked),
		cmocka_unit_test(want_of_memory_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
