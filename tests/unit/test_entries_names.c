/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of allocators' functions: what a launched agent hooks by name, attaching finds by name,
 * with the same kind.
 */
#include "src/entries/entries_names.h"

#include "agent/hook_entries.h"
#include "tests/unit/unit.h"

static struct entries_names names;

static int init_names(void **state)
{
	(void)state;
	return entries_names_init(&names);
}

static int fini_names(void **state)
{
	(void)state;
	entries_names_fini(&names);
	return 0;
}

static void is_public(const char *symbol, unsigned kind)
{
	enum names_prefix prefix;
	const struct entries_name *n = entries_names_find(&names, symbol, &prefix);

	if (!n)
		fail_msg("'%s' is not known", symbol);
	assert_int_equal(prefix, NAMES_PUBLIC);
	if (n->kind != kind)
		fail_msg("'%s' is of kind %u, not %u", symbol, n->kind, kind);
}

static void operators_of_the_hooks(void **state)
{
	(void)state;
#define NEW(SYMBOL, WHICH, KIND) is_public(#SYMBOL, KIND);
#define DELETE(SYMBOL, ...) is_public(#SYMBOL, PMM_KIND_NONE);
	CXX_NEW(NEW)
	CXX_NEW_ALIGNED(NEW)
	CXX_DELETE(DELETE)
}

static void functions_of_the_hooks(void **state)
{
	static const struct { const char *name; enum pmm_kind kind; } of[] = {
		{ "malloc", PMM_KIND_MALLOC },
		{ "calloc", PMM_KIND_CALLOC },
		{ "realloc", PMM_KIND_REALLOC },
		{ "reallocarray", PMM_KIND_REALLOCARRAY },
		{ "free", PMM_KIND_NONE },
		{ "cfree", PMM_KIND_NONE },
		{ "posix_memalign", PMM_KIND_POSIX_MEMALIGN },
		{ "aligned_alloc", PMM_KIND_ALIGNED_ALLOC },
		{ "memalign", PMM_KIND_MEMALIGN },
		{ "valloc", PMM_KIND_VALLOC },
		{ "pvalloc", PMM_KIND_PVALLOC },
		{ "malloc_usable_size", PMM_KIND_NONE },
		{ "mmap", PMM_KIND_MMAP },
		{ "mmap64", PMM_KIND_MMAP },
		{ "munmap", PMM_KIND_NONE },
		{ "mremap", PMM_KIND_MMAP },
	};
	static const char *const hooked[] = {
#define NAME(RETURNS, FUNCTION, ...) #FUNCTION,
		AGENT_ENTRIES(NAME)
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		/* the list begins with what allocates and maps; the rest is of processes */
		assert_string_equal(hooked[i], of[i].name);
		is_public(of[i].name, of[i].kind);
	}
}

static void has_arguments(const char *symbol, enum pmm_role role, int size, int count, int pointer)
{
	enum names_prefix prefix;
	const struct entries_name *n = entries_names_find(&names, symbol, &prefix);

	if (!n)
		fail_msg("'%s' is not known", symbol);
	if (n->role != role || n->arg_size != size || n->arg_count != count ||
	    n->arg_pointer != pointer)
		fail_msg("'%s' is of role %u (%d, %d, %d), not %u (%d, %d, %d)", symbol, n->role,
			 n->arg_size, n->arg_count, n->arg_pointer, role, size, count, pointer);
}

