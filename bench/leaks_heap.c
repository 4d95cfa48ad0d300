/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap of small blocks for the benchmark of leak searches.
 */
#include "bench/leaks_heap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* nodes: one is lost with what hangs on it; of these each tenth is two in a ring */
#define LOSE_EACH 1000

struct leaks_node *leaks_buckets[LEAKS_BUCKETS];

static struct {
	struct leaks_built *built;
	void (*note)(void *arg, void *block, size_t bytes);
	void *arg;
	uint64_t seed;
	/* those not lost; not in the heap, and gone when all is made */
	struct leaks_node **nodes;
	uint64_t nr_nodes;
} b;

static uint64_t below(uint64_t n)
{
	b.seed = b.seed * 6364136223846793005u + 1442695040888963407u;
	return (b.seed >> 33) % n;
}

static void *block(size_t bytes, bool lost)
{
	void *p = calloc(1, bytes);

	if (!p) {
		fprintf(stderr, "leaks_heap: out of memory\n");
		exit(1);
	}
	b.built->blocks++;
	b.built->bytes += bytes;
	b.built->indirect += lost;
	b.built->indirect_bytes += lost ? bytes : 0;
	if (b.note)
		b.note(b.arg, p, bytes);
	return p;
}

static struct leaks_node *any(void)
{
	return b.nr_nodes ? b.nodes[below(b.nr_nodes)] : NULL;
}

static __attribute__((noinline)) void make_text(struct leaks_node *n, bool lost)
{
	size_t bytes = 16 + below(113);

	n->text = block(bytes, lost);
	memset(n->text, 'a' + (int)below(26), bytes - 1);
}

static __attribute__((noinline)) void make_object(struct leaks_node *n, bool lost)
{
	n->object = block(64 + below(193), lost);
	for (unsigned i = 0; i < 4; i++)
		n->object[i] = any();
}

static __attribute__((noinline)) void make_array(struct leaks_node *n, bool lost)
{
	size_t nr = 8 + below(57);

	n->array = block(nr * sizeof(*n->array), lost);
	for (size_t i = 0; i < nr; i++)
		n->array[i] = below(2) ? any() : NULL;
}

static __attribute__((noinline)) struct leaks_node *make_node(bool lost)
{
	struct leaks_node *n = block(sizeof(*n), lost);

	n->key = below(UINT32_MAX) | 1ull << 63; /* no pointer, wherever the heap is */
	n->other = any();
	if (below(100) < 55)
		make_text(n, lost);
	if (below(100) < 33)
		make_object(n, lost);
	if (below(100) < 22)
		make_array(n, lost);
	return n;
}

/* Nothing points to it; of two in a ring, one is definite and one indirect. */
static __attribute__((noinline)) void make_lost(bool ring)
{
	struct leaks_node *n = make_node(true);

	b.built->indirect--;
	b.built->indirect_bytes -= sizeof(*n);
	b.built->definite++;
	b.built->definite_bytes += sizeof(*n);
	if (ring) {
		n->next = make_node(true);
		n->next->next = n;
	}
}

void leaks_build(uint64_t nr, struct leaks_built *built,
		 void (*note)(void *arg, void *block, size_t bytes), void *arg)
{
	size_t room = nr * sizeof(*b.nodes);

	memset(built, 0, sizeof(*built));
	memset(&b, 0, sizeof(b));
	b.built = built;
	b.note = note;
	b.arg = arg;
	b.nodes = mmap(NULL, room, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b.nodes == MAP_FAILED)
		exit(1);
	for (uint64_t i = 1; built->blocks < nr; i++) {
		struct leaks_node *n, **bucket;

		if (!(i % LOSE_EACH)) {
			make_lost(!(i % (LOSE_EACH * 10)));
			continue;
		}
		n = make_node(false);
		bucket = &leaks_buckets[n->key % LEAKS_BUCKETS];
		n->next = *bucket;
		*bucket = n;
		b.nodes[b.nr_nodes++] = n;
	}
	munmap(b.nodes, room);
	memset(&b, 0, sizeof(b));
}
