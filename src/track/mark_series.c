/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happened to a process when. */
#include "src/track/mark_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/utf8.h"

void mark_series_fini(struct mark_series *s)
{
	vec_fini(&s->all);
}

static void join(struct heap_mark *first, const struct heap_mark *second)
{
	first->count += second->count;
	if (second->last_ns > first->last_ns)
		first->last_ns = second->last_ns;
}

/* Each is joined to the one before of its kind, unless another was already. */
static void thin(struct mark_series *s)
{
	/* place + 1 of one that waits for a second */
	size_t nr = 0, open[HEAP_NR_MARKS] = { 0 };

	for (size_t i = 0; i < s->all.nr; i++) {
		const struct heap_mark m = s->all.v[i];
		size_t *first = &open[m.kind];

		if (*first) {
			join(&s->all.v[*first - 1], &m);
			*first = 0;
		} else {
			s->all.v[nr++] = m;
			*first = nr;
		}
	}
	s->all.nr = nr;
}

void mark_series_add(struct mark_series *s, enum heap_mark_kind kind, uint64_t now_ns, pid_t pid,
		     const char *name)
{
	struct heap_mark m = { .time_ns = now_ns,
			       .count = 1,
			       .pid = pid > 0 ? (uint32_t)pid : 0,
			       .kind = (uint8_t)kind };

	if (s->all.nr && m.time_ns < vec_last(&s->all)->time_ns)
		m.time_ns = vec_last(&s->all)->time_ns;
	m.last_ns = m.time_ns;
	strncpy(m.name, name, sizeof(m.name) - 1);
	utf8_mask(m.name, strlen(m.name), '?');
	if (s->all.nr >= MARKS_MOST)
		thin(s);
	if (vec_push(&s->all, m))
		s->nr_lost++;
}

int mark_series_give(const struct mark_series *s, uint64_t until_ns, struct heap *h)
{
	struct heap_mark *marks = NULL;

	if (s->all.nr) {
		marks = malloc(s->all.nr * sizeof(*marks));
		if (!marks)
			return -ENOMEM;
		memcpy(marks, s->all.v, s->all.nr * sizeof(*marks));
	}
	for (size_t i = 0; i < s->all.nr; i++) {
		if (marks[i].time_ns > until_ns)
			marks[i].time_ns = until_ns;
		if (marks[i].last_ns > until_ns)
			marks[i].last_ns = until_ns;
	}
	free(h->marks);
	h->marks = marks;
	h->nr_marks = (uint32_t)s->all.nr;
	return 0;
}