/* As mimalloc.h (2.0) has them. */
static void functions_of_mimalloc(void **state)
{
	static const struct {
		const char *name;
		int size, count, old;
	} of[] = {
		{ "mi_malloc_aligned", 0, -1, -1 },
		{ "mi_malloc_aligned_at", 0, -1, -1 },
		{ "mi_zalloc_aligned", 0, -1, -1 },
		{ "mi_zalloc_aligned_at", 0, -1, -1 },
		{ "mi_calloc_aligned", 1, 0, -1 },
		{ "mi_calloc_aligned_at", 1, 0, -1 },
		{ "mi_realloc_aligned", 1, -1, 0 },
		{ "mi_realloc_aligned_at", 1, -1, 0 },
		{ "mi_rezalloc_aligned", 1, -1, 0 },
		{ "mi_rezalloc_aligned_at", 1, -1, 0 },
		{ "mi_recalloc_aligned", 2, 1, 0 },
		{ "mi_recalloc_aligned_at", 2, 1, 0 },
		{ "mi_aligned_recalloc", 2, 1, 0 },
		{ "mi_aligned_offset_recalloc", 2, 1, 0 },
		{ "mi_heap_malloc", 1, -1, -1 },
		{ "mi_heap_zalloc", 1, -1, -1 },
		{ "mi_heap_malloc_small", 1, -1, -1 },
		{ "mi_heap_calloc", 2, 1, -1 },
		{ "mi_heap_mallocn", 2, 1, -1 },
		{ "mi_heap_realloc", 2, -1, 1 },
		{ "mi_heap_reallocn", 3, 2, 1 },
		{ "mi_heap_reallocf", 2, -1, 1 },
		{ "mi_heap_rezalloc", 2, -1, 1 },
		{ "mi_heap_recalloc", 3, 2, 1 },
		{ "mi_heap_malloc_aligned", 1, -1, -1 },
		{ "mi_heap_malloc_aligned_at", 1, -1, -1 },
		{ "mi_heap_zalloc_aligned", 1, -1, -1 },
		{ "mi_heap_zalloc_aligned_at", 1, -1, -1 },
		{ "mi_heap_calloc_aligned", 2, 1, -1 },
		{ "mi_heap_calloc_aligned_at", 2, 1, -1 },
		{ "mi_heap_realloc_aligned", 2, -1, 1 },
		{ "mi_heap_realloc_aligned_at", 2, -1, 1 },
		{ "mi_heap_rezalloc_aligned", 2, -1, 1 },
		{ "mi_heap_rezalloc_aligned_at", 2, -1, 1 },
		{ "mi_heap_recalloc_aligned", 3, 2, 1 },
		{ "mi_heap_recalloc_aligned_at", 3, 2, 1 },
		{ "mi_new_n", 1, 0, -1 },
		{ "mi_heap_alloc_new", 1, -1, -1 },
		{ "mi_heap_alloc_new_n", 2, 1, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		has_arguments(of[i].name,
			      of[i].old < 0 ? PMM_ROLE_CUSTOM_ALLOC : PMM_ROLE_CUSTOM_REALLOC,
			      of[i].size, of[i].count, of[i].old);
	has_arguments("mi_strdup", PMM_ROLE_STRING, -1, -1, -1);
	has_arguments("mi_strndup", PMM_ROLE_STRING, -1, -1, -1);
	has_arguments("mi_mbsdup", PMM_ROLE_STRING, -1, -1, -1);
	has_arguments("mi_realpath", PMM_ROLE_STRING, -1, -1, 1);
	has_arguments("mi_heap_strdup", PMM_ROLE_STRING, -1, -1, -1);
	has_arguments("mi_heap_strndup", PMM_ROLE_STRING, -1, -1, -1);
	has_arguments("mi_heap_realpath", PMM_ROLE_STRING, -1, -1, 2);
	has_arguments("mi_expand", PMM_ROLE_EXPAND, 1, -1, 0);
	has_arguments("xallocx", PMM_ROLE_XALLOCX, 1, -1, 0);
	has_arguments("_rjem_xallocx", PMM_ROLE_XALLOCX, 1, -1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_of_the_hooks),
		cmocka_unit_test(functions_of_the_hooks),
		cmocka_unit_test(functions_of_mimalloc),
	};

	return cmocka_run_group_tests(tests, init_names, fini_names);
}
