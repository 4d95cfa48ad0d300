/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions that are written, read back; the set that is built in, and memcheck's. Also of
 * src/analyze/suppress/suppress_default.c, suppress_write.c, suppress_names.c, suppress_parse.c,
 * suppress_sets.c.
 */
#include "tests/unit/suppress_fixture.h"

/* ---- writing --------------------------------------------------------------------------------- */

static const char written_recipe[] =
	"site _start>main>_ZN3net5cache3addEi>helper|inner|_ZN1x1yEv kind=new size=8\n"
	"site main>/lib/libx.so+0x1234 size=8\n"
	"site !truncated>a kind=calloc size=8\n"
	"site - size=8\n";

static const char *written(struct suppress_fixture *c, struct str *out, enum suppress_form form,
			   uint32_t site)
{
	uint8_t *kinds = suppress_kinds(c->heap);

	str_clear(out);
	suppress_write(out, form, &c->names, site, kinds[site], REACH_POSSIBLE, NULL);
	free(kinds);
	return str_text(out);
}

static void what_is_written(void **state)
{
	struct str out = STR_INIT;
	struct suppress_fixture c;
	uint32_t first;

	(void)state;
	open_fixture(&c, written_recipe, "");
	first = recipe_site(c.heap, "helper|inner|_ZN1x1yEv");
	assert_string_equal(written(&c, &out, SUPPRESS_VALGRIND, first),
			    "{\n   x::y(), possible\n   Memcheck:Leak\n   match-leak-kinds: "
			    "possible\n   fun:_Znwm\n   ...\n   fun:inner\n"
			    "   fun:helper\n   fun:_ZN3net5cache3addEi\n   fun:main\n}\n");
	assert_string_equal(written(&c, &out, SUPPRESS_LSAN, first),
			    "# x::y(), possible\nleak:^x::y()$\n");
	first = recipe_site(c.heap, "/lib/libx.so");
	assert_string_equal(written(&c, &out, SUPPRESS_VALGRIND, first),
			    "{\n   /lib/libx.so, possible\n   Memcheck:Leak\n   match-leak-kinds: "
			    "possible\n   fun:malloc\n"
			    "   obj:/lib/libx.so\n   fun:main\n}\n");
	assert_string_equal(written(&c, &out, SUPPRESS_LSAN, first),
			    "# /lib/libx.so, possible\nleak:libx.so\n");
	str_clear(&out);
	suppress_write(&out, SUPPRESS_VALGRIND, &c.names, first, PMM_KIND_MALLOC, REACH_DEFINITE,
		       "two\nlines");
	assert_non_null(strstr(str_text(&out), "{\n   two?lines\n"));
	close_fixture(&c);
	str_fini(&out);
}

/* Whatever is written of a site suppresses it, and of the others with other stacks none. */
static void what_is_written_is_read_back(void **state)
{
	struct str out = STR_INIT;
	struct suppress_fixture c;

	(void)state;
	open_fixture(&c, written_recipe, "");
	for (uint32_t site = 0; site < c.heap->nr_sites; site++)
		for (int form = SUPPRESS_VALGRIND; form <= SUPPRESS_LSAN; form++) {
			struct suppress *s = suppress_new();
			struct err e = { 0 };

			written(&c, &out, form, site);
			if (suppress_parse(s, "out", str_text(&out), out.len, &e))
				fail_msg("%s", e.text);
			assert_int_equal(suppress_begin(s, &c.names), 0);
			for (uint32_t i = 1; i < c.heap->nr_sites; i++) {
				bool matches = suppress_match(s, i, REACH_POSSIBLE, 1, 1);

				if (site && (matches != (i == site)))
					fail_msg("site %u of %u:\n%s", i, site, str_text(&out));
			}
			if (form == SUPPRESS_VALGRIND && site)
				assert_null(suppress_match(s, site, REACH_DEFINITE, 1, 1));
			suppress_free(s);
		}
	close_fixture(&c);
	str_fini(&out);
}

/* ---- files there are ------------------------------------------------------------------------- */

