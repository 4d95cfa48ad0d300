/* SPDX-License-Identifier: MIT */
/*
 * pmm.h: the monitor compiled into the program (doc/shim.md).
 *
 *     #include <pmm.h>  anywhere, before or after <stdlib.h> and <string.h>
 *     cc -DPMM ...      without -DPMM all of it is nothing: the same object code as without the
 *                       header
 *
 * With PMM defined, calls to malloc, calloc, realloc, reallocarray, free, strdup, strndup,
 * aligned_alloc, posix_memalign and memalign become calls of pmm_*, which note file, line and
 * function; malloc_usable_size gives a tracked block's size as requested. Only calls are replaced:
 * bare names, as in `list_each(list, free)`, still refer to the C library, and so does `(free)(p)`.
 * PMM_NO_NAMES leaves all names alone; then call pmm_malloc(PMM_HERE, n) and so on.
 *
 * One interface, two forms that implement it:
 *     static  shim/pmm_static.c compiled into the program with -DPMM_STATIC_SLOTS=N: two fixed
 *             tables, nothing else
 *     full    libpmm_shim.a: the agent's ledger, which `pmm report PID` and all of pmm reads
 *
 * All functions may be called from any thread and, unless stated otherwise, from signal handlers;
 * only those that allocate change errno, when they fail.
 */
#if defined(__ASSEMBLER__)	/* -include is for these sources as well */
#elif defined(__cplusplus)                                                                         \
	? __cplusplus < 201103L                                                                    \
	: defined(__STRICT_ANSI__) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "pmm.h needs C99 or later, -std=gnu89 at least, or C++11 or later"
#elif !defined(PMM_H)
#define PMM_H

#ifdef __cplusplus
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#endif
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#if defined(PMM) && defined(__has_include)
#if __has_include(<malloc.h>)
#include <malloc.h>		/* declares malloc once more: not after the macros below */
#define PMM_HAS_MALLOC_H
#endif
#if __has_include(<mm_malloc.h>)
#include <mm_malloc.h>		/* and posix_memalign: of <immintrin.h> and its kind */
#endif
#endif

#ifdef __cplusplus
#define PMM_CAST(type, value) static_cast<type>(value)
#define PMM_NULL nullptr
#else
#define PMM_CAST(type, value) ((type)(value))
#define PMM_NULL NULL
#endif

/* ---- what both states know: types and constants ---------------------------------------------- */

/* What pmm_set() sets. Values are sizes in bytes, switches (0 or 1), bytes or masks. */
enum pmm_option {
	PMM_MIN_SIZE,		/* blocks below this size are not tracked; 0 (default): none */
	PMM_HUGE_SIZE,		/* report requests of this size or more; 0 (default): none */
	/*
	 * requests that would take tracked blocks above this many bytes fail; 0 (default): none
	 */
	PMM_LIMIT,
	/* mask PMM_BEHIND, PMM_BEFORE: canaries that new blocks get; default PMM_BEHIND */
	PMM_CANARY,
	/* 256 + byte: new memory is filled with the byte; 0 (default): left as it is */
	PMM_FILL_NEW,
	PMM_FILL_FREED,		/* the same for freed memory */
	/* freed blocks are poisoned and retained, this many bytes in all; 0 (default): none */
	PMM_KEEP,
	PMM_CHECK_ALWAYS,	/* 1: every call checks all blocks; 0 (default) */
	PMM_TELL_ZERO,		/* 1: report requests for 0 bytes; 0 (default) */
	/*
	 * 1 (default): the program may free blocks of code without pmm.h; 0: it does not, so a free
	 * of an unknown block is a double free
	 */
	PMM_FOREIGN,
	/*
	 * mask of tables written at exit; default PMM_BLOCKS | PMM_TOTALS. Full form: PMM_SITES in
	 * place of PMM_BLOCKS for more than 1000 blocks
	 */
	PMM_AT_EXIT,
	/* enum pmm_reaction to a failed pmm_assert(); default PMM_ABORT */
	PMM_REACTION,
	/*
	 * 1 (default): output is passed on line by line; 0: when 256 bytes have gathered, at errors
	 * and by pmm_flush()
	 */
	PMM_FLUSH,
	/*
	 * 1: the full form records the callers of each line as well; 0 (default). The static form
	 * has none: always 0
	 */
	PMM_STACKS,
	PMM_NR_OPTIONS
};

