/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program that brings its own malloc, exported so that libraries use it too: it goes before pmm's, nothing can be seen,
 * and that must be said.
 */
#include <stddef.h>

static char heap[1 << 20];
static size_t used;

void *malloc(size_t bytes);
void free(void *block);

void *malloc(size_t bytes)
{
	void *block = heap + used;

	used += (bytes + 15) & ~(size_t)15;
	return used <= sizeof(heap) ? block : NULL;
}

void free(void *block)
{
	(void)block;
}

int main(void)
{
	for (int i = 0; i < 100; i++)
		free(malloc(100));
	return used == 100 * 112 ? 0 : 1;
}
