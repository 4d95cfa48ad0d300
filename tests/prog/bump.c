/* SPDX-License-Identifier: GPL-2.0-or-later
 * libbump.so: an allocator that a signal handler may call at any time: blocks 8 or 16 bytes apart,
 * never reused.
 *
 * It shows the tracer two things that glibc does not: events inside events, and neighbours closer
 * than 32 bytes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define POOL_BYTES (512ul << 20)

static char pool[POOL_BYTES] __attribute__((aligned(4096)));
static size_t used;

static void *take(size_t bytes, size_t align)
{
	size_t room = ((bytes ? bytes : 1) + 7) & ~7ul, at;

	if (bytes > POOL_BYTES)
		return errno = ENOMEM, NULL;
	if (align > 8 || bytes > 8) {
		align = align < 16 ? 16 : align;
		at = __atomic_fetch_add(&used, room + align, __ATOMIC_RELAXED);
		at = (at + align - 1) & -align;
	} else {
		at = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED);
	}
	return at + room > POOL_BYTES ? (errno = ENOMEM, NULL) : pool + at;
}

void *malloc(size_t bytes) { return take(bytes, 8); }
void free(void *p) { (void)p; }
void *memalign(size_t align, size_t bytes) { return take(bytes, align); }
void *aligned_alloc(size_t align, size_t bytes) { return take(bytes, align); }
size_t malloc_usable_size(void *p) { return p ? 8 : 0; }

int posix_memalign(void **out, size_t align, size_t bytes)
{
	return (*out = take(bytes, align)) ? 0 : ENOMEM;
}

void *calloc(size_t n, size_t bytes)
{
	size_t all;

	return __builtin_mul_overflow(n, bytes, &all) ? NULL : take(all, 8);	/* the pool is zero */
}

void *realloc(void *old, size_t bytes)
{
	char *p = take(bytes, 8);

	if (p && old) {
		size_t n = (size_t)(pool + POOL_BYTES - (char *)old);

		memcpy(p, old, bytes < n ? bytes : n);
	}
	return p;
}
