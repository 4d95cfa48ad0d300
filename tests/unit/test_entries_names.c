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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_of_the_hooks),
		cmocka_unit_test(functions_of_the_hooks),
	};

	return cmocka_run_group_tests(tests, init_names, fini_names);
}
