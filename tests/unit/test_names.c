/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of frames: the cache, marks, offsets, roles.
 */
#include "tests/unit/recipe_heap.h"

static void roles(void **state)
{
	static const struct {
		const char *module, *function;
		enum frame_role role;
	} table[] = {
		{ "/usr/bin/app", "parse_node", FRAME_PROGRAM },
		{ "/usr/bin/app", NULL, FRAME_PROGRAM },
		{ NULL, NULL, FRAME_PROGRAM },
		{ "/lib/x86_64-linux-gnu/libc.so.6", "fopen", FRAME_RUNTIME },
		{ "/lib/x86_64-linux-gnu/libc.so.6", "malloc", FRAME_ALLOCATOR },
		{ "/lib/x86_64-linux-gnu/libcrypto.so.3", "EVP_new", FRAME_PROGRAM },
		{ "/usr/lib/libjemalloc.so.2", "anything", FRAME_ALLOCATOR },
		{ "/opt/pmm/libpmm.so", "hook", FRAME_ALLOCATOR },
		{ "/lib/ld-linux-x86-64.so.2", "_dl_new_object", FRAME_RUNTIME },
		{ "/usr/lib/libstdc++.so.6", "operator new(unsigned long)", FRAME_ALLOCATOR },
		{ "/usr/bin/app", "operator new[](unsigned long)", FRAME_ALLOCATOR },
		{ "/usr/bin/app", "std::vector<int, std::allocator<int> >::push_back(int&&)",
		  FRAME_RUNTIME },
		{ "/usr/bin/app", "void std::vector<int>::_M_realloc_insert<int>(int&&)",
		  FRAME_RUNTIME },
		{ "/usr/bin/app", "std::__new_allocator<int>::allocate(unsigned long, void const*)",
		  FRAME_ALLOCATOR },
		{ "/usr/bin/app", "Tree<std::string>::insert(std::string)", FRAME_PROGRAM },
		{ "/usr/bin/app", "std::string make_name(int)", FRAME_PROGRAM },
		{ "/usr/bin/app", "alloc::raw_vec::finish_grow", FRAME_ALLOCATOR },
		{ "/usr/bin/app", "<alloc::string::String as core::clone::Clone>::clone",
		  FRAME_RUNTIME },
		{ "/usr/bin/app", "<T as alloc::vec::spec_from_elem::SpecFromElem>::from_elem",
		  FRAME_RUNTIME },
		{ "/usr/bin/app", "<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index",
		  FRAME_RUNTIME },
		{ "/usr/bin/app", "<&[u8] as alloc::vec::Into<T>>::into", FRAME_RUNTIME },
		{ "/usr/bin/app", "<server::Conn as core::fmt::Display>::fmt", FRAME_PROGRAM },
		{ "/usr/bin/app", "<T as server::Load>::load", FRAME_PROGRAM },
		{ "/usr/bin/app", "<(u8,server::Conn) as core::clone::Clone>::clone",
		  FRAME_PROGRAM },
		{ "/usr/bin/app", "xmalloc", FRAME_ALLOCATOR },
		{ "/usr/bin/app", "pmm_malloc", FRAME_ALLOCATOR },
		{ "/usr/bin/app", "pmm_report", FRAME_PROGRAM },
		{ "/usr/bin/app", "mallocate", FRAME_PROGRAM },
		{ "/usr/bin/app", "allocate_nodes", FRAME_PROGRAM },
		{ "/usr/bin/app", "_start", FRAME_RUNTIME },
	};

	(void)state;
	for (size_t i = 0; i < NR(table); i++)
		if (role_of(table[i].module, table[i].function) != table[i].role)
			fail_msg("%s in %s", table[i].function, table[i].module);
}

static void sources_of_the_language_are_its_own(void **state)
{
	(void)state;
	assert_true(role_runtime_source(
		"/rustc/90b35a6239c3d8bdabc530a6a0816f7ff89a0aaf/library/alloc/src/vec/mod.rs"));
	assert_true(role_runtime_source(
		"/root/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/fmt.rs"));
	assert_false(role_runtime_source("/home/me/rustc/src/main.rs"));
	assert_false(role_runtime_source("library/alloc/src/vec/mod.rs"));
	assert_true(role_matches("ngx_alloc", "ngx_alloc"));
	assert_false(role_matches("ngx_alloc", "ngx_alloc_more"));
	assert_true(role_matches("pool::*", "pool::take(unsigned long)"));
	assert_true(role_matches("pool::take", "void* pool::take(unsigned long)"));
	assert_false(role_matches("take", "pool::take(unsigned long)"));
}

