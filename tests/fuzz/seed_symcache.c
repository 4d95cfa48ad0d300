/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds for fuzz_symcache: a few small cache files, into the directory named. */
#include <stdint.h>
#include <stdio.h>

#include "src/symbol/symcache.h"

int main(int argc, char **argv)
{
	static const struct symcache_source source = { 1, 2, 3, 4 };

	if (argc != 2)
		return 2;
	for (uint8_t nr = 0; nr < 4; nr++) {
		struct symcache_writer *w = symcache_writer_new();

		for (uint64_t a = 0; a < nr; a++) {
			symcache_add_address(w, a * 16);
			symcache_add_frame(w, "f()", "_Z1fv", "f.c", 1, 0, SYMCACHE_INLINED);
			symcache_add_frame(w, "g", "g", NULL, 0, a, 0);
		}
		if (symcache_write(w, argv[1], &nr, 1, &source)) {
			perror(argv[1]);
			return 1;
		}
		symcache_writer_free(w);
	}
	return 0;
}
