/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many captures compared. */
#include "src/session/diff/diff_trends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/names/naming.h"
#include "src/session/leaks/leaks_report.h"
#include "src/session/name_notes.h"
#include "src/track/source.h"
#include "src/view/diff/diff_trend_view.h"
#include "src/view/report_view.h"

#define NS_PER_HOUR	3.6e12

struct trends {
	const struct diff_session_options *o;
	const struct session_sink *to;
	struct diff *diff;
	struct diff_trend_capture capture[DIFF_MAX_SIDES];
	double time[DIFF_MAX_SIDES];
	unsigned nr;
	bool one_process;	/* all are of one process, in order of time */
	uint64_t began_ns;	/* of that process */
	unsigned missing;	/* captures without the thread of a filter */
};

/* Would its report warn of anything? */
static int is_complete(const struct heap *h, bool *complete)
{
	struct doc d = { 0 };
	int rc;

	report_warnings(&d, h);
	rc = doc_error(&d);
	*complete = !rc && !d.sections.v[0].table->rows.nr;
	doc_fini(&d);
	return rc;
}

static int note_capture(struct trends *t, const struct heap *h, const char *source)
{
	struct diff_trend_capture *c = &t->capture[t->nr];

	c->source = source;
	snprintf(c->comm, sizeof(c->comm), "%.16s", h->comm);
	c->pid = h->pid;
	c->taken_realtime_ns = h->start_realtime_ns + h->taken_ns;
	c->sampled = h->mode == HEAP_SAMPLED;
	if (!t->nr)
		t->began_ns = h->start_realtime_ns;
	else
		t->one_process &= c->pid == c[-1].pid && h->start_realtime_ns == t->began_ns &&
				  c->taken_realtime_ns > c[-1].taken_realtime_ns;
	return is_complete(h, &c->complete);
}

static int add_heap(struct trends *t, struct heap *h, const char *source, struct err *e)
{
	const struct naming_options options = { .none = t->o->no_symbols, .full = true,
						.debuginfod = t->o->debuginfod,
						.max_bytes = t->o->memory_bytes };
	struct leak_sum suppressed;
	struct naming naming;
	struct selection s;
	bool none;
	int rc;

	naming_open(&naming, h, &options);
	names_skip(&naming.names, t->o->skip, t->o->nr_skip);
	rc = leaks_suppress_heap(h, &naming.names, t->o->suppress, source, t->to, &suppressed);
	if (rc) {
		naming_close(&naming);
		return rc;
	}
	rc = selection_init(&s, h, &naming.names, &t->o->filter, e);
	none = rc == -ENOENT;
	t->missing += none;
	if (!rc || none)
		rc = diff_add(t->diff, h, &naming.names, none ? NULL : &s, none);
	if (!none)
		selection_fini(&s);
	if (!rc)
		rc = naming.names.failed ? -ENOMEM : note_capture(t, h, source);
	if (!rc)
		name_notes(t->to, &naming, "--memory-limit");
	naming_close(&naming);
	return rc;
}

static int add_capture(struct trends *t, const char *source, struct err *e)
{
	struct heap *h = NULL;
	int rc = source_read(source, t->o->memory_bytes, &h, e);

	if (!rc && !diff_known(h, t->o->key))
		rc = diff_not_known(source, t->o->key, "--sort", e);
	if (!rc)
		rc = add_heap(t, h, source, e);
	heap_free(h);
	if (rc == -ENOSPC)
		return err_set(e, rc, "there are too many different functions or stacks");
	t->nr += !rc;
	return rc == -ENOMEM ? err_set(e, rc, "out of memory") : rc;
}

static int show(struct trends *t)
{
	struct diff_trend_view v = { .diff = t->diff, .key = t->o->key, .top = t->o->top,
				     .per_hour = t->one_process, .time = t->time,
				     .capture = t->capture };
	int rc;

	for (unsigned i = 0; i < t->nr; i++)
		t->time[i] = t->one_process ? (double)(t->capture[i].taken_realtime_ns -
						       t->capture[0].taken_realtime_ns) /
						      NS_PER_HOUR
					    : i;
	rc = diff_trend_view_init(&v);
	if (!rc)
		rc = session_document(t->to, &v.doc, false);
	diff_trend_view_fini(&v);
	return rc == -EPIPE ? 0 : rc;
}

static int compare(struct trends *t, char *const *source, unsigned nr, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < nr && !rc; i++)
		rc = add_capture(t, source[i], e);
	if (rc)
		return rc;
	if (t->missing == nr)
		return -ENOENT;	/* `e` has it, from the last one */
	*e = (struct err){ 0 };
	rc = show(t);
	return rc ? err_set(e, rc, "cannot show the result: %s", strerror(-rc)) : 0;
}

int diff_trends_session(const struct diff_session_options *o, char *const *source, unsigned nr,
			const struct session_sink *to, struct err *e)
{
	struct trends *t = calloc(1, sizeof(*t));
	int rc;

	if (t)
		*t = (struct trends){ .o = o, .to = to, .diff = diff_new(), .one_process = true };
	rc = t && t->diff ? compare(t, source, nr, e) : err_set(e, -ENOMEM, "out of memory");
	if (t)
		diff_free(t->diff);
	free(t);
	return rc;
}
