/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks held by memory that is no object's, no thread's and not the heap's: mappings of all kinds and the program's own part of the break.
 *
 * expect:
 *   anonymous      reachable=1/501
 *   shared         reachable=1/502
 *   file_private   reachable=1/503
 *   file_shared    reachable=1/504
 *   in_memfd       reachable=1/505
 *   in_break       reachable=1/506
 *   read_only      reachable=1/507 memcheck:definite=1/507
 *   unmapped       definite=1/508
 *   far            reachable=1/509
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "leak.h"

SITE static void *map(size_t bytes, int flags, int fd)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		_exit(97);
	return p;
}

static int file(void)
{
	char name[] = "/tmp/leak_maps.XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || unlink(name) || ftruncate(fd, 4096))
		_exit(96);
	return fd;
}

static int memory_file(void)
{
	int fd = memfd_create("leak_maps", 0);

	return ftruncate(fd, 4096) ? -1 : fd;
}

SITE static void keep(void **at, size_t bytes) { *at = make(bytes); }

SITE static void anonymous(void) { keep(map(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1), 501); }
SITE static void shared(void) { keep(map(4096, MAP_SHARED | MAP_ANONYMOUS, -1), 502); }
SITE static void file_private(void) { keep(map(4096, MAP_PRIVATE, file()), 503); }
SITE static void file_shared(void) { keep(map(4096, MAP_SHARED, file()), 504); }
SITE static void in_memfd(void) { keep(map(4096, MAP_SHARED, memory_file()), 505); }
SITE static void in_break(void) { keep(sbrk(4096), 506); }
SITE static void far(void) { keep((void **)map(64 << 20, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1) + (7 << 20), 509); }

SITE static void read_only(void)
{
	void *p = map(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	keep(p, 507);
	mprotect(p, 4096, PROT_READ);
}

SITE static void unmapped(void)
{
	void *p = map(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	keep(p, 508);
	munmap(p, 4096);
}

static void cases(void)
{
	anonymous(), shared(), file_private(), file_shared(), in_memfd(), in_break(), read_only(), unmapped(), far();
}
