/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_align: how far each block's address is from what glibc promises: blocks of every entry and many sizes. The lines are the same with and
 * without pmm.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void show(const char *entry, size_t align, size_t size, void *p)
{
	size_t unit = align > 16 ? align : 16;

	if (p)
		printf("%s %zu %zu: %zu\n", entry, align, size, (size_t)((uintptr_t)p % unit));
	free(p);
}

int main(void)
{
	for (size_t size = 0; size < 5000; size += size < 70 ? 1 : 331) {
		show("malloc", 0, size, malloc(size));
		show("calloc", 0, size, calloc(1, size));
		show("realloc", 0, size + 1, realloc(malloc(size), size + 1));
		for (size_t align = 1; align <= 8192; align *= 2) {
			void *p = NULL;

			show("memalign", align, size, memalign(align, size));
			show("aligned_alloc", align, size, aligned_alloc(align, size));
			if (align >= sizeof(void *) && !posix_memalign(&p, align, size))
				show("posix_memalign", align, size, p);
		}
	}
	return 0;
}
