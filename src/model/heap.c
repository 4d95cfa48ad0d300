/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap snapshot: its life, size classes.
 */
#include "src/model/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"
#include "src/model/heap_lifetimes.h"

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
	h->kernel.unseen = strdup("");
	h->modules = calloc(1, sizeof(*h->modules));
	h->nodes = calloc(1, sizeof(*h->nodes));
	h->sites = calloc(1, sizeof(*h->sites));
	h->map_sites = calloc(1, sizeof(*h->map_sites));
	if (h->modules) {
		h->nr_modules = 1;
		h->modules[0].path = strdup("");
	}
	if (!h->comm || !h->exe || !h->cmdline || !h->host || !h->allocator.path ||
	    !h->kernel.unseen || !h->modules || !h->modules[0].path || !h->nodes || !h->sites ||
	    !h->map_sites) {
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
	for (uint32_t i = 0; h->srclocs && i < h->nr_srclocs; i++) {
		free(h->srclocs[i].file);
		free(h->srclocs[i].function);
	}
	free(h->srclocs);
	free(h->sites);
	free(h->map_sites);
	free(h->lifetimes);
	free(h->blocks);
	free(h->forgotten);
	free(h->maps);
	free(h->threads);
	free(h->points);
	free(h->site_points);
	free(h->usage_points);
	free(h->marks);
	free(h->leaks);
	for (uint64_t i = 0; h->findings && i < h->nr_findings; i++)
		free(h->findings[i].text);
	free(h->findings);
	free(h->kernel_kinds);
	free(h->kernel_rows);
	free(h->kernel_bins);
	free(h->kernel.unseen);
	free(h->allocator.path);
	free(h->own_function);
	free(h->own_caller);
	free(h->comm);
	free(h->exe);
	free(h->cmdline);
	free(h->host);
	free(h);
}

void heap_lifetimes_get(const struct heap *h, const struct heap_site *s,
			uint64_t to[HEAP_NR_LIFETIMES])
{
	for (unsigned k = 0; k < HEAP_NR_LIFETIMES; k++)
		to[k] = heap_lifetime(h, s, k);
}

uint64_t *heap_lifetime_at(struct heap *h, struct heap_site *s, unsigned k)
{
	const uint32_t nr = h->nr_lifetimes;

	if (!k)
		return &s->at_once;
	if (s->lifetimes)
		return &h->lifetimes[s->lifetimes - 1].frees[k];
	if (!(nr & (nr - 1))) {		/* at a power of two there is room for no more */
		struct heap_lifetimes *more =
			realloc(h->lifetimes, (nr ? 2 * (size_t)nr : 1) * sizeof(*more));

		if (!more)
			return NULL;
		h->lifetimes = more;
	}
	h->lifetimes[nr] = (struct heap_lifetimes){ { 0 } };
	s->lifetimes = ++h->nr_lifetimes;
	return &h->lifetimes[nr].frees[k];
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

bool heap_resident(const struct heap *h, struct heap_resident *out)
{
	*out = (struct heap_resident){ 0 };
	for (uint32_t i = 0; i < h->nr_points; i++) {
		const struct heap_point *p = &h->points[i];

		if (!p->rss_bytes)
			continue;
		out->bytes = p->rss_bytes;
		out->at_ns = p->time_ns;
		if (p->rss_bytes <= out->peak_bytes)
			continue;
		out->peak_bytes = p->rss_bytes;
		out->peak_ns = p->time_ns;
		out->peak_live_bytes = p->live_bytes;
	}
	if (h->peak_resident_bytes > out->peak_bytes) {
		out->peak_bytes = h->peak_resident_bytes;
		out->peak_ns = UINT64_MAX;
	}
	return out->bytes;
}

static void forget_block(struct heap *h, const struct heap_block *b)
{
	struct heap_site *s = &h->sites[b->site];
	struct heap_class *class = &h->class[heap_class_of(b->size_bytes)];

	h->missed_frees++;
	/* the sums may be newer than the blocks, of a running process */
	if (h->mode == HEAP_SAMPLED || s->live_blocks < 1 ||
	    s->live_bytes < (int64_t)b->size_bytes || !h->live_blocks ||
	    h->live_bytes < b->size_bytes)
		return;
	s->live_blocks--;
	s->live_bytes -= (int64_t)b->size_bytes;
	s->frees++;
	s->bytes_out += b->size_bytes;
	class->frees++;
	class->bytes_out += b->size_bytes;
	h->live_blocks--;
	h->live_bytes -= b->size_bytes;
	h->frees++;
	h->bytes_out += b->size_bytes;
}

static bool is_gone(const uint64_t *gone, uint64_t i)
{
	return gone[i / 64] >> (i & 63) & 1;
}

int heap_forget(struct heap *h, const uint64_t *gone)
{
	uint64_t nr_gone = 0, nr = 0;

	for (uint64_t i = 0; i < h->nr_blocks; i++)
		nr_gone += is_gone(gone, i);
	h->forgotten = nr_gone ? malloc(nr_gone * sizeof(*h->forgotten)) : NULL;
	if (nr_gone && !h->forgotten)
		return -ENOMEM;
	for (uint64_t i = 0; i < h->nr_blocks; i++) {
		if (is_gone(gone, i)) {
			forget_block(h, &h->blocks[i]);
			h->forgotten[h->nr_forgotten++] = h->blocks[i];
		} else {
			h->blocks[nr++] = h->blocks[i];
		}
	}
	h->nr_blocks = nr;
	return 0;
}

int heap_forget_as(const struct heap *from, struct heap *to)
{
	uint64_t *gone = calloc(to->nr_blocks / 64 + 1, sizeof(*gone)), k = 0;
	int rc;

	if (!gone)
		return -ENOMEM;
	for (uint64_t i = 0; i < to->nr_blocks; i++) {
		const struct heap_block *b = &to->blocks[i], *was;

		while (k < from->nr_forgotten && from->forgotten[k].address < b->address)
			k++;
		was = k < from->nr_forgotten ? &from->forgotten[k] : NULL;
		if (was && was->address == b->address && was->birth_ns == b->birth_ns &&
		    was->size_bytes == b->size_bytes)
			gone[i / 64] |= 1ull << (i & 63);
	}
	rc = heap_forget(to, gone);
	free(gone);
	return rc;
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

bool heap_allocator_is_glibc(const struct heap *h)
{
	const char *name = str_basename(h->allocator.path);

	return !*name || str_starts(name, "libc.so.6") || str_starts(name, "libc-2.") ||
	       !strcmp(h->allocator.path, h->exe);
}

uint32_t *heap_depths(const struct heap *h)
{
	uint32_t *depth = calloc((size_t)h->nr_nodes + 1, sizeof(*depth));

	for (uint32_t i = 1; depth && i < h->nr_nodes; i++)
		depth[i] = depth[h->nodes[i].parent] + 1;
	return depth;
}
