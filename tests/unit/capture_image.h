/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures in memory, for tests of the .pmm file: heaps written and read, what the reader refuses.
 */
#ifndef TESTS_UNIT_CAPTURE_IMAGE_H
#define TESTS_UNIT_CAPTURE_IMAGE_H

#include "src/store/file_format.h"
#include "tests/unit/heap_equal.h"
#include "tests/unit/recipe_heap.h"

#define BUDGET (64u << 20)

/* A heap in which every figure is set. */
static const char rich_recipe[] =
	"process comm=demo pid=7 ppid=3 exe=/bin/demo cmdline=\"demo 'a b'\" host=box attach=1s "
	"taken=1m "
	"end=killed status=9 forked\n"
	"watch sample=512K min-size=16 warn-size=1M tick=20ms ledger=1M limit=2M slots-used=3 "
	"slots=9 off=2 "
	"drift=1\n"
	"totals peak=3K peak-at=2s untracked-frees=4 skipped=5 skipped-bytes=6\n"
	"drop block-full=1 site-full=2 ctx-full=3 nested=4 module-full=5 address=6 bytes=7\n"
	"module /lib/a.so at=0x7000000 size=64K bias=0x6fff000 load=1s unload=2s build-id=00ff10\n"
	"thread main tid=7\nthread \"worker one\" tid=8 start=3s ended\n"
	"site main@/lib/a.so>/lib/a.so+0x2345>!no-unwind size=10 allocs=9 frees=4 thread=\"worker "
	"one\" "
	"temporary=1 max=11 failed=2 zero=3 huge=4 samples-in=5 samples-out=6 first=2s last=5s "
	"life=4s\n"
	"site main@/lib/a.so>other kind=calloc size=4000 allocs=3 first=7s\n"
	"site - size=1\n"
	"site +0x999 kind=mmap size=8K allocs=2 frees=1 last=9s\n"
	"allocator /lib/libc.so.6 source=memory arenas=3 why=changed arena=1M used=3 free=4 "
	"free-chunks=5 fast-chunks=6 fast-bytes=7 "
	"mmapped-chunks=8 mmapped-bytes=9 top=10 at=11s\n"
	"mapping mmap-failed=1 mremaps=2 grown=3 shrunk=4 brks=5 brk=6 brk-peak=7\n"
	"point 1s live=10 blocks=2 allocs=3 rss=4K\npoint 2s live=11\n"
	"site-point 1s main@/lib/a.so>other live=10 blocks=1\n"
	"usage pss-why=denied took=3ms pss-took=4ms\n"
	"usage-point 1s threads=2 minor=3 major=4 user=5ms system=6ms anon=7K file=8K shmem=9K "
	"swap=10K pss=11K\nusage-point 2s pss=1\nusage-point 2s threads=0\n"
	"mark 1s pid=8 name=child count=2 last=9s\nmark 2s kind=child-exec name=\"a b\"\n"
	"search exit complete at=59s pause=3ms took=1s read=4K unread=5\n"
	"leak main@/lib/a.so>other definite blocks=2 bytes=8000 indirect-blocks=1 indirect-bytes=1 "
	"oldest=1s newest=2s\n"
	"leak - indirect blocks=1 bytes=1 holder=main@/lib/a.so>other held=1 oldest=3s\n"
	"leak main@/lib/a.so>other reachable blocks=1 bytes=4000 chained=1 holder=- held=1\n"
	"check light mechanism=mprotect flags=3 guarded=4 guarded-now=5 guarded-most=6 canaried=7 "
	"passed=8 limit=9 budget=10 large=11 "
	"refused=12 failed=13 quarantined=14 lost=15 sweeps=16 swept=17s left-open=18 early=19 "
	"unkept-large=20 unkept-busy=21\n"
	"finding type=after-free access=write place=inside kind=new release=delete guarded count=2 "
	"first=3s last=4s since=5s address=0x6 "
	"size=7 block=0x8 block-size=9 other=0xa site=main@/lib/a.so>bad thread=main "
	"alloc=main@/lib/a.so>other alloc-thread=\"worker one\" "
	"alloc-at=11s free=- free-thread=main free-at=12s parent=13 function=memcpy text=\"two "
	"words\" code=8910 bytes=00fe01 number=3\n"
	"finding type=size by=function size=18446744073709551606\n"
	"finding type=crash by=signal access=read place=past-file address=0x5000 text=/data/y "
	"code=8908\n"
	"death signal=6 fault=7 code=2 sender=3 status=4 finding=2 map-access=11 map-start=0x4000 "
	"map-end=0x6000\n"
	"kernel classes=faults,swap,reclaim unseen=swap why=\"swap is off\" sample=2 bin=50ms complete=3 "
	"stacks=4 rows-lost=5 bins-lost=6 faults=77 major=7\n"
	"kernel-kind fault events=7 lost=8 dropped=9\n"
	"event fault main@/lib/a.so>other area=heap write of=block site=main@/lib/a.so>other events=10 "
	"records=2 failed=1 bytes=11 took=12ms longest=5ms first=13s last=14s\n"
	"event 127 - detail=4294967295 of=mapping site=+0x999\nevent mmap +0x999 of=agent events=3\n"
	"kernel-bin 1s fault events=15 bytes=16 took=17ms\nkernel-bin 1s 127\nkernel-bin 2s fault\n";

