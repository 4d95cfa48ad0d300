/* SPDX-License-Identifier: GPL-2.0-or-later
 * A pool of its own beside malloc, for --alloc pool_get=malloc(arg0), pool_put=free(arg0), pool_many=calloc(arg0,arg1),
 * pool_more=realloc(arg1,arg2), pool_slot=malloc(64).
 *   g  a round -> "done"
 *   e  end with status 44
 *
 * expect:
 *   site leaking   allocs=50 frees=10 bytes=1200 live=960 blocks=40
 *   site many      allocs=6 frees=0 bytes=720 live=720 blocks=6
 *   site more      allocs=4 frees=1 bytes=1300 live=1200 blocks=3
 *   site slots     allocs=8 frees=0 bytes=512 live=512 blocks=8
 *   site ordinary  allocs=5 frees=0 bytes=155 live=155 blocks=5
 */
#include <sys/mman.h>

#include "attach.h"

static char *pool;
static size_t used;

SITE void *pool_get(size_t bytes)
{
	char *p = pool + used;

	used += (bytes + 15) & ~15ul;
	return p;
}

SITE void pool_put(void *p)
{
	if (p)
		*(char *)p = 0x55;
}

SITE void *pool_many(size_t n, size_t each) { return memset(pool_get(n * each), 0, n * each); }
SITE void *pool_slot(int kind) { return pool_get(kind ? 64 : 32); }

/* The first argument is of no interest; the block is the second. */
SITE void *pool_more(void *self, void *old, size_t bytes)
{
	char *p = pool_get(bytes);

	if (self && old)
		memcpy(p, old, bytes / 2);
	return p;
}

SITE static void *leaking(void) { return pool_get(24); }
SITE static void *many(void) { return pool_many(3, 40); }
SITE static void *more(void *old) { return pool_more(&pool, old, old ? 1000 : 100); }
SITE static void *slots(void) { return pool_slot(1); }
SITE static void *ordinary(void) { return malloc(31); }

static int go(void)
{
	void *p[50], *q[3];

	for (int i = 0; i < 50; i++)
		p[i] = fill(hide(leaking()), 24);
	for (int i = 0; i < 6; i++)
		if (*(char *)hide(many()))
			return 0;
	for (int i = 0; i < 3; i++)
		q[i] = memset(more(NULL), 7, 100);
	if (((char *)hide(more(q[0])))[49] != 7)
		return 0;
	for (int i = 0; i < 8; i++)
		hide(slots());
	for (int i = 0; i < 5; i++)
		hide(ordinary());
	for (int i = 0; i < 50; i++)
		if (!filled(p[i], 24))
			return 0;
	for (int i = 0; i < 10; i++)
		pool_put(p[i]);
	return 1;
}

int main(void)
{
	int good = 1;
	char c;

	pool = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pool == MAP_FAILED)
		return 97;
	free(hide(malloc(10)));
	say("ready\n");
	while ((c = order()) && c != 'e') {
		good &= go();
		say(good ? "done\n" : "WRONG\n");
	}
	return good ? 44 : 98;
}
