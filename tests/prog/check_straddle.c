/* SPDX-License-Identifier: GPL-2.0-or-later
 * A block of 300000 bytes across an address that is a multiple of 64 MiB, by one of whose parts the
 * agent's tables cover the heap: the second part has no block that begins there. "wrong": memset
 * writes 10 bytes past its end, which must be found by memset. "right": up to its end. A second
 * argument: a forked child does so.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PART	(64ul << 20)
#define BYTES	300000
#define MAPPED	303104ul	/* what malloc() maps for them */
#define BEFORE	8192		/* the boundary, from the block's first page */

static void *volatile hidden;

static void *map(size_t bytes)
{
	return mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Use up addresses until the next mapping of MAPPED bytes has the boundary in it. */
static void approach(void)
{
	for (;;) {
		uintptr_t next = (uintptr_t)map(MAPPED);
		uintptr_t first = (next + BEFORE) / PART * PART - BEFORE;

		munmap((void *)next, MAPPED);
		if (first == next)
			return;
		map(next - first < MAPPED ? next - first : MAPPED);
	}
}

int main(int argc, char **argv)
{
	int status = 0;
	char *p;

	approach();
	hidden = malloc(BYTES);
	p = hidden;
	if (argc > 2 && fork())
		return wait(&status) < 0 || status;
	if (((uintptr_t)p + BYTES) / PART != (uintptr_t)p / PART + 1)
		return 9;
	memset(p + BYTES - 10, 1, argc > 1 && !strcmp(argv[1], "wrong") ? 20 : 10);
	return 0;
}
