/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the kernel's tables are of one process, area, file and range each. */
#include "src/analyze/trace/fault_totals.h"

#include <errno.h>
#include <string.h>

static void sum_row(struct fault_sum *s, const struct fault_row *row)
{
	for (int i = 0; i < FAULT_NR_ACCESSES; i++) {
		s->access[i] += row->faults[i];
		s->faults += row->faults[i];
	}
	s->by_kernel += row->by_kernel;
}

/* What a row counts, in the form of sums. */
struct counted {
	const struct fault_key *key;
	const char *comm;
	struct fault_sum sum;
};

static void sum_add(struct fault_sum *to, const struct fault_sum *s)
{
	to->faults += s->faults;
	for (int i = 0; i < FAULT_NR_ACCESSES; i++)
		to->access[i] += s->access[i];
	to->by_kernel += s->by_kernel;
	to->major += s->major;
}

static uint64_t file_key(const struct fault_key *k)
{
	return hash_u64(k->inode) ^ hash_u64(~(uint64_t)k->device);
}

static int add_file(struct fault_totals *t, const struct counted *c)
{
	uint32_t *at = hash_add(&t->file_at, file_key(c->key), t->files.nr, NULL);

	if (!at)
		return -ENOMEM;
	if (*at == t->files.nr &&
	    vec_push(&t->files, (struct fault_file_sum){ .device = c->key->device,
							 .inode = c->key->inode }))
		return -ENOMEM;
	sum_add(&t->files.v[*at].sum, &c->sum);
	return 0;
}

static int add_range(struct fault_totals *t, const struct counted *c)
{
	uint64_t bytes = 1ull << c->key->shift, start = c->key->range * bytes;
	uint64_t key = hash_u64(file_key(c->key) ^ start ^ bytes << 48);
	uint32_t *at = hash_add(&t->range_at, key, t->ranges.nr, NULL);

	if (!at)
		return -ENOMEM;
	if (*at == t->ranges.nr &&
	    vec_push(&t->ranges, (struct fault_range_sum){ .device = c->key->device,
							   .inode = c->key->inode,
							   .start = start, .bytes = bytes }))
		return -ENOMEM;
	sum_add(&t->ranges.v[*at].sum, &c->sum);
	return 0;
}

static int add_process(struct fault_totals *t, const struct counted *c)
{
	uint32_t *at = hash_add(&t->process_at, c->key->tgid, t->processes.nr, NULL);
	struct fault_process_sum *p;
	uint64_t weight = c->sum.faults + c->sum.major;

	if (!at)
		return -ENOMEM;
	if (*at == t->processes.nr &&
	    vec_push(&t->processes, (struct fault_process_sum){ .tgid = c->key->tgid }))
		return -ENOMEM;
	p = &t->processes.v[*at];
	if (weight >= p->comm_faults) {
		memcpy(p->comm, c->comm, sizeof(p->comm));
		p->comm_faults = weight;
	}
	p->area[c->key->area] += c->sum.faults;
	if (fault_area_is_swapped(c->key->area))
		p->swapped_in += c->sum.major;
	sum_add(&p->sum, &c->sum);
	return 0;
}

static int add(struct fault_totals *t, const struct counted *c)
{
	int rc;

	if (c->key->area >= FAULT_NR_AREAS || c->key->shift > 63)
		return 0;		/* a program of another build: never */
	if (!c->sum.faults && !c->sum.major)
		return 0;		/* none since the result before */
	sum_add(&t->area[c->key->area], &c->sum);
	rc = add_process(t, c);
	if (!rc && c->key->inode)
		rc = add_file(t, c);
	if (!rc && c->key->shift)
		rc = add_range(t, c);
	return rc;
}

#define ORDER(a, b)	((a) < (b) ? 1 : (a) > (b) ? -1 : 0)

static int by_faults(const struct fault_sum *a, const struct fault_sum *b)
{
	int order = ORDER(a->faults, b->faults);

	return order ? order : ORDER(a->major, b->major);
}

static int order_files(const void *a, const void *b)
{
	const struct fault_file_sum *x = a, *y = b;
	int order = by_faults(&x->sum, &y->sum);

	return order ? order : ORDER(y->inode, x->inode);
}

static int order_ranges(const void *a, const void *b)
{
	const struct fault_range_sum *x = a, *y = b;
	int order = by_faults(&x->sum, &y->sum);

	if (!order)
		order = ORDER(y->inode, x->inode);
	return order ? order : ORDER(y->start, x->start);
}

static int order_processes(const void *a, const void *b)
{
	const struct fault_process_sum *x = a, *y = b;
	int order = by_faults(&x->sum, &y->sum);

	return order ? order : ORDER(y->tgid, x->tgid);
}

int fault_totals_make(struct fault_totals *t, const struct kernel_rows *faults,
		      const struct kernel_rows *major)
{
	for (size_t i = 0; i < faults->nr; i++) {
		const struct fault_row *row = kernel_rows_value(faults, i);
		struct counted c = { kernel_rows_key(faults, i), row->comm, { 0 } };

		sum_row(&c.sum, row);
		if (add(t, &c))
			return -ENOMEM;
	}
	for (size_t i = 0; i < major->nr; i++) {
		const struct major_row *row = kernel_rows_value(major, i);
		struct counted c = { kernel_rows_key(major, i), row->comm,
				     { .major = row->faults } };

		if (add(t, &c))
			return -ENOMEM;
	}
	vec_sort(&t->files, order_files);
	vec_sort(&t->ranges, order_ranges);
	vec_sort(&t->processes, order_processes);
	return 0;
}

void fault_totals_fini(struct fault_totals *t)
{
	vec_fini(&t->files);
	vec_fini(&t->ranges);
	vec_fini(&t->processes);
	hash_fini(&t->file_at);
	hash_fini(&t->range_at);
	hash_fini(&t->process_at);
}
