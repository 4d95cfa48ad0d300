/* SPDX-License-Identifier: GPL-2.0-or-later
 * libkill_malloc.so: an allocator that a signal handler may call, interrupt, and leave by siglongjmp at any time. Blocks have sizes of powers of two;
 * a bit for each says whether it is taken, and the one freed last is given out next.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SHIFT	5
#define NR_CLASSES	14
#define CLASS_BYTES	(32ul << 20)
#define MOST_BLOCKS	8192u

static char pool[NR_CLASSES * CLASS_BYTES] __attribute__((aligned(1 << 26)));
static _Atomic uint64_t taken[NR_CLASSES][MOST_BLOCKS / 64];
static _Atomic unsigned hint[NR_CLASSES];	/* where one is free, perhaps */

static unsigned class_of(size_t bytes)
{
	unsigned class = 0;

	while (class < NR_CLASSES && bytes > 1ul << (class + MIN_SHIFT))
		class++;
	return class;
}

static unsigned class_at(const void *p)
{
	return (unsigned)(((const char *)p - pool) / (ptrdiff_t)CLASS_BYTES);
}

static size_t size_at(const void *p)
{
	return 1ul << (class_at(p) + MIN_SHIFT);
}

static void *take_from(unsigned class)
{
	size_t all = CLASS_BYTES >> (class + MIN_SHIFT);
	unsigned words = (unsigned)(all < MOST_BLOCKS ? all : MOST_BLOCKS) / 64, first = hint[class];

	for (unsigned k = 0; k < words; k++) {
		unsigned i = (first + k) % words;

		for (uint64_t is = taken[class][i]; ~is; is = taken[class][i]) {
			unsigned bit = (unsigned)__builtin_ctzll(~is);

			if (!(atomic_fetch_or(&taken[class][i], 1ull << bit) >> bit & 1))
				return pool + class * CLASS_BYTES + ((i * 64ul + bit) << (class + MIN_SHIFT));
		}
	}
	return NULL;
}

static void *take(size_t bytes, size_t align)
{
	unsigned class = class_of(bytes > align ? bytes : align);
	void *p = class < NR_CLASSES ? take_from(class) : NULL;

	if (!p)
		errno = ENOMEM;
	return p;
}

void *malloc(size_t bytes) { return take(bytes, 1); }
void *memalign(size_t align, size_t bytes) { return take(bytes, align); }
void *aligned_alloc(size_t align, size_t bytes) { return take(bytes, align); }
size_t malloc_usable_size(void *p) { return p ? size_at(p) : 0; }

static void give(void *p)
{
	unsigned class = class_at(p), i;

	i = (unsigned)((size_t)((char *)p - pool - class * CLASS_BYTES) >> (class + MIN_SHIFT));
	hint[class] = i / 64;
	atomic_fetch_and(&taken[class][i / 64], ~(1ull << i % 64));
}

void free(void *p)
{
	if (p)
		give(p);
}

int posix_memalign(void **out, size_t align, size_t bytes)
{
	return (*out = take(bytes, align)) ? 0 : ENOMEM;
}

void *calloc(size_t n, size_t each)
{
	size_t bytes;
	void *p = __builtin_mul_overflow(n, each, &bytes) ? NULL : take(bytes, 1);

	return p ? memset(p, 0, bytes) : NULL;
}

/* In its place where it fits and would not be much too large. */
void *realloc(void *old, size_t bytes)
{
	size_t room = old ? size_at(old) : 0;
	void *p;

	if (bytes && bytes <= room && bytes > room / 4)
		return old;
	p = take(bytes, 1);
	if (p && old) {
		memcpy(p, old, bytes < room ? bytes : room);
		give(old);
	}
	return p;
}