/* site main>outer>wrap: whom do we name when `wrap` only hands on? */
static void functions_to_skip_are_not_responsible(void **state)
{
	static const char *const pattern[] = { "none", "wr?p" };
	struct heap *h = recipe_heap("site main>outer>wrap size=1\n");
	struct names n;

	(void)state;
	recipe_names(&n, h);
	assert_string_equal(names_responsible(&n, h->sites[1].node, NULL)->function, "wrap");
	names_fini(&n);
	recipe_names(&n, h);
	names_skip(&n, pattern, 2);
	assert_string_equal(names_responsible(&n, h->sites[1].node, NULL)->function, "outer");
	names_fini(&n);
	heap_free(h);
}

static void an_address_is_looked_up_once(void **state)
{
	struct heap *h = recipe_heap("site main>a>leaf size=1\nsite main>b>leaf size=1\n");
	struct names n;
	unsigned nr;

	(void)state;
	recipe_names(&n, h);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 1; i < h->nr_nodes; i++)
			assert_non_null(names_find(&n, i, &nr));
	assert_int_equal(h->nr_nodes, 6);
	assert_int_equal(recipe_lookups, 4);
	names_fini(&n);
	heap_free(h);
}

static void inlined_frames_come_innermost_first(void **state)
{
	struct heap *h = recipe_heap("site main>outer|middle|inner size=1\n");
	const struct frame_name *f;
	struct names n;
	unsigned nr;

	(void)state;
	recipe_names(&n, h);
	f = names_find(&n, h->sites[recipe_site(h, "outer|middle|inner")].node, &nr);
	assert_int_equal(nr, 3);
	assert_string_equal(f[0].function, "inner");
	assert_true(f[0].inlined);
	assert_true(f[1].inlined);
	assert_string_equal(f[2].function, "outer");
	assert_false(f[2].inlined);
	assert_string_equal(f[2].file, "/src/outer.c");
	names_fini(&n);
	heap_free(h);
}

static void without_symbols_module_and_offset_remain(void **state)
{
	struct heap *h = recipe_heap("module /lib/libx.so at=0x7f0000000000 bias=0x7f0000000000\n"
				     "site /lib/libx.so+0x1234 size=1\n");
	const struct frame_name *f;
	struct names n;
	unsigned nr;

	(void)state;
	names_init(&n, h, NULL, NULL);
	f = names_find(&n, h->sites[recipe_site(h, "/lib/libx.so")].node, &nr);
	assert_int_equal(nr, 1);
	assert_null(f->function);
	assert_string_equal(f->module, "/lib/libx.so");
	assert_int_equal(f->offset, 0x1234);
	assert_int_equal(f->address, 0x7f0000001234);
	assert_true(
		names_unnamed(&n, h->nodes[h->sites[recipe_site(h, "/lib/libx.so")].node].module));
	assert_false(names_unnamed(&n, 0));
	names_fini(&n);
	heap_free(h);
}

static void marks_say_why_a_stack_ends(void **state)
{
	struct heap *h = recipe_heap("site !truncated>a size=1\nsite !no-unwind>a size=2\n");
	struct names n;
	unsigned nr, marks = 0;

	(void)state;
	recipe_names(&n, h);
	for (uint32_t i = 1; i < h->nr_nodes; i++)
		marks += names_find(&n, i, &nr)->role == FRAME_MARK;
	assert_int_equal(marks, 2);
	assert_string_equal(names_find(&n, 0, &nr)->function, "[stack unknown]");
	names_fini(&n);
	heap_free(h);
}

static void the_innermost_program_frame_answers(void **state)
{
	struct heap *h = recipe_heap("site main>f>g>xmalloc>libc.so.6 size=1\n");
	const struct frame_name *f;
	struct names n;
	uint32_t node;

	(void)state;
	recipe_names(&n, h);
	f = names_responsible(&n, h->sites[recipe_site(h, "libc.so.6")].node, &node);
	assert_string_equal(f->function, "g");
	assert_string_equal(h->modules[h->nodes[node].module].path, "g");
	assert_null(names_responsible(&n, 0, NULL));
	names_fini(&n);
	heap_free(h);
}

/*
 * Where no frame is the program's a library's answers, and if there is none the allocator's; whose
 * node is said, too.
 */