enum { PMM_BEHIND = 1, PMM_BEFORE = 2 };				/* PMM_CANARY */
/* tables of pmm_report() */
enum {
	PMM_BLOCKS = 1,
	PMM_SITES = 2,
	PMM_CLASSES = 4,
	PMM_TOTALS = 8,
	PMM_HEAP = 16,
	PMM_ALL = 31
};
/* abort(), evaluate again, continue, exit(1) */
enum pmm_reaction { PMM_ABORT, PMM_RETRY, PMM_IGNORE, PMM_QUIT };

/*
 * Receives output: `bytes` characters without a terminating 0, valid during the call. One line per
 * call; pieces of a line that is longer than 256 bytes, and with PMM_FLUSH 0. Called by any thread
 * that allocates, one at a time, and in signal handlers that report. It may allocate; pmm_trace()
 * writes nothing in it.
 */
typedef void pmm_output(void *ctx, const char *text, size_t bytes);

/*
 * Decides what to do about a failed pmm_assert() with the expression `text`. Called by the thread
 * that failed; returns an enum pmm_reaction.
 */
typedef int pmm_react(void *ctx, const char *text);

struct pmm_stats {
	size_t nr_new, nr_freed, nr_failed;	/* requests */
	/* requests for 0 bytes, and for PMM_HUGE_SIZE bytes or more */
	size_t nr_zero, nr_huge;
	size_t nr_live, nr_peak;		/* blocks */
	size_t bytes_live, bytes_peak;
	unsigned long long bytes_new, bytes_freed;
	/*
	 * requests that were not tracked: too small, disabled, table full, inside a signal handler
	 */
	size_t nr_passed;
	/* frees and reallocs of blocks that were not tracked */
	size_t nr_foreign;
	/* overflows, underflows, double and bad frees, writes to freed memory, failed assertions */
	size_t nr_errors;
	/* frees in signal handlers that could not be done: the blocks stay allocated */
	size_t nr_lost;
	/* block table: blocks and marks. Full form: slots is 0, for no fixed limit */
	size_t slots, slots_used;
	/* statistics table; the full form has one row for each kind of call at a line */
	size_t sites, sites_used;
	int table_full;				/* 1: the block table has been full */
};

/* The allocator's own totals, of blocks of any code. */
struct pmm_heap {
	size_t bytes;				/* obtained from the system */
	/* of those, including the allocator's overhead in each block */
	size_t bytes_used, bytes_free;
};

struct pmm_block {
	const void *address;
	size_t size;				/* bytes */
	const char *file;			/* of the call, "?" if not known */
	unsigned line;
	unsigned number;			/* of the request, from 1 */
	unsigned time;				/* seconds since 1970, UTC */
	/* m malloc, c calloc, r realloc, d strdup, a aligned, n new, p pool, k pmm_mark */
	char entry;
};

/*
 * A pool that recycles blocks of one size. Call pmm_pool_init(), or set size and max, and all else
 * to 0.
 */
struct pmm_pool {
	size_t size;				/* of a block, bytes */
	size_t max;				/* blocks kept for reuse at most */
	size_t nr;				/* kept now */
	void *first;				/* of those */
};

/*
 * RAM of the static form, bytes: exact for 64-bit targets, ARM and others that align 8-byte numbers
 * to 8, an upper bound elsewhere.
 */
#ifdef PMM_STATIC_SLOTS
#ifndef PMM_STATIC_SITES
#define PMM_STATIC_SITES 64	/* rows of the statistics table: call sites */
#endif
#define PMM_STATIC_RAM_OF(slots, sites, wide)                                                      \
	(PMM_CAST(size_t, slots) * ((wide) ? 72 : 56) +                                            \
	 PMM_CAST(size_t, sites) * ((wide) ? 56 : 40) +                                            \
	 ((wide) ? PMM_STATIC_FIXED_64 : PMM_STATIC_FIXED_32))
#define PMM_STATIC_RAM PMM_STATIC_RAM_OF(PMM_STATIC_SLOTS, PMM_STATIC_SITES, sizeof(void *) == 8)
#define PMM_STATIC_FIXED_64 1793
#define PMM_STATIC_FIXED_32 1197
#endif

#if defined(__GNUC__)
#define PMM_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))
#else
#define PMM_PRINTF(at, first)
#endif

/*
 * The source location of a call: as three arguments, and as three parameters of a function that
 * passes `file, line, func` on. The strings are never copied.
 */
