/* SPDX-License-Identifier: GPL-2.0-or-later
 * errno after each kind of call, what alignment and malloc_usable_size() say, and how full the heap
 * is in the end: the same text natively and traced.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "victim.h"

#define BIG opaque(PTRDIFF_MAX)
#define SHOW(call) do {								\
		errno = 77;							\
		void *p_ = hide((void *)(call));				\
		int e_ = errno;							\
		printf("%s: %s errno %d usable %zu aligned %d\n", #call,	\
		       !p_ ? "NULL" : p_ == MAP_FAILED ? "-1" : "fine", e_,	\
		       p_ && !mapping ? malloc_usable_size(p_) : 0,		\
		       (int)((uintptr_t)p_ % 4096 ? (uintptr_t)p_ & -(uintptr_t)p_ & 15 : 4096));	\
	} while (0)

int main(void)
{
	static const size_t sizes[] = { 0, 1, 24, 25, 1000, 1032, 131072, 10000000 };
	void *p = malloc(100);
	int mapping = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = sizes[i];

		printf("%zu bytes\n", n);
		SHOW(malloc(n));
		SHOW(calloc(n, 1));
		SHOW(realloc(NULL, n));
		SHOW(realloc(malloc(40), n));
		SHOW(reallocarray(NULL, n, 3));
		SHOW(aligned_alloc(4096, n));
		SHOW(memalign(4096, n));
		SHOW(valloc(n));
		SHOW(pvalloc(n));
		SHOW(posix_memalign(&p, 4096, n) ? NULL : p);
	}
	SHOW(malloc(BIG));
	SHOW(calloc(BIG, 4));
	SHOW(realloc(p, BIG));
	SHOW(reallocarray(p, BIG, 4));
	SHOW(aligned_alloc(64, BIG));
	SHOW(memalign(64, BIG));
	SHOW(valloc(BIG));
	SHOW(pvalloc(BIG));
	SHOW(aligned_alloc(opaque(3), 10));
	SHOW(posix_memalign(&p, opaque(3), 10) == EINVAL ? NULL : p);
	SHOW(posix_memalign(&p, 64, BIG) == ENOMEM ? NULL : p);
	SHOW((free(malloc(10)), free(NULL), NULL));
	SHOW((free(malloc(10000000)), NULL));
	mapping = 1;
	SHOW(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	SHOW(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	SHOW(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0));
	SHOW(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 999, 0));
	SHOW(mremap((void *)4096, 4096, 8192, 0));
	SHOW((intptr_t)munmap((void *)1, 4096));
	SHOW(sbrk(PTRDIFF_MAX));
	SHOW((intptr_t)brk((void *)-4096));
	printf("heap %zu used, %zu free\n", mallinfo2().uordblks, mallinfo2().fordblks);
	return 0;
}
