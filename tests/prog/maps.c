/* SPDX-License-Identifier: GPL-2.0-or-later
 * Mappings: whole and partial unmapping, remapping, and one that fails. Nothing of it is heap.
 *
 * expect:
 *   total    allocs=0 live=0
 *   mapping  mmap_calls=7 mmap_bytes=2359296 mmap_failed=1 munmap_calls=6 munmap_bytes=2162688
 *   mapping  mremap_calls=2 mremap_grown=131072 mremap_shrunk=32768
 *   map by_mmap    allocs=3 frees=1 bytes=1064960 live=32768 blocks=2
 *   map by_mmap64  allocs=1 frees=1 bytes=1048576 live=0 blocks=0
 *   map by_mremap  live=147456 blocks=1
 *   map cut        allocs=3 frees=0 bytes=196608 live=114688 blocks=3
 * (a mapping that loses its middle is two from then on: one more alloc, of no bytes)
 */
#include <sys/mman.h>

#include "victim.h"

#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

SITE static char *by_mmap(size_t bytes) { return mmap(NULL, bytes, RW, ANON, -1, 0); }
SITE static char *by_mmap64(size_t bytes) { return mmap64(NULL, bytes, RW, ANON, -1, 0); }

SITE static char *by_mremap(void)
{
	char *p = mmap(NULL, 49152, RW, ANON, -1, 0);

	p = mremap(p, 49152, 49152 + 131072, MREMAP_MAYMOVE);
	return mremap(p, 49152 + 131072, 147456, 0);
}

SITE static char *cut(size_t bytes) { return mmap(NULL, bytes, RW, ANON, -1, 0); }

int main(void)
{
	char *f = cut(65536), *g = cut(131072);
	char *a = by_mmap(16384), *b = by_mmap(32768), *c = by_mmap64(1 << 20);
	char *d = by_mmap(1015808), *e = by_mremap();

	if (mmap(NULL, 0, RW, ANON, -1, 0) != MAP_FAILED)
		return 1;
	a[0] = b[0] = c[0] = d[0] = e[147455] = 1;
	munmap(c, 1 << 20);		/* whole */
	munmap(b, 16384);		/* the first half */
	munmap(d, 49152);		/* the front, then the rest: gone */
	munmap(d + 49152, 1015808 - 49152);
	munmap(f + 32768, 32768);	/* the end: 32768 left */
	munmap(g + 16384, 49152);	/* the middle: 16384 and 65536 left, two mappings now */
	return 0;
}
