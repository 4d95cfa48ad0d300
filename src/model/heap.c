/*
 * A heap snapshot: its life, size classes.
 */
#include "src/model/heap.h"

#include <stdlib.h>
#include <string.h>

struct heap *heap_new(void)
{
	struct heap *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->comm = strdup("");
	h->exe = strdup("");
	h->cmdline = strdup("");
	h->host = strdup("");
	h->allocator.path = strdup("");
	h->modules = calloc(1, sizeof(*h->modules));
	h->nodes = calloc(1, sizeof(*h->nodes));
	h->sites = calloc(1, sizeof(*h->sites));
	h->map_sites = calloc(1, sizeof(*h->map_sites));
	if (h->modules) {
		h->nr_modules = 1;
		h->modules[0].path = strdup("");
	}
	if (!h->comm || !h->exe || !h->cmdline || !h->host || !h->allocator.path || !h->modules ||
	    !h->modules[0].path || !h->nodes || !h->sites || !h->map_sites) {
		heap_free(h);
		return NULL;
	}
	h->nr_nodes = h->nr_sites = h->nr_map_sites = 1;
	return h;
}

void heap_free(struct heap *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; h->modules && i < h->nr_modules; i++)
		free(h->modules[i].path);
	free(h->modules);
	free(h->nodes);
	for (uint32_t i = 0; h->spots && i < h->nr_spots; i++) {
		free(h->spots[i].file);
		free(h->spots[i].function);
	}
	free(h->spots);
	free(h->sites);
	free(h->map_sites);
	free(h->blocks);
	free(h->maps);
	free(h->threads);
	free(h->points);
	free(h->site_points);
	free(h->leaks);
	for (uint64_t i = 0; h->findings && i < h->nr_findings; i++)
		free(h->findings[i].text);
	free(h->findings);
	free(h->allocator.path);
	free(h->comm);
	free(h->exe);
	free(h->cmdline);
	free(h->host);
	free(h);
}

bool heap_same_image(const struct heap *a, const struct heap *b)
{
	return a->pid == b->pid && a->image == b->image;
}

uint64_t heap_mapped_bytes(const struct heap *h, uint64_t *nr)
{
	uint64_t bytes = 0, count = 0;

	for (uint32_t i = 0; i < h->nr_map_sites; i++) {
		const struct heap_site *s = &h->map_sites[i];

		bytes += s->live_bytes > 0 ? (uint64_t)s->live_bytes : 0;
		count += s->live_blocks > 0 ? (uint64_t)s->live_blocks : 0;
	}
	if (nr)
		*nr = count;
	return bytes;
}

unsigned heap_class_of(uint64_t size_bytes)
{
	static const uint32_t limit[HEAP_NR_CLASSES - 1] = {16, 256, 1024, 4096, 16384, 65536};
	unsigned class = 0;

	while (class < HEAP_NR_CLASSES - 1 && size_bytes > limit[class])
		class++;
	return class;
}

int heap_leak_order(const void *a, const void *b)
{
	const struct heap_leak *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->holder_site > y->holder_site) - (x->holder_site < y->holder_site);
}
