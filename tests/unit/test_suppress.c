/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions: what the two forms say, which stacks they match, what is refused.
 */
#include "tests/unit/suppress_fixture.h"

static const struct {
	const char *frames, *stack, *kind;
	bool matches;
} framed[] = {
	/* innermost first, a prefix of the stack is enough */
	{ "fun:malloc\nfun:leaf\nfun:main", "main>leaf", "malloc", true },
	{ "fun:malloc\nfun:leaf", "main>leaf", "malloc", true },
	{ "fun:malloc", "main>leaf", "malloc", true },
	{ "fun:leaf", "main>leaf", "malloc", false },
	{ "fun:malloc\nfun:main", "main>leaf", "malloc", false },
	{ "fun:malloc\nfun:leaf\nfun:main\nfun:more", "main>leaf", "malloc", false },
	{ "fun:malloc\nfun:leaf", "-", "malloc", false },
	{ "fun:malloc", "-", "malloc", true },
	/* the allocator's function */
	{ "fun:calloc\nfun:leaf", "main>leaf", "malloc", false },
	{ "fun:calloc\nfun:leaf", "main>leaf", "calloc", true },
	{ "fun:?alloc\nfun:leaf", "main>leaf", "calloc", true },
	{ "fun:_Znwm\nfun:leaf", "main>leaf", "new", true },
	{ "fun:_Zna*\nfun:leaf", "main>leaf", "new[]", true },
	{ "fun:_ZnwmSt11align_val_t\nfun:leaf", "main>leaf", "new-aligned", true },
	{ "fun:realloc\nfun:reallocarray\nfun:leaf", "main>leaf", "reallocarray", true },
	{ "obj:*vgpreload_memcheck*\nfun:leaf", "main>leaf", "malloc", true },
	{ "fun:leaf", "main>leaf", "other", true },
	/* any number of frames, none included */
	{ "...\nfun:main", "main>a>b>leaf", "malloc", true },
	{ "...\nfun:malloc", "main>leaf", "malloc", true },
	{ "fun:malloc\n...\nfun:leaf\nfun:main", "main>leaf", "malloc", true },
	{ "fun:malloc\n...\nfun:b\n...\nfun:main", "main>a>b>a>leaf", "malloc", true },
	{ "fun:malloc\n...\nfun:a\nfun:main", "main>a>b>a>leaf", "malloc", true },
	{ "fun:malloc\n...\nfun:b\nfun:main", "main>a>b>a>leaf", "malloc", false },
	{ "fun:malloc\n...\nfun:nowhere", "main>a>b>leaf", "malloc", false },
	{ "...\n...\nfun:leaf\n...\n...", "main>leaf", "malloc", true },
	/* wild characters in names */
	{ "fun:malloc\nfun:l*f", "main>leaf", "malloc", true },
	{ "fun:malloc\nfun:l??f", "main>leaf", "malloc", true },
	{ "fun:malloc\nfun:l?f", "main>leaf", "malloc", false },
	{ "fun:malloc\nfun:*ea*a*", "main>leafandleaf", "malloc", true },
	{ "fun:malloc\nfun:lea", "main>leaf", "malloc", false },
	{ "fun:malloc\nfun:LEAF", "main>leaf", "malloc", false },
	{ "fun:malloc\nfun:leaf@@GLIBC_2.2.5", "main>leaf", "malloc", true },
	{ "fun:malloc\nfun:leaf@*", "main>leaf", "malloc", true },
	{ "fun:malloc\nfun:leaf.constprop.0", "main>leaf", "malloc", true },
	{ "fun:malloc\nfun:leaf.*", "main>leaf", "malloc", true },
	{ "fun:malloc\nfun:leaf", "main>leaf.isra.0.cold", "malloc", true },
	{ "fun:malloc\nfun:leaf.isra.0.cold", "main>leaf.isra.0.cold", "malloc", true },
	{ "fun:malloc\nfun:*.isra.0", "main>leaf.isra.0", "malloc", true },
	{ "fun:malloc\nfun:leave.part.0", "main>leaf", "malloc", false },
	{ "fun:malloc\nfun:*.part.0", "main>leaf", "malloc", false },
	{ "fun:malloc\nfun:*@@GLIBC_2.2.5", "main>leaf", "malloc", false },
	/* mangled names only */
	{ "fun:malloc\nfun:_ZN3net5cache3addEi", "main>_ZN3net5cache3addEi", "malloc",
	  true },
	{ "fun:malloc\nfun:_ZN3net*", "main>_ZN3net5cache3addEi", "malloc", true },
	{ "fun:malloc\nfun:net::cache::add(int)", "main>_ZN3net5cache3addEi", "malloc",
	  false },
	/* inlined frames are frames; Valgrind has their short names */
	{ "fun:malloc\nfun:in\nfun:out\nfun:main", "main>out|in", "malloc", true },
	{ "fun:malloc\nfun:out", "main>out|in", "malloc", false },
	{ "fun:malloc\nfun:add\nfun:main", "main>main|_ZN3net5cache3addEi", "malloc",
	  true },
	/* modules, files */
	{ "fun:malloc\nobj:/lib/libx.so", "main>/lib/libx.so+0x1234", "malloc", true },
	{ "fun:malloc\nobj:*/libx*", "main>/lib/libx.so+0x1234", "malloc", true },
	{ "fun:malloc\nobj:libx.so", "main>/lib/libx.so+0x1234", "malloc", false },
	{ "fun:malloc\nfun:*\nfun:main", "main>/lib/libx.so+0x1234", "malloc", true },
	{ "fun:malloc\nsrc:/src/leaf.c", "main>leaf", "malloc", true },
	{ "fun:malloc\nsrc:leaf.c:7", "main>leaf", "malloc", true },
	{ "fun:malloc\nsrc:leaf.c:8", "main>leaf", "malloc", false },
	{ "fun:malloc\nsrc:*.h", "main>leaf", "malloc", false },
	/* below main */
	{ "fun:malloc\nfun:main\nfun:(below main)", "_start>__libc_start_call_main>main",
	  "malloc", true },
	{ "fun:malloc\nfun:main\nfun:__libc_start_call_main",
	  "_start>__libc_start_call_main>main", "malloc", true },
	{ "fun:malloc\nfun:(below main)", "_start>other", "malloc", false },
	/* marks are no frames */
	{ "fun:malloc\nfun:a\nfun:*", "!truncated>a", "malloc", false },
};

