/* SPDX-License-Identifier: GPL-2.0-or-later
 * Scenario of inject_self: allocators of the program's own, with signatures of their own.
 */
#include "tests/prog/inject_self.h"

#include <stdlib.h>
#include <string.h>

static char *chunk;
static size_t used;

/* A pool that takes its memory from malloc, without a header: its first block lies where the chunk does. */
static NOIPA void *pool_get(void *pool, long a, double x, unsigned n, unsigned each, float y, short b)
{
	char *p;

	EXPECT(pool == &h && a == -3 && x == 2.5 && y == -0.25f && b == -7, 1);
	if (!chunk || used + n * each > 65536) {
		chunk = hooked_malloc(65536);
		used = 16;
	}
	p = chunk + used;
	used += n * each;
	return p;
}

static NOIPA int pool_put(double x, void *p)
{
	EXPECT(x == 1.5 && p, 1);
	return 4711;
}

static NOIPA double pool_grow(void **where, void *old, size_t size)
{
	*where = old;
	return (double)size;
}

static NOIPA void *pool_resize(void *old, size_t size)
{
	return size == 666 ? NULL : size ? (char *)old + 8 : NULL;
}

/* Wrappers: what they hand on is malloc's. */
static NOIPA void *wrap_malloc(size_t size)
{
	return hooked_malloc(size);
}

static NOIPA void wrap_free(void *p)
{
	hooked_free(p, 0, 0);
}

static NOIPA void *own_allocate(void *unused, size_t size)
{
	(void)unused;
	return hooked_malloc(size);
}

static NOIPA void *own_resize(void *old, size_t size)
{
	void *p = hooked_malloc(size);

	if (p)
		hooked_free(old, 0, 0);
	return p;
}

static void *(*get)(void *, long, double, unsigned, unsigned, float, short);
static int (*put)(double, void *);

static NOIPA void *pool_get_pair(size_t unused)
{
	(void)unused;
	return get(&h, -3, 2.5, 2, 8, -0.25f, -7);
}

static NOIPA void pools(void)
{
	void *(*pair)(size_t), *(*resize)(void *, size_t), *v[10], *moved;
	struct pmm_entry *e;
	struct heap *p;

	get = host_entry(&h, PMM_ROLE_CUSTOM_ALLOC, PMM_KIND_OTHER, pool_get, &e);
	e->arg_size = 3, e->arg_count = 2;
	put = host_entry(&h, PMM_ROLE_CUSTOM_FREE, PMM_KIND_OTHER, pool_put, &e);
	e->arg_pointer = 0;
	pair = host_entry(&h, PMM_ROLE_CUSTOM_ALLOC, PMM_KIND_OTHER, pool_get_pair, &e);
	e->fixed_bytes = 16;
	resize = host_entry(&h, PMM_ROLE_CUSTOM_REALLOC, PMM_KIND_OTHER, pool_resize, &e);
	e->arg_pointer = 0, e->arg_size = 1;
	for (int i = 0; i < 10; i++)
		v[i] = get(&h, -3, 2.5, 3, 8, -0.25f, -7);
	p = LEDGER(11, 0, 65536 + 240, 0);	/* the chunk as well */
	EXPECT(calls(p, PMM_KIND_MALLOC), 1);
	EXPECT(calls(p, PMM_KIND_OTHER), 10);
	for (uint64_t i = 0; i < p->nr_blocks; i++)
		if (p->blocks[i].kind == PMM_KIND_MALLOC) {	/* the pool's hook is in its stack, but not to be seen */
			const struct heap_node *node = &p->nodes[p->sites[p->blocks[i].site].node];

			EXPECT(inside(node->pc, pool_get), 1);
			EXPECT(inside(p->nodes[node->parent].pc, pools), 1);
		}
	heap_free(p);
	for (int i = 0; i < 9; i++)
		EXPECT(put(1.5, v[i]), 4711);
	EXPECT(put(1.5, &p), 4711);		/* never seen */
	p = LEDGER(11, 9, 65776, 216);
	EXPECT(p->untracked_frees, 1);
	heap_free(p);
	EXPECT(resize(v[9], 666), 0);
	moved = resize(v[9], 100);
	EXPECT(moved, (char *)v[9] + 8);
	p = LEDGER(12, 10, 65876, 240);
	EXPECT(p->failed, 1);
	heap_free(p);
	EXPECT(resize(moved, 0), 0);
	v[0] = pair(0);				/* of two custom functions the outer one counts */
	heap_free(LEDGER(13, 11, 65892, 340));
	used = 16;				/* emptied: the same address once more */
	v[1] = get(&h, -3, 2.5, 3, 8, -0.25f, -7);
	used = (size_t)((char *)v[0] - chunk);
	v[2] = get(&h, -3, 2.5, 3, 8, -0.25f, -7);
	EXPECT(v[0], v[2]);
	heap_free(LEDGER(15, 12, 65940, 356));
	hooked_free(chunk, 0, 0);		/* takes the chunk only */
	heap_free(LEDGER(15, 13, 65940, 65892));
	put(1.5, v[1]);
	put(1.5, v[2]);
	heap_free(LEDGER(15, 15, 65940, 65940));
}

static void wrappers(void)
{
	void *(*wrapped)(size_t);
	void (*unwrapped)(void *);
	struct pmm_entry *e;
	struct heap *p;
	void *a;

	wrapped = host_entry(&h, PMM_ROLE_CUSTOM_ALLOC, PMM_KIND_OTHER, wrap_malloc, &e);
	e->arg_size = 0;
	unwrapped = host_entry(&h, PMM_ROLE_CUSTOM_FREE, PMM_KIND_OTHER, wrap_free, &e);
	e->arg_pointer = 0;
	a = wrapped(500);
	heap_free(LEDGER(16, 15, 66440, 65940));
	unwrapped(a);
	unwrapped(malloc(5));
	p = LEDGER(16, 16, 66440, 66440);
	EXPECT(p->untracked_frees, 2);
	heap_free(p);
}

