/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass over the rows, a hash by what they are grouped by. Stacks are summed up before their
 * names are asked for, so that each is asked for once.
 */
#include "src/analyze/trace/kernel_rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/event_class.h"

enum kernel_part kernel_part_of(uint32_t kind)
{
	switch (kind) {
	case TRACE_FAULT:
	case TRACE_FAULT_MAJOR:
	case TRACE_SWAP_IN:
		return KERNEL_PART_FAULTS;
	case TRACE_MMAP ... TRACE_SHM_UNLINK:
		return KERNEL_PART_CALLS;
	case TRACE_RECLAIM:
	case TRACE_RECLAIM_MEMCG:
	case TRACE_RECLAIM_SOFT:
	case TRACE_RECLAIM_NODE:
	case TRACE_THROTTLED:
	case TRACE_COMPACTION:
		return KERNEL_PART_WAITS;
	default:
		return KERNEL_PART_OTHERS;
	}
}

static void sum_rows(struct kernel_sum *to, const struct kernel_sum *s)
{
	to->events += s->events;
	to->records += s->records;
	to->failed += s->failed;
	to->bytes += s->bytes;
	to->ns += s->ns;
	if (s->max_ns > to->max_ns)
		to->max_ns = s->max_ns;
}

static void sum_row(struct kernel_sum *to, const struct heap_kernel_row *r)
{
	const struct kernel_sum s = { r->events, r->records, r->failed,
				      r->bytes,	 r->ns,	     r->max_ns };

	sum_rows(to, &s);
}

/* ---- by kind ---- */

int kernel_kinds_sum(const struct heap *h, struct kernel_kind_sum **out, size_t *nr)
{
	struct kernel_kind_sum *all = calloc(HEAP_KERNEL_MAX_KINDS, sizeof(*all));

	*out = all;
	*nr = 0;
	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->nr_kernel_kinds; i++) {
		const struct heap_kernel_kind *k = &h->kernel_kinds[i];

		all[k->kind].events = k->events;
		all[k->kind].lost = k->lost;
		all[k->kind].dropped = k->dropped;
	}
	for (uint32_t i = 0; i < h->nr_kernel_rows; i++) {
		const struct heap_kernel_row *r = &h->kernel_rows[i];

		if (r->of != HEAP_KERNEL_OF_AGENT) {
			sum_row(&all[r->kind].rows, r);
			continue;
		}
		all[r->kind].by_agent += r->events;
		all[r->kind].rows.events += r->events;
		all[r->kind].rows.records += r->records;
	}
	for (uint32_t kind = 0; kind < HEAP_KERNEL_MAX_KINDS; kind++) {
		struct kernel_kind_sum *k = &all[kind];

		k->kind = kind;
		if (kind == TRACE_FAULT && h->kernel.faults_counted)
			k->events = h->kernel.faults;
		else if (k->events < k->rows.events)
			k->events = k->rows.events;
		/* kept where it is, or further to the front */
		if (k->events || k->lost || k->dropped)
			all[(*nr)++] = *k;
	}
	return 0;
}

/* ---- by line ---- */

struct stack_sum {
	uint32_t kind, node;
	struct kernel_sum sum;
};

struct work {
	VEC(struct stack_sum) stacks;
	VEC(struct kernel_line) lines;
	VEC(uint64_t) most;		/* by line: events of its node */
	struct hash_map stack_at, line_at;
};

static int add_stack(struct work *w, const struct heap_kernel_row *r)
{
	const struct stack_sum fresh = { .kind = r->kind, .node = r->node };
	bool added;
	uint32_t *at = hash_add(&w->stack_at, (uint64_t)r->kind << 32 | r->node,
				(uint32_t)w->stacks.nr, &added);

	if (!at || (added && vec_push(&w->stacks, fresh)))
		return -ENOMEM;
	sum_row(&w->stacks.v[*at].sum, r);
	return 0;
}

/* The number of the line, a new one where there is none; -ENOMEM. */
static int64_t line_number(struct work *w, uint32_t kind, const struct frame_name *frame)
{
	const struct kernel_line fresh = { .kind = kind, .frame = frame };

	for (uint64_t key = names_line_key(frame) ^ kind;; key++) {
		uint32_t *at = hash_add(&w->line_at, key, (uint32_t)w->lines.nr, NULL);

		if (!at)
			return -ENOMEM;
		if (*at == w->lines.nr)
			return vec_push(&w->lines, fresh) || vec_push(&w->most, 0)
				       ? -ENOMEM
				       : (int64_t)*at;
		if (w->lines.v[*at].kind == kind && names_same_line(w->lines.v[*at].frame, frame))
			return *at;
	}
}

