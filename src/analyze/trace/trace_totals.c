/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of kernel events, in a table for each way of splitting them. */
#include "src/analyze/trace/trace_totals.h"

#include <string.h>

static void sum_add(struct trace_sum *s, const struct trace_record *r)
{
	uint64_t ns = trace_ns(r);

	s->events += r->weight;
	s->failed += trace_failed(r) ? r->weight : 0;
	s->bytes += trace_bytes(r) * r->weight;
	s->ns += ns * r->weight;
	if (s->max_ns < ns)
		s->max_ns = ns;
}

static unsigned slot_of(uint64_t ns)
{
	unsigned slot = ns ? 63 - __builtin_clzll(ns) : 0;

	return slot < TRACE_HISTOGRAM_SLOTS ? slot : TRACE_HISTOGRAM_SLOTS - 1;
}

/* The row of an id and kind, made if there is none; NULL: no room. */
static struct trace_row *row_of(struct trace_row **v, size_t *nr, size_t *room,
				struct hash_map *at, uint32_t kind, uint32_t id)
{
	uint64_t key = (uint64_t)kind << 32 | id;
	uint32_t *known = hash_find(at, key);
	struct trace_row *grown;

	if (known)
		return *v + *known;
	if (*nr == TRACE_MAX_ROWS)
		return NULL;
	grown = vec_grow(*v, room, *nr + 1, sizeof(**v));
	if (!grown)
		return NULL;
	*v = grown;
	if (hash_put(at, key, *nr))
		return NULL;
	grown[*nr] = (struct trace_row){ .kind = kind, .id = id };
	return &grown[(*nr)++];
}

#define ROW(rows, at, kind, id) row_of(&(rows)->v, &(rows)->nr, &(rows)->room, at, kind, id)

static void add_row(struct trace_totals *t, struct trace_row *row, const struct trace_record *r)
{
	if (row)
		sum_add(&row->sum, r);
	else
		t->left_out += r->weight;
}

static void add_to_kind(struct trace_totals *t, const struct trace_record *r)
{
	struct trace_kind_total *kind = &t->kind[r->kind];
	struct trace_row *row;

	sum_add(&kind->sum, r);
	if (trace_kinds[r->kind].ns >= 0)
		kind->histogram[slot_of(trace_ns(r))] += r->weight;
	row = ROW(&t->processes, &t->process_at, r->kind, r->tgid);
	add_row(t, row, r);
	if (row)
		memcpy(row->comm, r->comm, sizeof(row->comm));
}

void trace_totals_add(struct trace_totals *t, const struct trace_record *r, uint32_t stack)
{
	uint32_t detail = trace_detail(r);

	if (trace_kinds[r->kind].sampled)
		t->samples++;
	else
		add_to_kind(t, r);
	if (stack != TRACE_NO_STACK)
		add_row(t, ROW(&t->stacks, &t->stack_at, r->kind, stack), r);
	if (detail != TRACE_NO_DETAIL)
		add_row(t, ROW(&t->details, &t->detail_at, r->kind, detail), r);
}

void trace_totals_clear(struct trace_totals *t)
{
	trace_totals_fini(t);
	memset(t, 0, sizeof(*t));
}

void trace_totals_fini(struct trace_totals *t)
{
	vec_fini(&t->processes);
	vec_fini(&t->stacks);
	vec_fini(&t->details);
	hash_fini(&t->process_at);
	hash_fini(&t->stack_at);
	hash_fini(&t->detail_at);
}
