/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report, over time beside the heap: the kernel's figures, and what happened when. */
#include "src/analyze/time/marks.h"
#include "src/document/doc_record.h"
#include "src/view/report_priv.h"

static const char *const why_name[] = {
	[HEAP_USAGE_KNOWN] = "known", [HEAP_USAGE_NONE] = "none", [HEAP_USAGE_DENIED] = "denied",
	[HEAP_USAGE_DEAR] = "dear",   [HEAP_USAGE_FAILED] = "failed",
};
_Static_assert(NR_COLUMNS(why_name) == HEAP_NR_USAGE_WHYS, "a name for each");

static const char *const mark_name[] = {
	[MARK_FORK] = "fork",	    [MARK_CHILD_EXEC] = "child_exec",
	[MARK_OTHER] = "other",	    [MARK_SEARCH] = "search",
	[MARK_ERROR] = "error",	    [MARK_SNAPSHOT] = "snapshot",
	[MARK_END] = "end",
};
_Static_assert(NR_COLUMNS(mark_name) == MARK_NR, "a name for each");

/* ---- the kernel's figures ---- */

enum {
	USAGE_TIME,
	USAGE_THREADS,
	USAGE_MINOR,
	USAGE_MAJOR,
	USAGE_USER,
	USAGE_SYSTEM,
	USAGE_ANON,
	USAGE_FILE,
	USAGE_SHMEM,
	USAGE_SWAP,
	USAGE_PSS,
	USAGE_NR,
};

static const struct column usage_columns[USAGE_NR] = {
	[USAGE_TIME] = { "time_ns", NULL, UNIT_DURATION },
	[USAGE_THREADS] = { "threads", NULL, UNIT_COUNT },
	[USAGE_MINOR] = { "minor_faults", NULL, UNIT_COUNT },
	[USAGE_MAJOR] = { "major_faults", NULL, UNIT_COUNT },
	[USAGE_USER] = { "user_ns", NULL, UNIT_DURATION },
	[USAGE_SYSTEM] = { "system_ns", NULL, UNIT_DURATION },
	[USAGE_ANON] = { "anon_bytes", NULL, UNIT_BYTES },
	[USAGE_FILE] = { "file_bytes", NULL, UNIT_BYTES },
	[USAGE_SHMEM] = { "shmem_bytes", NULL, UNIT_BYTES },
	[USAGE_SWAP] = { "swap_bytes", NULL, UNIT_BYTES },
	[USAGE_PSS] = { "pss_bytes", NULL, UNIT_BYTES },
};

static void fill_usage(struct table *t, uint64_t i)
{
	const struct report *r = t->ctx;
	const struct heap_usage_point *p = &r->heap->usage_points[i];

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, USAGE_TIME, heap_since(r->heap, p->time_ns));
	if (p->known & HEAP_USAGE_TIMES) {
		table_set(t, USAGE_THREADS, p->threads);
		table_set(t, USAGE_MINOR, p->minor_faults);
		table_set(t, USAGE_MAJOR, p->major_faults);
		table_set(t, USAGE_USER, p->user_ns);
		table_set(t, USAGE_SYSTEM, p->system_ns);
	}
	if (p->known & HEAP_USAGE_SIZES) {
		table_set(t, USAGE_ANON, p->anon_bytes);
		table_set(t, USAGE_FILE, p->file_bytes);
		table_set(t, USAGE_SHMEM, p->shmem_bytes);
		table_set(t, USAGE_SWAP, p->swap_bytes);
	}
	if (p->known & HEAP_USAGE_PSS)
		table_set(t, USAGE_PSS, p->pss_bytes);
}

void report_usage(struct report *r)
{
	const struct heap_usage *u = &r->heap->usage;
	struct table *t;

	if (!u->sampled)
		return;
	t = record_new("usage");
	record_text(t, "times", why_name[u->why]);
	record_text(t, "pss", why_name[u->pss_why]);
	record_duration(t, "took_ns", u->took_ns);
	record_duration(t, "pss_took_ns", u->pss_took_ns);
	doc_add(&r->doc, t);
	t = table_new(TABLE_ROWS, "usage_history", NULL, usage_columns, USAGE_NR);
	if (t) {
		t->json_only = true;
		t->fill = fill_usage;
		t->nr_groups = r->heap->nr_usage_points;
		t->ctx = r;
	}
	doc_add(&r->doc, t);
}

/* ---- what happened when ---- */

enum {
	MARK_TIME,
	MARK_LAST,
	MARK_WHAT,
	MARK_COUNT,
	MARK_PID,
	MARK_NAME,
	MARK_NUMBER,
	MARK_COLUMNS,
};

static const struct column mark_columns[MARK_COLUMNS] = {
	[MARK_TIME] = { "time_ns", NULL, UNIT_DURATION },
	[MARK_LAST] = { "last_ns", NULL, UNIT_DURATION },
	[MARK_WHAT] = { "what", NULL, UNIT_TEXT },
	[MARK_COUNT] = { "count", NULL, UNIT_COUNT },
	[MARK_PID] = { "pid", NULL, UNIT_NUMBER },
	[MARK_NAME] = { "name", NULL, UNIT_TEXT },
	[MARK_NUMBER] = { "error", NULL, UNIT_NUMBER },
};

static void add_mark(struct table *t, const struct heap *h, const struct mark *m)
{
	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, MARK_TIME, heap_since(h, m->time_ns));
	table_set(t, MARK_LAST, heap_since(h, m->last_ns));
	table_set_const(t, MARK_WHAT, mark_name[m->what]);
	table_set(t, MARK_COUNT, m->count);
	if (m->pid)
		table_set(t, MARK_PID, m->pid);
	if (m->name[0])
		table_set_const(t, MARK_NAME, m->name);
	if (m->what == MARK_ERROR)
		table_set(t, MARK_NUMBER, m->number);
}

void report_marks(struct report *r)
{
	struct table *t = table_new(TABLE_ROWS, "marks", NULL, mark_columns, MARK_COLUMNS);
	struct marks m;

	if (!t || marks_init(&m, r->heap)) {
		table_free(t);
		doc_add(&r->doc, NULL);
		return;
	}
	t->json_only = true;
	vec_each(&m.all, mark)
		add_mark(t, r->heap, mark);
	marks_fini(&m);
	doc_add(&r->doc, t);
}