static void a_library_answers_before_an_allocator(void **state)
{
	struct heap *h = recipe_heap(
		"site libm.so.6>libc.so.6>xmalloc>malloc size=1\nsite xmalloc>malloc size=1\n");
	const struct frame_name *f;
	struct names n;
	uint32_t node;

	(void)state;
	recipe_names(&n, h);
	f = names_responsible(&n, h->sites[1].node, &node);
	assert_int_equal(f->role, FRAME_RUNTIME);
	assert_string_equal(h->modules[h->nodes[node].module].path, "libc.so.6");
	f = names_responsible(&n, h->sites[2].node, &node);
	assert_int_equal(f->role, FRAME_ALLOCATOR);
	assert_string_equal(f->function, "malloc");
	assert_int_equal(node, h->sites[2].node);
	names_fini(&n);
	heap_free(h);
}

/* One line for each stack; what answers is the frame behind '>'. */
static void what_pmm_h_calls_hands_memory_on(void **state)
{
	static const struct {
		const char *stack, *answers;
	} table[] = {
		{ "main>own>pmm_malloc>obtain>full_get>pass_block", "own" },
		{ "main>own>pmm_malloc>obtain>obtain_block>full_get>pass_block", "own" },
		{ "main>own>pmm_strdup>copy_text>get_block.isra.0>get_with_care", "own" },
		{ "main>own>xmalloc>new_or_throw(int)>new_or_null(int)", "own" },
		{ "main>own>get_block", "get_block" },
		{ "main>pmm_malloc>a>b>c>d>e>get_block", "get_block" },
	};
	const struct frame_name *f;
	struct names n;

	(void)state;
	for (size_t i = 0; i < NR(table); i++) {
		char recipe[256];
		struct heap *h;

		snprintf(recipe, sizeof(recipe), "site %s size=1\n", table[i].stack);
		h = recipe_heap(recipe);
		recipe_names(&n, h);
		f = names_responsible(&n, h->sites[1].node, NULL);
		if (strcmp(f->function, table[i].answers))
			fail_msg("%s: '%s'", table[i].stack, f->function);
		names_fini(&n);
		heap_free(h);
	}
}

/* The answer as defined: the first that is the program's, else a library's before malloc's. */
static const struct frame_name *walked(struct names *n, uint32_t stack, uint32_t *node)
{
	const struct frame_name *best = NULL;

	*node = stack;
	for (uint32_t at = stack; at; at = n->heap->nodes[at].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(n, at, &nr),
					*own = names_of_program(n, at);

		if (own) {
			*node = at;
			return own;
		}
		for (unsigned i = 0; i < nr; i++)
			if (!best ||
			    (best->role == FRAME_ALLOCATOR && f[i].role == FRAME_RUNTIME)) {
				best = &f[i];
				*node = at;
			}
	}
	return best;
}

/* Stacks share frames: what was found for one is not looked for again, and must be right. */
static void each_stack_has_its_own_answer(void **state)
{
	static const char *const frame[] = { "main",    "std::sort|std::swap", "malloc",
					     "xmalloc", "parse|malloc", "_start", "!no-unwind" };
	uint32_t seed = 5;

	(void)state;
	for (unsigned round = 0; round < 30; round++) {
		char recipe[4000];
		size_t at = 0;
		struct heap *h;
		struct names n;

		for (unsigned i = 0; i < 20; i++) {
			at += (size_t)sprintf(recipe + at, "site ");
			for (unsigned k = 0, nr = 1 + i % 5; k < nr; k++) {
				seed = seed * 1664525 + 1013904223;
				at += (size_t)sprintf(recipe + at, "%s%s", k ? ">" : "",
						      frame[(seed >> 16) % NR(frame)]);
			}
			at += (size_t)sprintf(recipe + at, " size=1\n");
		}
		h = recipe_heap(recipe);
		recipe_names(&n, h);
		for (unsigned i = 0; i < 2 * h->nr_sites; i++) {
			uint32_t stack = h->sites[i * 7 % h->nr_sites].node, node, expected;
			const struct frame_name *f = walked(&n, stack, &expected);

			assert_ptr_equal(names_responsible(&n, stack, &node), f);
			assert_int_equal(node, expected);
		}
		names_fini(&n);
		heap_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles),
		cmocka_unit_test(sources_of_the_language_are_its_own),
		cmocka_unit_test(functions_to_skip_are_not_responsible),
		cmocka_unit_test(an_address_is_looked_up_once),
		cmocka_unit_test(inlined_frames_come_innermost_first),
		cmocka_unit_test(without_symbols_module_and_offset_remain),
		cmocka_unit_test(marks_say_why_a_stack_ends),
		cmocka_unit_test(the_innermost_program_frame_answers),
		cmocka_unit_test(a_library_answers_before_an_allocator),
		cmocka_unit_test(what_pmm_h_calls_hands_memory_on),
		cmocka_unit_test(each_stack_has_its_own_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
