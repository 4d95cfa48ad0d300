/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: Valgrind's XML in two pieces. Whatever came out is a heap whose findings name sites
 * and threads that there are, and whose nodes have names or none.
 */
#include <stdint.h>
#include <stdlib.h>

#include "src/store/valgrind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_site(struct valgrind *v, uint32_t site)
{
	const struct heap *h = valgrind_heap(v);
	const struct valgrind_frame *f;

	if (site == HEAP_NO_SITE)
		return;
	if (site >= h->nr_sites)
		abort();
	for (uint32_t node = h->sites[site].node; node; node = h->nodes[node].parent)
		if (node >= h->nr_nodes || h->nodes[node].parent >= node ||
		    !valgrind_frames(v, node, &f))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct valgrind *v = valgrind_new();
	size_t half = size ? data[0] % size : 0;
	const struct heap *h;

	if (!v)
		abort();
	if (!valgrind_feed(v, (const char *)data, half, 1, NULL))
		valgrind_feed(v, (const char *)data + half, size - half, 2, NULL);
	h = valgrind_heap(v);
	for (uint64_t i = 0; i < h->nr_findings; i++) {
		const struct heap_finding *f = &h->findings[i];

		if (!f->text || (f->thread != HEAP_NO_THREAD && f->thread >= h->nr_threads))
			abort();
		check_site(v, f->site);
		check_site(v, f->alloc_site);
		check_site(v, f->free_site);
	}
	valgrind_free(v);
	return 0;
}
