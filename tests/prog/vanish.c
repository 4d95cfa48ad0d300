/* SPDX-License-Identifier: GPL-2.0-or-later
 * Unloads libraries by the C library's own dlclose, fetched from its handle, which no preloaded
 * library can see (iconv and the name services unload theirs in the same way): a large one, then a
 * small one that takes the end of its place, 20 times each. The large one's tables are gone when
 * the small one allocates. Must print "unharmed", and each block be charged to the right library.
 *
 * expect:
 *   site only_in_b  allocs=20 frees=0 bytes=1400 live=1400 blocks=20
 *   site only_in_c  allocs=20 frees=0 bytes=1200 live=1200 blocks=20
 */
#include <sys/mman.h>

#include "visit.h"

int main(int argc, char **argv)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	int bad = argc != 2 || !libc, (*unload)(void *lib) = NULL;

	if (!bad)
		*(void **)&unload = dlsym(libc, "dlclose");
	/* no other room for a small library */
	for (int i = 0; i < 3000; i++)
		mmap(NULL, 4096, i % 2 ? PROT_NONE : PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 20 && !bad; i++)
		bad = visit(argv[1], "libvictim_c.so", unload) || visit(argv[1], "libvictim_b.so", unload);
	return bad || puts("unharmed") < 0;
}
