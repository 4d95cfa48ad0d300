/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of the kernel in a recipe: verbs `kernel`, `kernel-kind`, `event` and `kernel-bin`, see
 * fake.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/kernel/event_class.h"
#include "src/kernel/fault_area.h"
#include "tests/fake/fake_heap.h"

/* Classes of a list, of `otherwise` without one. */
static uint64_t classes_of(struct recipe_line *l, const char *key, uint32_t otherwise)
{
	const char *list = recipe_text(l, key);
	uint32_t classes = otherwise;

	if (list && !l->rc)
		l->rc = event_classes_parse(list, &classes, &l->why);
	return classes;
}

void fake_kernel_head(struct fake_heap *f, struct recipe_line *l)
{
	struct heap_kernel *k = &f->h->kernel;

	k->traced = true;
	k->stacks = !recipe_flag(l, "no-stacks");
	k->sample = (uint32_t)recipe_count(l, "sample", 0);
	k->classes = classes_of(l, "classes", (1u << EVENT_NR_CLASSES) - 1);
	k->unseen_classes = classes_of(l, "unseen", 0);
	k->bin_ns = recipe_time(l, "bin", 100000000);
	k->complete_stacks = recipe_count(l, "complete", 0);
	k->all_stacks = recipe_count(l, "stacks", k->complete_stacks);
	k->rows_lost = recipe_count(l, "rows-lost", 0);
	k->bins_lost = recipe_count(l, "bins-lost", 0);
	k->faults = recipe_count(l, "faults", UINT64_MAX);
	k->faults_counted = k->faults != UINT64_MAX;
	k->faults = k->faults_counted ? k->faults : 0;
	k->major_faults = recipe_count(l, "major", 0);
	recipe_replace(l, "why", &k->unseen);
}

/* A kind by its name, or a number. */
static uint32_t kind_of(struct recipe_line *l)
{
	const char *name = recipe_bare(l);
	uint64_t number = 0;

	for (uint32_t i = 0; name && i < TRACE_NR_KINDS; i++)
		if (trace_kinds[i].name && !strcmp(trace_kinds[i].name, name))
			return i;
	if (name && (fmt_parse_uint(name, &number, NULL) || number > UINT32_MAX))
		recipe_fail(l, -EINVAL, "there is no kind '%s'", name);
	return (uint32_t)number;
}

static int by_kind(const void *a, const void *b)
{
	const struct heap_kernel_kind *x = a, *y = b;

	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* The kind's row, a new one if need be; NULL: trouble is noted. */
static struct heap_kernel_kind *kind_row(struct fake_heap *f, struct recipe_line *l, uint32_t kind)
{
	struct heap_kernel_kind fresh = { .kind = kind };

	vec_each (&f->kernel_kinds, k)
		if (k->kind == kind)
			return k;
	if (vec_push(&f->kernel_kinds, fresh)) {
		recipe_fail(l, -ENOMEM, "out of memory");
		return NULL;
	}
	vec_sort(&f->kernel_kinds, by_kind);
	return kind_row(f, l, kind);
}

void fake_kernel_kind(struct fake_heap *f, struct recipe_line *l)
{
	struct heap_kernel_kind *k = kind_row(f, l, kind_of(l));

	if (!k)
		return;
	k->events += recipe_count(l, "events", 0);
	k->lost += recipe_count(l, "lost", 0);
	k->dropped += recipe_count(l, "dropped", 0);
}

/* Of a page fault in words, else detail=N. */
static uint32_t detail_of(struct recipe_line *l)
{
	static const char *names[FAULT_NR_AREAS];
	uint32_t detail = (uint32_t)recipe_count(l, "detail", 0);

	for (unsigned i = 0; i < FAULT_NR_AREAS; i++)
		names[i] = fault_area_name(i);
	detail |= recipe_choice(l, "area", names, FAULT_NR_AREAS, 0);
	if (recipe_flag(l, "write"))
		detail |= HEAP_KERNEL_WRITE;
	if (recipe_flag(l, "present"))
		detail |= HEAP_KERNEL_PRESENT;
	return detail;
}

static uint32_t site_of(struct fake_heap *f, struct recipe_line *l, unsigned of)
{
	const char *stack = recipe_text(l, "site");
	int64_t site;

	if (!stack)
		return HEAP_NO_SITE;
	site = fake_heap_site(f, fake_stack(f, l, stack), of == HEAP_KERNEL_OF_MAPPING);
	if (site < 0)
		recipe_fail(l, (int)site, "no room for the stack '%s'", stack);
	return site < 0 ? HEAP_NO_SITE : (uint32_t)site;
}

void fake_event(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const ofs[HEAP_KERNEL_NR_OF] = { "nothing", "block", "mapping", "agent",
							    "unknown" };
	struct heap_kernel_row r = { .kind = kind_of(l) };
	struct heap_kernel_kind *k = kind_row(f, l, r.kind);

	r.detail = detail_of(l);
	r.of = (uint8_t)recipe_choice(l, "of", ofs, HEAP_KERNEL_NR_OF, HEAP_KERNEL_OF_NOTHING);
	r.site = site_of(f, l, r.of);
	r.events = recipe_count(l, "events", 1);
	r.records = recipe_count(l, "records", r.events);
	r.failed = recipe_count(l, "failed", 0);
	r.bytes = recipe_size(l, "bytes", 0);
	r.ns = recipe_time(l, "took", 0);
	r.max_ns = recipe_time(l, "longest", r.ns);
	r.first_ns = recipe_time(l, "first", 1000000000);
	r.last_ns = recipe_time(l, "last", r.first_ns);
	r.node = fake_stack(f, l, recipe_bare(l));
	if (l->rc || !k)
		return;
	k->events += r.events;
	if (vec_push(&f->kernel_rows, r))
		recipe_fail(l, -ENOMEM, "out of memory");
}

void fake_kernel_bin(struct fake_heap *f, struct recipe_line *l)
{
	const char *time = recipe_bare(l);
	struct heap_kernel_bin b = { 0 };

	if (time && !l->rc)
		l->rc = fmt_parse_duration(time, &b.time_ns, &l->why);
	b.kind = kind_of(l);
	b.events = recipe_count(l, "events", 1);
	b.bytes = recipe_size(l, "bytes", 0);
	b.ns = recipe_time(l, "took", 0);
	if (!l->rc && vec_push(&f->kernel_bins, b))
		recipe_fail(l, -ENOMEM, "out of memory");
}
