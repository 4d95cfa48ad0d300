/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_heap touch PAGES: make() allocates a block of that many pages, which touch_it() touches first; map_it() maps as
 * many, which touch_map() does. What is before and after lasts so long that pmm can look it up, which looks when it
 * gets to what the kernel has told it.
 * trace_heap leak BLOCKS BYTES: leak() allocates that many blocks, one each 10 ms; writes "ready" before the first.
 * trace_heap wait: writes "ready", and does the same as `touch 40` once a line is read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096
#define NOINLINE __attribute__((noinline))

static void *volatile keep;

NOINLINE static char *make(size_t pages) { return keep = malloc(pages * PAGE); }

NOINLINE static char *map_it(size_t pages)
{
	return mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* From the second page on: the first one has the allocator's header. */
NOINLINE static void touch_it(char *p, size_t pages)
{
	for (size_t i = 1; i < pages; i++)
		p[i * PAGE] = 1;
}

NOINLINE static void touch_map(char *p, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		p[i * PAGE] = 1;
}

NOINLINE static void *leak(size_t bytes) { return keep = malloc(bytes); }

static int touch(size_t pages)
{
	char *block, *map;

	usleep(200000);
	block = make(pages);
	map = map_it(pages);
	touch_it(block, pages);
	touch_map(map, pages);
	sleep(1);
	return 0;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "touch"))
		return touch(strtoul(argv[2], NULL, 10));
	if (argc > 3 && !strcmp(argv[1], "leak")) {
		ready();
		for (unsigned long i = strtoul(argv[2], NULL, 10); i; i--) {
			leak(strtoul(argv[3], NULL, 10));
			usleep(10000);
		}
		return 0;
	}
	ready();
	getchar();
	return touch(40);
}
