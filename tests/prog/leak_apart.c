/* SPDX-License-Identifier: GPL-2.0-or-later
 * Memory that a copy of the process does not have as of the moment of the copy: KIND MIB. "kept" - a copy does not get it (MADV_DONTFORK),
 * "wiped" - it gets it empty (MADV_WIPEONFORK), "shared" - it has it in common with the process. All of it is written to; at its end is the
 * only pointer to a block of 77 bytes. A block of 78 bytes is definitely lost.
 */
#include <sys/mman.h>

#define LEAK_THREADS	/* a main() of its own */
#include "leak.h"

SITE static void held(void **at) { *at = make(77); }
SITE static void lost(void) { hide(make(78)); }

int main(int argc, char **argv)
{
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) << 20 : 0;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, (argv[1][0] == 's' ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || (argv[1][0] != 's' && madvise(memory, bytes, argv[1][0] == 'k' ? MADV_DONTFORK : MADV_WIPEONFORK)))
		return 1;
	memset(memory, 1, bytes);
	say("ready\n");
	while (rest(0)) {
		held((void **)(void *)(memory + bytes - sizeof(void *)));
		lost();
		scrub();
		say("done\n");
	}
	exit(0);
}