/* A capture in memory. */
struct image {
	uint8_t *bytes;
	size_t n;
};

/* What was written to a file, which is closed. To be freed: bytes. */
static inline struct image image_of(FILE *f)
{
	struct image m;

	fflush(f);
	m.n = (size_t)ftello(f);
	m.bytes = malloc(m.n + 1);
	rewind(f);
	assert_non_null(m.bytes);
	assert_int_equal(fread(m.bytes, 1, m.n, f), m.n);
	fclose(f);
	return m;
}

static inline struct image write_image(const struct heap *h)
{
	FILE *f = tmpfile();
	struct err e = {0};

	assert_non_null(f);
	if (file_write_heap(h, f, "x", &e))
		fail_msg("%s", e.text);
	return image_of(f);
}

/* As file_read_heap(), which calls it 'x'; e is cleared before. */
static inline int read_image_within(const uint8_t *bytes, size_t n, uint64_t max_bytes,
				    struct heap **out, struct err *e)
{
	FILE *f = fmemopen((void *)(uintptr_t)bytes, n ? n : 1, "r");
	int rc;

	assert_non_null(f);
	memset(e, 0, sizeof(*e));
	*out = NULL;
	rc = file_read_heap(f, n, max_bytes, "x", out, e);
	fclose(f);
	return rc;
}

static inline int read_image(const uint8_t *bytes, size_t n, struct heap **out, struct err *e)
{
	return read_image_within(bytes, n, BUDGET, out, e);
}

/* Reading it gives that code and text, and a hint. */
static inline void expect_refusal(const uint8_t *bytes, size_t n, int code, const char *text)
{
	struct heap *h;
	struct err e;

	assert_int_equal(read_image(bytes, n, &h, &e), code);
	assert_null(h);
	assert_string_equal(e.text, text);
	assert_string_not_equal(e.hint, "");
}

static inline void expect_same_heap(const struct heap *a, const struct heap *b)
{
	char what[200];

	if (!heap_equal(a, b, what, sizeof(what)))
		fail_msg("differs in %s", what);
}

/* The image reads back as this heap. */
static inline void expect_read_back(const struct image *m, const struct heap *h)
{
	struct heap *back = NULL;
	struct err e;

	if (read_image(m->bytes, m->n, &back, &e))
		fail_msg("%s", e.text);
	expect_same_heap(h, back);
	heap_free(back);
}

#endif