#ifdef __cplusplus
/* __func__ is an error outside functions */
#define PMM_HERE __FILE__, __LINE__, __builtin_FUNCTION()
#else
#define PMM_HERE __FILE__, __LINE__, __func__
#endif
#define PMM_AT const char *file, int line, const char *func

#ifdef PMM
/* ---- monitored ------------------------------------------------------------------------------- */

#ifdef __cplusplus
#define PMM_NOEXCEPT noexcept
extern "C" {
#else
#define PMM_NOEXCEPT
#endif

/*
 * Like the functions of those names, including errors; a request for 0 bytes returns a block of its
 * own. Code without pmm.h may free the blocks, unless PMM_BEFORE is set.
 */
void *pmm_malloc(PMM_AT, size_t size) PMM_NOEXCEPT;
void *pmm_calloc(PMM_AT, size_t nr, size_t size) PMM_NOEXCEPT;
void *pmm_realloc(PMM_AT, void *p, size_t size) PMM_NOEXCEPT;
void *pmm_reallocarray(PMM_AT, void *p, size_t nr, size_t size) PMM_NOEXCEPT;
void pmm_free(PMM_AT, void *p) PMM_NOEXCEPT;
char *pmm_strdup(PMM_AT, const char *text) PMM_NOEXCEPT;
char *pmm_strndup(PMM_AT, const char *text, size_t max) PMM_NOEXCEPT;
void *pmm_aligned_alloc(PMM_AT, size_t align, size_t size) PMM_NOEXCEPT;
int pmm_posix_memalign(PMM_AT, void **p, size_t align, size_t size) PMM_NOEXCEPT;
/* operator new; NULL without memory; align 0: any */
void *pmm_new(PMM_AT, size_t size, size_t align) PMM_NOEXCEPT;

/*
 * New blocks are tracked, or not. Blocks tracked before are still known when they are freed.
 * Default: enabled.
 */
void pmm_enable(void) PMM_NOEXCEPT;
void pmm_disable(void) PMM_NOEXCEPT;

/*
 * Set an option for later calls of all threads; returns its former value, 0 if there is no such
 * option.
 */
size_t pmm_set(enum pmm_option option, size_t value) PMM_NOEXCEPT;

/*
 * Set where output goes, also at exit: ctx must be valid until then. NULL: to descriptor 2 (nowhere
 * with PMM_BARE).
 */
void pmm_set_output(pmm_output *output, void *ctx) PMM_NOEXCEPT;
/* Set the function that decides about failed assertions; NULL: none, PMM_REACTION decides. */
void pmm_set_react(pmm_react *react, void *ctx) PMM_NOEXCEPT;
/* Pass on output that has gathered with PMM_FLUSH 0. */
void pmm_flush(void) PMM_NOEXCEPT;

/*
 * Fill in all fields. In the full form other threads may run meanwhile, so the figures may be of
 * slightly different moments.
 */
void pmm_get_stats(struct pmm_stats *stats) PMM_NOEXCEPT;
/*
 * 0; -1 and zeros where the C library has no such figures: only glibc has, since 2.33. Not from
 * signal handlers: takes the allocator's locks.
 */
int pmm_get_heap(struct pmm_heap *heap) PMM_NOEXCEPT;
/*
 * Call each(ctx, block) for every live block until it returns nonzero; returns that value, or 0.
 * Oldest first; in the static form in the order of slots. `block` is valid during the call, its
 * `file` for good. In each(), pmm_trace() writes nothing, and reports are delayed to the end.
 */
int pmm_each_block(int (*each)(void *ctx, const struct pmm_block *block), void *ctx) PMM_NOEXCEPT;
/*
 * Write tables (mask) where output goes; to a descriptor, which stays the caller's; to a function.
 * What cannot be written is lost. Signal handlers must leave out PMM_HEAP; in one that interrupted
 * pmm, pmm_report() writes when pmm returns, the others write nothing.
 */
void pmm_report(unsigned tables) PMM_NOEXCEPT;
void pmm_report_fd(int fd, unsigned tables) PMM_NOEXCEPT;
void pmm_report_to(pmm_output *output, void *ctx, unsigned tables) PMM_NOEXCEPT;
/*
 * Write tables, but not PMM_HEAP, whenever the signal arrives; 0, or -1 and errno. The last mask
 * applies to all signals. Replaces the signal's action; without PMM the action stays: SIGUSR1 by
 * default ends the program.
 */
int pmm_report_on(int signal, unsigned tables) PMM_NOEXCEPT;

/*
 * Requests are logged to the kernel module (doc/kmod.md), or not. Blocks logged before are still
 * taken out of its log when they are freed. Default: enabled if a file of the program is compiled
 * with PMM_KMOD. The static form has the log only if pmm_static.c is compiled so (ENOSYS).
 *
 * All but pmm_kmod_disable() return 1: requests are logged; 0: they are not, because nothing asked
 * for it, or there was none yet; -errno: why they are not. pmm_kmod_enable() opens the device at
 * once, also where that failed before.
 */
int pmm_kmod_enable(void) PMM_NOEXCEPT;
void pmm_kmod_disable(void) PMM_NOEXCEPT;
int pmm_kmod_status(void) PMM_NOEXCEPT;
#if defined(PMM_KMOD) && defined(__ELF__)
/* that the program, or the library that has the full form, has this enables it */
extern const char pmm_kmod_wanted __attribute__((__weak__, __visibility__("hidden")));
const char pmm_kmod_wanted = 1;
#endif

/*
 * Check the canaries of all blocks and all retained blocks, or those of one block. Damage is
 * reported once; returns how many blocks are damaged.
 */
size_t pmm_check_at(PMM_AT) PMM_NOEXCEPT;
size_t pmm_check_block_at(PMM_AT, const void *p) PMM_NOEXCEPT;
#define pmm_check() pmm_check_at(PMM_HERE)
#define pmm_check_block(p) pmm_check_block_at(PMM_HERE, p)

/*
 * Bytes of p that the program may use: as requested; of a block that is not tracked what real(),
 * malloc_usable_size(), returns.
 */
size_t pmm_usable_size(const void *p, size_t (*real)(void *)) PMM_NOEXCEPT;

/*
 * Can each of these bytes be read, written? Makes system calls. Where the system has none for this:
 * is p not NULL?
 */
int pmm_readable(const void *p, size_t bytes) PMM_NOEXCEPT;
int pmm_writable(const void *p, size_t bytes) PMM_NOEXCEPT;

/*
 * List a pointer of any kind as a block of 0 bytes, entry k, until it is unmarked; both return the
 * pointer. Takes a slot, if there is one.
 */
void *pmm_mark_at(PMM_AT, const void *p) PMM_NOEXCEPT;
void *pmm_unmark_at(PMM_AT, const void *p) PMM_NOEXCEPT;
#define pmm_mark(p) pmm_mark_at(PMM_HERE, p)
#define pmm_unmark(p) pmm_unmark_at(PMM_HERE, p)

/*
 * Take blocks of 1 KiB out of the heap; or give them back, and report those that were written to.
 * Return how many. Not from signal handlers.
 */
size_t pmm_grab(size_t kib) PMM_NOEXCEPT;
size_t pmm_drop(size_t kib) PMM_NOEXCEPT;

/*
 * Write text where output goes. d i u x X o p s c with flags - and 0, width, precision of s, h hh l
 * ll z t j; floating point becomes '?'.
 */
void pmm_trace(const char *format, ...) PMM_NOEXCEPT PMM_PRINTF(1, 2);

/*
 * A statement: report a false expression and react; PMM_RETRY evaluates it again. pmm_verify()
 * evaluates the expression without PMM as well.
 */
int pmm_failed(PMM_AT, const char *text) PMM_NOEXCEPT;
#define pmm_assert(e) do { } while (!(e) && pmm_failed(PMM_HERE, #e))
#define pmm_verify(e) pmm_assert(e)

/*
 * A pool belongs to the caller; threads may share it. A block that is put is kept, or freed if the
 * pool is full or the block has another size; to put a block that is idle already is an error.
 * pmm_pool_fini() frees the blocks kept; the pool stays usable.
 */
void pmm_pool_init(struct pmm_pool *pool, size_t size, size_t max) PMM_NOEXCEPT;
/* the content is as it was, except the first word; NULL and ENOMEM */
void *pmm_pool_get_at(PMM_AT, struct pmm_pool *pool) PMM_NOEXCEPT;
void pmm_pool_put_at(PMM_AT, struct pmm_pool *pool, void *p) PMM_NOEXCEPT;	/* p may be NULL */
void pmm_pool_fini_at(PMM_AT, struct pmm_pool *pool) PMM_NOEXCEPT;
#define pmm_pool_get(pool) pmm_pool_get_at(PMM_HERE, pool)
#define pmm_pool_put(pool, p) pmm_pool_put_at(PMM_HERE, pool, p)
#define pmm_pool_fini(pool) pmm_pool_fini_at(PMM_HERE, pool)

#ifdef __cplusplus
}