static void valgrind_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR(framed); i++) {
		char text[600];

		snprintf(text, sizeof(text), "{\n found\n Memcheck:Leak\n %s\n}\n",
			 framed[i].frames);
		if ((matched(text, framed[i].stack, framed[i].kind, REACH_DEFINITE)[0] != 0) !=
		    framed[i].matches)
			fail_msg("line %zu: %s of %s", i, framed[i].frames, framed[i].stack);
	}
}

static void lsan_patterns(void **state)
{
	static const struct {
		const char *pattern, *stack;
		bool matches;
	} table[] = {
		{ "leaf", "main>leaf>a", true },
		{ "eaf", "main>a>leaf", true },
		{ "main", "main>a>leaf", true },
		{ "malloc", "main>a>leaf", true },
		{ "nowhere", "main>a>leaf", false },
		{ "^leaf$", "main>leaf", true },
		{ "^eaf", "main>leaf", false },
		{ "^lea", "main>leaf", true },
		{ "lea$", "main>leaf", false },
		{ "eaf$", "main>leaf", true },
		{ "af$", "main>afleaf", true },
		{ "l*f", "main>leaf", true },
		{ "^l*f$", "main>leaf", true },
		{ "^*f$", "main>leaf", true },
		{ "l?af", "main>leaf", false },
		{ "f$ignored", "main>leaf", true },
		{ "/src/leaf.c", "main>leaf", true },
		{ "^/src/leaf.c$", "main>leaf", true },
		{ "libx.so", "main>/lib/libx.so+0x1234", true },
		{ "^libx.so", "main>/lib/libx.so+0x1234", false },
		{ "net::cache::add", "main>_ZN3net5cache3addEi", true },
		{ "^net::cache::add(int)$", "main>_ZN3net5cache3addEi", true },
		{ "in", "main>out|in", true },
		{ "^truncated", "!truncated>a", false },
		{ "stack cut", "!truncated>a", false },
	};

	(void)state;
	for (size_t i = 0; i < NR(table); i++) {
		char text[200];

		snprintf(text, sizeof(text), "# a comment\n\n  leak:%s  \r\n", table[i].pattern);
		if ((matched(text, table[i].stack, "malloc", REACH_DEFINITE)[0] != 0) !=
		    table[i].matches)
			fail_msg("line %zu: %s of %s", i, table[i].pattern, table[i].stack);
	}
	assert_string_equal(
		matched("race:x\nthread:y\nleak:^leaf$\n", "main>leaf", "malloc", REACH_REACHED),
		"^leaf$");
}

