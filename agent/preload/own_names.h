/* SPDX-License-Identifier: MIT */
/*
 * Functions of allocators beside those of the C library: jemalloc's, tcmalloc's, mimalloc's, and
 * the names that glibc has of its own.
 *
 *     OWN(NAME, FORM, KIND, OLD, SIZE, COUNT)
 *
 * FORM: what it does with blocks (enum own_form). OLD, SIZE, COUNT: which argument (0..5) is the
 * block, the size in bytes, the number to multiply that with; NO = none. All take words only, six
 * at most.
 */
#ifndef AGENT_PRELOAD_OWN_NAMES_H
#define AGENT_PRELOAD_OWN_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/sys.h"

enum own_form {
	OWN_ALLOC,	/* returns a block */
	OWN_NEW,	/* likewise, or throws */
	OWN_STRING,	/* returns a block with a string in it, or OLD, which is no block */
	OWN_INTO,	/* the block goes to where argument 0 points to; returns 0 */
	OWN_STRING_INTO,/* both */
	OWN_RESIZE,	/* returns the block that OLD has become, or NULL: it stays */
	OWN_RESIZE_FREE,/* ... or NULL: it is released */
	OWN_RESIZE_INTO,/* ... in argument 0, which points to the old one; returns 0 */
	OWN_EXPAND,	/* returns OLD, in its place, or NULL: it stays as it was */
	OWN_XALLOCX,	/* ... or the size that it has now; argument 2 is how much more it may be */
	OWN_FREE,
	OWN_LOOK,	/* looks at one; not hooked */
	OWN_DESTROY,	/* releases all blocks of mimalloc's heap in argument 0 */
};

/* clang-format off */
#define OWN_JEMALLOC(OWN)								\
	OWN(mallocx, ALLOC, MALLOC, NO, 0, NO)						\
	OWN(rallocx, RESIZE, REALLOC, 0, 1, NO)						\
	OWN(xallocx, XALLOCX, REALLOC, 0, 1, NO)					\
	OWN(dallocx, FREE, NONE, 0, NO, NO)						\
	OWN(sdallocx, FREE, NONE, 0, NO, NO)						\
	OWN(sallocx, LOOK, NONE, 0, NO, NO)

#define OWN_TCMALLOC(OWN)								\
	OWN(tc_malloc, ALLOC, MALLOC, NO, 0, NO)					\
	OWN(tc_malloc_skip_new_handler, ALLOC, MALLOC, NO, 0, NO)			\
	OWN(tc_calloc, ALLOC, CALLOC, NO, 1, 0)						\
	OWN(tc_realloc, RESIZE, REALLOC, 0, 1, NO)					\
	OWN(tc_memalign, ALLOC, MEMALIGN, NO, 1, NO)					\
	OWN(tc_posix_memalign, INTO, POSIX_MEMALIGN, NO, 2, NO)				\
	OWN(tc_valloc, ALLOC, VALLOC, NO, 0, NO)					\
	OWN(tc_pvalloc, ALLOC, PVALLOC, NO, 0, NO)					\
	OWN(tc_free, FREE, NONE, 0, NO, NO)						\
	OWN(tc_cfree, FREE, NONE, 0, NO, NO)						\
	OWN(tc_free_sized, FREE, NONE, 0, NO, NO)					\
	OWN(tc_malloc_size, LOOK, NONE, 0, NO, NO)					\
	OWN(tc_new, NEW, NEW, NO, 0, NO)						\
	OWN(tc_new_nothrow, NEW, NEW, NO, 0, NO)					\
	OWN(tc_newarray, NEW, NEW_ARRAY, NO, 0, NO)					\
	OWN(tc_newarray_nothrow, NEW, NEW_ARRAY, NO, 0, NO)				\
	OWN(tc_new_aligned, NEW, NEW_ALIGNED, NO, 0, NO)				\
	OWN(tc_new_aligned_nothrow, NEW, NEW_ALIGNED, NO, 0, NO)			\
	OWN(tc_newarray_aligned, NEW, NEW_ARRAY_ALIGNED, NO, 0, NO)			\
	OWN(tc_newarray_aligned_nothrow, NEW, NEW_ARRAY_ALIGNED, NO, 0, NO)		\
	OWN(tc_delete, FREE, NONE, 0, NO, NO)						\
	OWN(tc_delete_nothrow, FREE, NONE, 0, NO, NO)					\
	OWN(tc_delete_sized, FREE, NONE, 0, NO, NO)					\
	OWN(tc_delete_aligned, FREE, NONE, 0, NO, NO)					\
	OWN(tc_delete_aligned_nothrow, FREE, NONE, 0, NO, NO)				\
	OWN(tc_delete_sized_aligned, FREE, NONE, 0, NO, NO)				\
	OWN(tc_deletearray, FREE, NONE, 0, NO, NO)					\
	OWN(tc_deletearray_nothrow, FREE, NONE, 0, NO, NO)				\
	OWN(tc_deletearray_sized, FREE, NONE, 0, NO, NO)				\
	OWN(tc_deletearray_aligned, FREE, NONE, 0, NO, NO)				\
	OWN(tc_deletearray_aligned_nothrow, FREE, NONE, 0, NO, NO)			\
	OWN(tc_deletearray_sized_aligned, FREE, NONE, 0, NO, NO)

