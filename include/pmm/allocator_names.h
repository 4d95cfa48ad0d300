/* SPDX-License-Identifier: MIT */
/*
 * Functions of allocators: under their names in the C library, and under those of allocators' own
 * beside them. pmm's processes patch them (src/entries/entries_names.c), the agent that is
 * preloaded looks for calls of their own names (agent/preload/own_called.c).
 *
 * A list is a macro of rows,
 *
 *	ROW(FORM, NAME, OWN, OTHERS, ...)
 *
 * OWN: what is before the name where it is an allocator's own: TC tc_, MI mi_, TC_MI each of the
 * two, BARE nothing. OTHERS: what else it is known with, 0 = nothing. FORM and the rest: what the
 * function does, as entries_names.c says. For forms with a number that is of the first argument
 * which says what is allocated or resized.
 *
 * Where two names have the same address, the one that comes first stands for it.
 */
#ifndef PMM_ALLOCATOR_NAMES_H
#define PMM_ALLOCATOR_NAMES_H

#define PMM_NAMES_OF_LIBC(ROW)                                                                     \
	ROW(FUNCTION, "malloc", TC_MI, PUBLIC | JE | LIBC, MALLOC, MALLOC)                         \
	ROW(FUNCTION, "free", TC_MI, PUBLIC | JE | LIBC, FREE, NONE)                               \
	ROW(FUNCTION, "calloc", TC_MI, PUBLIC | JE | LIBC, CALLOC, CALLOC)                         \
	ROW(FUNCTION, "realloc", TC_MI, PUBLIC | JE | LIBC, REALLOC, REALLOC)                      \
	ROW(FUNCTION, "reallocarray", MI, PUBLIC | LIBC, REALLOCARRAY, REALLOCARRAY)               \
	ROW(FUNCTION, "aligned_alloc", MI, PUBLIC | JE, MEMALIGN, ALIGNED_ALLOC)                   \
	ROW(FUNCTION, "memalign", TC_MI, PUBLIC | JE | LIBC, MEMALIGN, MEMALIGN)                   \
	ROW(FUNCTION, "posix_memalign", TC_MI, PUBLIC | JE, POSIX_MEMALIGN, POSIX_MEMALIGN)        \
	ROW(FUNCTION, "valloc", TC_MI, PUBLIC | JE | LIBC, MALLOC, VALLOC)                         \
	ROW(FUNCTION, "pvalloc", TC_MI, PUBLIC | JE | LIBC, MALLOC, PVALLOC)                       \
	ROW(FUNCTION, "cfree", TC_MI, PUBLIC | LIBC, FREE, NONE)                                   \
	ROW(FUNCTION, "free_sized", TC, PUBLIC | JE, FREE, NONE)                                   \
	ROW(FUNCTION, "free_aligned_sized", TC, PUBLIC | JE, FREE, NONE)

/* mimalloc's with an alignment: each also with an offset, and with a heap as first argument. */
#define PMM_NAMES_ALIGNED(ROW, FORM, NAME, KIND)                                                   \
	ROW(FORM, NAME "_aligned", MI, 0, 0, KIND)                                                 \
	ROW(FORM, NAME "_aligned_at", MI, 0, 0, KIND)                                              \
	ROW(FORM, "heap_" NAME "_aligned", MI, 0, 1, KIND)                                         \
	ROW(FORM, "heap_" NAME "_aligned_at", MI, 0, 1, KIND)

