/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms that list the frames of each stack: what they are where stacks are cut, to the letter, and
 * that a deep heap is. Of src/export/export.c, export_parts.c, export_tree.c.
 */
#include "src/export/export_priv.h"
#include "tests/unit/recipe_heap.h"

static const char deep[] = "site main>a>b>c size=5\nsite main>d size=7\n";

struct made {
	struct heap *h;
	struct names names;
	struct profile *p;
	struct selection selection;
	struct export_source s;
	char *text;
	size_t nr;
};

static void make(struct made *m, const char *recipe)
{
	static const struct filter sized = { .by_size = true, .size_bytes = { 1, 1000 } };

	*m = (struct made){ .h = recipe_heap(recipe) };
	recipe_names(&m->names, m->h);
	assert_int_equal(selection_init(&m->selection, m->h, &m->names, &sized, NULL), 0);
	m->s = (struct export_source){ m->h, &m->names, &m->selection, RANK_LIVE, true };
	assert_int_equal(heap_profile(m->h, &m->names, &m->selection, &m->p), 0);
}

static void end(struct made *m)
{
	free(m->text);
	profile_free(m->p);
	selection_fini(&m->selection);
	names_fini(&m->names);
	heap_free(m->h);
}

typedef int form(const struct profile *p, const struct export_source *s,
		 const struct stack_cut *cut, FILE *out);

static void check(form *write, const char *part)
{
	static const struct stack_cut two = { .frames = 2, .stacks = 1, .left_out = 2 };
	struct made m;
	FILE *f;

	make(&m, deep);
	f = open_memstream(&m.text, &m.nr);
	assert_int_equal(write(m.p, &m.s, &two, f), 0);
	fclose(f);
	if (!strstr(m.text, part))
		fail_msg("%s", m.text);
	end(&m);
}

static void the_innermost_frames_are_written(void **state)
{
	(void)state;
	check(export_collapsed, EXPORT_CUT ";b;c 5\nmain;d 7\n");
	check(export_speedscope, "      {\"name\": \"d\", \"file\": \"/src/d.c\", \"line\": 7},\n"
				 "      {\"name\": \"" EXPORT_CUT "\"}\n    ]\n");
	check(export_speedscope, "\"samples\": [\n        [6, 2, 1],\n        [4, 5]\n      ]");
	check(export_dhat, "\"fs\": [1, 2, 7]}");
	check(export_dhat, "\"fs\": [5, 4]}");
	check(export_dhat, "    \"0x0: [stack unknown]\",\n    \"0x0: " EXPORT_CUT "\"\n");
	check(export_massif, "n2: 12 (heap allocation functions)\n"
			     " n1: 7 0x0: d (d.c:7)\n  n0: 7 0x0: main (main.c:7)\n"
			     " n1: 5 0x0: c (c.c:7)\n  n1: 5 0x0: b (b.c:7)\n"
			     "   n0: 5 0x0: " EXPORT_CUT "\n");
}

/* Where a form cuts the stacks that a selection passes. */
static struct stack_cut cut_of(const struct made *m, enum export_form which,
			       const struct selection *selection)
{
	struct export_source s = m->s;
	struct stack_cut cut;
	FILE *f = fopen("/dev/null", "we");

	s.selection = selection;
	s.cut = &cut;
	assert_int_equal(export_write(which, &s, f), 0);
	fclose(f);
	return cut;
}

/* 2000 stacks of 2001 to 4000 frames are 6,001,000; there is room for 4,194,304. */
static void deep_stacks_are_cut(void **state)
{
	struct stack_cut cut;
	struct made m;

	(void)state;
	make(&m, "deep depth=4000 sites=2000\n");
	cut = cut_of(&m, EXPORT_COLLAPSED, &m.selection);
	assert_int_equal(cut.frames, 2099);
	assert_int_equal(cut.stacks, 1901);
	assert_int_equal(cut.left_out, 1807851);
	assert_int_equal(cut_of(&m, EXPORT_PPROF, &m.selection).frames, 2099);
	cut = cut_of(&m, EXPORT_SVG, &m.selection);
	assert_int_equal(cut.frames, UINT32_MAX);
	assert_int_equal(cut.stacks, 0);
	assert_int_equal(cut_of(&m, EXPORT_MASSIF, &m.selection).frames, STACK_WHOLE);
	end(&m);
}

/* What a filter leaves out takes no room. */
static void what_is_not_written_cuts_nothing(void **state)
{
	static const struct filter large = { .by_size = true,
					     .size_bytes = { 1u << 30, 1u << 31 } };
	struct selection none;
	struct made m;

	(void)state;
	make(&m, "deep depth=4000 sites=2000\n");
	assert_int_equal(selection_init(&none, m.h, &m.names, &large, NULL), 0);
	assert_int_equal(cut_of(&m, EXPORT_PPROF, &none).stacks, 0);
	assert_int_equal(cut_of(&m, EXPORT_COLLAPSED, &none).stacks, 0);
	selection_fini(&none);
	end(&m);
}

/* The profile has a node for each of the heap's, not for each frame of each stack. */
static void shared_frames_are_entered_once(void **state)
{
	struct made m;

	(void)state;
	make(&m, "deep depth=4000 sites=2000\n");
	assert_int_equal(m.p->nodes.nr, 4001);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_frames_are_written),
		cmocka_unit_test(deep_stacks_are_cut),
		cmocka_unit_test(what_is_not_written_cuts_nothing),
		cmocka_unit_test(shared_frames_are_entered_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
