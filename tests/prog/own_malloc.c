/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program that brings its own malloc, exported so that libraries use it too: it goes before pmm's, nothing can be seen,
 * and that must be said. With an argument, so does a child of it, which makes a mapping.
 */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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

static int child(void)
{
	return mmap(NULL, sizeof(heap), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

int main(int argc, char **argv)
{
	int status = 0;

	(void)argv;
	if (argc > 1) {
		if (!fork())
			_exit(child());
		if (wait(&status) < 0 || status)
			return 2;
	}
	for (int i = 0; i < 100; i++)
		free(malloc(100));
	return used == 100 * 112 ? 0 : 1;
}
