/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the reader of .pmm captures.
 *
 * The first byte chooses. Even: the rest is a file. Odd: the rest are sections, packed here with
 * the checksums that no mutation would get right: number of the table (1 byte), rows (4), bytes
 * (4), then those bytes. What can be read must survive being written and read again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/file_format.h"
#include "src/store/file_pack.h"
#include "tests/unit/heap_equal.h"

#define BUDGET	  (8u << 20)
#define IMAGE_MAX (4u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t image[IMAGE_MAX];

static struct heap *read_bytes(const uint8_t *bytes, size_t n)
{
	FILE *f = fmemopen((void *)(uintptr_t)bytes, n ? n : 1, "r");
	struct heap *h = NULL;
	struct err e = {0};

	if (!f)
		abort();
	if (!file_read_heap(f, n, BUDGET, "fuzz", &h, &e) != !!h)
		abort();
	if (!h && !e.text[0])
		abort();
	fclose(f);
	return h;
}

/* Sections to a file in `image`; its size. */
static size_t pack_sections(const uint8_t *data, size_t size)
{
	FILE *f = fmemopen(image, sizeof(image), "w+");
	struct pack *p = f ? pack_new(f) : NULL;
	uint32_t count, n;
	size_t bytes;

	if (!p)
		abort();
	while (size >= 9 && p->nr_toc < FILE_MAX_SECTIONS - 1) {
		unsigned number = data[0] % (FILE_NR_TABLES + 1);

		memcpy(&count, data + 1, 4);
		memcpy(&n, data + 5, 4);
		data += 9;
		size -= 9;
		if (n > size)
			n = (uint32_t)size;
		pack_begin(p, number < FILE_NR_TABLES ? file_tables[number].id : "WHAT", count);
		pack_bytes(p, data, n);
		pack_end(p);
		data += n;
		size -= n;
	}
	bytes = pack_finish(p) ? 0 : p->offset;
	pack_free(p);
	fclose(f);
	return bytes;
}

static void expect_round_trip(const struct heap *h)
{
	FILE *f = fmemopen(image, sizeof(image), "w+");
	struct heap *back;
	char what[200];
	struct err e;
	long n;

	if (!f || file_write_heap(h, f, "fuzz", &e))
		abort();
	n = ftell(f);
	fclose(f);
	back = read_bytes(image, (size_t)n);
	if (!back || !heap_equal(h, back, what, sizeof(what)))
		abort();
	heap_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heap *h;

	if (!size)
		return 0;
	if (data[0] & 1)
		h = read_bytes(image, pack_sections(data + 1, size - 1));
	else
		h = read_bytes(data + 1, size - 1);
	if (h)
		expect_round_trip(h);
	heap_free(h);
	return 0;
}
