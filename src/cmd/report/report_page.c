/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page: the report's document, those of `pmm leaks` and `pmm check`, and what views need. */
#include "src/cmd/report/report_page.h"

#include <errno.h>
#include <stdio.h>

#include "src/cmd/emit.h"
#include "src/cmd/report/report_export.h"
#include "src/page/page.h"
#include "src/proc/limits.h"
#include "src/session/check/check_report.h"
#include "src/session/leaks/leaks_report.h"
#include "src/view/overview/overview.h"

/* What a session hands over becomes a part. */
struct page_sink {
	struct page *page;
	const char *part;
};

static int add_document(void *arg, const struct doc *d, bool follows)
{
	const struct page_sink *to = arg;

	(void)follows;
	page_doc(to->page, to->part, d, NULL);
	return to->page->rc;
}

static const struct session_ops sink_ops = { .document = add_document };

static int add_leaks(struct page *p, const struct report_command *c, const struct heap *h,
		     struct err *e)
{
	struct leaks_report_options o = LEAKS_REPORT_DEFAULT;
	struct page_sink to = { p, "leaks" };
	int rc;

	if (h->search.how == HEAP_SEARCH_NONE)
		return 0;
	o.format = LEAKS_JSON;
	o.view.top = 0;
	o.view.depth = 0;
	o.view.others = true;
	o.no_symbols = c->no_symbols;
	o.memory_bytes = c->memory_bytes;
	o.skip = (struct texts){ c->skipped.v, c->skipped.nr };
	rc = leaks_read_suppressions((struct texts){ 0 }, false, &o.suppress, e);
	if (!rc)
		rc = leaks_report(h, NULL, &o, &(struct session_sink){ &sink_ops, &to }, e);
	suppress_free(o.suppress);
	return rc < 0 ? rc : 0;
}

static int add_errors(struct page *p, const struct report_command *c, const struct heap *h,
		      struct err *e)
{
	struct check_report_options o = CHECK_REPORT_DEFAULT;
	struct page_sink to = { p, "check" };
	int rc;

	if (!h->check.level && !h->nr_findings)
		return 0;
	o.view.top = 0;
	o.view.depth = 0;
	o.no_symbols = c->no_symbols;
	o.memory_bytes = c->memory_bytes;
	o.skip = (struct texts){ c->skipped.v, c->skipped.nr };
	rc = check_report(h, &o, &(struct session_sink){ &sink_ops, &to }, e);
	return rc < 0 ? rc : 0;
}

/* Limits are those of a process that runs now. */
static void add_overview(struct page *p, const struct report *r)
{
	const struct heap *h = r->heap;
	struct doc d = { .schema = OVERVIEW_SCHEMA };
	struct limit limit;
	bool known = h->end == HEAP_RUNNING && !h->captured &&
		     !limits_nearest("", (pid_t)h->pid, &limit);

	doc_add(&d, overview_facts(r, known ? &limit : NULL));
	page_doc(p, "overview", &d, NULL);
	doc_fini(&d);
}

struct making {
	const struct report_command *c;
	const struct heap *heap;
	struct report report;
	struct err *e;
};

static int write_page(void *arg, FILE *f)
{
	/* the page has these in forms of its own, which take less room */
	static const char *const leave_out[] = { "sites", "blocks", NULL };
	struct making *m = arg;
	const struct heap *h = m->heap;
	struct page p;
	int rc;

	page_begin(&p, f, h->cmdline[0] ? h->cmdline : h->comm);
	page_doc(&p, "report", &m->report.doc, leave_out);
	add_overview(&p, &m->report);
	page_heap(&p, &(struct page_source){ h, m->report.names, &m->report.selection,
					     m->c->opt.source, m->c->with_source });
	rc = add_leaks(&p, m->c, h, m->e);
	if (!rc)
		rc = add_errors(&p, m->c, h, m->e);
	return rc ? rc : page_end(&p);
}

int report_page_check(struct err *e)
{
	const char *missing = page_missing();

	if (!missing)
		return 0;
	err_set(e, -ENOTSUP, "this pmm was built without pages: it lacked %s", missing);
	err_hint(e, "install %s and build pmm again", missing);
	return -ENOTSUP;
}

int report_page(const struct report_command *c, const struct heap *h, struct names *n,
		struct err *e)
{
	struct making m = { .c = c, .heap = h, .e = e };
	struct report_options o = c->opt;
	int rc;

	o.top = 0;
	o.depth = 0;
	o.depth_given = true;
	rc = report_init(&m.report, h, n, &o, e);
	if (!rc)
		rc = report_put(c, h, write_page, &m, e);
	report_fini(&m.report);
	return rc;
}
