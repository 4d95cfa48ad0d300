/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines get numbers as they are met: those of memory and those that touch it. A pair of numbers is
 * a toucher; its owner's list is made by sorting.
 */
#include "src/analyze/trace/kernel_fault_rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/trace/kernel_rank.h"
#include "src/base/hash.h"

static void add_row(struct kernel_faults *to, const struct heap_kernel_row *r)
{
	switch (r->kind) {
	case TRACE_FAULT:
		to->faults += r->events;
		to->records += r->records;
		to->present += r->detail & HEAP_KERNEL_PRESENT ? r->events : 0;
		break;
	case TRACE_FAULT_MAJOR:
		to->major += r->events;
		break;
	default:
		to->swap_ins += r->events;
		break;
	}
}

static bool counts(const struct heap_kernel_row *r)
{
	return r->of != HEAP_KERNEL_OF_AGENT && kernel_part_of(r->kind) == KERNEL_PART_FAULTS;
}

static int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int by_faults(const struct kernel_faults *x, const struct kernel_faults *y)
{
	int order = descending(x->faults, y->faults);

	return order ? order : descending(x->major + x->swap_ins, y->major + y->swap_ins);
}

/* ---- by line ---- */

struct work {
	const struct heap *h;
	struct names *names;
	struct kernel_fault_lines *out;
	VEC(const struct frame_name *) frames;	/* of code that touches, each line once */
	struct hash_map line_at, site_at, frame_at, node_at, pair_at;
};

static bool is_of_site(unsigned of)
{
	return of == HEAP_KERNEL_OF_BLOCK || of == HEAP_KERNEL_OF_MAPPING;
}

static bool same_memory(const struct kernel_fault_line *a, const struct kernel_fault_line *b)
{
	return a->of == b->of && a->area == b->area && names_same_line(a->frame, b->frame);
}

/* The number of a line of memory, a new one where there is none; -ENOMEM. */
static int64_t line_number(struct work *w, const struct kernel_fault_line *wanted)
{
	uint64_t key = names_line_key(wanted->frame) ^ (uint64_t)wanted->of << 8 ^ wanted->area;

	for (;; key++) {
		uint32_t *at = hash_add(&w->line_at, key, (uint32_t)w->out->lines.nr, NULL);
		struct kernel_fault_line fresh = *wanted;

		if (!at)
			return -ENOMEM;
		if (*at == w->out->lines.nr) {
			fresh.number = *at;
			return vec_push(&w->out->lines, fresh) ? -ENOMEM : (int64_t)fresh.number;
		}
		if (same_memory(&w->out->lines.v[*at], wanted))
			return *at;
	}
}

/* The line of a block's or mapping's site, found once for each. */
static int64_t site_number(struct work *w, const struct heap_kernel_row *r)
{
	const struct heap_site *sites = r->of == HEAP_KERNEL_OF_BLOCK ? w->h->sites
								      : w->h->map_sites;
	uint64_t key = (uint64_t)r->of << 32 | r->site;
	uint32_t *at = hash_find(&w->site_at, key);
	struct kernel_fault_line wanted = { .of = r->of };
	int64_t number;

	if (at)
		return *at;
	wanted.frame = names_responsible(w->names, sites[r->site].node, NULL);
	number = line_number(w, &wanted);
	if (number < 0 || hash_put(&w->site_at, key, (uint32_t)number))
		return -ENOMEM;
	w->out->lines.v[number].nr_sites++;
	return number;
}

static int64_t memory_number(struct work *w, const struct heap_kernel_row *r)
{
	uint32_t area = r->detail & HEAP_KERNEL_AREA;
	struct kernel_fault_line wanted = { .of = r->of };

	if (is_of_site(r->of))
		return site_number(w, r);
	wanted.area = area < FAULT_NR_AREAS ? (uint8_t)area : FAULT_UNKNOWN;
	return line_number(w, &wanted);
}

/* The number of the line that touches, found once for each stack. */
static int64_t frame_number(struct work *w, uint32_t node)
{
	uint32_t *known = hash_find(&w->node_at, node);
	const struct frame_name *frame;

	if (known)
		return *known;
	frame = names_responsible(w->names, node, NULL);
	for (uint64_t key = names_line_key(frame);; key++) {
		uint32_t *at = hash_add(&w->frame_at, key, (uint32_t)w->frames.nr, NULL);
		uint32_t number = at ? *at : 0;

		if (!at || (number == w->frames.nr && vec_push(&w->frames, frame)))
			return -ENOMEM;
		if (names_same_line(w->frames.v[number], frame))
			return hash_put(&w->node_at, node, number) ? -ENOMEM : (int64_t)number;
	}
}

