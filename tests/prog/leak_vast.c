/*
 * Large blocks that are mostly untouched: BLOCKS GIB. Each but the first holds the only pointer to the one before, and each the only one to
 * a block of 77 bytes, in its last word; one word in each GiB is written besides. A static variable points to the last. A block of 78 bytes
 * is definitely lost.
 */
#define LEAK_THREADS	/* a main() of its own */
#include "leak.h"

#define GIB	(1ul << 30)

static void **last;

SITE static void small(void **at) { *at = make(77); }
SITE static void lost(void) { hide(make(78)); }

SITE static void vast(size_t gib)
{
	void **block = hide(malloc(gib * GIB));

	if (!block)
		_exit(98);
	for (size_t at = 0; at < gib; at++)
		block[at * GIB / 8] = NULL;
	block[0] = (void *)last;
	small(&block[gib * GIB / 8 - 1]);
	last = block;
}

int main(int argc, char **argv)
{
	int blocks = argc > 2 ? atoi(argv[1]) : 0;

	say("ready\n");
	while (rest(0)) {
		for (int i = 0; i < blocks; i++)
			vast(strtoul(argv[2], NULL, 10));
		lost();
		scrub();
		say("done\n");
	}
	exit(0);
}