#define OWN_MIMALLOC(OWN)								\
	OWN(mi_malloc, ALLOC, MALLOC, NO, 0, NO)					\
	OWN(mi_malloc_small, ALLOC, MALLOC, NO, 0, NO)					\
	OWN(mi_zalloc, ALLOC, CALLOC, NO, 0, NO)					\
	OWN(mi_zalloc_small, ALLOC, CALLOC, NO, 0, NO)					\
	OWN(mi_calloc, ALLOC, CALLOC, NO, 1, 0)						\
	OWN(mi_mallocn, ALLOC, MALLOC, NO, 1, 0)					\
	OWN(mi_realloc, RESIZE, REALLOC, 0, 1, NO)					\
	OWN(mi_reallocn, RESIZE, REALLOCARRAY, 0, 2, 1)					\
	OWN(mi_reallocf, RESIZE_FREE, REALLOC, 0, 1, NO)				\
	OWN(mi_rezalloc, RESIZE, REALLOC, 0, 1, NO)					\
	OWN(mi_recalloc, RESIZE, REALLOCARRAY, 0, 2, 1)					\
	OWN(mi_reallocarray, RESIZE, REALLOCARRAY, 0, 2, 1)				\
	OWN(mi_reallocarr, RESIZE_INTO, REALLOCARRAY, NO, 2, 1)				\
	OWN(mi_expand, EXPAND, REALLOC, 0, 1, NO)					\
	OWN(mi__expand, EXPAND, REALLOC, 0, 1, NO)					\
	OWN(mi_strdup, STRING, MALLOC, NO, NO, NO)					\
	OWN(mi_mbsdup, STRING, MALLOC, NO, NO, NO)					\
	OWN(mi_strndup, STRING, MALLOC, NO, NO, NO)					\
	OWN(mi_realpath, STRING, MALLOC, 1, NO, NO)					\
	OWN(mi_dupenv_s, STRING_INTO, MALLOC, NO, NO, NO)				\
	OWN(mi_malloc_aligned, ALLOC, ALIGNED_ALLOC, NO, 0, NO)				\
	OWN(mi_malloc_aligned_at, ALLOC, ALIGNED_ALLOC, NO, 0, NO)			\
	OWN(mi_zalloc_aligned, ALLOC, ALIGNED_ALLOC, NO, 0, NO)				\
	OWN(mi_zalloc_aligned_at, ALLOC, ALIGNED_ALLOC, NO, 0, NO)			\
	OWN(mi_calloc_aligned, ALLOC, ALIGNED_ALLOC, NO, 1, 0)				\
	OWN(mi_calloc_aligned_at, ALLOC, ALIGNED_ALLOC, NO, 1, 0)			\
	OWN(mi_realloc_aligned, RESIZE, REALLOC, 0, 1, NO)				\
	OWN(mi_realloc_aligned_at, RESIZE, REALLOC, 0, 1, NO)				\
	OWN(mi_rezalloc_aligned, RESIZE, REALLOC, 0, 1, NO)				\
	OWN(mi_rezalloc_aligned_at, RESIZE, REALLOC, 0, 1, NO)				\
	OWN(mi_recalloc_aligned, RESIZE, REALLOCARRAY, 0, 2, 1)				\
	OWN(mi_recalloc_aligned_at, RESIZE, REALLOCARRAY, 0, 2, 1)			\
	OWN(mi_aligned_recalloc, RESIZE, REALLOCARRAY, 0, 2, 1)				\
	OWN(mi_aligned_offset_recalloc, RESIZE, REALLOCARRAY, 0, 2, 1)			\
	OWN(mi_posix_memalign, INTO, POSIX_MEMALIGN, NO, 2, NO)				\
	OWN(mi_memalign, ALLOC, MEMALIGN, NO, 1, NO)					\
	OWN(mi_aligned_alloc, ALLOC, ALIGNED_ALLOC, NO, 1, NO)				\
	OWN(mi_valloc, ALLOC, VALLOC, NO, 0, NO)					\
	OWN(mi_pvalloc, ALLOC, PVALLOC, NO, 0, NO)					\
	OWN(mi_new, NEW, NEW, NO, 0, NO)						\
	OWN(mi_new_n, NEW, NEW, NO, 1, 0)						\
	OWN(mi_new_nothrow, NEW, NEW, NO, 0, NO)					\
	OWN(mi_new_aligned, NEW, NEW_ALIGNED, NO, 0, NO)				\
	OWN(mi_new_aligned_nothrow, NEW, NEW_ALIGNED, NO, 0, NO)			\
	OWN(mi_new_realloc, RESIZE, REALLOC, 0, 1, NO)					\
	OWN(mi_new_reallocn, RESIZE, REALLOCARRAY, 0, 2, 1)				\
	OWN(mi_free, FREE, NONE, 0, NO, NO)						\
	OWN(mi_cfree, FREE, NONE, 0, NO, NO)						\
	OWN(mi_free_size, FREE, NONE, 0, NO, NO)					\
	OWN(mi_usable_size, LOOK, NONE, 0, NO, NO)					\
	OWN(mi_malloc_size, LOOK, NONE, 0, NO, NO)					\
	OWN(mi_malloc_usable_size, LOOK, NONE, 0, NO, NO)				\
	OWN(mi_check_owned, LOOK, NONE, 0, NO, NO)					\
	OWN(mi_free_aligned, FREE, NONE, 0, NO, NO)					\
	OWN(mi_free_size_aligned, FREE, NONE, 0, NO, NO)

