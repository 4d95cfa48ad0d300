/* SPDX-License-Identifier: GPL-2.0-or-later
 * Large blocks that are mostly untouched: BLOCKS GIB [whole]. Each but the first holds the only pointer to the one before, and each the only one to
 * a block of 77 bytes, in its last word; one word in each GiB is written besides. A static variable points to the last. A block of 78 bytes
 * is definitely lost. With "whole" all of the blocks is written, and a filter forbids to make children.
 */
#include <stdbool.h>

#define LEAK_THREADS	/* a main() of its own */
#include "leak.h"
#include "no_children.h"

#define GIB	(1ul << 30)

static void **last;
static bool whole;

SITE static void small(void **at) { *at = make(77); }
SITE static void lost(void) { hide(make(78)); }

SITE static void vast(size_t gib)
{
	void **block = hide(malloc(gib * GIB));

	if (!block)
		_exit(98);
	if (whole)
		memset(block, 0, gib * GIB);
	for (size_t at = 0; at < gib; at++)
		block[at * GIB / 8] = NULL;
	block[0] = (void *)last;
	small(&block[gib * GIB / 8 - 1]);
	last = block;
}

int main(int argc, char **argv)
{
	int blocks = argc > 2 ? atoi(argv[1]) : 0;

	whole = argc > 3;
	if (whole && no_children())
		return 1;
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
