/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges and spans of addresses: painting, cutting, finding. */
#include <errno.h>
#include <stdlib.h>

#include "include/pmm/ledger.h"
#include "src/roots/roots_priv.h"

static int by_start(const void *a, const void *b)
{
	const struct memory_range *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1)
	       : x->end != y->end   ? (x->end > y->end ? -1 : 1)
				    : 0;
}

int roots_ranges_order(struct roots_ranges *r)
{
	uint64_t end = 0;
	size_t nr = 0;

	vec_sort(r, by_start);
	for (size_t i = 0; i < r->nr; i++) {
		struct memory_range one = r->v[i];

		if (one.start < end)
			one.start = end;
		if (one.start >= one.end)
			continue;
		end = one.end;
		r->v[nr++] = one;
	}
	r->nr = nr;
	return 0;
}

/* Append a part of a range. */
static int part(struct roots_ranges *to, const struct memory_range *of, uint64_t start,
		uint64_t end)
{
	struct memory_range r = *of;

	r.start = start;
	r.end = end;
	return start < end ? vec_push(to, r) : 0;
}

static int replace_ranges(struct roots_ranges *ranges, struct roots_ranges *by, int rc)
{
	if (rc) {
		vec_fini(by);
		return rc;
	}
	vec_fini(ranges);
	*ranges = *by;
	return 0;
}

static int paint_one(struct roots_ranges *to, const struct memory_range *r,
		     const struct roots_ranges *marks)
{
	uint64_t at = r->start;
	int rc = 0;

	for (size_t i = roots_range_at(marks, at);
	     !rc && i < marks->nr && marks->v[i].start < r->end; i++) {
		const struct memory_range *m = &marks->v[i];
		uint64_t start = m->start > at ? m->start : at,
			 end = m->end < r->end ? m->end : r->end;

		rc = part(to, r, at, start);
		if (!rc && m->kind != ROOTS_NONE)
			rc = part(to, m, start, end);
		at = end;
	}
	return rc ? rc : part(to, r, at, r->end);
}

int roots_paint(struct roots_ranges *ranges, struct roots_ranges *marks)
{
	struct roots_ranges to = { 0 };
	int rc = roots_ranges_order(marks);

	if (!marks->nr)
		return rc;
	for (size_t i = 0; !rc && i < ranges->nr; i++)
		rc = paint_one(&to, &ranges->v[i], marks);
	return replace_ranges(ranges, &to, rc);
}

/* What of the ranges is in the spans (keep) or not in them. */
static int sieve(struct roots_ranges *ranges, const struct roots_spans *spans, bool keep)
{
	struct roots_ranges to = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < ranges->nr; i++) {
		const struct memory_range *r = &ranges->v[i];
		uint64_t at = r->start;

		for (size_t k = roots_span_at(spans, at);
		     !rc && k < spans->nr && spans->v[k].start < r->end; k++) {
			uint64_t start = spans->v[k].start > at ? spans->v[k].start : at;
			uint64_t end = spans->v[k].end < r->end ? spans->v[k].end : r->end;

			rc = keep ? part(&to, r, start, end) : part(&to, r, at, start);
			at = end;
		}
		if (!rc && !keep)
			rc = part(&to, r, at, r->end);
	}
	return replace_ranges(ranges, &to, rc);
}

int roots_cut(struct roots_ranges *ranges, const struct roots_spans *spans)
{
	return sieve(ranges, spans, false);
}

int roots_keep(struct roots_ranges *ranges, const struct roots_spans *spans)
{
	return sieve(ranges, spans, true);
}

/*
 * The first block that may reach behind an address: blocks that are in one another begin with the
 * outermost.
 */
static uint64_t block_reaching(const struct heap *h, uint64_t address)
{
	uint64_t i = roots_block_from(h, address);

	/* nested ones; an outer one is soon found, or there is none */
	for (unsigned steps = 0; i && steps < 64; steps++) {
		const struct heap_block *b = &h->blocks[i - 1];

		if (b->kind != PMM_KIND_OTHER)
			return b->size_bytes > address - b->address ? i - 1 : i;
		i--;
	}
	return i;
}

static int cut_blocks(struct roots_ranges *to, const struct memory_range *r, const struct heap *h)
{
	uint64_t at = r->start;
	int rc = 0;

	for (uint64_t i = block_reaching(h, at);
	     !rc && i < h->nr_blocks && h->blocks[i].address < r->end; i++) {
		const struct heap_block *b = &h->blocks[i];
		uint64_t end = b->address + b->size_bytes;

		if (end <= at || end < b->address)
			continue;
		rc = part(to, r, at, b->address > at ? b->address : at);
		at = end < r->end ? end : r->end;
	}
	return rc ? rc : part(to, r, at, r->end);
}

int roots_cut_blocks(struct roots_ranges *ranges, const struct heap *h)
{
	struct roots_ranges to = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < ranges->nr; i++)
		rc = cut_blocks(&to, &ranges->v[i], h);
	return replace_ranges(ranges, &to, rc);
}

int roots_span_add(struct roots_spans *s, uint64_t start, uint64_t end)
{
	if (start >= end)
		return 0;
	if (s->nr && start <= vec_last(s)->end) {
		if (end > vec_last(s)->end)
			vec_last(s)->end = end;
		return 0;
	}
	return vec_push(s, (struct memory_span){ start, end });
}

size_t roots_span_at(const struct roots_spans *s, uint64_t address)
{
	return vec_while(s, p, p->end <= address);
}

size_t roots_range_at(const struct roots_ranges *r, uint64_t address)
{
	return vec_while(r, p, p->end <= address);
}

uint64_t roots_block_from(const struct heap *h, uint64_t address)
{
	return array_while(h->blocks, h->nr_blocks, b, b->address < address);
}

uint64_t roots_block_at(const struct heap *h, uint64_t address)
{
	uint64_t found = h->nr_blocks;

	for (uint64_t i = block_reaching(h, address);
	     i < h->nr_blocks && h->blocks[i].address <= address; i++)
		if (address - h->blocks[i].address < h->blocks[i].size_bytes)
			found = i;
	return found;
}

bool roots_in_block(const struct heap *h, uint64_t address)
{
	return roots_block_at(h, address) < h->nr_blocks;
}