#define OWN_MIMALLOC_HEAP(OWN)								\
	OWN(mi_heap_malloc, ALLOC, MALLOC, NO, 1, NO)					\
	OWN(mi_heap_malloc_small, ALLOC, MALLOC, NO, 1, NO)				\
	OWN(mi_heap_zalloc, ALLOC, CALLOC, NO, 1, NO)					\
	OWN(mi_heap_calloc, ALLOC, CALLOC, NO, 2, 1)					\
	OWN(mi_heap_mallocn, ALLOC, MALLOC, NO, 2, 1)					\
	OWN(mi_heap_realloc, RESIZE, REALLOC, 1, 2, NO)					\
	OWN(mi_heap_reallocn, RESIZE, REALLOCARRAY, 1, 3, 2)				\
	OWN(mi_heap_reallocf, RESIZE_FREE, REALLOC, 1, 2, NO)				\
	OWN(mi_heap_rezalloc, RESIZE, REALLOC, 1, 2, NO)				\
	OWN(mi_heap_recalloc, RESIZE, REALLOCARRAY, 1, 3, 2)				\
	OWN(mi_heap_strdup, STRING, MALLOC, NO, NO, NO)					\
	OWN(mi_heap_strndup, STRING, MALLOC, NO, NO, NO)				\
	OWN(mi_heap_realpath, STRING, MALLOC, 2, NO, NO)				\
	OWN(mi_heap_malloc_aligned, ALLOC, ALIGNED_ALLOC, NO, 1, NO)			\
	OWN(mi_heap_malloc_aligned_at, ALLOC, ALIGNED_ALLOC, NO, 1, NO)			\
	OWN(mi_heap_zalloc_aligned, ALLOC, ALIGNED_ALLOC, NO, 1, NO)			\
	OWN(mi_heap_zalloc_aligned_at, ALLOC, ALIGNED_ALLOC, NO, 1, NO)			\
	OWN(mi_heap_calloc_aligned, ALLOC, ALIGNED_ALLOC, NO, 2, 1)			\
	OWN(mi_heap_calloc_aligned_at, ALLOC, ALIGNED_ALLOC, NO, 2, 1)			\
	OWN(mi_heap_realloc_aligned, RESIZE, REALLOC, 1, 2, NO)				\
	OWN(mi_heap_realloc_aligned_at, RESIZE, REALLOC, 1, 2, NO)			\
	OWN(mi_heap_rezalloc_aligned, RESIZE, REALLOC, 1, 2, NO)			\
	OWN(mi_heap_rezalloc_aligned_at, RESIZE, REALLOC, 1, 2, NO)			\
	OWN(mi_heap_recalloc_aligned, RESIZE, REALLOCARRAY, 1, 3, 2)			\
	OWN(mi_heap_recalloc_aligned_at, RESIZE, REALLOCARRAY, 1, 3, 2)			\
	OWN(mi_heap_alloc_new, NEW, NEW, NO, 1, NO)					\
	OWN(mi_heap_alloc_new_n, NEW, NEW, NO, 2, 1)					\
	OWN(mi_heap_destroy, DESTROY, NONE, NO, NO, NO)

