/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks that the C library maps one by one, aligned in all ways, many of each call site: nothing is wrong with them. With "hole": free() of
 * memory that was mapped right behind a page that cannot be read: a bad free. With "usable": malloc_usable_size() of a released block.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "victim.h"

SITE static void *by_aligned(size_t align, size_t size) { return memalign(align, size); }
SITE static void by_free(void *p) { free(p); }

static char *volatile block;

static void use(size_t align)
{
	block = by_aligned(align, 200000 + align);
	memset(block, 1, 1000);
	if (align % 3 == 1)
		block = realloc(block, 500000);
	if (malloc_usable_size(block) < 200000 || block[999] != 1)
		abort();
	by_free(block);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "none";
	char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	for (unsigned i = 0; i < 40; i++)
		for (size_t align = 16; align <= 4 << 20; align *= 2)
			use(align);
	block = malloc(100);
	if (!strcmp(what, "hole") && !mprotect(pages, 4096, PROT_NONE))
		by_free(pages + 4096);
	by_free(block);
	if (!strcmp(what, "usable") && malloc_usable_size(block) < 100)
		return 1;
	puts("done");
	return 0;
}