static int add_line(struct work *w, const struct stack_sum *s, struct names *n)
{
	const struct frame_name *frame = names_responsible(n, s->node, NULL);
	int64_t number = line_number(w, s->kind, frame);
	struct kernel_line *l;

	if (number < 0)
		return -ENOMEM;
	l = &w->lines.v[number];
	l->nr_stacks++;
	sum_rows(&l->sum, &s->sum);
	if (s->sum.events > w->most.v[number]) {
		w->most.v[number] = s->sum.events;
		l->node = s->node;
	}
	return 0;
}

static int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int by_name(const struct kernel_line *x, const struct kernel_line *y)
{
	const char *a = x->frame ? x->frame->function : NULL;
	const char *b = y->frame ? y->frame->function : NULL;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (a && b && strcmp(a, b))
		return strcmp(a, b);
	return (x->node > y->node) - (x->node < y->node);
}

static int by_bytes(const void *a, const void *b)
{
	const struct kernel_line *x = a, *y = b;
	int order = descending(x->sum.bytes, y->sum.bytes);

	order = order ? order : descending(x->sum.events, y->sum.events);
	return order ? order : by_name(x, y);
}

static int by_time(const void *a, const void *b)
{
	const struct kernel_line *x = a, *y = b;
	int order = descending(x->sum.ns, y->sum.ns);

	order = order ? order : descending(x->sum.events, y->sum.events);
	return order ? order : by_name(x, y);
}

int kernel_lines_rank(const struct heap *h, struct names *n, enum kernel_part part, uint64_t top,
		      struct kernel_lines *out)
{
	struct work w = { 0 };
	int rc = 0;

	*out = (struct kernel_lines){ 0 };
	for (uint32_t i = 0; i < h->nr_kernel_rows && !rc; i++) {
		const struct heap_kernel_row *r = &h->kernel_rows[i];

		if (r->of != HEAP_KERNEL_OF_AGENT && kernel_part_of(r->kind) == part)
			rc = add_stack(&w, r);
	}
	for (size_t i = 0; i < w.stacks.nr && !rc; i++)
		rc = add_line(&w, &w.stacks.v[i], n);
	vec_fini(&w.stacks);
	vec_fini(&w.most);
	hash_fini(&w.stack_at);
	hash_fini(&w.line_at);
	if (rc) {
		vec_fini(&w.lines);
		return rc;
	}
	vec_sort(&w.lines, part == KERNEL_PART_CALLS ? by_bytes : by_time);
	out->line = w.lines.v;
	out->nr_all = (uint32_t)w.lines.nr;
	out->nr = top && top < out->nr_all ? (uint32_t)top : out->nr_all;
	return 0;
}

void kernel_lines_fini(struct kernel_lines *l)
{
	free(l->line);
	l->line = NULL;
	l->nr = l->nr_all = 0;
}

/* ---- by detail ---- */

static int by_detail(const void *a, const void *b)
{
	const struct kernel_detail *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->detail > y->detail) - (x->detail < y->detail);
}

int kernel_details_sum(const struct heap *h, struct kernel_detail **out, size_t *nr)
{
	VEC(struct kernel_detail) all = { 0 };
	struct hash_map at = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < h->nr_kernel_rows && !rc; i++) {
		const struct heap_kernel_row *r = &h->kernel_rows[i];
		const struct kernel_detail fresh = { .kind = r->kind, .detail = r->detail };
		uint32_t *number;
		bool added;

		if (r->of == HEAP_KERNEL_OF_AGENT || kernel_part_of(r->kind) != KERNEL_PART_OTHERS)
			continue;
		number = hash_add(&at, (uint64_t)r->kind << 32 | r->detail, (uint32_t)all.nr,
				  &added);
		rc = !number || (added && vec_push(&all, fresh)) ? -ENOMEM : 0;
		if (!rc)
			sum_row(&all.v[*number].sum, r);
	}
	hash_fini(&at);
	if (rc) {
		vec_fini(&all);
		return rc;
	}
	vec_sort(&all, by_detail);
	*out = all.v;
	*nr = all.nr;
	return 0;
}
