/* SPDX-License-Identifier: GPL-2.0-or-later
 * Scenarios of inject_self: every role, calls that fail.
 */
#include "tests/prog/inject_self.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- every role ---------------------------------------------------------------------------------------------- */

static size_t seen[4];

static void *fake_aligned(size_t size, size_t align, const void *tag)
{
	seen[0] = size, seen[1] = align, seen[2] = (size_t)tag;
	return memalign(align, size);
}

static void *fake_nothrow(size_t size, const void *tag)
{
	seen[0] = size, seen[1] = (size_t)tag;
	return malloc(size);
}

static void fake_delete(void *p, size_t a, size_t b)
{
	seen[0] = (size_t)p, seen[1] = a, seen[2] = b;
	free(p);
}

static NOIPA void roles_of_c(void)
{
	void *(*array)(void *, size_t, size_t) = host_entry(&h, PMM_ROLE_REALLOCARRAY, 0, reallocarray, NULL);
	int (*posix)(void **, size_t, size_t) = host_entry(&h, PMM_ROLE_POSIX_MEMALIGN, 0, posix_memalign, NULL);
	void *(*aligned)(size_t, size_t) = host_entry(&h, PMM_ROLE_MEMALIGN, PMM_KIND_ALIGNED_ALLOC, aligned_alloc, NULL);
	void *(*page)(size_t) = host_entry(&h, PMM_ROLE_MALLOC, PMM_KIND_VALLOC, valloc, NULL);
	void *a = hooked_malloc(100), *b = hooked_calloc(3, 40), *c, *d, *e;
	struct heap *p;

	EXPECT(((char *)b)[119], 0);
	EXPECT(posix(&c, 64, 300), 0);
	d = aligned(128, 1280);
	e = page(5000);
	EXPECT((uint64_t)c % 64 + (uint64_t)d % 128 + (uint64_t)e % 4096, 0);
	heap_free(LEDGER(5, 0, 100 + 120 + 300 + 1280 + 5000, 0));
	memset(a, 7, 100);
	a = hooked_realloc(a, 20000);
	EXPECT(((char *)a)[99], 7);
	a = array(a, 10, 3000);
	p = LEDGER(7, 2, 6800 + 20000 + 30000, 100 + 20000);
	EXPECT(calls(p, PMM_KIND_MALLOC), 1);
	EXPECT(calls(p, PMM_KIND_CALLOC), 1);
	EXPECT(calls(p, PMM_KIND_REALLOC), 1);
	EXPECT(calls(p, PMM_KIND_REALLOCARRAY), 1);
	EXPECT(calls(p, PMM_KIND_POSIX_MEMALIGN), 1);
	EXPECT(calls(p, PMM_KIND_ALIGNED_ALLOC), 1);
	EXPECT(calls(p, PMM_KIND_VALLOC), 1);
	for (unsigned i = 0; i < p->nr_blocks; i++)
		EXPECT(inside(p->nodes[p->sites[p->blocks[i].site].node].pc, roles_of_c), 1);
	heap_free(p);
	hooked_free(NULL, 0, 0);
	hooked_free(a, 0, 0);
	hooked_free(b, 0, 0);
	hooked_free(c, 0, 0);
	hooked_free(d, 0, 0);
	hooked_free(e, 0, 0);
	hooked_free(malloc(10), 0, 0);
	p = LEDGER(7, 7, 56800, 56800);
	EXPECT(p->untracked_frees, 1);
	heap_free(p);
}

static void roles_of_cxx(void)
{
	struct pmm_entry *plain, *plain_aligned;
	void *(*new)(size_t) = host_entry(&h, PMM_ROLE_NEW, PMM_KIND_NEW_ARRAY, NULL, &plain);
	void *(*new_aligned)(size_t, size_t) = host_entry(&h, PMM_ROLE_NEW_ALIGNED, PMM_KIND_NEW_ALIGNED, NULL, &plain_aligned);
	void *(*nothrow)(size_t, void *) = host_entry(&h, PMM_ROLE_NEW_NOTHROW, PMM_KIND_NEW, fake_nothrow, NULL);
	void *(*aligned_nothrow)(size_t, size_t, void *) =
		host_entry(&h, PMM_ROLE_NEW_ALIGNED_NOTHROW, PMM_KIND_NEW_ALIGNED, fake_aligned, NULL);
	void (*delete)(void *, size_t, size_t) = host_entry(&h, PMM_ROLE_FREE, 0, fake_delete, NULL);
	void *v[4];
	struct heap *p;

	plain->plain = (uint64_t)malloc;
	plain_aligned->plain = (uint64_t)memalign;
	v[0] = new(10);
	v[1] = new_aligned(20, 256);
	EXPECT((uint64_t)v[1] % 256, 0);
	v[2] = nothrow(30, &h);
	EXPECT(seen[0] == 30 && seen[1] == (size_t)&h, 1);
	v[3] = aligned_nothrow(40, 512, &h);
	EXPECT(seen[0] == 40 && seen[1] == 512 && seen[2] == (size_t)&h, 1);
	p = LEDGER(11, 7, 56900, 56800);
	EXPECT(calls(p, PMM_KIND_NEW), 1);
	EXPECT(calls(p, PMM_KIND_NEW_ARRAY), 1);
	EXPECT(calls(p, PMM_KIND_NEW_ALIGNED), 2);
	heap_free(p);
	for (size_t i = 0; i < 4; i++) {
		delete(v[i], 77 + i, 88 + i);
		EXPECT(seen[0] == (size_t)v[i] && seen[1] == 77 + i && seen[2] == 88 + i, 1);
	}
	heap_free(LEDGER(11, 11, 56900, 56900));
}