namespace std {	/* std::malloc(n) becomes std::pmm_malloc(...) */
using ::pmm_malloc;
using ::pmm_calloc;
using ::pmm_realloc;
using ::pmm_free;
using ::pmm_aligned_alloc;
}

/*
 * new and delete: shim/pmm_new.cc, when compiled in, replaces the global operators; their calls are
 * listed as "new(0)". `#define new PMM_NEW` after all #includes adds file and line; it must not be
 * in effect where placement new or `operator new` is written.
 */
#if defined(__cpp_exceptions)
#define PMM_NO_MEMORY() throw std::bad_alloc()
#else
#define PMM_NO_MEMORY() std::abort()
#endif
inline void *operator new(std::size_t size, PMM_AT)
{
	if (void *p = pmm_new(file, line, func, size, 0))
		return p;
	PMM_NO_MEMORY();
}
inline void *operator new[](std::size_t size, PMM_AT)
{
	return operator new(size, file, line, func);
}
/* the constructor threw */
inline void operator delete(void *p, PMM_AT) noexcept { pmm_free(file, line, func, p); }
inline void operator delete[](void *p, PMM_AT) noexcept { pmm_free(file, line, func, p); }
#define PMM_NEW new (PMM_HERE)
#endif

#ifndef PMM_NO_NAMES
#undef malloc
#undef calloc
#undef realloc
#undef reallocarray
#undef free
#undef strdup
#undef strndup
#undef aligned_alloc
#undef posix_memalign
#define malloc(size) pmm_malloc(PMM_HERE, size)
#define calloc(nr, size) pmm_calloc(PMM_HERE, nr, size)
#define realloc(p, size) pmm_realloc(PMM_HERE, p, size)
#define reallocarray(p, nr, size) pmm_reallocarray(PMM_HERE, p, nr, size)
#define free(p) pmm_free(PMM_HERE, p)
#define strdup(text) pmm_strdup(PMM_HERE, text)
#define strndup(text, max) pmm_strndup(PMM_HERE, text, max)
#define aligned_alloc(align, size) pmm_aligned_alloc(PMM_HERE, align, size)
#define posix_memalign(p, align, size) pmm_posix_memalign(PMM_HERE, p, align, size)
#ifdef PMM_HAS_MALLOC_H
#undef memalign
#define memalign(align, size) pmm_aligned_alloc(PMM_HERE, align, size)
#undef malloc_usable_size
#define malloc_usable_size(p) pmm_usable_size(p, (size_t (*)(void *))malloc_usable_size)
#endif
#endif

