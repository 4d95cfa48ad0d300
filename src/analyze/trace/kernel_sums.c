/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of one process's kernel events, each row and each bin found by a hash of what it is for. */
#include "src/analyze/trace/kernel_sums.h"

#include <string.h>

#include "src/kernel/fault_area.h"

uint32_t kernel_sums_detail(const struct trace_record *r)
{
	uint32_t detail;

	if (trace_is_fault(r)) {
		detail = fault_area_of(r);
		detail |= r->a[2] & TRACE_FAULT_WRITE ? HEAP_KERNEL_WRITE : 0;
		return detail | (r->a[2] & TRACE_FAULT_PRESENT ? HEAP_KERNEL_PRESENT : 0);
	}
	detail = trace_detail(r);
	return detail == TRACE_NO_DETAIL ? 0 : detail;
}

/* ---- rows ---- */

static bool same_row(const struct heap_kernel_row *a, const struct heap_kernel_row *b)
{
	return a->kind == b->kind && a->detail == b->detail && a->node == b->node &&
	       a->site == b->site && a->of == b->of;
}

static uint64_t row_key(const struct heap_kernel_row *r)
{
	uint64_t key = hash_u64((uint64_t)r->kind << 32 | r->detail);

	key = hash_u64(key ^ r->node);
	return hash_u64(key ^ ((uint64_t)r->site << 8 | r->of));
}

/* NULL: no room. Different rows with one key follow each other. */
static struct heap_kernel_row *row_of(struct kernel_sums *s, const struct heap_kernel_row *like)
{
	for (uint64_t key = row_key(like);; key++) {
		uint32_t *at = hash_find(&s->row_at, key);

		if (at && same_row(&s->rows.v[*at], like))
			return &s->rows.v[*at];
		if (at)
			continue;
		if (s->rows.nr == HEAP_KERNEL_MAX_ROWS || vec_push(&s->rows, *like))
			return NULL;
		if (!hash_put(&s->row_at, key, s->rows.nr - 1))
			return vec_last(&s->rows);
		s->rows.nr--;
		return NULL;
	}
}

static void add_to_row(struct heap_kernel_row *row, const struct trace_record *r, uint64_t time_ns)
{
	uint64_t ns = trace_ns(r);

	if (!row->records || time_ns < row->first_ns)
		row->first_ns = time_ns;
	if (time_ns > row->last_ns)
		row->last_ns = time_ns;
	row->records++;
	row->events += r->weight;
	row->failed += trace_failed(r) ? r->weight : 0;
	row->bytes += trace_bytes(r) * r->weight;
	row->ns += ns * r->weight;
	if (ns > row->max_ns)
		row->max_ns = ns;
}

/* ---- bins ---- */

static struct heap_kernel_bin *bin_of(struct kernel_sums *s, uint64_t time_ns, uint32_t kind)
{
	uint64_t begin_ns = time_ns - time_ns % s->bin_ns;
	/* kinds are less than HEAP_KERNEL_MAX_KINDS */
	uint64_t key = begin_ns / s->bin_ns * HEAP_KERNEL_MAX_KINDS + kind;
	uint32_t *at = hash_find(&s->bin_at, key);

	if (at)
		return &s->bins.v[*at];
	if (vec_push(&s->bins, (struct heap_kernel_bin){ .time_ns = begin_ns, .kind = kind }))
		return NULL;
	if (!hash_put(&s->bin_at, key, s->bins.nr - 1))
		return vec_last(&s->bins);
	s->bins.nr--;
	return NULL;
}

/* They are twice as long from now on. */
static void lengthen(struct kernel_sums *s)
{
	__typeof__(s->bins) old = s->bins;

	memset(&s->bins, 0, sizeof(s->bins));
	hash_fini(&s->bin_at);
	memset(&s->bin_at, 0, sizeof(s->bin_at));
	s->bin_ns *= 2;
	vec_each(&old, b) {
		struct heap_kernel_bin *to = bin_of(s, b->time_ns, b->kind);

		if (!to) {
			s->bins_lost += b->events;
			continue;
		}
		to->events += b->events;
		to->bytes += b->bytes;
		to->ns += b->ns;
	}
	vec_fini(&old);
}

static void add_to_bin(struct kernel_sums *s, const struct trace_record *r, uint64_t time_ns)
{
	struct heap_kernel_bin *bin;

	if (!s->bin_ns)
		s->bin_ns = KERNEL_BIN_NS;
	while (s->bins.nr >= HEAP_KERNEL_MAX_BINS / 2)
		lengthen(s);
	bin = bin_of(s, time_ns, r->kind);
	if (!bin) {
		s->bins_lost += r->weight;
		return;
	}
	bin->events += r->weight;
	bin->bytes += trace_bytes(r) * r->weight;
	bin->ns += trace_ns(r) * r->weight;
}

static int by_time(const void *a, const void *b)
{
	const struct heap_kernel_bin *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

void kernel_sums_sort_bins(struct kernel_sums *s)
{
	vec_sort(&s->bins, by_time);
	hash_fini(&s->bin_at);		/* their places are others now */
	memset(&s->bin_at, 0, sizeof(s->bin_at));
}

/* ---- */

void kernel_sums_add(struct kernel_sums *s, const struct trace_record *r, uint32_t stack,
		     struct kernel_about about, uint64_t time_ns)
{
	const struct heap_kernel_row like = { .kind = r->kind,
					      .detail = kernel_sums_detail(r),
					      .node = stack,
					      .site = about.site,
					      .of = about.of };
	struct heap_kernel_row *row = row_of(s, &like);

	if (row)
		add_to_row(row, r, time_ns);
	else
		s->rows_lost += r->weight;
	add_to_bin(s, r, time_ns);
}

void kernel_sums_fini(struct kernel_sums *s)
{
	vec_fini(&s->rows);
	vec_fini(&s->bins);
	hash_fini(&s->row_at);
	hash_fini(&s->bin_at);
	memset(s, 0, sizeof(*s));
}
