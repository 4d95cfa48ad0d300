/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reachability on a heap that makes no sense: blocks of any size anywhere, in one another, over one
 * another, words that point to them. The input is 16 bytes for each block and word: where and how
 * long (or what value).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/reach/reach.h"

#define BASE		0x100000000ull
#define MAX_BLOCKS	64

struct image {
	const uint8_t *data;
	size_t size;
};

static size_t image_read(void *arg, uint64_t address, void *to, size_t bytes)
{
	const struct image *i = arg;

	if (address < BASE || address - BASE >= i->size)
		return 0;
	if (bytes > i->size - (address - BASE))
		bytes = i->size - (address - BASE);
	memcpy(to, i->data + (address - BASE), bytes);
	return bytes;
}

static int by_address(const void *a, const void *b)
{
	const struct heap_block *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Mostly near the image, by the number's lowest bits anywhere. */
static uint64_t place(uint64_t n)
{
	return n & 7 ? BASE + (n >> 3) % 8192 : n;
}

static void check(const struct reach *r)
{
	for (uint64_t i = 0; i < r->nr; i++) {
		if (r->class[i] >= REACH_NR_CLASSES)
			abort();
		if (r->class[i] == REACH_INDIRECT &&
		    (r->parent[i] >= r->nr || r->class[r->parent[i]] != REACH_DEFINITE))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct memory_ops ops = { image_read };
	struct image image = { data, size };
	struct memory m = { .ops = &ops, .arg = &image };
	struct heap_block blocks[MAX_BLOCKS];
	struct heap h = { .blocks = blocks };
	struct memory_range root = {
		.start = BASE, .end = BASE + size / 4, .kind = MEMORY_DATA, .chunk_lists = size & 1
	};
	struct reach_options o = { .heuristics = REACH_ALL_HEURISTICS,
				   .nr_threads = 1 + size % 3,
				   .want_parents = size & 4,
				   .max_edges = size & 2 ? 5 : 0 };
	struct reach r;
	uint64_t n[2];
	size_t nr = 0;

	for (size_t at = 0; at + 16 <= size && nr < MAX_BLOCKS; at += 16) {
		memcpy(n, data + at, 16);
		blocks[nr++] = (struct heap_block){ .address = place(n[0]),
						    .size_bytes = n[1] & 1 ? n[1]
									   : n[1] >> 1 & 0xfff };
	}
	qsort(blocks, nr, sizeof(*blocks), by_address);
	for (size_t i = 0; i < nr; i++)
		if (!h.nr_blocks || blocks[i].address != blocks[h.nr_blocks - 1].address)
			blocks[h.nr_blocks++] = blocks[i];
	if (!vec_push(&m.roots, root) && !reach_run(&h, &m, &o, &r, NULL)) {
		check(&r);
		reach_fini(&r);
	}
	memory_fini(&m);
	return 0;
}
