/* SPDX-License-Identifier: GPL-2.0-or-later
 * STACKS DEPTH [free]: so many blocks of 24 bytes, each from a stack of its own (calls of DEPTH functions, each one of eight), which stay or are freed
 * at the end in the order they came. Nothing else is allocated. Found: as many call sites, each with one block.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NAMES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define DECLARE(k) static __attribute__((noipa)) void *call##k(unsigned long which, int depth);
#define ENTRY(k) call##k,
#define DEFINE(k)                                                                                  \
	static __attribute__((noipa)) void *call##k(unsigned long which, int depth)                \
	{                                                                                          \
		void *volatile p = depth ? calls[which & 7](which >> 3, depth - 1) : malloc(24);   \
                                                                                                   \
		return p;                                                                          \
	}

NAMES(DECLARE)
static void *(*const calls[])(unsigned long, int) = { NAMES(ENTRY) };
NAMES(DEFINE)

int main(int argc, char **argv)
{
	unsigned long nr = strtoul(argv[1], NULL, 10);
	int depth = atoi(argv[2]);
	void **all = mmap(NULL, nr * sizeof(*all), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return 2;
	for (unsigned long i = 0; i < nr; i++)
		all[i] = calls[i & 7](i >> 3, depth - 1);
	for (unsigned long i = 0; argc > 3 && i < nr; i++)
		free(all[i]);
	return 0;
}
