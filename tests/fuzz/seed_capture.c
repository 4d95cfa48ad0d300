/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seeds for fuzz_capture: captures of a few made-up heaps, as files and as sections, into the
 * directory named.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "src/store/file_format.h"
#include "tests/fake/fake.h"

#define SPOTTED	2	/* recipe that gets lines of the source */

static const char *const recipes[] = {
	"#\n",
	("site main>a size=10 allocs=3 frees=1\nthread b ended\npoint 1s live=3\nsite-point 1s "
	 "main>a live=3\n"
	 "site m kind=mmap size=4K\nallocator x used=3\nmodule /y build-id=0102 unload=3s\n"),
	"generate sites=20 blocks=100 points=5 depth=6\n",
	("site main>a size=10 allocs=3\nsite main>b size=4 allocs=2\nsearch copy took=1s pause=2ms "
	 "read=4K unread=8\n"
	 "leak main>a definite blocks=2 bytes=20 indirect-blocks=1 indirect-bytes=4\n"
	 "leak main>b indirect blocks=1 bytes=4 holder=main>a held=1\nleak main>b reachable "
	 "blocks=1 bytes=4\n"),
	("site main>a size=10 allocs=3\ncheck guard guarded=3 canaried=1 sweeps=2 swept=3s\n"
	 "finding type=overrun access=write site=main>bad thread=main alloc=main>a "
	 "alloc-thread=main address=0x10a size=4 block=0x100 "
	 "block-size=10 guarded code=8910\n"
	 "finding type=double-free by=function release=free site=main>bad alloc=main>a free=main>f "
	 "number=1024 count=7\n"
	 "finding type=uninitialised by=valgrind text=words\n"),
	("site main>a size=10 allocs=3\nsite m kind=mmap size=8K\n"
	 "kernel classes=faults,mmap,reclaim unseen=reclaim why=\"no rights\" complete=3 stacks=4\n"
	 "event fault main>a>memset of=block site=main>a area=heap write events=9 records=3\n"
	 "event fault main of=mapping site=m area=anonymous present\nevent mmap m bytes=8K failed=1\n"
	 "event 99 - took=5ms\nkernel-kind fault lost=2 dropped=1\nkernel-bin 1s mmap bytes=8K\n"
	 "kernel-bin 1s fault events=9\n"),
	("site main size=10 allocs=3\nusage why=denied pss-why=none took=1ms pss-took=2ms\n"
	 "usage-point 1s threads=2 minor=3 user=10ms anon=4K swap=8K\nusage-point 2s pss=5\n"
	 "mark 1s pid=8 name=child count=2 last=2s\nmark 2s kind=child-exec name=cc1\n"),
	"watch mode=sampled sample=4K drift=3 off=2\nsite - size=7 allocs=9 blocks=1\nprocess "
	"forked end=killed\n",
};

/* Lines of the source, which no recipe has: node 1 is the last one. */
static void add_srclocs(struct heap *h)
{
	h->srclocs = calloc(3, sizeof(*h->srclocs));
	if (!h->srclocs || h->nr_nodes < 2)
		abort();
	for (h->nr_srclocs = 0; h->nr_srclocs < 3; h->nr_srclocs++)
		h->srclocs[h->nr_srclocs] = (struct heap_srcloc){ strdup("dir/a.c"), strdup("f"),
								  h->nr_srclocs };
	h->nodes[1].pc = HEAP_SRCLOC_PC + 2;
	h->nodes[1].module = 0;
}

static FILE *seed_open(const char *dir, const char *kind, size_t number, int first_byte)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s-%zu", dir, kind, number);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	fputc(first_byte, f);
	return f;
}

/* The sections of a capture, decompressed, as fuzz_capture takes them. */
static void put_sections(const uint8_t *image, size_t size, FILE *out)
{
	static uint8_t raw[1 << 20];
	struct file_toc_entry toc[FILE_MAX_SECTIONS];
	struct file_section head;
	struct file_end end;

	memcpy(&end, image + size - sizeof(end), sizeof(end));
	memcpy(&head, image + end.toc_offset, sizeof(head));
	memcpy(toc, image + end.toc_offset + sizeof(head), head.raw_bytes);
	for (uint8_t i = 0; i < head.count; i++) {
		const struct file_section *s = &toc[i].section;
		uint32_t count = (uint32_t)s->count, n = (uint32_t)s->raw_bytes;

		if (ZSTD_decompress(raw, sizeof(raw), image + toc[i].offset + sizeof(*s),
				    s->stored_bytes) != n)
			abort();
		for (unsigned k = 0; k < FILE_NR_TABLES; k++)
			if (!memcmp(s->id, file_tables[k].id, sizeof(s->id)))
				fputc((int)k, out);
		fwrite(&count, sizeof(count), 1, out);
		fwrite(&n, sizeof(n), 1, out);
		fwrite(raw, 1, n, out);
	}
}

int main(int argc, char **argv)
{
	static uint8_t image[1 << 20];

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(recipes) / sizeof(*recipes); i++) {
		FILE *f = fmemopen(image, sizeof(image), "w+"), *out;
		struct heap *h;
		struct err e;
		size_t n;

		if (!f || fake_make(recipes[i], &h, &e)) {
			fprintf(stderr, "seed %zu: %s\n", i, e.text);
			return 1;
		}
		if (i == SPOTTED)
			add_srclocs(h);
		if (file_write_heap(h, f, "seed", &e)) {
			fprintf(stderr, "seed %zu: %s\n", i, e.text);
			return 1;
		}
		n = (size_t)ftell(f);
		fclose(f);
		heap_free(h);
		out = seed_open(argv[1], "file", i, 0);
		fwrite(image, 1, n, out);
		fclose(out);
		out = seed_open(argv[1], "sections", i, 1);
		put_sections(image, n, out);
		fclose(out);
	}
	return 0;
}