/* The C library's under other names, where the allocator does not bring them along: glibc's. */
#define OWN_LIBC(OWN)									\
	OWN(__libc_malloc, ALLOC, MALLOC, NO, 0, NO)					\
	OWN(__libc_calloc, ALLOC, CALLOC, NO, 1, 0)					\
	OWN(__libc_realloc, RESIZE, REALLOC, 0, 1, NO)					\
	OWN(__libc_memalign, ALLOC, MEMALIGN, NO, 1, NO)				\
	OWN(__libc_valloc, ALLOC, VALLOC, NO, 0, NO)					\
	OWN(__libc_pvalloc, ALLOC, PVALLOC, NO, 0, NO)					\
	OWN(__posix_memalign, INTO, POSIX_MEMALIGN, NO, 2, NO)				\
	OWN(__libc_free, FREE, NONE, 0, NO, NO)						\
	OWN(__libc_cfree, FREE, NONE, 0, NO, NO)

#define OWN_NAMES(OWN)									\
	OWN_LIBC(OWN) OWN_JEMALLOC(OWN) OWN_TCMALLOC(OWN) OWN_MIMALLOC(OWN) OWN_MIMALLOC_HEAP(OWN)
/* clang-format on */

/* Is it a name of the C library's? */
static inline bool own_libc(const char *name)
{
	return name[0] == '_' && (str_starts(name, "__libc_") || str_starts(name, "__posix_m"));
}

/* May it be one of the names? Quick. */
static inline bool own_likely(const char *name)
{
	switch (name[0]) {
	case '_':
		return own_libc(name);
	case 'm':
		return str_starts(name, "mi_") || str_starts(name, "mallocx");
	case 't':
		return str_starts(name, "tc_");
	case 'r':
	case 'x':
	case 'd':
		return str_starts(name + 1, "allocx");
	case 's':
		return str_starts(name, "sdallocx") || str_starts(name, "sallocx");
	default:
		return false;
	}
}

#endif
