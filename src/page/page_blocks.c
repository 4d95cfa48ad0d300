/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live blocks in a page, and the threads that made them. */
#include <errno.h>
#include <stdlib.h>

#include "include/pmm/ledger.h"
#include "src/analyze/rank.h"
#include "src/page/page_priv.h"

#define FORM_BLOCKS	1

static void put_text(FILE *f, const char *text)
{
	size_t nr = 0;

	while (text[nr])
		nr++;
	page_number(f, nr);
	fwrite(text, 1, nr, f);
}

static void put_threads(FILE *f, const struct heap *h)
{
	page_number(f, h->nr_threads);
	for (uint32_t i = 0; i < h->nr_threads; i++) {
		page_number(f, h->threads[i].tid);
		put_text(f, h->threads[i].name);
	}
}

void page_put_blocks(struct page *p, const struct page_source *s)
{
	const struct heap *h = s->heap;
	uint64_t *block = NULL, nr = 0, last = 0;
	FILE *f;
	int rc = rank_blocks(h, s->selection, PAGE_MAX_BLOCKS, &block, &nr);

	if (rc && !p->rc)
		p->rc = rc;
	f = page_part(p, "blocks");
	if (f) {
		page_number(f, FORM_BLOCKS);
		put_threads(f, h);
		page_number(f, nr);
		for (uint64_t i = 0; i < nr; i++) {
			const struct heap_block *b = &h->blocks[block[i]];

			page_number(f, i ? last - b->size_bytes : b->size_bytes);
			last = b->size_bytes;
			page_number(f, b->site);
			page_number(f, b->thread);
			page_number(f, heap_tick_time(h, b->birth_ns));
			page_number(f, b->kind);
			page_number(f, b->address);
		}
		page_part_end(p, f);
	}
	free(block);
}
