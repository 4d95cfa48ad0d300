/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_victim_cxx ERROR ENTRY [twin]: one heap error (check_victim.h) with a block of one of C++'s entries, or its correct twin; as-RELEASE
 * releases a block of any entry in one way, which goes with it or not. Ends with status 0.
 */
#include <new>

#include "check_victim.h"

static const std::align_val_t align{64};

/* ---- releases ---- */

SITE static void by_free(char *p) { free(p); }
SITE static void by_realloc_new(char *p) { free(realloc(p, 100)); }
SITE static void by_delete(char *p) { operator delete(p); }
SITE static void by_delete_array(char *p) { operator delete[](p); }
SITE static void by_delete_sized(char *p) { operator delete(p, 64ul); }
SITE static void by_delete_array_sized(char *p) { operator delete[](p, 64ul); }
SITE static void by_delete_aligned(char *p) { operator delete(p, align); }
SITE static void by_delete_array_aligned(char *p) { operator delete[](p, align); }
SITE static void by_delete_sized_aligned(char *p) { operator delete(p, 64ul, align); }
SITE static void by_delete_array_sized_aligned(char *p) { operator delete[](p, 64ul, align); }
SITE static void by_delete_nothrow(char *p) { operator delete(p, std::nothrow); }
SITE static void by_delete_other_size(char *p) { operator delete(p, 63ul); }
SITE static void by_delete_other_align(char *p) { operator delete(p, std::align_val_t{32}); }

/* ---- entries, 64 bytes ---- */

SITE static char *by_malloc_cxx() { return static_cast<char *>(malloc(64)); }
SITE static char *by_aligned_alloc_cxx() { return static_cast<char *>(aligned_alloc(64, 64)); }
SITE static char *by_new() { return static_cast<char *>(operator new(64)); }
SITE static char *by_new_nothrow() { return static_cast<char *>(operator new(64, std::nothrow)); }
SITE static char *by_new_array() { return static_cast<char *>(operator new[](64)); }
SITE static char *by_new_aligned() { return static_cast<char *>(operator new(64, align)); }
SITE static char *by_new_array_aligned() { return static_cast<char *>(operator new[](64, align)); }
SITE static char *by_new_expression() { return new char[64]; }

static const struct entry entries[] = {
	{ "malloc-cxx", by_malloc_cxx, by_free, 64 }, { "aligned_alloc-cxx", by_aligned_alloc_cxx, by_free, 64 }, { "new", by_new, by_delete, 64 },
	{ "new-nothrow", by_new_nothrow, by_delete_nothrow, 64 }, { "new-array", by_new_array, by_delete_array, 64 },
	{ "new-aligned", by_new_aligned, by_delete_aligned, 64 }, { "new-array-aligned", by_new_array_aligned, by_delete_array_aligned, 64 },
	{ "new-expression", by_new_expression, by_delete_array, 64 }, { nullptr, nullptr, nullptr, 0 }
};

/* ---- pairs ---- */

static void (*const as_table[])(char *) = {
	by_free, by_realloc_new, by_delete, by_delete_array, by_delete_sized, by_delete_array_sized, by_delete_aligned,
	by_delete_array_aligned, by_delete_sized_aligned, by_delete_array_sized_aligned, by_delete_nothrow, by_delete_other_size,
	by_delete_other_align,
};
static const char *const as_name[] = {
	"as-free", "as-realloc", "as-delete", "as-delete-array", "as-delete-sized", "as-delete-array-sized", "as-delete-aligned", "as-delete-array-aligned",
	"as-delete-sized-aligned", "as-delete-array-sized-aligned", "as-delete-nothrow", "as-delete-other-size", "as-delete-other-align",
};

SITE static void released_as(const struct entry *e, void (*release)(char *))
{
	release(e->make());
}

int main(int argc, char **argv)
{
	const struct entry *e = argc < 3 ? nullptr : entry_named(entries, argv[2]);
	const struct error *error = e ? error_named(common_errors, argv[1]) : nullptr;

	if (error) {
		error->commit(e, argc < 4);
		return 0;
	}
	for (size_t i = 0; e && i < sizeof(as_name) / sizeof(*as_name); i++)
		if (!strcmp(argv[1], as_name[i])) {
			released_as(e, as_table[i]);
			return 0;
		}
	return 64;
}