/* Stacks as they were seen, with and without the names of static functions. */
static void what_the_default_set_suppresses(void **state)
{
	static const struct {
		const char *stack, *kind;
		unsigned classes;	/* bits 1 << class that are suppressed */
		const char *name;
	} table[] = {
		{ "main>pthread_create>allocate_stack>_dl_allocate_tls>allocate_dtv>calloc",
		  "calloc", 1 << REACH_POSSIBLE | 1 << REACH_REACHED,
		  "glibc: thread-local storage of a thread" },
		{ "main>pthread_create>/lib/libc.so.6+0x100>_dl_allocate_tls>/lib/"
		  "ld-linux-x86-64.so.2+0x100",
		  "calloc", 1 << REACH_POSSIBLE | 1 << REACH_REACHED,
		  "glibc: thread-local storage of a thread" },
		{ "main>f>__tls_get_addr>tls_get_addr_tail", "malloc",
		  1 << REACH_POSSIBLE | 1 << REACH_REACHED,
		  "glibc: thread-local storage of a library, made when first used" },
		{ "/lib/ld-linux-x86-64.so.2+0x100>/usr/lib/libstdc++.so.6+0x100", "malloc",
		  1 << REACH_REACHED, "libstdc++: pool for exceptions when memory is out" },
		{ "main>/usr/lib/libstdc++.so.6+0x100", "malloc", 0, "" },
		{ "main>make>/usr/bin/perl+0x100", "malloc",
		  1 << REACH_DEFINITE | 1 << REACH_INDIRECT | 1 << REACH_POSSIBLE,
		  "perl: not torn down, at exit" },
		{ "main>g_object_new>g_type_class_ref>g_malloc0", "calloc",
		  1 << REACH_POSSIBLE | 1 << REACH_REACHED,
		  "glib: classes and interfaces of types" },
		{ "main>/usr/lib/libgobject-2.0.so.0+0x100>g_malloc0", "calloc",
		  1 << REACH_POSSIBLE, "glib: nodes of the first types" },
		{ "main>f>g_slice_alloc>posix", "posix_memalign", 1 << REACH_POSSIBLE,
		  "glib: slices" },
		{ "main>JNI_CreateJavaVM>_ZN2os6mallocEm", "malloc",
		  1 << REACH_DEFINITE | 1 << REACH_INDIRECT | 1 << REACH_POSSIBLE,
		  "java: made when the virtual machine starts" },
		{ "main>JavaMain>Unsafe_AllocateMemory0>_ZN2os6mallocEm", "malloc", 0, "" },
		{ "main>pthread_create>start>work", "malloc", 0, "" },
		{ "main>_dl_open>load", "malloc", 0, "" },
		{ "main>dlopen>/lib64/ld-linux-x86-64.so.2+0x200>/lib64/ld-linux-x86-64.so.2+0x100",
		  "malloc", 1 << REACH_POSSIBLE, "glibc: books of the dynamic linker" },
	};

	(void)state;
	for (size_t i = 0; i < NR(table); i++) {
		for (unsigned class = 0; class < REACH_NR_CLASSES; class++) {
			const char *name = matched(suppress_default_text, table[i].stack,
						   table[i].kind, class);

			if ((*name != 0) != (table[i].classes >> class & 1) ||
			    (*name && strcmp(name, table[i].name)))
				fail_msg("%s, class %u: '%s'", table[i].stack, class, name);
		}
	}
}

static void the_default_set_is_read(void **state)
{
	struct suppress *s = suppress_new();
	struct err e = { 0 };

	(void)state;
	if (suppress_add_default(s, &e))
		fail_msg("%s", e.text);
	assert_true(suppress_nr(s) > 10);
	suppress_free(s);
}

/*
 * What a run-time system does not tear down is suppressed where the program has ended, and nowhere
 * else; other entries always are.
 */
static void some_speak_of_exits_only(void **state)
{
	static const struct { const char *stack; bool at_exit;
	} table[] = {
		{ "main>make>/usr/bin/perl+0x100", true },
		{ "main>make>/usr/lib/x86_64-linux-gnu/libperl.so.5.36+0x100", true },
		{ "main>make>/usr/bin/ruby3.1+0x100", true },
		{ "main>ruby_setup>/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.7+0x100", true },
		{ "main>JNI_CreateJavaVM>_ZN2os6mallocEm", false },
	};
	static const struct { enum heap_search_how how; bool exits;
	} searches[] = {
		{ HEAP_SEARCH_COPY, false },
		{ HEAP_SEARCH_STOPPED, false },
		{ HEAP_SEARCH_CORE, false },
		{ HEAP_SEARCH_EXIT, true },
	};

	(void)state;
	for (size_t i = 0; i < NR(table); i++) {
		for (size_t k = 0; k < NR(searches); k++) {
			struct suppress *s = suppress_new();
			char recipe[200];
			struct names names;
			struct heap *h;

			snprintf(recipe, sizeof(recipe), "site %s size=1 allocs=1\n",
				 table[i].stack);
			h = recipe_heap(recipe);
			h->search.how = searches[k].how;
			names_init(&names, h, suppress_resolve, NULL);
			assert_int_equal(suppress_add_default(s, NULL), 0);
			assert_int_equal(suppress_begin(s, &names), 0);
			if ((suppress_match(s, 1, REACH_DEFINITE, 1, 1) != NULL) !=
			    (searches[k].exits || !table[i].at_exit))
				fail_msg("%s, search %u", table[i].stack, (unsigned)k);
			suppress_free(s);
			names_fini(&names);
			heap_free(h);
		}
	}
}

static void valgrinds_own_file_is_read(void **state)
{
	static const char *const paths[] = { "/usr/libexec/valgrind/default.supp",
					     "/usr/lib/x86_64-linux-gnu/valgrind/default.supp",
					     "/usr/lib/valgrind/default.supp" };
	struct suppress *s = suppress_new();
	struct err e = { 0 };
	char *text = malloc(1 << 20);
	size_t bytes = 0;
	FILE *f = NULL;

	(void)state;
	for (size_t i = 0; i < NR(paths) && !f; i++)
		f = fopen(paths[i], "re");
	if (f) {
		bytes = fread(text, 1, 1 << 20, f);
		fclose(f);
	}
	if (f && suppress_parse(s, "default.supp", text, bytes, &e))
		fail_msg("%s", e.text);
	if (f)
		assert_true(suppress_nr(s) >= 3);
	free(text);
	suppress_free(s);
	if (!f)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written),
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(the_default_set_is_read),
		cmocka_unit_test(what_the_default_set_suppresses),
		cmocka_unit_test(some_speak_of_exits_only),
		cmocka_unit_test(valgrinds_own_file_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