static int add_fault(struct work *w, const struct heap_kernel_row *r)
{
	int64_t owner = memory_number(w, r), frame = owner < 0 ? owner : frame_number(w, r->node);
	struct kernel_toucher fresh = { 0 };
	uint32_t *at;
	bool added;

	if (frame < 0)
		return -ENOMEM;
	fresh.owner = (uint32_t)owner;
	fresh.frame = w->frames.v[frame];
	at = hash_add(&w->pair_at, (uint64_t)owner << 32 | (uint64_t)frame,
		      (uint32_t)w->out->touchers.nr, &added);
	if (!at || (added && vec_push(&w->out->touchers, fresh)))
		return -ENOMEM;
	add_row(&w->out->touchers.v[*at].faults, r);
	add_row(&w->out->lines.v[owner].faults, r);
	add_row(&w->out->total, r);
	return 0;
}

static int by_text(const struct frame_name *x, const struct frame_name *y)
{
	return x && y && x->function && y->function ? strcmp(x->function, y->function) : 0;
}

static int by_line(const void *a, const void *b)
{
	const struct kernel_fault_line *x = a, *y = b;
	int order = is_of_site(y->of) - is_of_site(x->of);

	order = order ? order : by_faults(&x->faults, &y->faults);
	order = order ? order : by_text(x->frame, y->frame);
	return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

static int by_owner(const void *a, const void *b)
{
	const struct kernel_toucher *x = a, *y = b;
	int order;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	order = by_faults(&x->faults, &y->faults);
	return order ? order : by_text(x->frame, y->frame);
}

/* Give each line its touchers. */
static void join(struct kernel_fault_lines *out)
{
	vec_sort(&out->lines, by_line);
	vec_sort(&out->touchers, by_owner);
	vec_each (&out->lines, l) {
		const struct kernel_toucher *t = out->touchers.v;
		uint32_t number = l->number;
		size_t first = vec_while(&out->touchers, x, x->owner < number);

		l->first_toucher = (uint32_t)first;
		while (first + l->nr_touchers < out->touchers.nr &&
		       t[first + l->nr_touchers].owner == number)
			l->nr_touchers++;
		out->nr_sites += is_of_site(l->of);
	}
}

int kernel_fault_lines_rank(const struct heap *h, struct names *n, struct kernel_fault_lines *out)
{
	struct work w = { .h = h, .names = n, .out = out };
	int rc = 0;

	*out = (struct kernel_fault_lines){ 0 };
	for (uint32_t i = 0; i < h->nr_kernel_rows && !rc; i++)
		if (counts(&h->kernel_rows[i]))
			rc = add_fault(&w, &h->kernel_rows[i]);
	if (!rc)
		join(out);
	vec_fini(&w.frames);
	hash_fini(&w.line_at);
	hash_fini(&w.site_at);
	hash_fini(&w.frame_at);
	hash_fini(&w.node_at);
	hash_fini(&w.pair_at);
	return rc;
}

void kernel_fault_lines_fini(struct kernel_fault_lines *l)
{
	vec_fini(&l->lines);
	vec_fini(&l->touchers);
}

/* ---- by stack ---- */

static int by_stack(const void *a, const void *b)
{
	const struct kernel_fault_stack *x = a, *y = b;
	int order = by_faults(&x->faults, &y->faults);

	return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

int kernel_fault_stacks_rank(const struct heap *h, struct kernel_fault_stack **out, size_t *nr)
{
	VEC(struct kernel_fault_stack) all = { 0 };
	struct hash_map at = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < h->nr_kernel_rows && !rc; i++) {
		const struct heap_kernel_row *r = &h->kernel_rows[i];
		const struct kernel_fault_stack fresh = { .node = r->node };
		uint32_t *number;
		bool added;

		if (!counts(r))
			continue;
		number = hash_add(&at, r->node, (uint32_t)all.nr, &added);
		rc = !number || (added && vec_push(&all, fresh)) ? -ENOMEM : 0;
		if (!rc)
			add_row(&all.v[*number].faults, r);
	}
	hash_fini(&at);
	if (rc) {
		vec_fini(&all);
		return rc;
	}
	vec_sort(&all, by_stack);
	*out = all.v;
	*nr = all.nr;
	return 0;
}
