/* SPDX-License-Identifier: GPL-2.0-or-later
 * Calls the functions that allocators have beside those of the C library, of the allocator that it finds itself with. hold_NAME leaves
 * three blocks that it has from NAME, gone_NAME gives three back by it. It says on standard output what is left: function, bytes, blocks.
 * With an argument ("lose") no pointer to them is left at its end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "victim.h"

#define EACH	 3
#define WORDS	 long, long, long, long, long, long
#define OWN(name) extern long name(WORDS) __attribute__((weak));
#define CALL(...) CALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(name, a, b, c, d, e, f, ...) name((long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static long kept[1000];
static int nr_kept;
static long heap;

/* NAME's result is a block of `bytes`; `old` is what it is made of (P) and `more` what else is to be done with the result. */
#define HOLD(name, bytes, old, result, ...)                                                                                    \
	SITE static void hold_##name(void)                                                                                     \
	{                                                                                                                      \
		for (int i = 0; i < EACH; i++) {                                                                               \
			long P = old, R = CALL(name, __VA_ARGS__);                                                             \
			(void)P;                                                                                               \
			(void)R;                                                                                               \
			kept[nr_kept++] = result;                                                                              \
		}                                                                                                              \
		printf("hold_" #name " %d %d\n", EACH * (bytes), EACH);                                                       \
	}
#define GONE(name, old, ...)                                                                                                   \
	SITE static void gone_##name(void)                                                                                     \
	{                                                                                                                      \
		for (int i = 0; i < EACH; i++) {                                                                               \
			long P = old;                                                                                          \
			CALL(name, __VA_ARGS__);                                                                               \
			(void)P;                                                                                               \
		}                                                                                                              \
	}

/* hold(NAME, bytes, old, result, arguments) and gone(NAME, old, arguments): P is what is old, R what is returned. */
#define JEMALLOC(hold, gone)                                                                                                   \
	hold(mallocx, 40, 0, R, 40, 0)                                                                                         \
	hold(rallocx, 4000, CALL(mallocx, 24), R, P, 4000)                                                                     \
	hold(xallocx, 48, CALL(mallocx, 33), P, P, 48)                                                                         \
	gone(dallocx, CALL(mallocx, 24), P)                                                                                    \
	gone(sdallocx, (long)malloc(24), P, 24)

#define TCMALLOC(hold, gone)                                                                                                   \
	hold(tc_malloc, 101, 0, R, 101)                                                                                        \
	hold(tc_malloc_skip_new_handler, 102, 0, R, 102)                                                                       \
	hold(tc_calloc, 3 * 103, 0, R, 3, 103)                                                                                 \
	hold(tc_realloc, 3000, CALL(tc_malloc, 24), R, P, 3000)                                                                \
	hold(tc_memalign, 104, 0, R, 64, 104)                                                                                  \
	hold(tc_posix_memalign, 105, 0, P, &P, 64, 105)                                                                        \
	hold(tc_valloc, 106, 0, R, 106)                                                                                        \
	hold(tc_pvalloc, 107, 0, R, 107)                                                                                       \
	hold(tc_new, 108, 0, R, 108)                                                                                           \
	hold(tc_new_nothrow, 109, 0, R, 109)                                                                                   \
	hold(tc_newarray, 110, 0, R, 110)                                                                                      \
	hold(tc_newarray_nothrow, 111, 0, R, 111)                                                                              \
	hold(tc_new_aligned, 112, 0, R, 112, 64)                                                                               \
	hold(tc_new_aligned_nothrow, 113, 0, R, 113, 64)                                                                       \
	hold(tc_newarray_aligned, 114, 0, R, 114, 64)                                                                          \
	hold(tc_newarray_aligned_nothrow, 115, 0, R, 115, 64)                                                                  \
	gone(tc_free, (long)malloc(24), P)                                                                                     \
	gone(tc_cfree, CALL(tc_malloc, 24), P)                                                                                 \
	gone(tc_free_sized, CALL(tc_malloc, 24), P, 24)                                                                        \
	gone(tc_delete, CALL(tc_new, 24), P)                                                                                   \
	gone(tc_delete_nothrow, CALL(tc_new, 24), P)                                                                           \
	gone(tc_delete_sized, CALL(tc_new, 24), P, 24)                                                                         \
	gone(tc_delete_aligned, CALL(tc_new_aligned, 24, 64), P, 64)                                                           \
	gone(tc_delete_aligned_nothrow, CALL(tc_new_aligned, 24, 64), P, 64)                                                   \
	gone(tc_delete_sized_aligned, CALL(tc_new_aligned, 24, 64), P, 24, 64)                                                 \
	gone(tc_deletearray, CALL(tc_newarray, 24), P)                                                                         \
	gone(tc_deletearray_nothrow, CALL(tc_newarray, 24), P)                                                                 \
	gone(tc_deletearray_sized, CALL(tc_newarray, 24), P, 24)                                                               \
	gone(tc_deletearray_aligned, CALL(tc_newarray_aligned, 24, 64), P, 64)                                                 \
	gone(tc_deletearray_aligned_nothrow, CALL(tc_newarray_aligned, 24, 64), P, 64)                                         \
	gone(tc_deletearray_sized_aligned, CALL(tc_newarray_aligned, 24, 64), P, 24, 64)

#define OLD CALL(mi_malloc, 24)

#define MIMALLOC(hold, gone)                                                                                                   \
	hold(mi_malloc, 201, 0, R, 201)                                                                                        \
	hold(mi_malloc_small, 202, 0, R, 202)                                                                                  \
	hold(mi_zalloc, 203, 0, R, 203)                                                                                        \
	hold(mi_zalloc_small, 204, 0, R, 204)                                                                                  \
	hold(mi_calloc, 3 * 205, 0, R, 3, 205)                                                                                 \
	hold(mi_mallocn, 3 * 206, 0, R, 3, 206)                                                                                \
	hold(mi_realloc, 2070, OLD, R, P, 2070)                                                                                \
	hold(mi_reallocn, 3 * 208, OLD, R, P, 3, 208)                                                                          \
	hold(mi_reallocf, 2090, OLD, R, P, 2090)                                                                               \
	hold(mi_rezalloc, 2100, OLD, R, P, 2100)                                                                               \
	hold(mi_recalloc, 3 * 211, OLD, R, P, 3, 211)                                                                          \
	hold(mi_reallocarray, 3 * 212, OLD, R, P, 3, 212)                                                                      \
	hold(mi_reallocarr, 3 * 213, OLD, P, &P, 3, 213)                                                                       \
	hold(mi_expand, 30, OLD, P, P, 30)                                                                                     \
	hold(mi__expand, 31, OLD, P, P, 31)                                                                                    \
	hold(mi_strdup, 13, 0, R, "twelve bytes")                                                                              \
	hold(mi_mbsdup, 12, 0, R, "eleven here")                                                                               \
	hold(mi_strndup, 6, 0, R, "five and more", 5)                                                                          \
	hold(mi_realpath, 2, 0, R, "/", 0)                                                                                     \
	hold(mi_dupenv_s, 5, 0, P, &P, 0, "OWN_NAMES")                                                                         \
	hold(mi_malloc_aligned, 214, 0, R, 214, 64)                                                                            \
	hold(mi_malloc_aligned_at, 215, 0, R, 215, 64, 8)                                                                      \
	hold(mi_zalloc_aligned, 216, 0, R, 216, 64)                                                                            \
	hold(mi_zalloc_aligned_at, 217, 0, R, 217, 64, 8)                                                                      \
	hold(mi_calloc_aligned, 3 * 218, 0, R, 3, 218, 64)                                                                     \
	hold(mi_calloc_aligned_at, 3 * 219, 0, R, 3, 219, 64, 8)                                                               \
	hold(mi_realloc_aligned, 2200, OLD, R, P, 2200, 64)                                                                    \
	hold(mi_realloc_aligned_at, 2210, OLD, R, P, 2210, 64, 8)                                                              \
	hold(mi_rezalloc_aligned, 2220, OLD, R, P, 2220, 64)                                                                   \
	hold(mi_rezalloc_aligned_at, 2230, OLD, R, P, 2230, 64, 8)                                                             \
	hold(mi_recalloc_aligned, 3 * 224, OLD, R, P, 3, 224, 64)                                                              \
	hold(mi_recalloc_aligned_at, 3 * 225, OLD, R, P, 3, 225, 64, 8)                                                        \
	hold(mi_aligned_recalloc, 3 * 226, OLD, R, P, 3, 226, 64)                                                              \
	hold(mi_aligned_offset_recalloc, 3 * 227, OLD, R, P, 3, 227, 64, 8)                                                    \
	hold(mi_posix_memalign, 228, 0, P, &P, 64, 228)                                                                        \
	hold(mi_memalign, 229, 0, R, 64, 229)                                                                                  \
	hold(mi_aligned_alloc, 256, 0, R, 64, 256)                                                                             \
	hold(mi_valloc, 231, 0, R, 231)                                                                                        \
	hold(mi_pvalloc, 232, 0, R, 232)                                                                                       \
	hold(mi_new, 233, 0, R, 233)                                                                                           \
	hold(mi_new_n, 3 * 234, 0, R, 3, 234)                                                                                  \
	hold(mi_new_nothrow, 235, 0, R, 235)                                                                                   \
	hold(mi_new_aligned, 236, 0, R, 236, 64)                                                                               \
	hold(mi_new_aligned_nothrow, 237, 0, R, 237, 64)                                                                       \
	hold(mi_new_realloc, 2380, OLD, R, P, 2380)                                                                            \
	hold(mi_new_reallocn, 3 * 239, OLD, R, P, 3, 239)                                                                      \
	gone(mi_free, (long)malloc(24), P)                                                                                     \
	gone(mi_cfree, OLD, P)                                                                                                 \
	gone(mi_free_size, OLD, P, 24)                                                                                         \
	gone(mi_free_aligned, CALL(mi_malloc_aligned, 24, 64), P, 64)                                                          \
	gone(mi_free_size_aligned, CALL(mi_malloc_aligned, 24, 64), P, 24, 64)

#define MIMALLOC_HEAP(hold, gone)                                                                                              \
	hold(mi_heap_malloc, 301, 0, R, heap, 301)                                                                             \
	hold(mi_heap_malloc_small, 302, 0, R, heap, 302)                                                                       \
	hold(mi_heap_zalloc, 303, 0, R, heap, 303)                                                                             \
	hold(mi_heap_calloc, 3 * 304, 0, R, heap, 3, 304)                                                                      \
	hold(mi_heap_mallocn, 3 * 305, 0, R, heap, 3, 305)                                                                     \
	hold(mi_heap_realloc, 3060, OLD, R, heap, P, 3060)                                                                     \
	hold(mi_heap_reallocn, 3 * 307, OLD, R, heap, P, 3, 307)                                                               \
	hold(mi_heap_reallocf, 3080, OLD, R, heap, P, 3080)                                                                    \
	hold(mi_heap_rezalloc, 3090, OLD, R, heap, P, 3090)                                                                    \
	hold(mi_heap_recalloc, 3 * 310, OLD, R, heap, P, 3, 310)                                                               \
	hold(mi_heap_strdup, 13, 0, R, heap, "twelve bytes")                                                                   \
	hold(mi_heap_strndup, 6, 0, R, heap, "five and more", 5)                                                               \
	hold(mi_heap_realpath, 2, 0, R, heap, "/", 0)                                                                          \
	hold(mi_heap_malloc_aligned, 311, 0, R, heap, 311, 64)                                                                 \
	hold(mi_heap_malloc_aligned_at, 312, 0, R, heap, 312, 64, 8)                                                           \
	hold(mi_heap_zalloc_aligned, 313, 0, R, heap, 313, 64)                                                                 \
	hold(mi_heap_zalloc_aligned_at, 314, 0, R, heap, 314, 64, 8)                                                           \
	hold(mi_heap_calloc_aligned, 3 * 315, 0, R, heap, 3, 315, 64)                                                          \
	hold(mi_heap_calloc_aligned_at, 3 * 316, 0, R, heap, 3, 316, 64, 8)                                                    \
	hold(mi_heap_realloc_aligned, 3170, OLD, R, heap, P, 3170, 64)                                                         \
	hold(mi_heap_realloc_aligned_at, 3180, OLD, R, heap, P, 3180, 64, 8)                                                   \
	hold(mi_heap_rezalloc_aligned, 3190, OLD, R, heap, P, 3190, 64)                                                        \
	hold(mi_heap_rezalloc_aligned_at, 3200, OLD, R, heap, P, 3200, 64, 8)                                                  \
	hold(mi_heap_recalloc_aligned, 3 * 321, OLD, R, heap, P, 3, 321, 64)                                                   \
	hold(mi_heap_recalloc_aligned_at, 3 * 322, OLD, R, heap, P, 3, 322, 64, 8)                                             \
	hold(mi_heap_alloc_new, 323, 0, R, heap, 323)                                                                          \
	hold(mi_heap_alloc_new_n, 3 * 324, 0, R, heap, 3, 324)                                                                 \
	gone(mi_heap_destroy, filled(), P)

#define LIBC(hold, gone)                                                                                                       \
	hold(__libc_malloc, 401, 0, R, 401)                                                                                    \
	hold(__libc_calloc, 3 * 402, 0, R, 3, 402)                                                                             \
	hold(__libc_realloc, 4030, CALL(__libc_malloc, 24), R, P, 4030)                                                        \
	hold(__libc_memalign, 404, 0, R, 64, 404)                                                                              \
	hold(__libc_valloc, 405, 0, R, 405)                                                                                    \
	hold(__libc_pvalloc, 406, 0, R, 406)                                                                                   \
	gone(__libc_free, CALL(__libc_malloc, 24), P)

#define ALL(hold, gone) JEMALLOC(hold, gone) TCMALLOC(hold, gone) MIMALLOC(hold, gone) MIMALLOC_HEAP(hold, gone) LIBC(hold, gone)
#define DECLARE(name, ...) OWN(name)
#define RUN_HOLD(name, ...) hold_##name();
#define RUN_GONE(name, ...) gone_##name();

ALL(DECLARE, DECLARE)
OWN(mi_heap_get_default)
OWN(mi_heap_new)

SITE static long filled(void)
{
	long new = CALL(mi_heap_new, 0);

	for (int i = 0; i < 100; i++) {
		kept[nr_kept] = CALL(mi_heap_malloc, new, 100);
		kept[nr_kept] = CALL(mi_heap_malloc_aligned, new, 100, 512);
	}
	return new;
}

ALL(HOLD, GONE)

SITE static void scrub(void)
{
	volatile char below[64 << 10];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
}

int main(int argc, char **argv)
{
	static char text[1 << 14];

	(void)argv;

	setvbuf(stdout, text, _IOFBF, sizeof(text));
	setenv("OWN_NAMES", "four", 1);
	heap = mi_heap_get_default ? CALL(mi_heap_get_default, 0) : 0;
	if (mallocx) {
		JEMALLOC(RUN_HOLD, RUN_GONE)
	}
	if (tc_malloc) {
		TCMALLOC(RUN_HOLD, RUN_GONE)
	}
	if (mi_malloc) {
		MIMALLOC(RUN_HOLD, RUN_GONE)
		MIMALLOC_HEAP(RUN_HOLD, RUN_GONE)
	}
	if (__libc_malloc && !mallocx) { /* jemalloc leaves these to the C library's allocator */
		LIBC(RUN_HOLD, RUN_GONE)
	}
	if (argc > 1)
		memset(kept, 0, sizeof(kept));
	scrub();
	return 0;
}