#define PMM_NAMES_OF_OWN(ROW)                                                                      \
	/* jemalloc's own interface */                                                             \
	ROW(SIZED, "mallocx", BARE, PUBLIC | JE, 0, MALLOC)                                        \
	ROW(RESIZED, "rallocx", BARE, PUBLIC | JE, 0, REALLOC)                                     \
	ROW(IN_PLACE, "xallocx", BARE, PUBLIC | JE, XALLOCX)                                       \
	ROW(FUNCTION, "dallocx", BARE, PUBLIC | JE, FREE, NONE)                                    \
	ROW(FUNCTION, "sdallocx", BARE, PUBLIC | JE, FREE, NONE)                                   \
	/* tcmalloc's, mimalloc's */                                                               \
	ROW(FUNCTION, "new", TC_MI, 0, NEW, NEW)                                                   \
	ROW(FUNCTION, "newarray", TC, 0, NEW, NEW_ARRAY)                                           \
	ROW(FUNCTION, "new_nothrow", TC_MI, 0, NEW_NOTHROW, NEW)                                   \
	ROW(FUNCTION, "newarray_nothrow", TC, 0, NEW_NOTHROW, NEW_ARRAY)                           \
	ROW(FUNCTION, "new_aligned", TC_MI, 0, NEW_ALIGNED, NEW_ALIGNED)                           \
	ROW(FUNCTION, "newarray_aligned", TC, 0, NEW_ALIGNED, NEW_ARRAY_ALIGNED)                   \
	ROW(FUNCTION, "new_aligned_nothrow", TC_MI, 0, NEW_ALIGNED_NOTHROW, NEW_ALIGNED)           \
	ROW(FUNCTION, "newarray_aligned_nothrow", TC, 0, NEW_ALIGNED_NOTHROW, NEW_ARRAY_ALIGNED)   \
	ROW(FUNCTION, "delete", TC, 0, FREE, NONE)                                                 \
	ROW(FUNCTION, "deletearray", TC, 0, FREE, NONE)                                            \
	ROW(FUNCTION, "delete_nothrow", TC, 0, FREE, NONE)                                         \
	ROW(FUNCTION, "deletearray_nothrow", TC, 0, FREE, NONE)                                    \
	ROW(FUNCTION, "delete_sized", TC, 0, FREE, NONE)                                           \
	ROW(FUNCTION, "deletearray_sized", TC, 0, FREE, NONE)                                      \
	ROW(FUNCTION, "delete_aligned", TC, 0, FREE, NONE)                                         \
	ROW(FUNCTION, "deletearray_aligned", TC, 0, FREE, NONE)                                    \
	ROW(FUNCTION, "delete_sized_aligned", TC, 0, FREE, NONE)                                   \
	ROW(FUNCTION, "deletearray_sized_aligned", TC, 0, FREE, NONE)                              \
	ROW(FUNCTION, "delete_aligned_nothrow", TC, 0, FREE, NONE)                                 \
	ROW(FUNCTION, "deletearray_aligned_nothrow", TC, 0, FREE, NONE)                            \
	ROW(FUNCTION, "malloc_skip_new_handler", TC, 0, MALLOC, MALLOC)                            \
	ROW(FUNCTION, "zalloc", MI, 0, MALLOC, CALLOC)                                             \
	ROW(FUNCTION, "malloc_small", MI, 0, MALLOC, MALLOC)                                       \
	ROW(FUNCTION, "zalloc_small", MI, 0, MALLOC, CALLOC)                                       \
	ROW(FUNCTION, "mallocn", MI, 0, CALLOC, MALLOC)                                            \
	ROW(FUNCTION, "reallocn", MI, 0, REALLOCARRAY, REALLOCARRAY)                               \
	ROW(FUNCTION, "reallocf", MI, PUBLIC, REALLOC, REALLOC)                                    \
	ROW(FUNCTION, "rezalloc", MI, 0, REALLOC, REALLOC)                                         \
	ROW(FUNCTION, "recalloc", MI, 0, REALLOCARRAY, REALLOCARRAY)                               \
	PMM_NAMES_ALIGNED(ROW, SIZED, "malloc", ALIGNED_ALLOC)                                     \
	PMM_NAMES_ALIGNED(ROW, SIZED, "zalloc", ALIGNED_ALLOC)                                     \
	PMM_NAMES_ALIGNED(ROW, COUNTED, "calloc", ALIGNED_ALLOC)                                   \
	PMM_NAMES_ALIGNED(ROW, RESIZED, "realloc", REALLOC)                                        \
	PMM_NAMES_ALIGNED(ROW, RESIZED, "rezalloc", REALLOC)                                       \
	PMM_NAMES_ALIGNED(ROW, RECOUNTED, "recalloc", REALLOCARRAY)                                \
	ROW(RECOUNTED, "aligned_recalloc", MI, 0, 0, REALLOCARRAY)                                 \
	ROW(RECOUNTED, "aligned_offset_recalloc", MI, 0, 0, REALLOCARRAY)                          \
	ROW(IN_PLACE, "expand", MI, 0, EXPAND)                                                     \
	ROW(STRING, "strdup", MI, 0, -1)                                                           \
	ROW(STRING, "mbsdup", MI, 0, -1)                                                           \
	ROW(STRING, "strndup", MI, 0, -1)                                                          \
	ROW(STRING, "realpath", MI, 0, 1)                                                          \
	ROW(THROWS, "new_n", MI, 0, 0, 1)                                                          \
	ROW(FUNCTION, "free_size", MI, 0, FREE, NONE)                                              \
	ROW(FUNCTION, "free_size_aligned", MI, 0, FREE, NONE)                                      \
	ROW(FUNCTION, "free_aligned", MI, 0, FREE, NONE)                                           \
	/*                                                                                         \
	 * mimalloc's with a heap as first argument. What mi_heap_destroy() releases no role can   \
	 * say: it counts as freed when its place is taken.                                        \
	 */                                                                                        \
	ROW(SIZED, "heap_malloc", MI, 0, 1, MALLOC)                                                \
	ROW(SIZED, "heap_zalloc", MI, 0, 1, CALLOC)                                                \
	ROW(SIZED, "heap_malloc_small", MI, 0, 1, MALLOC)                                          \
	ROW(COUNTED, "heap_calloc", MI, 0, 1, CALLOC)                                              \
	ROW(COUNTED, "heap_mallocn", MI, 0, 1, MALLOC)                                             \
	ROW(RESIZED, "heap_realloc", MI, 0, 1, REALLOC)                                            \
	ROW(RECOUNTED, "heap_reallocn", MI, 0, 1, REALLOCARRAY)                                    \
	ROW(RESIZED, "heap_reallocf", MI, 0, 1, REALLOC)                                           \
	ROW(RESIZED, "heap_rezalloc", MI, 0, 1, REALLOC)                                           \
	ROW(RECOUNTED, "heap_recalloc", MI, 0, 1, REALLOCARRAY)                                    \
	ROW(STRING, "heap_strdup", MI, 0, -1)                                                      \
	ROW(STRING, "heap_strndup", MI, 0, -1)                                                     \
	ROW(STRING, "heap_realpath", MI, 0, 2)                                                     \
	ROW(THROWS, "heap_alloc_new", MI, 0, -1, 1)                                                \
	ROW(THROWS, "heap_alloc_new_n", MI, 0, 1, 2)

#endif