#else
/* ---- not monitored --------------------------------------------------------------------------- */
/*
 * No code: values are 0, pointers are returned unchanged, pmm_get_stats() gives zeros,
 * pmm_get_heap() returns -1, all but NULL is readable and writable, pools are malloc and free.
 * Arguments are compiled, so that they stay correct and nothing is unused, but not evaluated,
 * except pointers that are returned or may be NULL, and those of pmm_verify() and of pools.
 */
static inline size_t pmm_no_size(size_t none, ...) { return none; }
static inline int pmm_no_int(int none, ...) { return none; }
static inline void *pmm_nowhere(const void *p) { (void)p; return PMM_NULL; }
static inline void pmm_no_text(const char *format, ...) PMM_PRINTF(1, 2);
static inline void pmm_no_text(const char *format, ...) { (void)format; }
static inline void pmm_get_stats(struct pmm_stats *stats) { memset(stats, 0, sizeof(*stats)); }
static inline int pmm_get_heap(struct pmm_heap *heap) { memset(heap, 0, sizeof(*heap)); return -1; }
static inline void pmm_pool_init(struct pmm_pool *pool, size_t size, size_t max)
{
	memset(pool, 0, sizeof(*pool));
	pool->size = size;
	pool->max = max;
}

#define PMM_NOWHERE ((void)file, (void)line, (void)func)
static inline void *pmm_malloc(PMM_AT, size_t size) { PMM_NOWHERE; return malloc(size); }
static inline void *pmm_calloc(PMM_AT, size_t nr, size_t size)
{
	PMM_NOWHERE;
	return calloc(nr, size);
}
static inline void *pmm_realloc(PMM_AT, void *p, size_t size)
{
	PMM_NOWHERE;
	return realloc(p, size);
}
static inline void *pmm_reallocarray(PMM_AT, void *p, size_t nr, size_t size)
{
	return size && nr > PMM_CAST(size_t, -1) / size
		       ? PMM_NULL
		       : pmm_realloc(file, line, func, p, nr * size);
}
static inline void pmm_free(PMM_AT, void *p) { PMM_NOWHERE; free(p); }
static inline char *pmm_strndup(PMM_AT, const char *text, size_t max)
{
	size_t len = 0;
	char *copy;

	while (len < max && text[len])
		len++;
	copy = PMM_CAST(char *, pmm_malloc(file, line, func, len + 1));
	if (copy) {
		memcpy(copy, text, len);
		copy[len] = 0;
	}
	return copy;
}
static inline char *pmm_strdup(PMM_AT, const char *text)
{
	return pmm_strndup(file, line, func, text, strlen(text));
}

