/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks whose only pointer lies where nobody may look any more: in freed blocks of each size the allocator treats in its own way, and in
 * the frame of a function that has returned.
 *
 * expect:
 *   in_tcache      definite=1/701
 *   in_fastbin     definite=1/702
 *   in_fast_again  definite=1/709
 *   in_threads     definite=2/1421
 *   in_unsorted    definite=1/703
 *   in_large_bin   definite=1/704
 *   in_mmapped     definite=1/705
 *   in_dead_frame  definite=1/706
 *   in_shrunk      definite=1/707 reachable=1/2048
 *   in_top         definite=1/708
 *   keeper         reachable=9/18432
 */
#include <pthread.h>
#include <semaphore.h>

#include "leak.h"

static void *volatile seven[16], *volatile keep[16];

/* Keeps freed neighbours apart. */
SITE static void keeper(void)
{
	static int nr;

	keep[nr++ & 15] = make(2048);
}

/* A block of that size with a pointer where the allocator does not write, `at` bytes in. */
SITE static void *holder(size_t bytes, size_t at, void *p)
{
	char *block = malloc(bytes);

	memcpy(block + at, &p, sizeof(p));
	keeper();
	return block;
}

SITE static void fill_tcache(size_t bytes)
{
	for (int i = 0; i < 7; i++)
		seven[i] = malloc(bytes);
	for (int i = 0; i < 7; i++)
		free(seven[i]);
}

SITE static void in_tcache(void) { free(holder(200, 64, make(701))); }
SITE static void in_unsorted(void) { free(holder(2000, 512, make(703))); }
SITE static void in_mmapped(void) { free(holder(1 << 20, 4096, make(705))); }

static void free_fast(void *block)
{
	fill_tcache(72);
	free(block);
}

SITE static void in_fastbin(void) { free_fast(holder(72, 40, make(702))); }
SITE static void in_fast_again(void) { free_fast(holder(72, 40, make(709))); }

/* The same in another thread, which has an arena of its own, and lives on. */
SITE static void in_threads(void)
{
	free(holder(200, 64, make(710)));
	free_fast(holder(72, 40, make(711)));
}

static void *lives_on(void *freed)
{
	int never[2];

	in_threads();
	if (pipe(never))
		_exit(97);
	sem_post(freed);
	rest(never[0]);
	return NULL;
}

static void in_another_thread(void)
{
	static sem_t freed;
	pthread_t t;

	sem_init(&freed, 0, 0);
	if (pthread_create(&t, NULL, lives_on, &freed))
		_exit(96);
	sem_wait(&freed);
}

SITE static void in_large_bin(void)
{
	free(holder(6000, 512, make(704)));
	free(malloc(100000));
}

SITE static void in_shrunk(void)
{
	keep[15] = realloc(holder(4000, 3000, make(707)), 2048);
}

SITE static void in_top(void)
{
	char *block = malloc(50000);
	void *p = make(708);

	memcpy(block + 40000, &p, sizeof(p));
	free(block);
}

SITE static void in_dead_frame(int depth)
{
	void *volatile p[512];

	for (int i = 0; i < 512; i++)
		p[i] = depth || i ? NULL : make(706);
	if (depth)
		in_dead_frame(depth - 1);
	hide(p[0]);
}

static void cases(void)
{
	in_tcache(), in_fastbin(), in_unsorted(), in_large_bin(), in_mmapped(), in_top(), in_shrunk();
	in_dead_frame(100);
	in_another_thread();
	in_fast_again();	/* nothing takes it out of the bin any more */
}