static void kinds_and_tools(void **state)
{
	static const struct {
		const char *head;
		unsigned classes;	/* bits 1 << class */
	} table[] = {
		{ "Memcheck:Leak", 15 },
		{ "Memcheck:Leak\nmatch-leak-kinds: all", 15 },
		{ "Memcheck:Leak\nmatch-leak-kinds:none", 0 },
		{ "Memcheck:Leak\nmatch-leak-kinds: definite", 1 << REACH_DEFINITE },
		{ "Memcheck:Leak\nmatch-leak-kinds: possible, reachable",
		  1 << REACH_POSSIBLE | 1 << REACH_REACHED },
		{ "Addrcheck,Memcheck:Leak\nmatch-leak-kinds:indirect", 1 << REACH_INDIRECT },
		{ "Memcheck,Other:Leak", 15 },
		{ "Helgrind:Leak", 0 },
		{ "MemcheckX:Leak", 0 },
		{ "Memcheck:Cond", 0 },
		{ "Memcheck:Param\nwrite(buf)", 0 },
		{ "drd:ConflictingAccess", 0 },
	};

	(void)state;
	for (size_t i = 0; i < NR(table); i++)
		for (unsigned class = 0; class < REACH_NR_CLASSES; class++) {
			char text[300];
			const char *name;

			snprintf(text, sizeof(text), "{\n the name \n%s\nfun:malloc\n fun:leaf\n}",
				 table[i].head);
			name = matched(text, "main>leaf", "malloc", class);
			if (strcmp(name, table[i].classes >> class & 1 ? "the name" : ""))
				fail_msg("%s: class %u: '%s'", table[i].head, class, name);
		}
}

static void refused(void **state)
{
	static const struct {
		const char *text, *says;
	} table[] = {
		{ "{\n}\n", "suppression without a name: 'x.supp' line 2: '}'" },
		{ "{\n n\n", "no tool and kind: 'x.supp' line 2: ''" },
		{ "{\n n\n Memcheck\n", "no tool and kind: 'x.supp' line 3: 'Memcheck'" },
		{ "{\n n\n Memcheck:leak\n fun:f\n}\n",
		  "unknown kind: 'x.supp' line 3: 'Memcheck:leak'" },
		{ "{\n n\n Memcheck:Leak\n}\n",
		  "suppression without a frame other than '...': 'x.supp' line 4: '}'" },
		{ "{\n n\n Memcheck:Leak\n...\n}\n",
		  "suppression without a frame other than '...': 'x.supp' line 5: '}'" },
		{ "{\n n\n Memcheck:Leak\n fub:f\n}\n", "not a frame: 'x.supp' line 4: 'fub:f'" },
		{ "{\n n\n Memcheck:Leak\n fun:\n}\n", "not a frame: 'x.supp' line 4: 'fun:'" },
		{ "{\n n\n Memcheck:Leak\n fun:f\n",
		  "suppression without its '}': 'x.supp' line 4: ''" },
		{ "{\n n\n Helgrind:Race\n fun:f\n",
		  "suppression without its '}': 'x.supp' line 4: ''" },
		{ "{\n n\n Memcheck:Leak\n match-leak-kinds: definite,lost\n fun:f\n}\n",
		  "no such kind of leak: 'x.supp' line 4: 'match-leak-kinds: definite,lost'" },
		{ "{\n n\n Memcheck:Leak\n fun:f\n match-leak-kinds: all\n}\n",
		  "not a frame: 'x.supp' line 5: 'match-leak-kinds: all'" },
		{ "{\n n\n Memcheck:Leak\n fun:f\n}\nleak:f\n",
		  "'{' expected: 'x.supp' line 6: 'leak:f'" },
		{ "leak:f\n{\n", "not a suppression: 'x.supp' line 2: '{'" },
		{ "laek:f\n", "not a suppression: 'x.supp' line 1: 'laek:f'" },
		{ "malloc\n", "not a suppression: 'x.supp' line 1: 'malloc'" },
		{ "leak:\n", "pattern without a name: 'x.supp' line 1: 'leak:'" },
		{ "leak:*\n", "pattern without a name: 'x.supp' line 1: 'leak:*'" },
		{ "leak:^*$f\n", "pattern without a name: 'x.supp' line 1: 'leak:^*$f'" },
	};

	(void)state;
	for (size_t i = 0; i < NR(table); i++) {
		struct suppress *s = suppress_new();
		struct err e = { 0 };

		assert_int_equal(suppress_parse(s, "a.supp", "leak:first\n", 11, &e), 0);
		assert_int_equal(
			suppress_parse(s, "x.supp", table[i].text, strlen(table[i].text), &e),
			-EINVAL);
		assert_string_equal(e.text, table[i].says);
		assert_true(e.hint[0]);
		assert_int_equal(suppress_nr(s), 1);
		assert_int_equal(s->steps.nr, 2);
		suppress_free(s);
	}
}