/* Macros: not every standard declares what they call. */
#define pmm_aligned_alloc(...) PMM_NO_ALIGNED(__VA_ARGS__)
#define pmm_posix_memalign(...) PMM_NO_MEMALIGN(__VA_ARGS__)
#define PMM_NO_ALIGNED(file, line, func, align, size) aligned_alloc(align, size)
#define PMM_NO_MEMALIGN(file, line, func, p, align, size) posix_memalign(p, align, size)

/* Values that may be left unused without a warning; compilers need different forms for that. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus)
#define PMM_NO_SIZE(...) __extension__ ({ if (0) pmm_no_size(0, __VA_ARGS__); (size_t)0; })
#define PMM_NO_INT(...) __extension__ ({ if (0) pmm_no_int(0, __VA_ARGS__); 0; })
#define PMM_SAME(p) __extension__ ({ (void *)(p); })
#else
#define PMM_NO_SIZE(...) (0 ? pmm_no_size(0, __VA_ARGS__) : PMM_CAST(size_t, 0))
#define PMM_NO_INT(...) (0 ? pmm_no_int(0, __VA_ARGS__) : 0)
#ifdef __cplusplus
#define PMM_SAME(p) (0 ? pmm_nowhere(p) : const_cast<void *>(static_cast<const void *>(p)))
#else
#define PMM_SAME(p) (0 ? pmm_nowhere(p) : (void *)(p))
#endif
#endif

#define pmm_enable() ((void)0)
#define pmm_disable() ((void)0)
#define pmm_set(option, value) PMM_NO_SIZE(option, value)
#define pmm_set_output(output, ctx) ((void)PMM_NO_INT(output, ctx))
#define pmm_set_react(react, ctx) ((void)PMM_NO_INT(react, ctx))
#define pmm_flush() ((void)0)
#define pmm_each_block(each, ctx) PMM_NO_INT(each, ctx)
#define pmm_report(tables) ((void)PMM_NO_INT(tables))
#define pmm_report_fd(fd, tables) ((void)PMM_NO_INT(fd, tables))
#define pmm_report_to(output, ctx, tables) ((void)PMM_NO_INT(output, ctx, tables))
#define pmm_report_on(signal, tables) PMM_NO_INT(signal, tables)
#define pmm_kmod_enable() PMM_NO_INT(0)
#define pmm_kmod_disable() ((void)0)
#define pmm_kmod_status() PMM_NO_INT(0)
#define pmm_check() PMM_NO_SIZE(0)
#define pmm_check_block(p) PMM_NO_SIZE(p)
#define pmm_mark(p) PMM_SAME(p)
#define pmm_unmark(p) PMM_SAME(p)
#define pmm_usable_size(p, real) (real)(PMM_SAME(p))
#define pmm_readable(p, bytes) ((void)PMM_NO_INT(bytes), PMM_CAST(const void *, p) != PMM_NULL)
#define pmm_writable(p, bytes) pmm_readable(p, bytes)
#define pmm_grab(kib) PMM_NO_SIZE(kib)
#define pmm_drop(kib) PMM_NO_SIZE(kib)
#define pmm_trace(...) (0 ? pmm_no_text(__VA_ARGS__) : (void)0)
#define pmm_assert(e) (0 ? (void)(e) : (void)0)
#define pmm_verify(e) ((e) ? (void)0 : (void)0)
#define pmm_pool_get(pool) malloc((pool)->size)
#define pmm_pool_put(pool, p) ((void)(pool), free(p))
#define pmm_pool_fini(pool) ((void)(pool))
#define PMM_NEW new

#endif
#endif
