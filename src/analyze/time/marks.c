/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happened to a process when. */
#include "src/analyze/time/marks.h"

#include <errno.h>

static enum mark_what what_of(uint8_t kind)
{
	static const enum mark_what what[HEAP_NR_MARKS] = {
		[HEAP_MARK_FORK] = MARK_FORK,
		[HEAP_MARK_CHILD_EXEC] = MARK_CHILD_EXEC,
	};

	return kind < HEAP_NR_MARKS ? what[kind] : MARK_OTHER;
}

static int add_noted(struct marks *m, const struct heap *h)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < h->nr_marks; i++) {
		const struct heap_mark *from = &h->marks[i];

		rc = vec_push(&m->all, (struct mark){ .time_ns = from->time_ns,
						      .last_ns = from->last_ns,
						      .count = from->count,
						      .pid = from->pid,
						      .what = what_of(from->kind),
						      .name = from->name });
	}
	return rc;
}

static int add_search(struct marks *m, const struct heap *h)
{
	const struct heap_search *s = &h->search;
	uint64_t until_ns;

	if (s->how == HEAP_SEARCH_NONE)
		return 0;
	if (__builtin_add_overflow(s->at_ns, s->pause_ns, &until_ns))
		until_ns = s->at_ns;
	return vec_push(&m->all, (struct mark){ .time_ns = s->at_ns,
						.last_ns = until_ns,
						.count = 1,
						.what = MARK_SEARCH,
						.name = "" });
}

static int add_errors(struct marks *m, const struct heap *h)
{
	int rc = 0;

	for (uint64_t i = 0; !rc && i < h->nr_findings; i++) {
		const struct heap_finding *f = &h->findings[i];

		rc = vec_push(&m->all, (struct mark){ .time_ns = f->first_ns,
						      .last_ns = f->last_ns,
						      .count = f->count,
						      .number = f->number,
						      .what = MARK_ERROR,
						      .name = "" });
	}
	return rc;
}

static int add_end(struct marks *m, const struct heap *h)
{
	if (h->end == HEAP_RUNNING && !h->captured)
		return 0;
	return vec_push(&m->all, (struct mark){ .time_ns = h->taken_ns,
						.last_ns = h->taken_ns,
						.count = 1,
						.what = h->end == HEAP_RUNNING ? MARK_SNAPSHOT
									       : MARK_END,
						.name = "" });
}

static int by_time(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

int marks_init(struct marks *out, const struct heap *h)
{
	*out = (struct marks){ { 0 } };
	if (add_noted(out, h) || add_search(out, h) || add_errors(out, h) || add_end(out, h)) {
		marks_fini(out);
		return -ENOMEM;
	}
	vec_sort(&out->all, by_time);
	return 0;
}

void marks_fini(struct marks *m)
{
	vec_fini(&m->all);
}