/* mallocx and rallocx of jemalloc: blocks like malloc's. */
static void own(void)
{
	void *(*allocate)(void *, size_t), *(*resize)(void *, size_t), *p;
	struct pmm_entry *e;
	struct heap *heap;

	allocate = host_entry(&h, PMM_ROLE_CUSTOM_ALLOC, PMM_KIND_MALLOC, own_allocate, &e);
	e->arg_size = 1;
	resize = host_entry(&h, PMM_ROLE_CUSTOM_REALLOC, PMM_KIND_REALLOC, own_resize, &e);
	e->arg_pointer = 0, e->arg_size = 1;
	p = allocate(&h, 40);
	p = resize(p, 60);
	heap = LEDGER(19, 17, 66564, 66480);
	EXPECT(calls(heap, PMM_KIND_REALLOC), 1);
	heap_free(heap);
	EXPECT(resize(p, (size_t)1 << 46), 0);
	hooked_free(p, 0, 0);
	heap = LEDGER(19, 18, 66564, 66540);
	EXPECT(heap->failed, 2);
	heap_free(heap);
}

static NOIPA char *own_string(const char *from, char *memory)
{
	char *p = memory ? memory : from ? hooked_malloc(64) : NULL;

	return p ? strcpy(p, from) : NULL;
}

static NOIPA void *own_expand(void *p, size_t size)
{
	return size <= 64 ? p : NULL;
}

static NOIPA size_t own_xallocx(void *p, size_t size, size_t extra, int flags)
{
	(void)p, (void)extra, (void)flags;
	return size <= 64 ? 64 : 32;
}

/* mimalloc's strings; mi_expand and xallocx, which leave a block in its place or as it is. */
static void in_place(void)
{
	size_t (*xallocx)(void *, size_t, size_t, int);
	char *(*string)(const char *, char *), memory[8];
	void *(*expand)(void *, size_t), *p;
	struct pmm_entry *e;
	struct heap *heap;

	string = host_entry(&h, PMM_ROLE_STRING, PMM_KIND_MALLOC, own_string, &e);
	e->arg_size = -1, e->arg_pointer = 1;
	expand = host_entry(&h, PMM_ROLE_EXPAND, PMM_KIND_REALLOC, own_expand, &e);
	e->arg_pointer = 0, e->arg_size = 1;
	xallocx = host_entry(&h, PMM_ROLE_XALLOCX, PMM_KIND_REALLOC, own_xallocx, &e);
	e->arg_pointer = 0, e->arg_size = 1;
	EXPECT(string("hello", memory) == memory, 1);	/* no block */
	EXPECT(string(NULL, NULL), 0);			/* no failure */
	p = string("hello", NULL);
	heap_free(LEDGER(20, 18, 66570, 66540));
	EXPECT(expand(p, 60), p);
	heap_free(LEDGER(21, 19, 66630, 66546));
	EXPECT(expand(p, 65), 0);
	EXPECT(xallocx(p, 65, 0, 0), 32);
	heap_free(LEDGER(21, 19, 66630, 66546));
	EXPECT(xallocx(p, 20, 0, 0), 64);
	hooked_free(p, 0, 0);
	heap = LEDGER(22, 21, 66650, 66626);
	EXPECT(heap->failed, 2);
	heap_free(heap);
}

static void registers(void)
{
	void *(*get_long)(void *, long, double, uint64_t, uint64_t, float, short) = (void *)get;
	double (*grow)(void **, void *, size_t);
	struct pmm_entry *e;
	void *to;

	grow = host_entry(&h, PMM_ROLE_CUSTOM_FREE, PMM_KIND_OTHER, pool_grow, &e);
	e->arg_pointer = 1;
	EXPECT(grow(&to, &h, 77) == 77.0, 1);
	EXPECT(to, &h);
	/* the upper half of a 32-bit argument may hold anything */
	EXPECT(get_long(&h, -3, 2.5, 0xdeadbeef00000003, 0xbeefdead00000008, -0.25f, -7) != NULL, 1);
	heap_free(LEDGER(17, 16, 66464, 66440));
}

/* inject_throw.cc */
void *thrower(size_t bytes);
int throw_through(void *(*hooked)(size_t), int rounds);

void throwing(void)
{
	void *(*new)(size_t), *(*pool)(size_t);
	struct pmm_entry *e;
	struct heap *p;

	start_exact();
	new = host_entry(&h, PMM_ROLE_NEW, PMM_KIND_NEW, thrower, NULL);
	pool = host_entry(&h, PMM_ROLE_CUSTOM_ALLOC, PMM_KIND_OTHER, thrower, &e);
	e->arg_size = 0;
	EXPECT(throw_through(new, 100), 100);
	hooked_free(hooked_malloc(1), 0, 0);
	p = host_read(&h);
	EXPECT(calls(p, PMM_KIND_NEW), 100);
	EXPECT(p->failed, 100);
	heap_free(p);
	EXPECT(throw_through(pool, 100), 100);
	p = host_read(&h);
	EXPECT(calls(p, PMM_KIND_OTHER), 100);
	heap_free(p);
}

void custom(void)
{
	start_exact();
	pools();
	wrappers();
	registers();
	own();
	in_place();
}