static void roles_of_maps(void)
{
	void *(*map)(void *, size_t, int, int, int, off_t) = host_entry(&h, PMM_ROLE_MMAP, 0, mmap, NULL);
	void *(*remap)(void *, size_t, size_t, int, void *) = host_entry(&h, PMM_ROLE_MREMAP, 0, mremap, NULL);
	int (*unmap)(void *, size_t) = host_entry(&h, PMM_ROLE_MUNMAP, 0, munmap, NULL);
	char *a = map(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *b;
	struct heap *p;

	a[8191] = 1;
	EXPECT(map(NULL, 4096, PROT_READ, MAP_PRIVATE, 999, 0), MAP_FAILED);
	EXPECT(errno, EBADF);
	EXPECT(unmap(a + 1, 4096), -1);
	b = remap(a, 8192, 40960, MREMAP_MAYMOVE, NULL);
	EXPECT(b[8191], 1);
	p = host_read(&h);
	EXPECT(p->nr_maps, 1);
	EXPECT(p->maps[0].address, b);
	EXPECT(p->maps[0].size_bytes, 40960);
	EXPECT(p->mapping.mmap_calls, 1);
	EXPECT(p->mapping.mmap_failed, 1);
	EXPECT(p->mapping.mremap_grown_bytes, 32768);
	heap_free(p);
	EXPECT(unmap(b, 40960), 0);
	p = host_read(&h);
	EXPECT(p->nr_maps, 0);
	EXPECT(p->mapping.munmap_calls, 1);
	heap_free(p);
}

void roles(void)
{
	start_exact();
	roles_of_c();
	roles_of_cxx();
	roles_of_maps();
}

/* ---- calls that fail ----------------------------------------------------------------------------------------- */

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static void *came_from, *came_with;

/* An operator new that would throw: it must have been jumped to, its caller's frame being the program's. */
static NOIPA void *would_throw(size_t size)
{
	seen[0] = size;
	came_from = __builtin_return_address(0);
	came_with = __builtin_frame_address(0);
	return NULL;
}

static NOIPA void throws(void *(*new)(size_t), void **sp)
{
	*sp = __builtin_frame_address(0);
	new(12345);
	__asm__ volatile("");
}

void failing(void)
{
	void *(*no_malloc)(size_t), *(*no_realloc)(void *, size_t), *(*new)(size_t), *a, *sp;
	struct pmm_entry *e;
	struct heap *p;

	start_exact();
	no_malloc = host_entry(&h, PMM_ROLE_MALLOC, PMM_KIND_MALLOC, no_memory, NULL);
	no_realloc = host_entry(&h, PMM_ROLE_REALLOC, PMM_KIND_REALLOC, no_memory, NULL);
	new = host_entry(&h, PMM_ROLE_NEW, PMM_KIND_NEW, would_throw, &e);
	a = hooked_malloc(50);
	errno = 0;
	EXPECT(no_malloc(1000), 0);
	EXPECT(errno, ENOMEM);
	EXPECT(no_realloc(a, 2000), 0);
	EXPECT(hooked_calloc((size_t)1 << 40, (size_t)1 << 40), 0);
	e->plain = (uint64_t)no_memory;
	throws(new, &sp);
	EXPECT(seen[0], 12345);
	EXPECT(inside((uint64_t)came_from, throws), 1);
	EXPECT(sp > came_with && (char *)sp - (char *)came_with < 64, 1);
	e->plain = 0;
	throws(new, &sp);
	p = LEDGER(1, 0, 50, 0);
	EXPECT(p->failed, 5);
	EXPECT(p->blocks[0].address, a);
	heap_free(p);
	hooked_free(a, 0, 0);
	heap_free(LEDGER(1, 1, 50, 50));
}
