/* SPDX-License-Identifier: GPL-2.0-or-later
 * libkill_malloc.so, and with -DDENSE libreaders_malloc.so: allocators that a signal handler may
 * call, interrupt, and leave by siglongjmp at any time. A bit for each block says whether it is
 * taken, and the one freed last is given out next.
 *
 * Small blocks of the dense one are as near to one another as can be: two and four in 32 bytes, and
 * larger ones that begin at each multiple of 8. Its functions call one another by their names, so
 * that pmm's hooks come between.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CLASS_BYTES	(32ul << 20)
#define MOST_BLOCKS	8192u		/* of a size */

#ifdef DENSE
/* Sizes that are not multiples of 16 are for requests that need no such address. */
static const size_t sizes[] = {
	8, 16, 24, 32, 40, 48, 56, 64, 72, 88, 112, 128, 256, 1024, 8192, 65536, 524288,
};
#define OWN(name)	name
#else
static const size_t sizes[] = {
	32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144,
};
#define OWN(name)	own_##name
#endif

#define NR_CLASSES	(sizeof(sizes) / sizeof(*sizes))

static char pool[NR_CLASSES * CLASS_BYTES] __attribute__((aligned(1 << 20)));
static _Atomic uint64_t taken[NR_CLASSES][MOST_BLOCKS / 64];
static _Atomic unsigned hint[NR_CLASSES];	/* where one is free, perhaps */

static unsigned class_of(size_t bytes, size_t align)
{
	unsigned class = 0;

	while (class < NR_CLASSES && (bytes > sizes[class] || sizes[class] % align))
		class++;
	return class;
}

static unsigned class_at(const void *p)
{
	return (unsigned)((size_t)((const char *)p - pool) / CLASS_BYTES);
}

static void *take_from(unsigned class)
{
	size_t all = CLASS_BYTES / sizes[class];
	unsigned words = (unsigned)(all < MOST_BLOCKS ? all : MOST_BLOCKS) / 64, first = hint[class];

	for (unsigned k = 0; k < words; k++) {
		unsigned i = (first + k) % words;

		for (uint64_t is = taken[class][i]; ~is; is = taken[class][i]) {
			unsigned bit = (unsigned)__builtin_ctzll(~is);

			if (!(atomic_fetch_or(&taken[class][i], 1ull << bit) >> bit & 1))
				return pool + class * CLASS_BYTES + (i * 64ul + bit) * sizes[class];
		}
	}
	return NULL;
}

static void *take(size_t bytes, size_t align)
{
	unsigned class = class_of(bytes, align);
	void *p = class < NR_CLASSES ? take_from(class) : NULL;

	if (!p)
		errno = ENOMEM;
	return p;
}

static void *own_malloc(size_t bytes)
{
	return take(bytes, bytes % 16 ? 8 : 16);
}

static size_t own_malloc_usable_size(void *p)
{
	return p ? sizes[class_at(p)] : 0;
}

static void own_free(void *p)
{
	unsigned class, i;

	if (!p)
		return;
	class = class_at(p);
	i = (unsigned)((size_t)((char *)p - pool - class * CLASS_BYTES) / sizes[class]);
	hint[class] = i / 64;
	atomic_fetch_and(&taken[class][i / 64], ~(1ull << i % 64));
}

void *malloc(size_t bytes) { return own_malloc(bytes); }
void free(void *p) { own_free(p); }
size_t malloc_usable_size(void *p) { return own_malloc_usable_size(p); }
void *memalign(size_t align, size_t bytes) { return take(bytes, align); }
void *aligned_alloc(size_t align, size_t bytes) { return take(bytes, align); }

int posix_memalign(void **out, size_t align, size_t bytes)
{
	return (*out = take(bytes, align)) ? 0 : ENOMEM;
}

void *calloc(size_t n, size_t each)
{
	size_t bytes;
	void *p = __builtin_mul_overflow(n, each, &bytes) ? NULL : OWN(malloc)(bytes);

	return p ? memset(p, 0, bytes) : NULL;
}

/* In its place where it fits and would not be much too large. */
void *realloc(void *old, size_t bytes)
{
	size_t room = OWN(malloc_usable_size)(old);
	void *p;

	if (old && bytes <= room && bytes >= room / 4 && (bytes % 16 || room % 16 == 0))
		return old;
	p = OWN(malloc)(bytes);
	if (p && old) {
		memcpy(p, old, bytes < room ? bytes : room);
		OWN(free)(old);
	}
	return p;
}