static void a_file_counts_wholly_or_not_at_all(void **state)
{
	static const char good[] = "{\n n\n Memcheck:Leak\n fun:malloc\n}\n";
	struct suppress *s = suppress_new();
	struct err e = { 0 };
	char text[200];

	(void)state;
	snprintf(text, sizeof(text), "%s%s", good, "{\n n\n Memcheck:Leak\n oops\n}\n");
	assert_int_equal(suppress_parse(s, "x", text, strlen(text), &e), -EINVAL);
	assert_int_equal(suppress_nr(s), 0);
	assert_int_equal(suppress_parse(s, "x", "leak:a\0b\n", 9, &e), -EINVAL);
	assert_string_equal(e.text, "not a text file: 'x'");
	assert_int_equal(suppress_parse(s, "x", "", 0, &e), 0);
	assert_int_equal(suppress_parse(s, "x", "\xef\xbb\xbf# only a comment", 19, &e), 0);
	assert_int_equal(suppress_nr(s), 0);
	assert_int_equal(suppress_parse(s, "y", good, sizeof(good) - 1, &e), 0);
	assert_int_equal(suppress_nr(s), 1);
	assert_string_equal(suppress_find_use(s, 0).file, "y");
	assert_int_equal(suppress_find_use(s, 0).line, 2);
	suppress_free(s);
}

static void the_first_that_matches_is_named_and_counted(void **state)
{
	struct suppress_fixture c;
	struct err e = { 0 };
	uint32_t a, b;

	(void)state;
	open_fixture(&c, "site main>a size=8\nsite main>b size=8\n",
		     "{\n only possible\n Memcheck:Leak\n match-leak-kinds: possible\n "
		     "fun:malloc\n fun:a\n}\n"
		     "{\n any\n Memcheck:Leak\n ...\n fun:a\n}\n");
	a = recipe_site(c.heap, "a");
	b = recipe_site(c.heap, "b");
	assert_int_equal(suppress_parse(c.s, "later", "leak:^a$\nleak:b\n", 16, &e), 0);
	assert_null(suppress_match(c.s, a, REACH_DEFINITE, 1, 1));
	for (int round = 1; round <= 2; round++) {
		assert_int_equal(suppress_begin(c.s, &c.names), 0);
		assert_string_equal(suppress_match(c.s, a, REACH_POSSIBLE, 2, 20), "only possible");
		assert_string_equal(suppress_match(c.s, a, REACH_DEFINITE, 3, 30), "any");
		assert_string_equal(suppress_match(c.s, a, REACH_INDIRECT, 4, 40), "any");
		assert_string_equal(suppress_match(c.s, b, REACH_REACHED, 5, 50), "b");
		assert_int_equal(suppress_find_use(c.s, 1).sites, 2 * round);
		assert_int_equal(suppress_find_use(c.s, 1).blocks, 7 * round);
		assert_int_equal(suppress_find_use(c.s, 1).bytes, 70 * round);
		assert_int_equal(suppress_find_use(c.s, 2).sites, 0);
		assert_int_equal(suppress_find_use(c.s, 3).bytes, 50 * round);
	}
	close_fixture(&c);
}

/* ---- against a plain matcher ----------------------------------------------------------------- */

static bool plainly(const char *const *step, unsigned nr_steps, const char *const *frame,
		    unsigned nr_frames)
{
	if (!nr_steps)
		return true;
	if (!strcmp(step[0], "..."))
		return plainly(step + 1, nr_steps - 1, frame, nr_frames) ||
		       (nr_frames && plainly(step, nr_steps, frame + 1, nr_frames - 1));
	return nr_frames && suppress_text_matches(step[0] + 4, frame[0], true) &&
	       plainly(step + 1, nr_steps - 1, frame + 1, nr_frames - 1);
}

#define ROUNDS	200

static void agrees_with_a_plain_matcher(void **state)
{
	static const char *const steps[] = { "...",   "fun:a",	"fun:b",      "fun:ab", "fun:a*",
					     "fun:?", "fun:*b", "fun:malloc", "..." };
	static const char *const names[] = { "a", "b", "ab", "c", "ba" };
	const char *step[8][5], *frame[20][8];
	unsigned nr_steps[8], nr_frames[20], hits = 0;

	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct str text = STR_INIT, recipe = STR_INIT;
		struct suppress_fixture c;

		for (int i = 0; i < 8; i++) {
			str_addf(&text, "{\n %d\n Memcheck:Leak\n", i);
			nr_steps[i] = 1 + (unsigned)rand() % 4;
			for (unsigned k = 0; k < nr_steps[i]; k++)
				str_addf(&text, " %s\n",
					 step[i][k] = steps[(unsigned)rand() % NR(steps)]);
			str_addf(&text, " %s\n}\n", step[i][nr_steps[i]] = "fun:a*");
			nr_steps[i]++;
		}
		for (int i = 0; i < 20; i++) {
			nr_frames[i] = 1 + (unsigned)rand() % 7;
			frame[i][0] = "malloc";
			for (unsigned k = 1; k < nr_frames[i]; k++)
				frame[i][k] = names[(unsigned)rand() % NR(names)];
			str_add(&recipe, "site main");
			for (unsigned k = nr_frames[i] - 1; k; k--)
				str_addf(&recipe, ">%s", frame[i][k]);
			frame[i][nr_frames[i]++] = "main";
			str_addf(&recipe, " size=%d\n", i + 1);
		}
		open_fixture(&c, str_text(&recipe), str_text(&text));
		for (uint64_t b = 0; b < c.heap->nr_blocks; b++) {
			uint64_t i = c.heap->blocks[b].size_bytes - 1;
			const char *name = suppress_match(c.s, c.heap->blocks[b].site,
							  REACH_DEFINITE, 1, 1);
			int want = 0;

			while (want < 8 &&
			       !plainly(step[want], nr_steps[want], frame[i], nr_frames[i]))
				want++;
			if ((name ? atoi(name) : 8) != want)
				fail_msg("round %d: stack %d: %s, must be %d\n%s%s", round, (int)i,
					 name, want, str_text(&recipe), str_text(&text));
			hits += want < 8;
		}
		close_fixture(&c);
		str_fini(&text);
		str_fini(&recipe);
	}
	assert_in_range(hits, ROUNDS * 20 / 5, ROUNDS * 20 * 4 / 5);
}

static void many_sites_and_many_suppressions(void **state)
{
	struct str text = STR_INIT;
	struct suppress_fixture c;
	uint32_t hits = 0;

	(void)state;
	for (int i = 0; i < 250; i++)
		str_addf(&text,
			 "{\n %d\n Memcheck:Leak\n fun:*alloc\n ...\n fun:*nothing_%d_*\n ...\n "
			 "fun:main\n}\n",
			 i, i);
	open_fixture(&c, "generate sites=20000 blocks=40000 depth=30 seed=3\n", str_text(&text));
	str_clear(&text);
	for (int i = 0; i < 250; i++)
		str_addf(&text, "leak:nobody_calls_this_%d\n", i);
	assert_int_equal(suppress_parse(c.s, "lsan", str_text(&text), text.len, NULL), 0);
	assert_int_equal(suppress_begin(c.s, &c.names), 0);
	for (uint32_t i = 0; i < c.heap->nr_sites; i++)
		hits += suppress_match(c.s, i, REACH_DEFINITE, 1, 1) != NULL;
	assert_int_equal(hits, 0);
	close_fixture(&c);
	str_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valgrind_frames),
		cmocka_unit_test(lsan_patterns),
		cmocka_unit_test(kinds_and_tools),
		cmocka_unit_test(refused),
		cmocka_unit_test(a_file_counts_wholly_or_not_at_all),
		cmocka_unit_test(the_first_that_matches_is_named_and_counted),
		cmocka_unit_test(agrees_with_a_plain_matcher),
		cmocka_unit_test(many_sites_and_many_suppressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
